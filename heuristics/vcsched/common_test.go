// SPDX-License-Identifier: MIT

package vcsched

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	vcbounds "github.com/gapwise/gapwise/bounds/vcsched"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
	"github.com/gapwise/gapwise/verify"
)

type algorithm = func(context.Context, *model.VCSched, model.Settings) (*model.Placement, error)

// paperAlgorithms are the paper's, by name.
func paperAlgorithms() map[string]algorithm {
	all := map[string]algorithm{"gr": GR, "sg": SG, "gb": GB, "sgb": SGB}
	if highs.Available() {
		all["rrnd"], all["rrnz"] = RRND, RRNZ
	}
	for k := 1; k < len(mcbs); k++ {
		all[fmt.Sprintf("mcb%d", k)] = mcbs[k]
	}
	return all
}

// judge fails the test unless the placement passes the judge, and returns its
// objective.
func judge(t require.T, in *model.VCSched, p *model.Placement) verify.Report {
	r := require.Feasible(verify.Verify(context.Background(), in, p, verify.Options{}))(t, in)
	return r
}

// Every algorithm's placement is feasible, no better than the linear relaxation, at the best minimum yield of its
// hosts, and the same each time.
func TestPaperAlgorithms(t *testing.T) {
	t.Parallel()
	for name, solve := range paperAlgorithms() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				in := testkit.GridVCSched(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "instance"), 1)), 5, 12)
				p, err := solve(context.Background(), in, model.Settings{Seed: 5})
				if err != nil {
					require.Refused(t, "the error", err, model.ErrNoSolution, "")
					return
				}
				r := judge(t, in, p)
				if b := vcbounds.ClosedForm(in); b.Infeasible || r.Objective > b.Value*(1+1e-12) {
					t.Fatalf("objective %v, closed form %+v", r.Objective, b)
				}
				if y := in.Yield(p.TaskHosts()); math.Abs(r.Objective-y) > 1e-12 {
					t.Fatalf("objective %v, its hosts allow %v", r.Objective, y)
				}
				again, err := solve(context.Background(), in, model.Settings{Seed: 5, Threads: 2})
				if diff := cmp.Diff(p, again); err != nil || diff != "" {
					t.Fatalf("the second run differs: %v (-first,+second)\n%s", err, diff)
				}
			})
		})
	}
}

func TestBudgetIsUnsupported(t *testing.T) {
	t.Parallel()
	b := 1.0
	in := &model.VCSched{Hosts: 1, Jobs: []model.VCSchedJob{testkit.VCJob("a", 1, 1, 0)}, MigrationBudget: &b}
	for name, solve := range paperAlgorithms() {
		if p, err := solve(context.Background(), in, model.Settings{}); p != nil || !errors.Is(err, model.ErrUnsupported) {
			t.Errorf("%s: %v, %v, want ErrUnsupported", name, p, err)
		}
	}
}
