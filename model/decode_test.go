// SPDX-License-Identifier: MIT

package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/internal/test/require"
)

// documents are valid files of every kind, with all that their formats know.
var documents = []string{
	`{"kind":"vcsched","version":1,"name":"grün \u00fc\n<&>","hosts":2,"jobs":[
{"id":"a","tasks":1,"cpu":0.5,"memory":0.3},
{"id":"b","tasks":2,"cpu":1e-12,"memory":-0,"current_hosts":[0,1]},
{"id":"c","tasks":1,"cpu":0.12345678901234567890123,"memory":1E-1,"current_hosts":[]}],"migration_budget":0.5}`,
	`{"kind":"vcsched","version":1,"jobs":[{"id":"a","hosts":[0,1],"cpu":[0.5,1]},{"id":"b","hosts":[],"cpu":[]}]}`,
	`{"version":1,"kind":"dag","name":"rich","transfer_model":"tcp","machines":[{"id":"P1","speed":2},{"id":"P2","speed":1e-30,"startup_s":0.5}],
"tasks":[{"id":"1","cost_s":[14,16.25]},{"id":"2","work":0},{"id":"3","work":0.5,"cost_s":[]}],
"edges":[{"from":"1","to":"2","data":3},{"from":"1","to":"3","data":4e0}],
"network":{"bandwidth":1,"path_capacity":[[0,1],[1,-1]],"links":[{"id":"b"},{"id":"c","capacity":2}],
"routes":[{"from":"P1","to":"P2","links":["b","c"],"one_way":true},{"from":"P2","to":"P1","links":[],"one_way":true}]}}`,
	`{"kind":"dag","version":1,"transfer_model":"fair","tasks":[{"id":"1","machine":"P1","start_s":0}],"transfers":[{"from":"1","to":"2","start_s":14.5}]}`,
	`{"kind":"reservation","version":1,"name":"three","goal":"pe_seconds","pes":64,"requests":[
{"id":"a","arrival_s":0,"ready_s":10,"duration_s":60,"deadline_s":200,"pes":33},
{"id":"b","arrival_s":5,"ready_s":5,"duration_s":0.5,"deadline_s":5.5,"pes":64,"runtime_s":0.25,"cancel_s":30},
{"id":"\ud83d\ude00","arrival_s":5,"ready_s":100,"duration_s":100,"deadline_s":1000,"pes":1,"runtime_s":100,"cancel_s":400}]}`,
	`{"kind":"reservation","version":1,"goal":"all","online":true,"bookings":[{"id":"a","start_s":10,"pes":"0-31,40"},{"id":"c","start_s":1e2,"pes":""}]}`,
	`{"kind":"tvc","version":1,"name":"three","fat_tree":{"k":4,"slots":2,"link_mbps":1000,"layers_mbps":{"server":100.5,"edge":0},"fabric":"one-path"},
"queue":false,"goal":"revenue","hose":"per-path","migration_s":0.5,"requests":[{"id":"a","arrival_s":0,"vms":4,"bandwidth_mbps":50.25,"duration_s":60}]}`,
	`{"kind":"tvc","version":1,"runs":[{"id":"a","segments":[{"start_s":0,"end_s":30.5,"place":{"switch":"aggregation-1-0","servers":[{"server":4,"vms":2}]}},
{"start_s":40,"end_s":1e2,"place":{"switch":"core-0-1","servers":[]}}]},{"id":"b","segments":[]}]}`,
	`{"instance":"x","instance_hash":"sha256:0","kind":"tvc","algorithm":"a","status":"feasible","objective":12.5,"second_objective":1,"bound":null,"gap":null,
"elapsed_s":1,"nodes":0,"seed":1,"version":"v","never_fit":3,"embeddable":0,"solution":{"kind":"tvc","version":1,"runs":[]}}`,
	`{"kind":"batch","version":1,"name":"three","processors":8,"tiers":2,"threshold":0.9,"migration_s":20,"kill_at_estimate":true,"jobs":[
{"id":"a","submit_s":0,"runtime_s":1e2,"estimate_s":200.5,"processes":2,"cpu":[0.5,1],"fg_loss":0.04,"bg_efficiency":0.48},{"id":"b","submit_s":0,"runtime_s":0.000001,"processes":8,"cpu":[]}]}`,
	`{"kind":"batch","version":1,"runs":[{"id":"a","segments":[{"start_s":0,"end_s":30.5,"place":{"tier":"background","processors":"5,3"},"lost":true},
{"start_s":40,"end_s":1e2,"place":{"processors":"0-1"}}]},{"id":"b","segments":[]}]}`,
	`{"instance":"x","instance_hash":"sha256:0","kind":"batch","algorithm":"a","status":"feasible","objective":12.5,"second_objective":1,"bound":null,"gap":null,
"elapsed_s":1,"nodes":0,"seed":1,"version":"v","solution":{"kind":"batch","version":1,"runs":[]}}`,
	`{"instance":"x","instance_hash":"sha256:0","kind":"dag","algorithm":"a","status":"feasible","objective":12.5,"second_objective":null,"bound":-0.5,"gap":null,
"gap_limit":0.5,"elapsed_s":1,"nodes":9007199254740993,"seed":18446744073709551615,"version":"v","unverified":true,"reason":"r",
"trace":[{"round":1,"planned":1,"realistic":2.5,"kept":true}],"solution":{"kind":"dag","version":1,"tasks":[],"transfers":[]}}`,
	`{"instance":"","instance_hash":"","kind":"reservation","algorithm":"","status":"unknown","objective":1,"second_objective":null,"bound":2,"gap":null,"elapsed_s":0,"nodes":-1,"seed":0,"version":"","conflict":["a","b"],"solution":null}`,
}

// agreeWithOracle compares the decoder's result for data with the earlier decoder's. It reports whether the oracle
// accepts data in any way.
func agreeWithOracle(t *testing.T, data []byte) (accepted bool) {
	t.Helper()
	compare := func(what string, got, want any, gotErr, wantErr error) {
		t.Helper()
		if wantErr == nil {
			accepted = true
		}
		switch {
		case (gotErr == nil) != (wantErr == nil):
			t.Fatalf("%s: error %v, the oracle says %v\n%.2000s", what, gotErr, wantErr, data)
		case gotErr != nil && !sameMessage(gotErr.Error(), wantErr.Error(), data):
			t.Fatalf("%s: error\n%v\nthe oracle says\n%v\n%.2000s", what, gotErr, wantErr, data)
		case gotErr == nil && !reflect.DeepEqual(got, want): // it distinguishes nil from empty, and not -0 from 0
			require.Same(t, what, want, got,
				cmp.Comparer(func(a, b number) bool { return math.Float64bits(float64(a)) == math.Float64bits(float64(b)) }))
		case gotErr == nil:
			a, errA := json.Marshal(got)
			b, errB := json.Marshal(want)
			if errA != nil || errB != nil || !bytes.Equal(a, b) {
				t.Fatalf("%s: %s, error %v, want %s, error %v", what, a, errA, b, errB)
			}
		}
	}
	in, err := DecodeInstance(data)
	wantIn, wantErr := oracleInstance(data)
	compare("instance", in, wantIn, err, wantErr)
	s, err := DecodeSolution(data)
	wantS, wantErr := oracleSolution(data)
	compare("solution", s, wantS, err, wantErr)
	f, _, err := decodeResultFile(data)
	wantF, wantErr := oracleResult(data)
	compare("result", f, wantF, err, wantErr)
	return accepted
}

// sameMessage allows for the changes. Null in a list, and a wrong value in the place of text or of a number of a
// result, is reported on the line where it begins, and not where the list ends. If there are two kinds or versions, and
// one is spelt in capitals, the first in its own spelling counts.
func sameMessage(got, want string, data []byte) bool {
	if got == want {
		return true
	}
	lines := bytes.ContainsRune(data, '\n')
	_, gotRest, _ := strings.Cut(got, ": ")
	_, wantRest, _ := strings.Cut(want, ": ")
	_, gotRest, a := strings.Cut(gotRest, ": ")
	_, wantRest, b := strings.Cut(wantRest, ": ")
	if lines && a && b && gotRest == wantRest && (strings.Contains(got, "must be") || strings.Contains(got, "isn't one")) {
		return true
	}
	lower := bytes.ToLower(data)
	return bytes.Count(lower, []byte(`"kind"`)) > 1 || bytes.Count(lower, []byte(`"version"`)) > 1 || bytes.Contains(data, []byte(`\u`))
}

// Values and bytes of valid files are changed at random.
func TestDecodeAgreesWithOracle(t *testing.T) {
	t.Parallel()
	for k, document := range documents {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			t.Parallel()
			if !agreeWithOracle(t, []byte(document)) {
				_, err := oracleInstance([]byte(document))
				t.Fatal("the document is refused", err)
			}
			rng := rand.New(rand.NewPCG(1, uint64(k)))
			accepted := 0
			draws := require.Rounds(1000)
			for range draws {
				if agreeWithOracle(t, mutateText(rng, document)) {
					accepted++
				}
			}
			if accepted == 0 && !testing.Short() || accepted > draws*9/10 {
				t.Errorf("%d of %d accepted", accepted, draws)
			}
		})
	}
}

// mutateText changes one to three tokens or bytes of a document.
func mutateText(rng *rand.Rand, document string) []byte {
	tokens := tokensOf(document)
	others := []string{"null", "true", "false", `"x"`, `""`, "-1", "0", "-0", "1.0", "1e2", "1.5", "1e999", "01", "+1", "1.", ".5", "-", "12345678901234567890", "9223372036854775808",
		"0.1234567890123456789", "1e-400", "9007199254740993", "4.35", "[]", "{}", "[null]", `[1,"2",null]`, "[[1]]", `{"a":null}`, ",", ":", "[", "]", "{", "}", `"\u006eame"`, `"\n"`,
		`"\q"`, `"\ud800"`, "\"\xff\"", "\"\x00\"", "\"ü\"", `"a`, "tru", "NaN", " ", "\n", "\t", "\v", "\x00", "\ufeff", `"Name"`, `"kind"`, `"id"`, `"3-1"`, `"1,2"`, `"core-1-2"`}
	for range 1 + rng.IntN(3) {
		k := rng.IntN(len(tokens))
		switch rng.IntN(6) {
		case 0:
			tokens[k] = ""
		case 1:
			tokens[k] += tokens[k]
		case 2:
			tokens[k] = tokens[rng.IntN(len(tokens))]
		case 3:
			other := rng.IntN(len(tokens))
			tokens[k], tokens[other] = tokens[other], tokens[k]
		case 4:
			if at := []byte(tokens[k]); len(at) > 0 {
				at[rng.IntN(len(at))] = byte(rng.IntN(256))
				tokens[k] = string(at)
			}
		default:
			tokens[k] = others[rng.IntN(len(others))]
		}
	}
	return []byte(strings.Join(tokens, ""))
}

// tokensOf cuts JSON into its tokens; a comma belongs to the token after it.
func tokensOf(document string) (tokens []string) {
	dec := json.NewDecoder(strings.NewReader(document))
	last := 0
	for {
		if _, err := dec.Token(); err != nil {
			return append(tokens, document[last:])
		}
		at := int(dec.InputOffset())
		tokens, last = append(tokens, document[last:at]), at
	}
}

func FuzzDecodeAgreesWithOracle(f *testing.F) {
	for _, document := range documents {
		f.Add([]byte(document))
	}
	f.Fuzz(func(t *testing.T, data []byte) { agreeWithOracle(t, data) })
}

// Depth, odd white space, keys written with escapes, and text after the end.
func TestDecodeOddities(t *testing.T) {
	const tiny = `{"kind":"vcsched","version":1,"name":"s","hosts":2,"jobs":[{"id":"a","tasks":1,"cpu":0.5,"memory":0.3}]}`
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"escaped keys":       {strings.NewReplacer(`"kind"`, `"\u006bind"`, `"cpu"`, `"c\u0070u"`).Replace(tiny), true},
		"white space":        {" \r\n\t" + strings.NewReplacer(",", " , ", ":", "\n: ", "{", "{ ", "]", " ]").Replace(tiny) + "\n\r\t ", true},
		"key order":          {`{"jobs":[{"memory":0.3,"cpu":0.5,"tasks":1,"id":"a"}],"hosts":2,"name":"s","version":1,"kind":"vcsched"}`, true},
		"escaped key twice":  {strings.Replace(tiny, `"hosts":2`, `"hosts":2,"h\u006fsts":2`, 1), false},
		"form feed":          {strings.Replace(tiny, ",", ",\f", 1), false},
		"no-break space":     {strings.Replace(tiny, ",", ",\u00a0", 1), false},
		"byte order mark":    {"\ufeff" + tiny, false},
		"follows":            {tiny + " x", false},
		"NUL follows":        {tiny + "\x00", false},
		"comma at the end":   {strings.Replace(tiny, "}]", ",}]", 1), false},
		"comma in a list":    {strings.Replace(tiny, "}]", "},]", 1), false},
		"deep":               {strings.Replace(tiny, "0.5", deep(9_997), 1), false},
		"too deep":           {strings.Replace(tiny, "0.5", deep(9_998), 1), false},
		"deep and torn":      {strings.Replace(tiny, "0.5", strings.Repeat("[", 100_000), 1), false},
		"two wrong types":    {strings.NewReplacer("0.5", `"x"`, `"s"`, "1").Replace(tiny), false},
		"wrong type and key": {strings.NewReplacer(`"s"`, "1", `"memory"`, `"mem"`).Replace(tiny), false},
		"key and torn":       {strings.NewReplacer(`"name"`, `"nam"`, `}]}`, `}]`).Replace(tiny), false},
		"number and letters": {strings.Replace(tiny, "0.5", "0.5x", 1), false},
		"minus alone":        {strings.Replace(tiny, "0.5", "-", 1), false},
		"torn escape":        {tiny[:len(`{"kind":"vcsched","version":1,"name":"`)] + `\`, false},
		"torn number":        {tiny[:len(`{"kind":"vcsched","version":1`)], false},
		"null":               {"null", false}, "true": {"true", false}, "string": {`"x"`, false}, "number": {"-1.5e3", false}, "empty object": {"{}", false}, "brace": {"{", false},
	} {
		t.Run(name, func(t *testing.T) {
			require.Same(t, "accepted", c.ok, agreeWithOracle(t, []byte(c.text)))
		})
	}
}

// A number is the float64 that strconv reads.
func TestNumeral(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	digits := func(most int) string {
		b := make([]byte, 1+rng.IntN(most))
		for k := range b {
			b[k] = byte('0' + rng.IntN(10))
		}
		return string(b)
	}
	for range require.Rounds(100_000) {
		text := strings.TrimLeft(digits(20), "0")
		if text == "" {
			text = "0"
		}
		if rng.IntN(3) > 0 {
			text += "." + digits(25)
		}
		if rng.IntN(4) == 0 {
			text += []string{"e", "E-", "e+"}[rng.IntN(3)] + digits(3)
		}
		if rng.IntN(2) == 0 {
			text = "-" + text
		}
		var want float64
		wantErr := json.Unmarshal([]byte(text), &want)
		d := decoder{data: []byte(text)}
		n, err := d.numeral()
		require.OK(t, err, text)
		if got, ok := n.float(); ok != (wantErr == nil) || ok && math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%s is %v, want %v", text, got, want)
		}
	}
}
