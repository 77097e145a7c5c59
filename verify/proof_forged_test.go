// SPDX-License-Identifier: MIT

package verify_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	consexact "github.com/gapwise/gapwise/exact/consolidation"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// For each kind of step that proofs of consolidation have, both checkers refuse at its line one that claims one better
// than follows. The steps are a bound as tight as the checker takes it, and then by 1 more; a constraint that can't be
// met if only its bound follows; a nogood without its first premise; and a claim by 1 more.
func TestProofForged(t *testing.T) {
	t.Parallel()
	python := require.Tool(t, "python3", "python3")
	kinds := strings.Fields("objective cost moves limit tasks has stay anew order filled flag apart together alone spread least offer enough domains open nogood ! end claim")
	const most = 12 // of a kind
	forged, folder := map[string]int{}, t.TempDir()
	rng := rand.New(rand.NewPCG(14, 12))
	var list bytes.Buffer
	var cases []forgedCase
	for n := range require.Rounds(1000) {
		in := testkit.Consolidation(rng, 2+rng.IntN(4), 1+rng.IntN(3))
		for q := range in.Rules {
			if r := &in.Rules[q]; n%3 == 0 {
				r.Type, r.Domain, r.MaxSkew, r.MinDomains = model.RuleSpread, "zone", 1, 2+rng.IntN(3)
			}
		}
		c := prove(t, consexact.Kernel, in)
		instance := filepath.Join(folder, fmt.Sprintf("i%d.json", n))
		if text, err := json.Marshal(in); err != nil || os.WriteFile(instance, text, 0o600) != nil {
			t.Fatal(err)
		}
		for _, f := range forgeries(t, c, func(kind string) bool { return forged[kind] < most }) {
			if forged[f.kind] >= most {
				continue
			}
			forged[f.kind]++
			proof := filepath.Join(folder, fmt.Sprintf("p%d", len(cases)))
			require.OK(t, os.WriteFile(proof, []byte(f.proof), 0o600))
			fmt.Fprintf(&list, "%s\t%s\t%s\n", c.hash, instance, proof)
			cases = append(cases, f)
		}
	}
	said := strings.Split(strings.TrimSpace(string(checkPy(t, python, list.Bytes()))), "\n")
	if len(said) != len(cases) {
		t.Fatalf("check.py says %d things of %d proofs", len(said), len(cases))
	}
	for k, f := range cases {
		if !strings.HasPrefix(said[k], fmt.Sprintf("refused: line %d:", f.line)) {
			t.Errorf("%s in line %d: check.py: %s\n%s", f.kind, f.line, said[k], f.proof)
		}
	}
	for _, kind := range kinds {
		if forged[kind] == 0 && !testing.Short() {
			t.Errorf("no step of a constraint %q is forged", kind)
		}
	}
	t.Logf("%d forged steps are refused by both: %v", len(cases), forged)
}

// forgedCase is a proof with one line forged.
type forgedCase struct {
	kind  string // of the line's constraint, or of the line
	line  int
	proof string
}

// forgeries returns proofs with one step of the given one forged, of the kinds that are wanted. Each is refused at the
// forged line by this checker.
func forgeries(t *testing.T, c provenCase, wanted func(kind string) bool) (all []forgedCase) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(string(c.proof)), "\n")
	names := map[string]string{}
	// refused returns the proof with a changed line, and whether the checker refuses it at another.
	refused := func(at int, line string, to int) (string, bool) {
		changed := slices.Clone(lines)
		changed[at] = line
		text := strings.Join(changed, "\n") + "\n"
		_, err := c.check([]byte(text))
		if err != nil && !errors.Is(err, verify.ErrProof) {
			t.Fatal(err)
		}
		return text, err != nil && strings.Contains(err.Error(), fmt.Sprintf("line %d, ", to+1))
	}
	keep := func(kind string, at int, line string) bool {
		text, no := refused(at, line, at)
		if no {
			all = append(all, forgedCase{kind, at + 1, text})
		}
		return no
	}
	for at, line := range lines {
		w := strings.Fields(line)
		kind := names[w[0]]
		switch {
		case at < 4:
			continue
		case w[0] == "con":
			names[w[1]] = w[2]
			continue
		case w[0] == "nogood":
			names["n"+w[1]] = "nogood"
			if len(w) > 2 && wanted("end") { // it is claimed without its first premise
				end := at + slices.Index(lines[at:], "end")
				for to := at; to <= end; to++ {
					if text, no := refused(at, strings.Join(slices.Delete(slices.Clone(w), 2, 3), " "), to); no {
						all = append(all, forgedCase{"end", to + 1, text})
						break
					}
				}
			}
			continue
		case w[0] == "claim":
			n := require.Value(strconv.Atoi(w[1]))(t)
			if !keep("claim", at, fmt.Sprint("claim ", n+1)) {
				t.Errorf("the claim %d isn't refused\n%s", n+1, c.proof)
			}
			continue
		case kind == "" || len(w) != 2 || w[1] == "!" || !wanted(kind) && !wanted("!"):
			continue
		}
		if wanted("!") {
			keep("!", at, w[0]+" !")
		}
		// The bound is moved on until it is refused: a bound taken before may follow.
		i := strings.IndexAny(w[1], "<>")
		n := require.Value(strconv.Atoi(w[1][i+2:]))(t)
		by := 1
		if w[1][i] == '<' {
			by = -1
		}
		for k := 1; k <= 20; k++ {
			if keep(kind, at, fmt.Sprintf("%s %s%d", w[0], w[1][:i+2], n+k*by)) {
				break
			}
		}
	}
	return all
}
