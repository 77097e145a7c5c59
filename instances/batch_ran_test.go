// SPDX-License-Identifier: MIT

package instances

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
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
	// On a machine with half of the processors that were in use it is another schedule.
	log = require.Value(swf.ReadAll(strings.NewReader("; MaxProcs: 3\n1 0 0 90 3" + fields + "2 0 0 90 3" + fields + "3 5 0 90 2" + fields)))(t)
	if _, _, err := NewBatchSpec().fromSWF("n", log, SWFJobs{Ran: true}); !errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), "up to 8 processors are in use at once of 3, and 2 starts would move, by up to 175 s") {
		t.Errorf("on another machine: %v", err)
	}
}

// Jobs run on the nodes that the log names, of which the machine numbers those of a group one behind the other, and later
// where these have no room. Nodes that aren't told, or that aren't there, are errors.
func TestRanOnNodes(t *testing.T) {
	folder := t.TempDir()
	nodes := filepath.Join(folder, "nodes.txt")
	require.OK(t, os.WriteFile(nodes, []byte("NODELIST|PARTITION|CPUS|MEMORY|STATE\na1|p|2|100|idle\ng1|p|4|100|idle\na2|p|2|100|idle\na3|p|2|100|down\n"), 0o644))
	const head = "JobID|Partition|Submit|Start|Elapsed|Timelimit|AllocCPUS|NNodes|ReqMem|State|NodeList\n"
	for name, c := range map[string]struct {
		rows, want, says string
	}{
		"as it is":         {"1|p|10|10|00:00:05|1|2|1|10M|COMPLETED|a2\n2|p|11|12|00:00:05|1|4|2|10M|COMPLETED|a1,g1\n", "1 at 0 [1] 2 at 2 [0 2]", ""},
		"no room":          {"1|p|10|10|00:00:05|1|2|1|10M|COMPLETED|a1\n2|p|11|12|00:00:05|1|2|1|10M|COMPLETED|a1\n", "1 at 0 [0] 2 at 5 [0]", "1 start moved, by 3 s at most and 1.5 s a job, for which the machine's nodes don't suffice"},
		"no nodes told":    {"1|p|10|10|00:00:05|1|2|1|10M|COMPLETED|a1\n2|p|11|12|00:00:05|1|2|1|10M|COMPLETED|\n", "", "job 2 runs on 1 nodes, the log names 0"},
		"a node not there": {"1|p|10|10|00:00:05|1|2|1|10M|COMPLETED|b1\n", "", "job 1 ran on a node that the platform doesn't have"},
		"a node not up":    {"1|p|10|10|00:00:05|1|2|1|10M|COMPLETED|a3\n", "", "or that isn't up"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(folder, "sacct.txt")
			require.OK(t, os.WriteFile(file, []byte(head+c.rows), 0o644))
			made, ran, err := require.Value(Open(file))(t).WithRan(Options{Platform: nodes, Log: LogOptions{Placed: true}, Jobs: SWFJobs{Ran: true}})
			if c.want == "" {
				require.Refused(t, name, err, model.ErrInvalid, c.says)
				return
			}
			require.OK(t, err)
			var got []string
			for _, r := range ran.Runs {
				got = append(got, fmt.Sprint(r.ID, " at ", r.Segments[0].StartS, " ", []int32(r.Segments[0].Place.Processors)))
			}
			require.Same(t, "runs", c.want, strings.Join(got, " "))
			require.Says(t, "account", strings.Join(model.AccountOf(made).Lines(), "\n"), c.says)
			report := require.Value(verify.Verify(t.Context(), made, ran, verify.Options{}))(t)
			require.OK(t, report.Err())
		})
	}
}
