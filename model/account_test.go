// SPDX-License-Identifier: MIT

package model_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

func told() *model.Account {
	a := model.NewAccount("trace, of May.json", "WfFormat 1.5")
	a.Took(12, "tasks")
	a.Took(0, "edges")
	a.Took(3.2e9, "bytes between tasks")
	for _, id := range []string{"a", "b c", "c", "d"} {
		a.LeftOut.Add(id, "tasks without a runtime")
	}
	a.LeftOut.Add("e", "tasks twice")
	a.Assumed.Say("bandwidth 1 Gbit/s")
	a.NotModelled.Count(2, "jobs with GPUs (%d %% of the work)", 68)
	a.NotModelled.Count(0, "jobs with licences")
	a.Remarks.Say("times are UTC")
	return a
}

// The account says in a line of each class what was read, with counts, the first names, and quotes where a name could be
// taken for more.
func TestAccountLines(t *testing.T) {
	want := []string{"trace, of May.json: WfFormat 1.5, taken: 12 tasks, 0 edges, 3.2 GB between tasks",
		`left out: 4 tasks without a runtime (a, "b c", c, ...); 1 task twice (e)`, "assumed: bandwidth 1 Gbit/s",
		"not modelled: 2 jobs with GPUs (68 % of the work)", "note: times are UTC"}
	if d := cmp.Diff(want, told().Lines()); d != "" {
		t.Errorf("-want, +got:\n%s", d)
	}
	if none := (*model.Account)(nil).Lines(); none != nil {
		t.Errorf("no account has the lines %q", none)
	}
}

// Each kind of instance keeps an account in its file, and has the same hash with it and without.
func TestAccountIsKept(t *testing.T) {
	for _, name := range []string{"five-nodes", "eight-requests", "four-clusters", "six-tasks", "ten-jobs", "three-tasks"} {
		in := require.Value(model.DecodeInstance(require.Value(os.ReadFile("../docs/examples/" + name + ".json"))(t)))(t)
		before := require.Value(model.Hash(in))(t)
		model.SetAccount(in, told())
		var b strings.Builder
		require.OK(t, model.WriteJSON(&b, in))
		again := require.Value(model.DecodeInstance([]byte(b.String())))(t)
		if d := cmp.Diff(told(), model.AccountOf(again)); d != "" {
			t.Errorf("%s: -want, +got:\n%s", in.Kind(), d)
		}
		if after := require.Value(model.Hash(again))(t); after != before {
			t.Errorf("%s: the hash is %s with an account, %s without", in.Kind(), after, before)
		}
		if model.AccountOf(in) == nil {
			t.Errorf("%s: the hash took the account away", in.Kind())
		}
		newer := strings.Replace(b.String(), `"account":{"version":1`, `"account":{"version":2`, 1)
		_, err := model.DecodeInstance([]byte(newer))
		require.Refused(t, string(in.Kind()), err, model.ErrInvalid, "account.version is 2")
	}
}
