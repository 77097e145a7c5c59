// SPDX-License-Identifier: MIT

package instances

import (
	"strings"
	"testing"

	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// A log's further fields are kept, and jobs with equal fields share them.
func TestBatchKeepsLog(t *testing.T) {
	text := `; MaxProcs: 8
; Queue:  0  interactive
; Queue:  1  twin
; Queue:  2  twin
; Queue:  3  0
1 0 -1 5 1 -1 -1 -1 9 -1 1 7 8 -1 0 2 -1 -1
2 1 -1 5 1 -1 -1 -1 9 -1 1 7 8 -1 0 2 -1 -1
3 2 -1 5 1 -1 -1 -1 9 -1 5 0 -1 4 1 -1 1 30
4 3 -1 5 1 -1 -1 -1 9 -1 9 -1 -1 -1 3 -1 -1 30
5 4 -1 5 1 -1 -1 -1 9 -1 -1 -1 -1 -1 -1 -1 -1 -1
`
	log := require.Value(swf.ReadAll(strings.NewReader(text)))(t)
	in, _ := require.Pair(NewBatchSpec().fromSWF("n", log, SWFJobs{}))(t)
	var got []*model.JobLog
	for _, j := range in.(*model.Batch).Jobs {
		got = append(got, j.Log)
	}
	first := &model.JobLog{User: "7", Group: "8", Queue: "interactive", Partition: "2", Status: "completed"}
	want := []*model.JobLog{first, first, {User: "0", Executable: "4", Queue: "1", Preceding: "1", ThinkS: 30, Status: "cancelled"}, {Queue: "3"}, nil}
	require.Same(t, "result", want, got)
	if got[0] != got[1] {
		t.Error("equal logs aren't shared")
	}
	back := require.Value(model.DecodeInstance(require.Value(in.(*model.Batch).MarshalJSON())(t)))(t)
	require.Same(t, "written and read", in, back)
	if jobs := back.(*model.Batch).Jobs; jobs[0].Log != jobs[1].Log {
		t.Error("equal logs aren't shared when read")
	}
}
