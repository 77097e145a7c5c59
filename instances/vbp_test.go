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

const goodVBP = "2\n10 4\n3\n5 1 2\n2 4 1\n9 0 0\n"

func TestReadVBP(t *testing.T) {
	v := require.Value(ReadVBP([]byte(goodVBP)))(t)
	want := VBP{[]int64{10, 4}, []vbpItem{{[]int64{5, 1}, 2}, {[]int64{2, 4}, 1}}}
	if d := cmp.Diff(want, v); d != "" || v.FirstFit() != 2 {
		t.Errorf("%s, %d hosts", d, v.FirstFit())
	}
	in := require.Value(v.Place("two", 2))(t)
	require.Same(t, "result", &model.VCSched{Name: "two", Hosts: 2, Resources: []string{"d2"}, Jobs: []model.VCSchedJob{
		{ID: "item1", Tasks: 2, Memory: 0.5, Resources: []float64{0.25}}, {ID: "item2", Tasks: 1, Memory: 0.2, Resources: []float64{1}}}}, in)
	for name, c := range map[string]struct{ text, want string }{
		"nothing":                 {"", "ends before the number of dimensions"},
		"no dimension":            {"0\n", "the number of dimensions is \"0\""},
		"too many dimensions":     {"66\n", "from 1 to 65"},
		"a fraction":              {"1\n10.5\n1\n1 1", "capacity 1 is \"10.5\""},
		"an end too soon":         {strings.TrimSuffix(goodVBP, "0\n"), "ends before the count of item 3"},
		"larger than a bin":       {"1\n10\n1\n11 1", "size 1 of item 1 is \"11\""},
		"an item of no size":      {"2\n10 10\n1\n0 0 1", "item 1 has no size"},
		"a negative count":        {"1\n10\n1\n5 -1", "the count of item 1"},
		"no items":                {"1\n10\n1\n5 0", "no items"},
		"too many items":          {"1\n10\n2\n5 1000000\n5 1", "more than 1000000 items"},
		"options":                 {goodVBP + "$VTYPE{I};", "options"},
		"a capacity too fine":     {"1\n100000001\n1\n1 1", "capacity 1"},
		"a size without capacity": {"2\n10 0\n1\n1 1 1", "size 2 of item 1"},
	} {
		require.Refused(t, name, require.Err(ReadVBP([]byte(c.text))), model.ErrInvalid, c.want)
	}
}

func TestVBPFirstFit(t *testing.T) {
	for text, want := range map[string]int{
		"1\n10\n1\n6 3":             3, // by the sums 2
		"1\n10\n2\n4 3\n6 3":        3,
		"2\n10 10\n2\n9 1 2\n1 9 2": 2,
		"1\n10\n1\n3 7":             3,
		// The bins of 300 large items are forgotten when the small ones come.
		"1\n10\n2\n6 500\n4 500": 500 + 150,
	} {
		if v, err := ReadVBP([]byte(text)); err != nil || v.FirstFit() != want {
			t.Errorf("%q: %d hosts, %v, want %d", text, v.FirstFit(), err, want)
		}
	}
	require.Same(t, "hosts of items larger than a bin", 2, (VBP{[]int64{10}, []vbpItem{{[]int64{11}, 2}}}).FirstFit())
}

func TestLoadVBP(t *testing.T) {
	for _, name := range []string{"a.vbp", "a.txt"} {
		for platform, hosts := range map[string]int{"": 2, "hosts=7": 7} {
			in, err := loadOn(write(t, name, goodVBP), platform)
			if v, ok := in.(*model.VCSched); err != nil || !ok || v.Name != "a" || v.Hosts != hosts {
				t.Errorf("%s on %q: %+v, %v", name, platform, in, err)
			}
		}
	}
	for _, platform := range []string{"uniform", "hosts=", "hosts=0", "hosts=1e3"} {
		require.Refused(t, platform, require.Err(loadOn(write(t, "b.vbp", goodVBP), platform)), model.ErrInvalid, "")
	}
	// A task graph stays one.
	if in, err := loadOn(write(t, "graph", smallSTG), "uniform"); err != nil || in.Kind() != model.KindDAG {
		t.Errorf("%v, %v", in, err)
	}
}

// Plain lists are packing of one dimension, and other packing texts are named for what they are.
func TestPackingLists(t *testing.T) {
	for name, text := range map[string]string{"bpp": "3\r\n10\r\n6\r\n6\r\n4\r\n", "csp": "2\n10\n6 2\n 4 1"} {
		in := require.Value(loadOn(write(t, name+".txt", text), ""))(t).(*model.VCSched)
		sum := 0.0
		for _, j := range in.Jobs {
			sum += float64(j.Tasks) * j.Memory
		}
		require.Same(t, name, [2]float64{2, 1.6}, [2]float64{float64(in.Hosts), sum})
		require.Same(t, name, []string{name + ".txt: bin packing, taken: 3 items, 1 dimension"}, in.Account.Lines()[:1])
		require.Same(t, name, "the lines are the number of items, the capacity, and sizes, of one dimension", in.Account.Assumed[0].Text)
	}
	for text, want := range map[string]string{
		"2\n u120_00\n 150 120 48\n 42\n": "several problems of bin packing (OR-Library's binpack), which isn't read; write one a file",
		"4 10\n1 6\n2 6\n3 4\n":           "numbers in no form that is known, which isn't read; task graphs of the STG set are named .stg",
		"3\n10\n6\n6\n":                   "numbers in no form that is known",
		"2\n10 12\n6\n6\n":                "numbers in no form that is known",
	} {
		require.Refused(t, text, require.Err(loadOn(write(t, "a.txt", text), "")), model.ErrInvalid, "it looks like "+want)
	}
	require.Refused(t, "a fraction", require.Err(loadOn(write(t, "b.txt", "2\n10\n6.5\n6\n"), "")), model.ErrInvalid, `size 1 of item 1 is "6.5"`)
}

// Bins are equal hosts of a consolidation instance, too.
func TestVBPToConsolidation(t *testing.T) {
	in := require.Value(Read(write(t, "two.vbp", goodVBP), Options{Kind: model.KindConsolidation}))(t).(*model.Consolidation)
	require.Same(t, "account", "two.vbp", in.Account.Files[0].File)
	in.Account = nil
	require.Same(t, "instance", &model.Consolidation{Name: "two", PriceUnit: "bins", Resources: []string{"d1", "d2"},
		Hosts: []model.ConsolidationHost{{ID: "host1", Capacity: []int64{10, 4}, Price: 1}, {ID: "host2", Capacity: []int64{10, 4}, Price: 1}},
		Jobs:  []model.ConsolidationJob{{ID: "item1", Tasks: 2, Needs: []int64{5, 1}}, {ID: "item2", Tasks: 1, Needs: []int64{2, 4}}}}, in)
	in = require.Value(Read(write(t, "two.vbp", goodVBP), Options{Kind: model.KindConsolidation, Platform: "hosts=5"}))(t).(*model.Consolidation)
	require.Same(t, "hosts", 5, len(in.Hosts))
	for _, o := range []Options{{Kind: model.KindDAG}, {Kind: model.KindConsolidation, Platform: "hosts=0"}} {
		require.Refused(t, "options", require.Err(Read(write(t, "two.vbp", goodVBP), o)), model.ErrInvalid, "")
	}
}

// Every file of the data set is read, and by content alone, too, but those triplets in
// which an item has a negative size.
func TestVBPDataSet(t *testing.T) {
	t.Parallel()
	read, refused := 0, 0
	for name, data := range require.TarGz(t, "vbp", "vbp.tar.gz") {
		if !strings.HasSuffix(name, ".vbp") {
			continue
		}
		v, err := ReadVBP(data)
		if strings.Contains(string(data), " -") {
			require.Refused(t, name, err, model.ErrInvalid, "")
			refused++
			continue
		}
		if err != nil || !isVBP(data) {
			t.Fatalf("%s: %v", name, err)
		}
		hosts := v.FirstFit()
		require.OK(t, errors.Join(require.Err(v.Place(name, hosts)), require.Err(v.consolidate(name, hosts))))
		read++
	}
	if read+refused != 960 || refused != 13 {
		t.Errorf("%d files, %d refused", read, refused)
	}
}

func FuzzReadVBP(f *testing.F) {
	for _, s := range []string{goodVBP, "2\n10\n6 2\n 4 1", "2\n1\n100 80 9 -1\n1\n2 3\n50 25\n25 50\n", "1\n10\n1\n5 3", "3\n1000 1000 1000\n1\n267 375 305 1\n", "1 0 1 0 1", "9223372036854775807"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		isVBP(text)
		isMVP(fileOf(string(text)))
		if list := ofList(text); list != nil && !isVBP(list) && require.Err(ReadVBP(list)) == nil {
			t.Fatalf("%q is a list, and %q no VBP", text, list)
		}
		v, err := ReadVBP(text)
		if err != nil {
			if !errors.Is(err, model.ErrInvalid) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("error %v", err)
			}
			return
		}
		if _, err := v.Place("fuzzed", v.FirstFit()); err != nil {
			t.Fatalf("%v: %+v", err, v)
		}
	})
}
