// SPDX-License-Identifier: MIT

package instances

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

const goodVBP = "2\n10 4\n3\n5 1 2\n2 4 1\n9 0 0\n"

func TestReadVBP(t *testing.T) {
	t.Parallel()
	v, err := ReadVBP([]byte(goodVBP))
	if err != nil {
		t.Fatal(err)
	}
	want := VBP{[]int64{10, 4}, []vbpItem{{[]int64{5, 1}, 2}, {[]int64{2, 4}, 1}}}
	if d := cmp.Diff(want, v); d != "" || v.FirstFit() != 2 {
		t.Errorf("%s, %d hosts", d, v.FirstFit())
	}
	in, err := v.Place("two", 2)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(&model.VCSched{Name: "two", Hosts: 2, Resources: []string{"d2"}, Jobs: []model.VCSchedJob{
		{ID: "item1", Tasks: 2, Memory: 0.5, Resources: []float64{0.25}}, {ID: "item2", Tasks: 1, Memory: 0.2, Resources: []float64{1}}}}, in); d != "" {
		t.Error(d)
	}
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
		if _, err := ReadVBP([]byte(c.text)); !errors.Is(err, model.ErrInvalid) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line with %q", name, err, c.want)
		}
	}
}

func TestVBPFirstFit(t *testing.T) {
	t.Parallel()
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
	if n := (VBP{[]int64{10}, []vbpItem{{[]int64{11}, 2}}}).FirstFit(); n != 2 {
		t.Errorf("items larger than a bin: %d hosts", n)
	}
}

func TestLoadVBP(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, name := range []string{"a.vbp", "a.txt"} {
		in, err := LoadOn(write(name, goodVBP), "")
		if v, ok := in.(*model.VCSched); err != nil || !ok || v.Name != "a" || v.Hosts != 2 {
			t.Errorf("%s: %+v, %v", name, in, err)
		}
		in, err = LoadOn(write(name, goodVBP), "hosts=7")
		if v, ok := in.(*model.VCSched); err != nil || !ok || v.Hosts != 7 {
			t.Errorf("%s on seven hosts: %+v, %v", name, in, err)
		}
	}
	for _, platform := range []string{"uniform", "hosts=", "hosts=0", "hosts=1e3"} {
		if _, err := LoadOn(write("b.vbp", goodVBP), platform); !errors.Is(err, model.ErrInvalid) {
			t.Errorf("platform %q: error %v", platform, err)
		}
	}
	// A task graph stays one.
	if in, err := LoadOn(write("graph", goodSTG), "uniform"); err != nil || in.Kind() != model.KindDAG {
		t.Errorf("%v, %v", in, err)
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
			if !errors.Is(err, model.ErrInvalid) {
				t.Errorf("%s: a negative size gives %v", name, err)
			}
			refused++
			continue
		}
		if err != nil || !isVBP(data) {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := v.Place(name, v.FirstFit()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		read++
	}
	if read+refused != 960 || refused != 13 {
		t.Errorf("%d files, %d refused", read, refused)
	}
}

func FuzzReadVBP(f *testing.F) {
	for _, s := range []string{goodVBP, "1\n10\n1\n5 3", "3\n1000 1000 1000\n1\n267 375 305 1\n", "1 0 1 0 1", "9223372036854775807"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		isVBP(text)
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
