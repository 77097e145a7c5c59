// SPDX-License-Identifier: MIT

package verify_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	batchexact "github.com/gapwise/gapwise/exact/batch"
	consexact "github.com/gapwise/gapwise/exact/consolidation"
	dagexact "github.com/gapwise/gapwise/exact/dag"
	resexact "github.com/gapwise/gapwise/exact/reservation"
	tvcexact "github.com/gapwise/gapwise/exact/tvc"
	vcexact "github.com/gapwise/gapwise/exact/vcsched"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// checkPy returns the verdicts of scripts/check.py on the proofs of a list, a line each.
func checkPy(t *testing.T, python string, list []byte) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "list")
	require.OK(t, os.WriteFile(path, list, 0o600))
	command := exec.CommandContext(t.Context(), python, filepath.Join("..", "scripts", "check.py"), "--list", path)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("check.py: %v\n%s", err, stderr.Bytes())
	}
	return out
}

// scripts/check.py, written from docs/reference/proofs.md alone, and this checker agree. On proofs of the kernel and of
// the forward prover, of all kinds, and on changed ones, the verdict and the bound are the same. If they differ, one of
// the two is wrong, or the page.
func TestSecondChecker(t *testing.T) {
	t.Parallel()
	python := require.Tool(t, "python3", "python3")
	rng := rand.New(rand.NewPCG(23, 100))
	cases := secondCases(t, rng, require.Rounds(10_000))

	folder := t.TempDir()
	var list bytes.Buffer
	file, last := "", model.Instance(nil)
	for i, c := range cases {
		if c.in != last {
			file, last = filepath.Join(folder, fmt.Sprintf("i%d.json", i)), c.in
			text, err := json.Marshal(c.in)
			if err != nil || os.WriteFile(file, text, 0o600) != nil {
				t.Fatal(err)
			}
		}
		proof := filepath.Join(folder, fmt.Sprintf("p%d", i))
		require.OK(t, os.WriteFile(proof, c.proof, 0o600))
		fmt.Fprintf(&list, "%s\t%s\t%s\n", c.hash, file, proof)
	}
	out := checkPy(t, python, list.Bytes())

	accepted, refused, capacities, wrong, lines := map[model.Kind]int{}, map[model.Kind]int{}, map[string]int{}, 0, bufio.NewScanner(bytes.NewReader(out))
	for i, c := range cases {
		if !lines.Scan() {
			t.Fatalf("check.py says nothing of case %d", i)
		}
		word, rest, _ := strings.Cut(lines.Text(), " ")
		says, err := c.check(c.proof)
		same := false
		switch {
		case err == nil:
			accepted[c.in.Kind()]++
			for _, of := range []string{" room ", " area "} { // of machines with capacities
				if c.in.Kind() == model.KindDAG && bytes.Contains(c.proof, []byte(of)) {
					capacities[of]++
				}
			}
			bound, e := strconv.ParseFloat(rest, 64)
			same = word == "proved" && e == nil && bound == says.Bound
		case errors.Is(err, verify.ErrProof):
			refused[c.in.Kind()]++
			same = word == "refused:"
		default:
			t.Fatal(err)
		}
		if same {
			continue
		}
		if wrong++; wrong <= 5 {
			text, _ := json.Marshal(c.in)
			t.Errorf("case %d: check.py: %s\ngapwise check: %v (bound %v), error %v\n%s\n%.3000s", i, lines.Text(), says.Claim, says.Bound, err, text, c.proof)
		}
	}
	t.Logf("of %d proofs %v are accepted and %v refused by both, on %d they don't agree", len(cases), accepted, refused, wrong)
	if t.Logf("%v proofs of graphs with capacities are accepted", capacities); len(capacities) < 2 {
		t.Errorf("%v proofs of graphs with capacities are accepted", capacities)
	}
	for _, kind := range verify.Provable() {
		if least := len(cases) / 50; accepted[kind] < least || refused[kind] < least {
			t.Errorf("%s: only %d are accepted and %d refused", kind, accepted[kind], refused[kind])
		}
	}
}

// secondCases returns about n proofs, grouped by instance: each as it was made, and then with one thing changed.
func secondCases(t *testing.T, rng *rand.Rand, n int) (all []provenCase) {
	t.Helper()
	add := func(c provenCase) {
		all = append(all, c)
		if len(c.proof) > 200_000 {
			return
		}
		for range 7 {
			x := c
			x.proof = changed(t, rng, string(c.proof))
			all = append(all, x)
		}
	}
	for _, name := range []string{"dag-search-wrong-optimum-13-for-12", "dag-search-wrong-optimum-2-for-1", "dag-search-wrong-optimum-floats", "dag-bound-load-highs-error", "dag-m773"} {
		in := require.Value(instances.Load(filepath.Join("..", "exact", "dag", "testdata", "found", name+".json")))(t)
		add(prove(t, dagexact.Kernel, in))
	}
	for i := 0; len(all) < n; i++ {
		kinds := verify.Provable()
		kind := kinds[i%len(kinds)]
		if i/len(kinds)%3 == 0 {
			p := verify.ProveForward(t, rng, kind)
			hash := require.Value(model.Hash(p.In))(t)
			add(provenCase{in: p.In, hash: hash, proof: []byte(p.Text)})
			continue
		}
		var in model.Instance
		var engine model.Prover
		switch kind {
		case model.KindBatch:
			in, engine = testkit.RandomBatch(rng, 1, 6, rng.IntN(6)), batchexact.Kernel
			if rng.IntN(2) == 0 {
				in = testkit.RandomNodes(rng, 1+rng.IntN(7))
			}
		case model.KindConsolidation:
			in, engine = testkit.Consolidation(rng, 1+rng.IntN(6), 1+rng.IntN(4)), consexact.Kernel
			if rng.IntN(2) == 0 {
				in = testkit.Short(rng, 1+rng.IntN(6), 1+rng.IntN(4))
				if rng.IntN(2) == 0 {
					in = testkit.Mended(rng, 1+rng.IntN(6), 1+rng.IntN(4))
				}
			}
		case model.KindDAG:
			in, engine = randomDAG(t, rng, 2+rng.IntN(8)), dagexact.Kernel
			if rng.IntN(2) == 0 {
				in = testkit.Restrict(rng, testkit.RandomDAG(rng, 2+rng.IntN(6), 1+rng.IntN(4)))
			}
			if rng.IntN(3) == 0 {
				testkit.Late(rng, in.(*model.DAG))
			}
			if rng.IntN(2) == 0 {
				if in = testkit.Roomy(rng, in.(*model.DAG)); in.Validate() != nil {
					continue
				}
			}
		case model.KindReservation:
			in, engine = testkit.RandomReservation(rng, 1+rng.IntN(6)), resexact.Kernel
		case model.KindTVC:
			in, engine = testkit.RandomTVC(rng, 2+2*rng.IntN(2), 1+rng.IntN(4), false), tvcexact.Kernel
		case model.KindVCSched:
			in, engine = testkit.RandomVCSched(rng, rng.IntN(2) == 0), vcexact.Kernel
		}
		hash := require.Value(model.Hash(in))(t)
		ctx, cancel := context.WithCancel(t.Context())
		b := stopping{cancel: cancel}
		_, err := engine.Solve(ctx, in, model.Settings{Proof: &model.ProofWriter{Writer: &b, Instance: hash}})
		cancel()
		if errors.Is(err, model.ErrUnsupported) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		add(provenCase{in: in, hash: hash, proof: b.Bytes()})
	}
	return all
}

// stopping ends a run that has written much: the rest is a proof, too.
type stopping struct {
	bytes.Buffer
	cancel func()
}

func (b *stopping) Write(text []byte) (int, error) {
	if b.Len() > 100_000 {
		b.cancel()
	}
	return b.Buffer.Write(text)
}

// changed returns a proof with one thing changed: a line by mutate, a figure of the
// header, the claim, or how it is written.
func changed(t *testing.T, rng *rand.Rand, proof string) []byte {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(proof), "\n")
	at := rng.IntN(len(lines))
	switch rng.IntN(16) {
	case 0: // the unit
		lines[2] = "unit " + []string{"1", "0", "2", "0.5", "1e-3", "1.", ".5", "1E2", "0x1p3", "inf", "1,1", "2,1", "1,2", "1,", "1000", "3", "1e400", "1_0", "+1", "01"}[rng.IntN(20)]
	case 1: // upper
		n, _ := strconv.ParseInt(strings.TrimPrefix(lines[3], "upper "), 10, 64)
		lines[3] = fmt.Sprint("upper ", []int64{n + 1, n - 1, n / 2, 2 * n, 0, -1, 1<<28 - 1, 1 << 28, 1<<60 - 1, 1 << 60}[rng.IntN(10)])
	case 2: // a word or a line of the head
		at = rng.IntN(4)
		lines[at] = []string{"", lines[at] + " 1", lines[rng.IntN(4)], lines[at][:len(lines[at])-1], " " + lines[at], strings.Replace(lines[at], " ", "\t", 1)}[rng.IntN(6)]
	case 3: // the claim
		last := len(lines) - 1
		n, _ := strconv.ParseInt(strings.TrimPrefix(lines[last], "claim "), 10, 64)
		lines[last] = fmt.Sprint("claim ", []int64{n + 1, n - 1, 0, -1, n / 2, 1<<60 - 1, -1 << 59}[rng.IntN(7)])
	case 4: // how a line is written
		x := lines[at]
		lines[at] = []string{x + " ", "  " + x, strings.ReplaceAll(x, " ", "   "), x + "\r", x + "\r\r", x + "\t", strings.ToUpper(x), x + "\x00", strings.Replace(x, ">=", ">= ", 1),
			strings.Replace(x, "=", "==", 1), strings.Replace(x, " ", " 0", 1), strings.Replace(x, " ", " +", 1), strings.Replace(x, " ", " -", 1), strings.Replace(x, ">=", "<=", 1), x + " 1", x + " 1 2", x + " 2 1 3"}[rng.IntN(17)]
	case 5: // lines where they don't belong
		more := []string{"", "claim 0", "end", "delete 0", "delete 1", "nogood 0", "nogood 999", "cut 0", "cut -5", "var 0 makespan", "con 0 area", "n0 !", "n1 !", "0 !", "1 ! 0 9", "x", "# a remark",
			"nogood 998 0<=3\nend\nn998 !", "nogood 997\nnogood 996", "cut 1\ncut 1", "nogood 995 0>=1\nvar 990 makespan\nend", lines[at]}[rng.IntN(22)]
		lines[at] += "\n" + more
	case 6: // two lines change places
		to := rng.IntN(len(lines))
		lines[at], lines[to] = lines[to], lines[at]
	case 7: // cut off
		lines = lines[:at]
	case 8:
		return []byte(pack(t, proof))
	case 9:
		return []byte(strings.TrimSpace(proof))
	case 10:
		return []byte(strings.ReplaceAll(proof, "\n", "\r\n"))
	default:
		if len(lines) > 4 {
			mutate(rng, lines)
		}
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}
