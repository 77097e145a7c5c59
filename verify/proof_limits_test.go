// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// endless is a proof that goes on: head, and then line(0), line(1) and so on.
type endless struct {
	rest string
	line func(n int) string
	n    int
}

func (r *endless) Read(to []byte) (int, error) {
	if r.rest == "" {
		r.rest = r.line(r.n) + "\n"
		r.n++
	}
	n := copy(to, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// A proof that asks for more than the limits is refused at that line, with the limit.
func TestProofLimits(t *testing.T) {
	t.Parallel()
	in := testkit.SixTasks()
	head := "gapwise-proof 1 dag\ninstance x\nunit 1\nupper 20\nvar 0 makespan\nvar 1 start 0 0\ncon 0 end 0\n"
	for name, x := range map[string]struct {
		line   func(n int) string
		before string
		each   int // bytes that a line takes by docs/reference/proofs.md, 0 for none
	}{
		"variables":       {func(n int) string { return fmt.Sprintf("var %d makespan", n+10) }, "", 256 + 8},
		"constraints":     {func(n int) string { return fmt.Sprintf("con %d machine 0", n+10) }, "", 256 + 9 + 6*32},
		"nogoods":         {func(n int) string { return fmt.Sprintf("nogood %d 0<=%d 0>=5\nend", n, -1-n%2) }, "", 128 + 2*16},
		"steps":           {func(n int) string { return fmt.Sprintf("0 1<=%d", 20-n) }, "nogood 0 0<=20\n", 0},
		"deleted nogoods": {func(int) string { return "nogood 0 0<=-1\nend\ndelete 0" }, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &endless{rest: head + x.before, line: x.line}
			most := proofLimits{lines: 4000, memory: 100_000}
			_, err := replay(t.Context(), in, "x", r, most)
			want := "more than 4000 lines"
			if x.each > 0 {
				want = "take"
				if used := r.n * x.each; used < 95_000 || used > 110_000 {
					t.Errorf("refused after %d lines", r.n)
				}
			}
			require.Refused(t, name, err, ErrProof, want)
		})
	}
	// The trail of an open nogood.
	r := &endless{rest: strings.Replace(head, "upper 20", "upper 200000000", 1) + "var 5 start 5 0\nvar 6 on 5 0\nnogood 0 6>=1 5>=100000000\n", line: func(n int) string {
		return fmt.Sprintf("con %d end 5\n%d 0>=%d", n+10, n+10, 1000+n)
	}}
	require.Refused(t, "memory",
		require.Err(replay(t.Context(), in, "x", r, proofLimits{lines: 1 << 20, memory: 300_000})), ErrProof,
		"the most is 300000")
}

// The context is looked at within a header and within a step, and findings after its end aren't believed.
func TestProofStops(t *testing.T) {
	t.Parallel()
	const n = 1200
	in := &model.DAG{Name: "many", Machines: []model.Machine{{ID: "a"}}}
	for t := range n {
		in.Tasks = append(in.Tasks, model.DAGTask{ID: fmt.Sprint(t), CostS: []float64{1}})
	}
	chain := *in
	for t := range n - 1 {
		chain.Edges = append(chain.Edges, model.DAGEdge{From: fmt.Sprint(t), To: fmt.Sprint(t + 1)})
	}
	text := fmt.Sprintf("gapwise-proof 1 dag\ninstance x\nunit 1\nupper %d\ncon 0 machine 0\nvar 0 start 0 0\n0 0>=1\nclaim 0\n", n)
	for _, x := range []struct {
		in         *model.DAG
		left, line int
	}{{&chain, 0, 4}, {&chain, 9, 4}, {in, 0, 7}, {in, 9, 7}} {
		ctx := &testkit.StopAfter{Context: t.Context(), Looks: x.left}
		require.Refused(t, fmt.Sprintf("after %d looks", x.left),
			require.Err(Proof(ctx, x.in, "x", strings.NewReader(text))),
			context.Canceled, fmt.Sprintf("stopped at line %d ", x.line))
	}
	ctx := &testkit.StopAfter{Context: t.Context(), Looks: 1 << 30}
	require.Refused(t, "error", require.Err(Proof(ctx, in, "x", strings.NewReader(text))), ErrProof, "")
	if 1<<30-ctx.Looks < n*n>>17 {
		t.Errorf("only %d looks", 1<<30-ctx.Looks)
	}
}
