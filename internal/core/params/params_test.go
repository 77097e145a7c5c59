// SPDX-License-Identifier: MIT

package params

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
)

type word string

// spec has a parameter of each type, one with each tag, and a field that is
// none.
type spec struct {
	Count  int     `key:"count" default:"4" min:"1" usage:"how many"`
	Size   int     `key:"max_size" required:"yes" small:"2,3" hard:"90" usage:"the most"`
	Factor float64 `key:"factor" default:"0.5" above:"0" shown:"a half" usage:"by how much"`
	Share  float64 `key:"share" min:"0.25"`
	Log    string  `key:"log" file:"yes" usage:"a file"`
	Word   word    `key:"word" default:"one"`
	Seed   uint64  // no parameter
}

func parameter(t *testing.T, spec any, key string) Param {
	t.Helper()
	for _, p := range Of(spec) {
		if p.Key == key {
			return p
		}
	}
	t.Fatalf("no parameter %q", key)
	return Param{}
}

func TestOf(t *testing.T) {
	want := []Param{
		{Key: "count", Default: "4", Usage: "how many", min: "1"},
		{Key: "max_size", Usage: "the most", Required: true, Small: []string{"2", "3"}, Hard: "90", field: 1},
		{Key: "factor", Default: "0.5", Shown: "a half", Usage: "by how much", above: "0", field: 2},
		{Key: "share", min: "0.25", field: 3},
		{Key: "log", Usage: "a file", File: true, Text: true, field: 4},
		{Key: "word", Default: "one", Text: true, field: 5},
	}
	for _, s := range []any{spec{}, &spec{}, (*spec)(nil)} {
		if got := Of(s); !reflect.DeepEqual(got, want) {
			t.Errorf("parameters %+v, want %+v", got, want)
		}
	}
	require.Same(t, "flag", "max-size", want[1].Flag())
	if got := Of(struct{ A, B int }{}); len(got) > 0 {
		t.Errorf("fields without keys are parameters: %+v", got)
	}
}

func TestSetDefaults(t *testing.T) {
	in := &spec{Count: 7, Size: 3, Share: 9, Log: "kept", Word: "two", Seed: 5}
	got := SetDefaults(in)
	if want := (spec{Count: 4, Size: 3, Factor: 0.5, Share: 9, Log: "kept", Word: "one", Seed: 5}); got != in || *got != want {
		t.Errorf("%+v, want %+v", *got, want)
	}
}

// The mistakes of a program that SetDefaults panics for.
func TestSetDefaultsPanics(t *testing.T) {
	for name, set := range map[string]func(){
		"no whole number": func() {
			SetDefaults(&struct {
				A int `key:"a" default:"0.5"`
			}{})
		},
		"no number": func() {
			SetDefaults(&struct {
				A float64 `key:"a" default:"half"`
			}{})
		},
		"unknown type": func() {
			SetDefaults(&struct {
				A bool `key:"a" default:"true"`
			}{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			set()
		})
	}
}

func TestSetRefuses(t *testing.T) {
	for _, c := range []struct{ key, text, want string }{
		{"count", "0", "is 0, must be at least 1"},
		{"count", "-3", "is -3, must be at least 1"},
		{"count", "1.5", `is "1.5", must be a whole number`},
		{"count", "1e3", `is "1e3", must be a whole number`},
		{"count", "", `is "", must be a whole number`},
		{"count", "99999999999999999999", "must be a whole number"},
		{"factor", "0", "is 0, must be above 0"},
		{"factor", "-1", "is -1, must be above 0"},
		{"factor", "NaN", "is NaN, must be above 0"},
		{"factor", "much", `is "much", must be a number`},
		{"factor", "1e999", `is "1e999", must be a number`},
		{"share", "0.2499", "is 0.2499, must be at least 0.25"},
		{"share", "nan", "is nan, must be at least 0.25"},
	} {
		err := parameter(t, spec{}, c.key).Set(&spec{}, c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s=%q: error %v, want %q", c.key, c.text, err, c.want)
		}
	}
	for key, texts := range map[string][]string{"count": {"1"}, "max_size": {"-1"}, "factor": {"5e-324", "+Inf"}, "share": {"0.25"}, "log": {"", "0"}, "word": {"-1"}} {
		for _, text := range texts {
			if err := parameter(t, spec{}, key).Set(&spec{}, text); err != nil {
				t.Errorf("%s=%q: %v", key, text, err)
			}
		}
	}
}

// A field of an unknown type is an error of Set, and no number.
func TestUnknownType(t *testing.T) {
	s := &struct {
		A bool `key:"a"`
	}{}
	err := parameter(t, s, "a").Set(s, "true")
	if err == nil || !strings.Contains(err.Error(), "bool, must be int, float64 or a string type") || s.A {
		t.Errorf("error %v, value %v", err, s.A)
	}
	if got := Numbers(s); len(got) > 0 {
		t.Errorf("numbers %v", got)
	}
}

// A value that Set accepts is in the struct and, if it is a number, in Numbers; the other parameters keep their values.
func TestSetThenNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	s := SetDefaults(new(spec))
	want := map[string]float64{"count": 4, "max_size": 0, "factor": 0.5, "share": 0}
	all := Of(s)
	accepted := 0
	for range 5000 {
		p := all[rng.IntN(len(all))]
		x := math.Ldexp(rng.Float64()-0.2, rng.IntN(40)-20)
		text := strconv.FormatFloat(x, 'g', -1, 64)
		if p.Key == "count" || p.Key == "max_size" {
			x = math.Round(x)
			text = fmt.Sprint(int(x))
		}
		err := p.Set(s, text)
		refused := p.Key == "count" && x < 1 || p.Key == "factor" && x <= 0 || p.Key == "share" && x < 0.25
		require.Is(t, err != nil, refused, p.Key, "=", text, "is refused:", err)
		if err != nil {
			s = SetDefaults(new(spec)) // a refused value isn't specified
			want = map[string]float64{"count": 4, "max_size": 0, "factor": 0.5, "share": 0}
			continue
		}
		accepted++
		if !p.Text {
			want[p.Key] = x
		} else if got := reflect.ValueOf(*s).FieldByIndex([]int{p.field}).String(); got != text {
			t.Fatalf("%s is %q, want %q", p.Key, got, text)
		}
		for _, numbers := range []map[string]float64{Numbers(s), Numbers(*s)} {
			require.Same(t, fmt.Sprintf("after %s=%s", p.Key, text), want, numbers)
		}
	}
	if accepted < 1000 {
		t.Errorf("%d of 5000 accepted", accepted)
	}
}
