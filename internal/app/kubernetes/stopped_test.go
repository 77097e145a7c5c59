// SPDX-License-Identifier: MIT

package kubernetes_test

import (
	"context"
	"os"
	"strings"
	"testing"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// ofDocs reads the cluster of the documents.
func ofDocs(t *testing.T) *kubernetes.Cluster {
	t.Helper()
	return require.Value(kubernetes.Read(map[string][]byte{"cluster.json": require.Value(os.ReadFile("../../../docs/examples/cluster.json"))(t)}))(t)
}

// A search that is stopped keeps the plan that it has: its moves get their order, and none is called stuck.
func TestStoppedPlan(t *testing.T) {
	t.Parallel()
	c := ofDocs(t)
	ctx, stop := context.WithCancel(t.Context())
	in := require.Value(kubernetes.Convert(c, kubernetes.Options{Asks: func(question string, _ float64) {
		if strings.HasPrefix(question, "fewest moves") {
			stop()
		}
	}}))(t)
	p := require.Value(kubernetes.MakePlan(ctx, in, gapwise.Options{Settings: model.Settings{Seed: 1}}))(t)
	if p.Then.Nodes != 3 || len(p.Waves) == 0 || p.Beyond != nil || len(p.Stuck) > 0 {
		t.Errorf("%d nodes after %d waves, %d moves stuck, out of reach: %v", p.Then.Nodes, len(p.Waves), len(p.Stuck), p.Beyond)
	}
	script := require.Value(in.Commands(p, []string{"single-replica"}))(t)
	const told = "before all questions were answered: a plan"
	for _, text := range []string{p.Text(false), script} {
		if !p.Stopped || !strings.Contains(text, told) {
			t.Errorf("it doesn't say that it was stopped: %s", text)
		}
	}
	whole := require.Value(kubernetes.MakePlan(t.Context(), in, gapwise.Options{Settings: model.Settings{Seed: 1}}))(t)
	if whole.Stopped || strings.Contains(whole.Text(false), told) {
		t.Error("a whole plan was stopped")
	}
}

// Questions that were open when an explanation was stopped have no rows, and the explanation says so.
func TestStoppedExplanation(t *testing.T) {
	t.Parallel()
	c := ofDocs(t)
	for question, rows := range map[string]int{"without pins": 2, "price of": len(kubernetes.RuleNames) + 2} {
		ctx, stop := context.WithCancel(t.Context())
		e := require.Value(kubernetes.Explain(ctx, c, kubernetes.Options{Asks: func(asked string, _ float64) {
			if strings.HasPrefix(asked, question) {
				stop()
			}
		}}, gapwise.Options{Settings: model.Settings{Seed: 1}}))(t)
		if len(e.Rules) != rows || len(e.Goals) > 0 || len(e.Singles) > 0 || !e.Stopped || !strings.Contains(e.Others(), "stopped") {
			t.Errorf("at %q: %d rows, %d goals, %d single rules, stopped: %v", question, len(e.Rules), len(e.Goals), len(e.Singles), e.Stopped)
		}
	}
}

// A proof that no plan has what is asked is told from a search that found none; budgets of two namespaces are two.
func TestNoPlan(t *testing.T) {
	t.Parallel()
	c := ofDocs(t)
	in := require.Value(kubernetes.Convert(c, kubernetes.Options{MaxNodes: 1}))(t)
	require.Refused(t, "a plan of one node", require.Err(kubernetes.MakePlan(t.Context(), in, gapwise.Options{})), kubernetes.ErrNone, "no plan has 1 node in use")
	c.Budgets = nil
	in = require.Value(kubernetes.Convert(c, kubernetes.Options{}))(t)
	p := require.Value(kubernetes.MakePlan(t.Context(), in, gapwise.Options{}))(t)
	if text := p.Text(false); !strings.Contains(text, "(no PodDisruptionBudget was read)") || strings.Contains(text, "within the budgets") {
		t.Errorf("%s", text)
	}
	_, err := kubernetes.Convert(c, kubernetes.Options{Use: kubernetes.Use{"other/pod": nil}})
	require.Refused(t, "the use of another cluster", err, model.ErrInvalid, "measures none of the")
}
