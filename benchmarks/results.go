package benchmarks

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/gapwise/gapwise/model"
)

// results is a results file, locked and open to append to.
type results struct {
	path    string
	lock    *flock.Flock
	file    *os.File
	records []Record
	whole   int64 // bytes of its whole lines
	ended   bool  // the last of them ends with a newline
}

// openResults opens the results file of a plan, locks it and reads it. It creates
// the file and its folder if need be, and changes nothing that was there.
func openResults(path, plan string) (*results, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w results: %s isn't a regular file, and a plan goes on from its results; give another file", model.ErrInvalid, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("%w results: %w", model.ErrInvalid, err)
	}
	r := &results{path: path, lock: flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o644))}
	locked, err := r.lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("%w results: can't lock %s: %w", model.ErrInvalid, path, err)
	}
	if !locked {
		return nil, fmt.Errorf("%w results: another gapwise bench is writing %s; wait until it has ended, or give another file", model.ErrInvalid, path)
	}
	if err := r.read(plan); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *results) read(plan string) (err error) {
	if r.records, r.whole, err = ReadRecords(r.path); err != nil {
		return err
	}
	// O_APPEND: nothing that another program appends is overwritten.
	if r.file, err = os.OpenFile(r.path, os.O_RDWR|os.O_APPEND, 0o644); err != nil {
		return err
	}
	info, err := r.file.Stat()
	if err != nil {
		return err
	}
	name, err := json.Marshal(plan)
	if err != nil {
		return err
	}
	begins := fmt.Sprintf(`{"plan":%s,"instance":"`, name)
	torn := make([]byte, min(info.Size()-r.whole, int64(len(begins))))
	if _, err := r.file.ReadAt(torn, r.whole); err != nil {
		return err
	}
	if !tornLine(torn, begins) {
		return fmt.Errorf("%w results: %s ends in something else than a run of the plan %q; give another file", model.ErrInvalid, r.path, plan)
	}
	r.ended = true
	if r.whole > 0 {
		last := make([]byte, 1)
		if _, err := r.file.ReadAt(last, r.whole-1); err != nil {
			return err
		}
		r.ended = last[0] == '\n'
	}
	return nil
}

// mend removes a last line that is cut off and adds a missing newline.
func (r *results) mend() error {
	if err := r.file.Truncate(r.whole); err != nil {
		return err
	}
	if !r.ended {
		_, err := r.file.Write([]byte("\n"))
		return err
	}
	return nil
}

func (r *results) close() error {
	var err error
	if r.file != nil {
		err = r.file.Close()
	}
	return errors.Join(err, r.lock.Unlock())
}
