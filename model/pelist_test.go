// SPDX-License-Identifier: MIT

package model_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

func TestPEList(t *testing.T) {
	t.Parallel()
	type list = model.PEList
	for name, c := range map[string]struct {
		text   string
		want   list
		string string // if not text
		n      int
	}{
		"empty":         {"", list{}, "", 0},
		"one":           {"5", list{{First: 5, Last: 5}}, "", 1},
		"zero":          {"0", list{{First: 0, Last: 0}}, "", 1},
		"range":         {"0-31", list{{First: 0, Last: 31}}, "", 32},
		"several":       {"0-31,64,70-71", list{{First: 0, Last: 31}, {First: 64, Last: 64}, {First: 70, Last: 71}}, "", 35},
		"range of one":  {"3-3", list{{First: 3, Last: 3}}, "3", 1},
		"neighbours":    {"0,1,2-4,5-5,7", list{{First: 0, Last: 5}, {First: 7, Last: 7}}, "0-5,7", 7},
		"leading zeros": {"000000000007-010", list{{First: 7, Last: 10}}, "7-10", 4},
		"last":          {"0-9999999", list{{First: 0, Last: 9_999_999}}, "", 10_000_000},
	} {
		t.Run(name, func(t *testing.T) {
			got := list{{First: 1, Last: 2}} // earlier contents go
			require.OK(t, got.UnmarshalText([]byte(c.text)))
			require.Same(t, "result", c.want, got)
			if c.string == "" {
				c.string = c.text
			}
			if text, err := got.MarshalText(); err != nil || string(text) != c.string || got.String() != c.string || got.Len() != c.n {
				t.Errorf("%q, error %v, %d PEs, want %q, %d", text, err, got.Len(), c.string, c.n)
			}
		})
	}
}

func TestPEListErrors(t *testing.T) {
	t.Parallel()
	const neither = `is neither a PE number nor a range like 0-31`
	for text, want := range map[string]string{
		" ": `" " ` + neither, ",": `"" ` + neither, "1,": `"" ` + neither, ",1": `"" ` + neither, "-": `"-" ` + neither, "1-": `"1-" ` + neither,
		"-1": `"-1" ` + neither, "1-2-3": `"1-2-3" ` + neither, "+1": `"+1" ` + neither, "1-+2": `"1-+2" ` + neither, "1_0": `"1_0" ` + neither,
		"0x1": `"0x1" ` + neither, "1, 2": `" 2" ` + neither, "1 ": `"1 " ` + neither, "1.0": `"1.0" ` + neither, "2-1": `"2-1" ` + neither,
		"1\n": `"1\n" ` + neither, "10000000": `"10000000" ` + neither, "99999999999999999999": `"99999999999999999999" ` + neither, "٣": `"٣" ` + neither,
		"1,1":     `"1" comes after 1, list each PE once and in ascending order`,
		"5-9,7":   `"7" comes after 9, list each PE once and in ascending order`,
		"5-9,0-4": `"0-4" comes after 9, list each PE once and in ascending order`,
		"1-2,2-3": `"2-3" comes after 2, list each PE once and in ascending order`,
	} {
		got := model.PEList{{First: 1, Last: 2}}
		err := got.UnmarshalText([]byte(text))
		if !errors.Is(err, model.ErrInvalid) || err.Error() != "invalid PE list: "+want {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
		require.Same(t, fmt.Sprintf("%q changed the list", text), model.PEList{{First: 1, Last: 2}}, got)
	}
}

// Append makes the list of a set, PE by PE.
func TestPEListAppend(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		var l model.PEList
		var in [70]bool
		n := 0
		for p := range in {
			if in[p] = rng.IntN(3) > 0; in[p] {
				l, n = l.Append(p), n+1
			}
		}
		var back [70]bool
		for i, r := range l {
			if r.First > r.Last || i > 0 && r.First <= l[i-1].Last+1 {
				t.Fatalf("%v: ranges touch or are empty", l)
			}
			for p := r.First; p <= r.Last; p++ {
				back[p] = true
			}
		}
		if back != in || l.Len() != n {
			t.Fatalf("%v has %d PEs, want %v", l, l.Len(), in)
		}
	}
}

// A parsed list is written so that it can be read again, and a list outside the published pattern is refused. A list
// that is refused although the pattern accepts it fails by the order of its numbers.
func FuzzPEList(f *testing.F) {
	for _, text := range []string{"", "0", "0-31,64,70-71", "7-6", "1,1", "007", "0-9999999", "10000000", "1-2-3", ",", "-1", "1,-", "0,1,2,3-4"} {
		f.Add(text)
	}
	number := `0*[0-9]{1,7}`
	part := number + `(-` + number + `)?`
	pattern := regexp.MustCompile(`\A(` + part + `(,` + part + `)*)?\z`)
	f.Fuzz(func(t *testing.T, text string) {
		var l model.PEList
		err := l.UnmarshalText([]byte(text))
		if err != nil {
			require.Refused(t, "error", err, model.ErrInvalid, "")
			return
		}
		if !pattern.MatchString(text) {
			t.Errorf("%q is read as %v, the pattern refuses it", text, l)
		}
		for i, r := range l {
			if r.First < 0 || r.First > r.Last || i > 0 && r.First <= l[i-1].Last+1 {
				t.Errorf("%q gives %v", text, []model.PERange(l))
			}
		}
		var again model.PEList
		require.OK(t, again.UnmarshalText([]byte(l.String())))
		require.Same(t, "again", l, again)
		if len(l.String()) > len(text) {
			t.Errorf("%q becomes longer: %q", text, l)
		}
	})
}
