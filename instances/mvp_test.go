// SPDX-License-Identifier: MIT

package instances

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

const (
	goodMVP    = "2\n3\n100 80 9 -1\n60 120 7 0\n150 25 3 9\n3\n1 3\n50 25\n1 0\n7 200\n1 2\n40 20\n"
	choicesMVP = "2\n3\n100 80 9 -1\n60 120 7 -1\n150 25 3 1\n2\n2 3\n50 25\n25 50\n1 2\n40 40\n"
)

// Types of bins are offers, and items jobs, under their numbers in the file. Those of which there are none are left
// out, and named.
func TestMVP(t *testing.T) {
	want := &model.Consolidation{Name: "a", Resources: []string{"d1", "d2"},
		Offers: []model.HostOffer{{ID: "bin1", Capacity: []int64{100, 80}, Price: 9, Count: 5},
			{ID: "bin3", Capacity: []int64{150, 25}, Price: 3, Count: 5}},
		Jobs: []model.ConsolidationJob{{ID: "item1", Tasks: 3, Needs: []int64{50, 25}},
			{ID: "item3", Tasks: 2, Needs: []int64{40, 20}}}}
	for _, name := range []string{"a.mvp", "a.txt", "a"} {
		for _, o := range []Options{{}, {Kind: model.KindConsolidation}, {Platform: "star,machines=2", IfNeeded: true}} {
			in := require.Value(Read(write(t, name, goodMVP), o))(t).(*model.Consolidation)
			require.Same(t, "account", []string{
				name + ": MVP, taken: 5 items, 2 types of bins, 2 dimensions",
				"left out: 1 type of bins of which there are none (bin2); 1 item of which there are none (item2)",
				"assumed: 1 type of bins without a limit: one bin for each item (bin1)",
				"note: prices are the costs of the file, which have no unit",
			}, in.Account.Lines())
			in.Account = nil
			require.Same(t, name, want, in)
		}
	}
	few := write(t, "few.mvp", strings.Replace(goodMVP, "3 9\n", "3 2\n", 1))
	in := require.Value(Read(few, Options{}))(t).(*model.Consolidation)
	require.Same(t, "limit", 2, in.Offers[1].Count)
	for want, o := range map[string]Options{
		`kind "vcsched": items and several types of bins become consolidation`: {Kind: model.KindVCSched},
		"it is an MVP file with all that it needs, leave the platform out":     {Platform: "hosts=3"},
	} {
		require.Refused(t, want, require.Err(Read(write(t, "a.mvp", goodMVP), o)), model.ErrInvalid, want)
	}
	if f := require.Value(Open(write(t, "a.mvp", goodMVP)))(t); !f.IsPacking() || f.IsLog() || f.Unread() != nil {
		t.Error("an MVP file isn't one of items and bins, which is read")
	}
}

// An error of an MVP file is one line with its place, and so is an item for which the model has no place.
func TestMVPRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":                {"", "ends before the number of dimensions"},
		"no dimension":           {"0", `the number of dimensions is "0", must be a whole number from 1 to 64`},
		"too many dimensions":    {"65", "from 1 to 64"},
		"no type":                {"1 0", "the number of types of bins"},
		"no capacity":            {"1 1 -1 1 -1 1 1 1 1", `capacity 1 of type 1 is "-1"`},
		"too large":              {"1 1 2147483648 1 -1 1 1 1 1", "capacity 1 of type 1"},
		"a fraction":             {"1 1 10 1.5 -1 1 1 1 1", `the cost of type 1 is "1.5", must be a whole number from 0 to`},
		"a gain":                 {"1 1 10 -1 -1 1 1 1 1", "the cost of type 1"},
		"a number below 0":       {"1 2 10 1 -1 10 1 -2 1 1 1 1", `the number of bins of type 2 (-1: any number) is "-2"`},
		"no items":               {"1 1 10 1 -1 0", "the number of items"},
		"only items of no count": {"1 1 10 1 -1 1 1 0 5", "no items"},
		"no choice":              {"1 1 10 1 -1 1 0 1 5", `the number of choices of item 1 is "0"`},
		"choices":                {choicesMVP, "item 1 has 2 choices, a task has one size; keep one choice of each item"},
		"choices of none":        {"1 1 10 1 -1 2 1 1 5 2 0 5 6", "item 2 has 2 choices"},
		"a negative size":        {"1 1 10 1 -1 1 1 1 -5", `size 1 of item 1 is "-5"`},
		"no size":                {"2 1 10 10 1 -1 2 1 1 5 5 1 1 0 0", "item 2 has no size"},
		"larger than each type":  {"2 2 10 5 1 -1 5 10 1 -1 2 1 1 5 5 1 1 6 6", "item 2 is larger than each type of bins of which there"},
		"larger than what is":    {"1 2 10 1 -1 20 1 0 1 1 1 15", "item 1 is larger than each type"},
		"no bins":                {"1 1 10 1 0 1 1 1 5", "item 1 is larger than each type"},
		"too many items":         {"1 1 10 1 -1 2 1 1000000 5 1 1 5", "more than 1000000 items"},
		"an end too soon":        {strings.TrimSuffix(goodMVP, " 20\n"), "ends before size 2 of item 3"},
		"options":                {goodMVP + "$VTYPE{I};", `"$VTYPE{I};" follows the last item; options aren't read`},
		"a frame":                {"#INSTANCE_BEGIN#\n$INSTANCE{\n" + goodMVP + "};", `dimensions is "#INSTANCE_BEGIN#"`},
	} {
		require.Refused(t, name, require.Err(readMVP([]byte(c.text))), model.ErrInvalid, "invalid MVP file: ")
		require.Refused(t, name, require.Err(Read(write(t, "a.mvp", c.text), Options{})), model.ErrInvalid, c.want)
	}
	// VPSolver takes the largest numbers of 32 bits, and sizes of items of which there are none.
	v := require.Value(readMVP([]byte("1 1 2147483647 100000000 2147483647 2 1 1000000 2147483647 1 0 0")))(t)
	want := mvp{[]mvpBins{{[]int64{maxMVPNumber}, maxMVPCost, maxMVPNumber}},
		[]vbpItem{{[]int64{maxMVPNumber}, 1e6}, {[]int64{0}, 0}}}
	require.Same(t, "largest", want, v, cmp.AllowUnexported(mvp{}, mvpBins{}))
}

func FuzzReadMVP(f *testing.F) {
	for _, s := range []string{goodMVP, choicesMVP, "1 1 10 1 0 1 1 1 5", "2 1 10 10 1 -1 2 1 0 0 0 1 1 3 11",
		"1\n1\n2147483647 100000000 2147483647\n1\n1 1000000\n2147483647\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		in, err := require.Value(OpenData("fuzzed.mvp", append([]byte(" "), text...)))(t).Instance(Options{})
		if err != nil {
			if !errors.Is(err, model.ErrInvalid) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("error %v", err)
			}
			return
		}
		c := in.(*model.Consolidation)
		if len(c.Offers) == 0 || c.Tasks() == 0 || c.Validate() != nil {
			t.Fatalf("%q became %+v", text, c)
		}
		if f := fileOf(string(text)); f.start != "" && isDigit(f.start[0]) && !isMVP(f) {
			t.Fatalf("%q is read and not known by its content", text)
		}
	})
}
