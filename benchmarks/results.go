// SPDX-License-Identifier: MIT

package benchmarks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gofrs/flock"

	"github.com/gapwise/gapwise/internal/app/runs"
	"github.com/gapwise/gapwise/internal/run/replace"
	"github.com/gapwise/gapwise/model"
)

// results are where runs are appended to: a locked file, or a file in a folder that is
// made for the first of them.
type results struct {
	path    string // of the file
	folder  string
	stem    string // begins the name of the file in the folder
	lock    *flock.Flock
	file    *os.File
	records []runs.Record // that are there already, in the folder those of all files
	whole   int64         // bytes of the file's whole lines
	ended   bool          // the last of them ends with a newline
}

// openResults opens the results file of a plan, locks it and reads it. It creates
// the file and its folder if need be, and changes nothing that was there.
func openResults(path, plan string) (*results, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w results: %s isn't a regular file, and a plan goes on from its results; give another file", model.ErrInvalid, path)
	}
	if err := replace.Folder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	r := &results{path: path, lock: flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o644))}
	locked, err := r.lock.TryLock()
	if errors.As(err, new(*fs.PathError)) { // it can't be opened
		return nil, replace.Unwritten(path, err)
	}
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
	// O_APPEND: nothing that another program appends is overwritten.
	if r.file, err = os.OpenFile(r.path, os.O_RDWR|os.O_APPEND, 0o644); err != nil {
		return err
	}
	data, err := io.ReadAll(r.file)
	if err != nil {
		return err
	}
	if r.records, r.whole, err = runs.DecodeRecords(bytes.NewReader(data), r.path); err != nil {
		return err
	}
	name, err := json.Marshal(plan)
	if err == nil && !runs.Torn(data[r.whole:], fmt.Sprintf(`{"plan":%s,"instance":"`, name)) {
		err = fmt.Errorf("%w results: %s ends in something else than a run of the plan %q; give another file", model.ErrInvalid, r.path, plan)
	}
	r.ended = r.whole == 0 || data[r.whole-1] == '\n'
	return err
}

// partsEnding ends the names of results files in a folder.
const partsEnding = ".jsonl"

// openFolder reads the results files in a folder, which it creates if need be. No lock is needed: every process that
// appends runs has a file of its own. So two starts of one share don't disturb each other, on any file system. A
// cluster may start a task again while its first start still runs.
func openFolder(folder, stem string) (*results, error) {
	if err := replace.Folder(folder); err != nil {
		return nil, err
	}
	r := &results{folder: folder, stem: stem}
	files, err := Parts(folder)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		some, err := runs.ReadRecords(f)
		if err != nil {
			return nil, err
		}
		r.records = append(r.records, some...)
	}
	return r, nil
}

// Parts returns the results files in a folder, in the order in which they were begun, and by name. Errors wrap model.ErrInvalid.
func Parts(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("%w results: %w", model.ErrInvalid, err)
	}
	var all []string
	for _, e := range entries {
		if !e.IsDir() && strings.HasSuffix(e.Name(), partsEnding) {
			all = append(all, filepath.Join(folder, e.Name()))
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(begun(a), begun(b)) })
	return all, nil
}

// begun returns the number of a file in a folder (claim), 0 for a file with another name.
func begun(path string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(filepath.Ext(strings.TrimSuffix(path, partsEnding)), "."))
	return n
}

// append writes a line, whole, by one call.
func (r *results) append(line []byte) error {
	if r.file == nil {
		if err := r.claim(); err != nil {
			return err
		}
	}
	_, err := r.file.Write(line)
	return err
}

// claim makes a file in the folder that no other process has.
func (r *results) claim() error {
	for n := 1; ; n++ {
		path := filepath.Join(r.folder, fmt.Sprintf("%s.%d%s", r.stem, n, partsEnding))
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o644)
		if err == nil {
			r.path, r.file = path, f
			return nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%w results: %w", model.ErrInvalid, err)
		}
	}
}

// mend removes a last line that is cut off and adds a missing newline.
func (r *results) mend() error {
	if r.file == nil { // it is new
		return nil
	}
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
	if r.lock != nil {
		err = errors.Join(err, r.lock.Unlock())
	}
	return err
}
