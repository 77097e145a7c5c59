// SPDX-License-Identifier: MIT

package instances

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/internal/test/require"
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
		"overlapped": {"1 0 0 5 2" + fields + "2 1 2 5 2" + fields + "3 2 3 5 1" + fields, []float64{0, 5, 5}, "1 start moved, by 2 s at most"},
		"no runtime": {"1 0 0 0 3" + fields + "2 0 0 5 2" + fields, []float64{0, 1}, "1 start moved, by 1 s at most"},
		"swapped":    {"1 0 9 5 3" + fields + "2 0 1 5 3" + fields, []float64{9, 1}, ""},
	} {
		log := require.Value(swf.ReadAll(strings.NewReader("; MaxProcs: 3\n" + c.log)))(t)
		in, ran := require.Pair(NewBatchSpec().fromSWF("n", log, SWFJobs{Ran: true}))(t)
		var starts []float64
		for _, r := range ran.Runs {
			starts = append(starts, r.Segments[0].StartS)
		}
		notes := model.AccountOf(in).Remarks
		if d := cmp.Diff(c.want, starts); d != "" || !strings.Contains(notes.String(), c.note) || (c.note == "") != (notes == nil) {
			t.Errorf("%s: notes %q, (-want +got)\n%s", name, notes, d)
		}
		if _, err := in.Objective(ran); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	log := require.Value(swf.ReadAll(strings.NewReader("; MaxProcs: 3\n1 0 -1 5 2" + fields)))(t)
	if _, _, err := NewBatchSpec().fromSWF("n", log, SWFJobs{Ran: true}); !errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), "no wait of job 1") {
		t.Errorf("without waits: %v", err)
	}
}
