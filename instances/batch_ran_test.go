// SPDX-License-Identifier: MIT

package instances

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/model"
)

// A log's jobs run when it says, and later where the machine's processors don't suffice.
func TestRanAsLogged(t *testing.T) {
	const fields = " -1 -1 2 10 -1 1 1 -1 -1 -1 -1 -1 -1\n"
	for name, c := range map[string]struct {
		log  string
		want []float64
		note string
	}{
		"as it is":   {"1 0 0 5 2" + fields + "2 1 4 5 2" + fields + "3 1 4 5 1" + fields, []float64{0, 5, 5}, ""},
		"overlapped": {"1 0 0 5 2" + fields + "2 1 2 5 2" + fields + "3 2 3 5 1" + fields, []float64{0, 5, 5}, "1 starts are moved, by 2 s at most"},
		"no runtime": {"1 0 0 0 3" + fields + "2 0 0 5 2" + fields, []float64{0, 1}, "1 starts are moved, by 1 s at most"},
		"swapped":    {"1 0 9 5 3" + fields + "2 0 1 5 3" + fields, []float64{9, 1}, ""},
	} {
		log, err := swf.ReadAll(strings.NewReader("; MaxProcs: 3\n" + c.log))
		if err != nil {
			t.Fatal(err)
		}
		in, said, err := NewBatchSpec().fromSWF("n", log, SWFJobs{Ran: true})
		if err != nil {
			t.Fatal(err)
		}
		var starts []float64
		for _, r := range said.Ran.Runs {
			starts = append(starts, r.Segments[0].StartS)
		}
		if d := cmp.Diff(c.want, starts); d != "" || !strings.Contains(strings.Join(said.Notes, ";"), c.note) || (c.note == "") != (said.Notes == nil) {
			t.Errorf("%s: notes %q, (-want +got)\n%s", name, said.Notes, d)
		}
		if _, err := in.Objective(said.Ran); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	log, err := swf.ReadAll(strings.NewReader("; MaxProcs: 3\n1 0 -1 5 2" + fields))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := NewBatchSpec().fromSWF("n", log, SWFJobs{Ran: true}); !errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), "no wait of job 1") {
		t.Errorf("without waits: %v", err)
	}
}
