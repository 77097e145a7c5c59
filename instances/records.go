// SPDX-License-Identifier: MIT

package instances

import (
	"cmp"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/gapwise/gapwise/instances/internal/jobs"
	"github.com/gapwise/gapwise/instances/internal/oar"
	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/model"
)

// records returns the reader of a batch system's records: read makes them of a text with times of a zone, nodes reads
// the file of the platform.
func records[R interface {
	Log(*jobs.Options, *model.Account) (*swf.Log, error)
}](read func([]byte, *time.Location) (R, error), nodes func([]byte) ([]jobs.Node, error)) func(*File, LogOptions) (*swf.Log, error) {
	return func(f *File, o LogOptions) (*swf.Log, error) {
		if err := model.CheckText(f.data); err != nil {
			return nil, err
		}
		r, err := read(f.data, cmp.Or(o.Zone, time.UTC))
		if err != nil {
			return nil, err
		}
		account := f.account.Clone()
		made, err := o.options(account, nodes)
		if err != nil {
			return nil, err
		}
		return r.Log(made, account)
	}
}

// readOAR reads OAR's records. Of tables, the others stand in the same folder.
func readOAR(f *File, o LogOptions) (*swf.Log, error) {
	beside := func(name string) ([]byte, error) {
		if f.folder == "" {
			return nil, fs.ErrNotExist
		}
		return ReadFile(filepath.Join(f.folder, name))
	}
	return records(func(text []byte, _ *time.Location) (*oar.Records, error) { return oar.Read(text, beside) }, oar.ReadNodes)(f, o)
}
