// SPDX-License-Identifier: MIT

package model_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// Every error names the key with its index, the line, and the expected and the actual value.
func TestPlaces(t *testing.T) {
	const job = `{"id":"a","tasks":1,"cpu":0.5,"memory":0.5}`
	vcsched := func(jobs string) string {
		return "{\"kind\":\"vcsched\",\"version\":1,\"name\":\"x\",\"hosts\":2,\n\"jobs\":[" + job + ",\n" + jobs + "]}"
	}
	dag := func(costs string) string {
		return `{"kind":"dag","version":1,"name":"x","machines":[{"id":"P"}],"tasks":[{"id":"t","cost_s":[1]},` + "\n" + `{"id":"u","cost_s":` + costs + `}],"edges":[]}`
	}
	for name, c := range map[string]struct{ text, want string }{
		"string for a number":   {vcsched(strings.Replace(job, "0.5", `"0.5"`, 1)), `line 3: jobs[1].cpu: a number is wanted, "0.5" is a string`},
		"number for a string":   {vcsched(strings.Replace(job, `"a"`, "7", 1)), "line 3: jobs[1].id: a string is wanted, 7 is a number"},
		"fraction":              {vcsched(strings.Replace(job, ":1", ":1.5", 1)), "line 3: jobs[1].tasks: a whole number is wanted, 1.5 isn't one, or too large"},
		"true for a number":     {vcsched(strings.Replace(job, ":1", ":true", 1)), "line 3: jobs[1].tasks: a whole number is wanted, true isn't one"},
		"list for a number":     {vcsched(strings.Replace(job, ":1", ":[1]", 1)), "line 3: jobs[1].tasks: a whole number is wanted, there is a list"},
		"object for a number":   {vcsched(strings.Replace(job, ":1", `:{"n":1}`, 1)), "line 3: jobs[1].tasks: a whole number is wanted, there is an object"},
		"in a list of a list":   {dag(`[1,"2"]`), `line 2: tasks[1].cost_s[1]: a number is wanted, "2" is a string`},
		"number for a list":     {dag(`3`), "line 2: tasks[1].cost_s: a list is wanted, 3 is a number"},
		"beyond floats":         {dag(`[1e999]`), "line 2: tasks[1].cost_s[0]: a number is wanted, 1e999 is too large"},
		"kind":                  {`{"kind":5}`, "line 1: kind: a string is wanted, 5 is a number"},
		"no object":             {`[1]`, "line 1: the file: an object is wanted, there is a list"},
		"bytes in a name":       {vcsched(strings.Replace(job, `"a"`, "\"\xff\"", 1)), "line 3: jobs[1].id: the byte 0xff isn't UTF-8"},
		"bytes in a key":        {vcsched(strings.Replace(job, `"id"`, "\"i\xe4\"", 1)), "line 3: jobs[1].i\ufffd: the byte 0xe4 isn't UTF-8"},
		"half a character":      {vcsched(strings.Replace(job, `"a"`, `"\ud83d"`, 1)), `line 3: jobs[1].id: the escape \ud83d is half a character`},
		"its other half":        {vcsched(strings.Replace(job, `"a"`, `"\uDE00"`, 1)), `line 3: jobs[1].id: the escape \uDE00 is half a character`},
		"the wrong way round":   {vcsched(strings.Replace(job, `"a"`, `"\uDE00\ud83d"`, 1)), `line 3: jobs[1].id: the escape \uDE00 is half a character`},
		"after a whole one":     {vcsched(strings.Replace(job, `"a"`, `"\ud83d\ude00\ud83d"`, 1)), `line 3: jobs[1].id: the escape \ud83d is half a character`},
		"a whole one":           {vcsched(strings.Replace(job, `"a"`, `"\ud83d\ude00"`, 1)), ""},
		"a backslash and text":  {vcsched(strings.Replace(job, `"a"`, `"\\ud83d"`, 1)), ""},
		"the replacement rune":  {vcsched(strings.Replace(job, `"a"`, "\"\ufffd\"", 1)), ""},
		"bytes after the value": {vcsched(job) + "\n\xfe", "line 4: the byte 0xfe isn't UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := model.DecodeInstance([]byte(c.text))
			if c.want == "" {
				if err != nil {
					t.Errorf("error %v", err)
				}
				return
			}
			if !errors.Is(err, model.ErrInvalid) || !strings.HasSuffix(err.Error(), c.want) {
				t.Errorf("error %q, want one that wraps ErrInvalid and ends in %q", err, c.want)
			}
		})
	}
	const result = `{"instance":"x","instance_hash":"h","kind":"dag","algorithm":"a","status":"unknown","objective":%,"second_objective":null,"bound":null,"gap":null,"elapsed_s":1,"nodes":0,"seed":1,"version":"v"}`
	for value, want := range map[string]string{
		`"7"`:  `line 1: objective: a number is wanted, "7" isn't one`,
		`[7]`:  "line 1: objective: a number is wanted, [7] isn't one",
		"7":    "",
		"null": "",
	} {
		_, err := model.DecodeResult([]byte(strings.Replace(result, "%", value, 1)))
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasSuffix(err.Error(), want)) {
			t.Errorf("objective %s: error %v, want %q", value, err, want)
		}
	}
}

func TestCheckText(t *testing.T) {
	require.Refused(t, "line 2: the byte 0xc3", model.CheckText([]byte("a\nb\xc3\x28")), model.ErrInvalid,
		"line 2: the byte 0xc3")
	if err := model.CheckText([]byte("gr\u00fcn \ufffd")); err != nil {
		t.Error(err)
	}
}
