// SPDX-License-Identifier: MIT

package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gapwise/gapwise/internal/test/require"
)

// fault is a mistake to plant: the replaced text occurs once in the file.
type fault struct{ name, file, right, wrong string }

// auditSeeds are the seeds of audits that meet a fault on rare instances within
// seconds; by seed 2, which all others have, it takes longer.
var auditSeeds = map[string]int{
	"VCSched: the kernel tries loads below its bound":                     1,
	"VCSched: the memory of a host rounded the other way":                 1,
	"VCSched: the last resource is forgotten":                             1,
	"Reservation: windows a tick shorter in the energetic bound":          1,
	"TVC: all VMs don't fit below one pod":                                1,
	"Batch: dominance forgives a processor":                               3,
	"Batch: half of what may be paid for free processors isn't taken off": 12,
	"Consolidation: hosts of tasks are taken for exchangeable":            5,
	"TVC: a set of a queue that has one who isn't there doesn't run":      6,
}

// kind returns the problem with the audit that meets a fault, "" if any audit does, and whether the fault is in that
// problem's own code.
func (f *fault) kind() (kind string, own bool) {
	for _, k := range Kinds() {
		if own = strings.Contains(f.file, string(k)); own || strings.HasPrefix(strings.ToLower(f.name), string(k)) {
			return string(k), own
		}
	}
	return "", false
}

// programs divides faults among programs: the faults of one program are in code of different problems, so that an audit
// of one runs none of the others.
func programs(faults []fault) (all [][]fault) {
	next := map[string]int{}
	var shared [][]fault
	for _, f := range faults {
		kind, own := f.kind()
		if !own {
			shared = append(shared, []fault{f})
			continue
		}
		if next[kind] == len(all) {
			all = append(all, nil)
		}
		all[next[kind]] = append(all[next[kind]], f)
		next[kind]++
	}
	return append(all, shared...)
}

// TestPlantedFaults tests the net itself. Each fault is built into a program (go build -overlay: no file of the project
// changes). Its audit must then end with a disagreement on instances of the fault's problem. On two idle cores most
// take some seconds, the longest less than a minute; a busy machine gets more.
func TestPlantedFaults(t *testing.T) {
	if os.Getenv("GAPWISE_FAULTS") == "" {
		t.Skip("builds programs with faults: make faults")
	}
	root := require.Value(filepath.Abs("../../.."))(t)
	for n, faults := range programs(plantedFaults) {
		if !chosen(t, n) {
			continue
		}
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel() // one is linked while another's audit runs
			program := buildWith(t, root, faults)
			for _, f := range faults {
				t.Run(f.name, func(t *testing.T) { isCaught(t, program, &f) })
			}
		})
	}
}

// chosen reports whether the program or the fault n is in the share K/N that GAPWISE_FAULTS
// names.
func chosen(t *testing.T, n int) bool {
	k, of := 0, 0
	if _, err := fmt.Sscanf(os.Getenv("GAPWISE_FAULTS"), "%d/%d", &k, &of); err != nil || k < 1 || k > of {
		t.Fatalf("GAPWISE_FAULTS is %q, must be K/N, such as 1/3: the K-th of N shares", os.Getenv("GAPWISE_FAULTS"))
	}
	return n%of == k-1
}

// isCaught fails the test unless the audit of a program with a fault finds it.
func isCaught(t *testing.T, program string, f *fault) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	args := []string{"audit", "--time", "240s", "--workers", "2", "--seed", strconv.Itoa(cmp.Or(auditSeeds[f.name], 2)), "--most", "1", "-o", t.TempDir()}
	if kind, _ := f.kind(); kind != "" {
		args = append(args, "--kind", kind)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Fatalf("the net doesn't catch it: %v\n%s", err, out)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	t.Log(line)
}

// Each fault has its place, which a change of the code may have moved.
func TestFaultsHaveAPlace(t *testing.T) {
	for _, f := range plantedFaults {
		f.plant(t, "../../..")
	}
	for _, f := range testedFaults {
		f.plant(t, "../../..")
	}
}

// TestPlantedFaultsInTests plants faults that no claim about an optimum contradicts:
// in online schedulers, in bounds of other figures than the objective. The short tests of a package, or its named
// tests, must fail.
func TestPlantedFaultsInTests(t *testing.T) {
	if os.Getenv("GAPWISE_FAULTS") == "" {
		t.Skip("builds tests for each fault: make faults")
	}
	root := require.Value(filepath.Abs("../../.."))(t)
	for n, f := range testedFaults {
		if !chosen(t, n) {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel() // one is linked while another's tests run
			faulty := overlay(t, root, []fault{f.fault})
			var line string
			for _, draws := range []string{"-short", "-short=false"} { // a tenth of the draws meets most faults
				args := []string{"test", draws, "-count=1", "-failfast", "-vet=off", "-ldflags", "-s -w", "-overlay", faulty}
				cmd := exec.CommandContext(t.Context(), "go", append(args, strings.Fields(f.tests)...)...)
				cmd.Dir = root
				out, err := cmd.CombinedOutput()
				var failed bool
				if _, line, failed = strings.Cut(string(out), "--- FAIL: "); err != nil && failed {
					break
				} else if err != nil || draws != "-short" {
					t.Fatalf("the tests don't catch it: %v\n%s", err, out)
				}
			}
			line, _, _ = strings.Cut(line, "\n")
			t.Log(line)
		})
	}
}

// plant returns the file, under the project's root, and its text with the fault.
func (f *fault) plant(t *testing.T, root string) (file, text string) {
	t.Helper()
	file = filepath.Join(root, filepath.FromSlash(f.file))
	data := require.Value(os.ReadFile(file))(t)
	if n := strings.Count(string(data), f.right); n != 1 {
		t.Errorf("%s: %q occurs %d times in %s, must occur once", f.name, f.right, n, f.file)
	}
	return file, strings.Replace(string(data), f.right, f.wrong, 1)
}

// buildWith builds the command with faults in it.
func buildWith(t *testing.T, root string, faults []fault) string {
	program := filepath.Join(t.TempDir(), "gapwise")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-s -w", "-overlay", overlay(t, root, faults), "-o", program, "./cmd/gapwise")
	cmd.Dir = root
	require.Run(t, cmd)
	return program
}

// overlay writes files with faults in them, and returns the file for -overlay.
func overlay(t *testing.T, root string, faults []fault) string {
	dir, faulty := t.TempDir(), map[string]string{}
	for n, f := range faults {
		file, text := f.plant(t, root)
		faulty[file] = filepath.Join(dir, fmt.Sprintf("%d%s", n, filepath.Base(file)))
		require.OK(t, os.WriteFile(faulty[file], []byte(text), 0o644))
	}
	replace := require.Value(json.Marshal(map[string]any{"Replace": faulty}))(t)
	list := filepath.Join(dir, "overlay.json")
	require.OK(t, os.WriteFile(list, replace, 0o644))
	return list
}

var plantedFaults = []fault{
	{"DAG: tails a tick too long", "exact/dag/ticks.go",
		"path = max(path, rest)", "path = max(path, rest+1)"},
	{"DAG: heads a tick too late", "internal/problem/dag/dagmodel/dagmodel.go",
		"h = max(h, best)", "h = max(h, best+1)"},
	{"DAG: data for the own machine take a tick", "internal/problem/dag/dagmodel/dagmodel.go",
		"m.Cost(f, a) + m.Length(e, a, b)", "m.Cost(f, a) + m.Length(e, a, b)|1"},
	{"DAG: tasks without predecessors in the order of their numbers", "exact/dag/kernel_model.go",
		"k.before[i][j] = cp.True; !path[i][j] {", "k.before[i][j] = cp.True; !path[i][j] && len(g.Pred(t)) > 0 {"},
	{"DAG: a machine rests a tick after each task", "internal/problem/dag/dagmodel/dagmodel.go",
		"append(c.Lengths, m.Cost(t, a))\n\t\tc.Before", "append(c.Lengths, m.Cost(t, a)+1)\n\t\tc.Before"},
	{"DAG: a load row has a machine idle for longer than the makespan", "internal/problem/dag/dagmodel/dagmodel.go",
		"min(h+q, lower)", "h+q"},
	{"a proof leaves steps out that are stronger than its premises", "internal/cp/lcg/proof.go",
		"ok && b >= l.B {", "ok && b+1 >= l.B {"},
	{"VCSched: exchanges that don't look at memory", "exact/vcsched/completion.go",
		"if more < 0 || more > s.waste[r] {", "if r == 0 && more < 0 || more > s.waste[r] {"},
	{"VCSched: a bin may not waste all that is left of a resource", "exact/vcsched/completion_walk.go",
		"if s.waste[tight] > slack[tight] {", "if s.waste[tight] >= slack[tight] {"},
	{"VCSched: better by two units or not at all", "exact/vcsched/migration.go",
		"return t.s.upper - 1", "return t.s.upper - t.s.u.Unit*2"},
	{"VCSched: the packing bound by the largest need", "bounds/vcsched/packing.go",
		"t.class[0].Load(per * t.CPU[k])", "t.class[0].Load(per * t.CPU[0])"},
	{"VCSched: hosts are confused on which tasks run", "exact/vcsched/migration.go",
		"if t.waiting[h] > 0 || t.s.off&devHosts != 0 {", "if t.s.off&devHosts != 0 {"},
	{"VCSched: the memory of a host rounded the other way", "internal/core/view/vcsched.go",
		"c.Cap = append(c.Cap, whole+tolerance(has))", "c.Cap = append(c.Cap, whole-tolerance(has))"},
	{"VCSched: hosts of another size are taken for exchangeable", "exact/vcsched/migration.go",
		" && t.s.u.ClassOf(g) == t.s.u.ClassOf(h)", ""},
	{"VCSched: the kernel tries loads below its bound", "exact/vcsched/kernel.go",
		"max(load-load%s.tasks.Unit, s.lower)", "load-load%s.tasks.Unit"},
	{"VCSched: the last resource is forgotten", "internal/core/view/vcsched.go",
		"rigid = append(rigid, r)", "rigid = append(rigid, r)[:max(1, len(rigid))]"},
	{"Reservation: dominance forgives a PE", "exact/reservation/kernel_model.go",
		"return j.pes <= i.pes &&", "return j.pes <= i.pes+1 &&"},
	{"Reservation: the bound by multipliers counts reduced profits of either sign", "bounds/reservation/multipliers.go",
		"j, best := &m.jobs[i], 0.0", "j, best := &m.jobs[i], -1e9"},
	{"Reservation: windows a tick shorter in the energetic bound", "bounds/reservation/energetic.go",
		"room := res.capacity * (b - a)", "room := res.capacity * (b - a - 1)"},
	{"Reservation: the last PE is never free", "internal/num/profile/profile.go",
		"free := p.used(s)+amount <= p.Capacity", "free := p.used(s)+amount < p.Capacity"},
	{"TVC: the weight to come without the next request", "exact/tvc/component.go",
		"sum+c.rest[i] <= c.best", "sum+c.rest[i+1] <= c.best"},
	{"TVC: links a bit per second too slow", "exact/tvc/split.go",
		"left := s.tree.Rate[s.level-1] - int64(part.Load)*q.bandwidth", "left := s.tree.Rate[s.level-1] - int64(part.Load)*q.bandwidth - 1"},
	{"TVC: what is in full use counts as exceeded", "internal/problem/tvc/tvcrelax/relaxation.go",
		"const most = 1 + 1e-9", "const most = 1 - 1e-9"},
	{"TVC: the multipliers of the last instant don't count", "internal/problem/tvc/tvcrelax/relaxation.go",
		"m.Base += prefix[r.Instants]\n", "m.Base += prefix[r.Instants-1]\n"},
	{"TVC: all VMs don't fit below one pod", "model/tvc_fit.go",
		"times(pod, t.K, n).Has(n)", "times(pod, t.K, n-1).Has(n)"},
	{"TVC: of two in a queue the earlier one ends first, however long", "exact/tvc/queue_part.go",
		"q.length[i] > q.length[j] || !q.sets", "!q.sets"},
	{"TVC: a set of a queue that has one who isn't there doesn't run", "exact/tvc/queue_sets.go",
		"if s &= all; !seen[s]", "if s&^all == 0 && !seen[s]"},
	{"TVC: who is suspended in a queue keeps its slots where migrations cost something", "exact/tvc/queue_moves.go",
		"r.at, r.span.From, r.span.To = l.at, 0, instants-1", "for at := l.at[0]; at < instants; at++ {\nr.at = append(r.at[:at-l.at[0]:at-l.at[0]], at)\n}\nr.span.From, r.span.To = 0, instants-1"},
	{"Batch: dominance forgives a processor", "exact/batch/memo.go",
		"if at(max(from, b.times[k])) > b.used[k] {", "if at(max(from, b.times[k])) > b.used[k]+1 {"},
	{"Batch: jobs of another width are taken for identical", "exact/batch/tree.go",
		"j.length[i] == j.length[k] && j.width[i] == j.width[k] &&", "j.length[i] == j.length[k] &&"},
	{"Batch: a heavier job isn't told from an identical one", "exact/batch/tree.go",
		"j.release[i] <= j.release[k] && j.weight[i] >= j.weight[k] &&", "j.release[i] <= j.release[k] &&"},
	{"Batch: mean busy times go by the work alone", "internal/num/squashed/squashed.go",
		"if x.weight != y.weight {", "if x.weight == 0 {"},
	{"Batch: a job ends a second later in the bound of a node", "exact/batch/remaining.go",
		"(at + t.length[k] - t.release[k])", "(at + t.length[k] + 1e6 - t.release[k])"},
	{"Batch: on two tiers jobs demand a fifth more of the machine", "exact/internal/tiers/machine.go",
		"h[k] /= worst * (1 + 1e-12)", "h[k] *= 1.2"},
	{"Batch: prices pay for a little less than the capacity", "bounds/batch/prices.go",
		"return total - p.paid - ", "return total - 0.99*p.paid - "},
	{"Batch: half of what may be paid for free processors isn't taken off", "exact/batch/paid.go",
		"sum -= p.priced.Free(free, p.tick(from), math.MaxInt64) + lost", "sum -= 0.5*p.priced.Free(free, p.tick(from), math.MaxInt64) + lost"},
	{"Batch: jobs together pay a little less than each alone", "bounds/batch/packer.go",
		"paid := f.price[c] * float64(f.width)", "paid := 0.99 * f.price[c] * float64(f.width)"},
	{"Batch: schedules that are just active are dropped", "exact/batch/tree.go",
		"earliest[k] < limit && x.set", "earliest[k] < limit-1e6 && x.set"},
	{"Batch: a bound of the sum rounded up twice", "bounds/batch/response.go",
		"int64(math.Ceil(sum))", "int64(math.Ceil(sum)) + 1"},
	{"Consolidation: a paid host covers a unit less", "bounds/consolidation/bounds.go",
		"need = max(0, need-g)", "need = max(0, need-g+1)"},
	{"Consolidation: what moves in part costs one more", "bounds/consolidation/bounds.go",
		"return max(0, total-over.Quo", "return max(0, total+1-over.Quo"},
	{"Consolidation: a task is its own company", "bounds/consolidation/rules.go",
		"term(b.flag(q, d, \"both\", s), 2)", "term(b.flag(q, d, \"both\", s), 1)"},
	{"the judge: a proof counts a bought host that isn't there", "verify/proof_consolidation.go",
		"n = min(n, most/o.Price)", "n = min(n, most/o.Price-1)"},
	{"Consolidation: who stays on an overfull host needs room", "internal/core/view/consolidation.go",
		"v.Held = use[h*c.Resources : (h+1)*c.Resources : (h+1)*c.Resources]", "_ = use"},
	{"Consolidation: a pair is apart if the bound one stays", "internal/problem/consolidation/planstate/state.go",
		" || t[otherOnly][1] > 0 && bound > 0)", ")"},
	{"Consolidation: a domain less than a spread asks for is enough", "internal/problem/consolidation/planstate/state.go",
		"if domains < s.C.Rules[q].MinDomains {", "if domains < s.C.Rules[q].MinDomains-1 {"},
	{"Consolidation: all tasks in one domain keep a loose spread", "internal/problem/consolidation/planstate/state.go",
		"|| others <= r.MaxSkew\n", "|| others <= r.MaxSkew+1\n"},
	{"Consolidation: a loose spread forbids one task fewer", "bounds/consolidation/spread.go",
		"float64(r.MaxSkew), x.all...)", "float64(r.MaxSkew-1), x.all...)"},
	{"Consolidation: the domain of a bought host has one less", "bounds/consolidation/spread.go",
		"x.standing+s.most,", "x.standing+s.most-1,"},
	{"the judge: closed hosts take a task", "verify/consolidation.go",
		"if h.closed && !t.stays() {", "if h.closed && !t.stays() && h.tasks > 1 {"},
	{"the judge: any domain is company", "verify/consolidation.go",
		"if d != \"\" && here+standing[d] > 0 ||", "if d != \"\" && here+standing[d] >= 0 ||"},
	{"the judge: work that isn't done", "verify/batch.go",
		"case s.last && x.done < work:", "case s.last && x.done < work/2:"},
	{"the judge: processors for two", "verify/batch.go",
		"if taken > 0 {", "if taken > 1 {"},
	{"the judge: a VM alone loads no link", "verify/tvc.go",
		"if x.amount > 0 {", "if x.amount > 1 {"},
	{"the judge: starts before ends", "verify/segments.go",
		"\t\tfor ; len(ends) > 0 && ends[0].end == now && j.ctx.Err() == nil; ends = ends[1:] {\n\t\t\tend(ends[0])\n\t\t}\n\t\tfor ; len(starts) > 0 && starts[0].start == now && j.ctx.Err() == nil; starts = starts[1:] {\n\t\t\tstart(starts[0])\n\t\t}\n",
		"\t\tfor ; len(starts) > 0 && starts[0].start == now && j.ctx.Err() == nil; starts = starts[1:] {\n\t\t\tstart(starts[0])\n\t\t}\n\t\tfor ; len(ends) > 0 && ends[0].end == now && j.ctx.Err() == nil; ends = ends[1:] {\n\t\t\tend(ends[0])\n\t\t}\n"},
	{"the judge: overlaps by the starts alone", "verify/reservation.go",
		"return aEnd.compare(b.start) > 0 && bEnd.compare(a.start) > 0", "return aEnd.compare(b.start) > 0 && a.start.compare(b.start) < 0"},
}

// testedFaults are faults with the package, or some of its tests, that must fail.
var testedFaults = []struct {
	fault
	tests string
}{
	{fault{"Kubernetes: all replicas of a workload may be in one zone", "internal/app/kubernetes/survive.go",
		"MaxSkew: tasks[name] - 1", "MaxSkew: tasks[name]"}, "-run TestSurvive ./internal/app/kubernetes"},
	{fault{"Kubernetes: pods that want each other's company reach any zone", "internal/app/kubernetes/rules.go",
		"p.allowed[n] && there[", "p.allowed[n] || there["}, "-run TestCompany ./internal/app/kubernetes"},
	{fault{"Kubernetes: a pod that is made again goes back wherever it ran", "internal/problem/consolidation/planstate/state.go",
		"return s.can(i, h, false, true) }", "return s.can(i, h, s.Tasks[h] > 0, true) }"}, "-run TestFeasible ./internal/app/kubernetes"},
	{fault{"Kubernetes: volumes to be made attach nowhere", "internal/app/kubernetes/volumes.go",
		"return x.Provisioner", "return \"\""}, "-run TestFeasible ./internal/app/kubernetes"},
	{fault{"Certificates: an infeasible relaxation is believed", "exact/internal/engine/certify.go",
		"return r.Status == milp.Infeasible && r.Ray != nil && duals.Refutes(c.rows(), r.Ray)", "return r.Status == milp.Infeasible"},
		"-run TestCertificates ./exact/internal/engine"},
	{fault{"Certificates: what is fixed is a unit too much", "exact/internal/engine/certify.go",
		"+ 1e-9) // that far it may still be", "- 1) // that far it may still be"}, "-run TestCertificates ./exact/internal/engine"},
	{fault{"Certificates: a node that can't be closed counts as closed", "exact/internal/engine/certify.go",
		"c.stuck = min(c.stuck, n.bound)", "_ = n"}, "-run TestCertificates ./exact/internal/engine"},
	{fault{"Certificates: a row's other side", "internal/num/duals/safe.go",
		"side = m.Rows[i].Upper", "side = m.Rows[i].Lower"}, "-run TestCertificates ./exact/internal/engine"},
	{fault{"Judge: costs of a claim wrap", "verify/proof_consolidation.go",
		"k.all.add(dearest, tasks)", "k.all.add(-dearest, tasks)"}, "-run TestProofLargeCosts ./verify"},
	{fault{"VCSched: pricing rounds what is left of a host down", "bounds/vcsched/patterns.go",
		"s.cells(&left, roundingShare)", "s.cells(&left, -0.05)"}, "-run TestPricing ./bounds/vcsched"},
	{fault{"VCSched: patterns refute one host more than they do", "bounds/vcsched/patterns.go",
		"hosts, proof = target+1, weights", "hosts, proof = target+2, weights"}, "-run TestCovers ./bounds/vcsched"},
	{fault{"VCSched: a dive takes tasks that others have", "bounds/vcsched/dive.go",
		"next[it.Type] += n", "next[it.Type] += 0"}, "-run TestCovers ./bounds/vcsched"},
	{fault{"VCSched: one host of each size holds patterns", "bounds/vcsched/moves.go",
		"left += max(thresholds[g], heaviest) * int64(len(m.hosts[g].hosts))", "left += max(thresholds[g], heaviest)"}, "-run TestMoves ./bounds/vcsched"},
	{fault{"VCSched: a dive takes no host away", "bounds/vcsched/dive.go",
		"h.hosts = h.hosts[1:]", "h.hosts = h.hosts[0:]"}, "-run TestMoves ./bounds/vcsched"},
	{fault{"Covering: limits are demands at first", "internal/num/covering/covering.go",
		"factor{at: k, pivot: -1}", "factor{at: k, pivot: 1}"}, "./internal/num/covering"},
	{fault{"Covering: prices stay behind a pivot", "internal/num/covering/covering.go",
		"p.duals[k] += cost * p.row[k]", "p.duals[k] += cost * p.row[k] / 2"}, "./internal/num/covering"},
	{fault{"Consolidation: who needs what is short comes to a host that holds too much", "bounds/consolidation/formulation.go",
		"term(over, most))...)", "term(over, 0))...)"}, "-run AgainstPlain/consolidation ./exact"},
	{fault{"Consolidation: who returns to a host that holds too much has room there", "internal/problem/consolidation/planstate/state.go",
		"x > left[r] && x > 0 && fresh[r] > 0", "x > left[r] && x < 0"}, "-run StateJudges ./internal/problem/consolidation/planstate"},
	{fault{"Consolidation: no host gives more than it has", "bounds/consolidation/bounds.go",
		"max(held[r], v.c.Hosts[h].Capacity[r])", "v.c.Hosts[h].Capacity[r]"}, "-run AgainstPlain/consolidation_short ./exact"},
	{fault{"Consolidation: a standing task leaves others alone", "internal/problem/consolidation/planstate/state.go",
		"s.total[q] += by * r.Standing[h]", "s.total[q] += 0"}, "-run StateJudges ./internal/problem/consolidation/planstate"},
	{fault{"Consolidation: alone beside a standing task", "bounds/consolidation/rules.go",
		"b.Vars[alone].Upper = 0", "_ = alone"}, "-run AgainstPlain/consolidation_short ./exact"},
	{fault{"Consolidation: alone beside what stands on a bought host", "bounds/consolidation/rules.go",
		"1, term(alone, 1), term(b.Use[h], 1))", "2, term(alone, 1), term(b.Use[h], 1))"}, "-run Proofs/consolidation ./verify"},
	{fault{"Consolidation: what stays isn't mended", "internal/problem/consolidation/planstate/state.go",
		"stays = !c.In.Mend // no", "stays = true // no"}, "-run StateJudges ./internal/problem/consolidation/planstate"},
	{fault{"Consolidation: rules don't bind what stays in a row that mends", "bounds/consolidation/formulation.go",
		"f(v, p.View.In.Mend)", "f(v, false)"}, "-run AgainstPlain/consolidation_mended ./exact"},
	{fault{"the judge: what stays isn't mended", "verify/consolidation.go",
		"return t.stays() && !j.in.Mend", "return t.stays()"}, "-run ConsolidationAgainstNaive ./verify"},
	{fault{"the judge: a newly placed task may need one of what is short", "verify/consolidation.go",
		"h.newcomer[r] || x > 0", "h.newcomer[r] || x > 1"}, "-run ConsolidationAgainstNaive ./verify"},
	{fault{"the judge: standing tasks are no company", "verify/consolidation.go",
		"here+standing[d] > 0", "here+0*standing[d] > 0"}, "-run ConsolidationAgainstNaive ./verify"},
	{fault{"Consolidation: no host is drawn of none", "heuristics/consolidation/lns.go",
		"s.C.Existing == 0 || ", ""}, "-run TestOffersAlone ./heuristics/consolidation"},
	{fault{"Whole objectives are optimal a unit off", "model/metric.go",
		"math.Abs(objective-bound) >= 1)", "math.Abs(objective-bound) >= 100)"}, "-run TestMetricClosed ./model"},
	{fault{"Auto: a panic ends all", "portfolio.go",
		"case errors.As(told, new(*panics.Panic)):", "case false:"}, "-run TestAutoGoesOn ."},
	{fault{"Auto: work that a limit interrupts is lost", "portfolio.go",
		"err = a.last(later)", "err = nil"}, "-run TestAutoTakesHalves ."},
	{fault{"Batch: who is behind others needs a processor more", "exact/internal/tiers/mixes.go",
		"free += classes[c].count - needs[c]; free < 0", "free += classes[c].count - needs[c]; free < needs[c]"}, "./exact/internal/tiers"},
	{fault{"Batch: in the order pyss all ends are told before the arrivals", "heuristics/online/batch_run.go",
		"if pyss && r.starts[k]", "if pyss && r.now == 0 && r.starts[k]"}, "./heuristics/batch"},
	{fault{"Batch: in the order event the ends of an instant are told before its first pass", "heuristics/online/batch_run.go",
		"return r.options.Order == model.BatchOrderEvent\n", "return r.options.Order == model.BatchOrderEvent && next.kind() != ends\n"},
		"-run Batsim ./heuristics/batch"},
	{fault{"Batch: among neighbours a job takes places of the reservation", "heuristics/batch/placed.go",
		"s.free.fit(k, s.then)", "s.free.fit(k, nil)"}, "-run Batsim|Neighbour ./heuristics/batch"},
	{fault{"Batch: on nodes a job takes places of the reservation", "internal/problem/batch/nodes/later.go",
		"if t > 0 && both > 0 {", "if t > 1 && both > 0 {"}, "-run OnNodes|NodesPlain ./heuristics/batch"},
	{fault{"Batch: on nodes the shadow time is kept when the job that makes room then has ended", "heuristics/batch/nodes.go",
		"if at >= s.at {", "if at > s.at {"}, "-run NodesPlain ./heuristics/batch"},
	{fault{"Batch: a conservative reservation has room on nodes at its start alone", "heuristics/batch/conservative_nodes.go",
		"for i++; i < len(s.steps) && s.steps[i].at < end; i++ {", "for i++; i < 0; i++ {"}, "-run ConservativeNodes ./heuristics/batch"},
	{fault{"Batch: a pooled bound counts jobs that may run elsewhere", "internal/problem/batch/pooled/pooled.go",
		"if !in || capacity == 0 {", "if capacity == 0 {"}, "-run Pooled ./bounds/batch"},
	{fault{"Batch: a part counts its jobs' lengths twice", "exact/batch/parts.go",
		"p.least += sum - apart", "p.least += sum"}, "-run Parts ./exact/batch"},
	{fault{"Batch: a job is left out of those that crowd the nodes", "exact/batch/nodes.go",
		"o.place.order[:o.place.deepest+1]", "o.place.order[:max(1, o.place.deepest)]"}, "-run Placement|NodesAgainstAll ./exact/batch"},
	{fault{"Batch: nodes that hold other numbers of processes are alike", "exact/batch/placement.go",
		"cmp.Or(cmp.Compare(a.job, b.job), cmp.Compare(a.count, b.count))", "cmp.Compare(a.job, b.job)"}, "-run Placement ./exact/batch"},
	{fault{"Batch: a job that is alone on its nodes takes a slot more of a pooled resource", "exact/batch/rows.go",
		"if rest > 0 {", "if rest >= 0 {"}, "-run NodesAgainstAll ./exact/batch"},
	{fault{"Batch: the judge lets a job come to nodes that another has alone", "verify/batch_nodes.go",
		"needs.Exclusive || n.in.Jobs[other.request].Needs.Exclusive {", "needs.Exclusive {"}, "-run Nodes ./verify"},
	{fault{"the judge: processes of a crowd are on as many nodes as they can fill", "verify/proof_batch_nodes.go",
		"for count := 1; count <=", "for count := min(left, processes/each); count <="}, "-run ProofCrowds ./verify"},
	{fault{"the judge: jobs of a crowd that don't overlap are on a node together", "verify/proof_batch_nodes.go",
		"c.taken(held[i+1:], among&c.meets[h.job], r)", "c.taken(held[i+1:], among, r)"}, "-run ProofCrowds ./verify"},
	{fault{"the judge: nodes of a crowd that hold other numbers of processes are alike", "verify/proof_batch_nodes.go",
		"\t\t\t\ttext = strconv.AppendInt(append(text, '*'), int64(h.each), 10)\n", ""}, "-run ProofCrowds ./verify"},
	{fault{"the judge: a crowd's jobs use one of their partitions alone", "verify/proof_batch_nodes.go",
		"range waysOf(c.needs(job)) {", "range waysOf(c.needs(job))[:1] {"}, "-run ProofCrowds ./verify"},
	{fault{"the judge: in a proof a job that is alone on its nodes takes a slot more of a pool", "verify/proof_batch_nodes.go",
		"big.NewInt(fit-1)", "big.NewInt(fit)"}, "-run ProofForward/batch ./verify"},
	{fault{"the judge: jobs that don't end before another start a unit before their end", "verify/proof_batch_nodes.go",
		"first.not(), length-1)", "first.not(), length-2)"}, "-run ProofNodesLines ./verify"},
	{fault{"a policy of another program isn't busy until its answer's now", "heuristics/online/wire/policy.go",
		"p.all = append(p.all, p.decision(online.Busy, 0, until))", "_ = until"}, "./heuristics/online/wire"},
	{fault{"a policy of another program gets requests of time 0", "heuristics/online/wire/batch.go",
		"len(p.jobs) == 0 && e.At == 0", "len(p.jobs) == 0 && e.At < 0"}, "./heuristics/online/wire"},
	{fault{"a runtime of the walltime is below it", "heuristics/online/wire/batch.go",
		"e.At-j.start >= e.Job.Estimate", "e.At-j.start > e.Job.Estimate"}, "./heuristics/online/wire"},
	{fault{"a policy of reservation is told of a request before", "heuristics/online/simulation.go",
		"y.before(x) {", "y.before(x) || s.call == callsFirst {"}, "-run Sessions|NoFuture ./heuristics/online/wire"},
	{fault{"a policy of another program is told of the deadline's runtime", "heuristics/online/reservation_run.go",
		"q.Ready, q.Duration, q.Deadline}", "q.Ready, q.Runtime, q.Deadline}"}, "-run Sessions|NoFuture ./heuristics/online/wire"},
	{fault{"a policy of another program may book PEs of others", "heuristics/online/reservation_run.go",
		"if x.request != k && x.blocks&blocks != 0 {", "if x.request == k && x.blocks&blocks != 0 {"}, "-run Request ./heuristics/online/wire"},
	{fault{"a policy of another program may book in the past", "heuristics/online/reservation_run.go",
		"case start < r.now:\n", "case start < r.now-100*int64(r.perSecond):\n"}, "-run Request ./heuristics/online/wire"},
	{fault{"a policy of another program may overload links", "heuristics/online/tvc_run.go",
		"case !r.Room(e, q.VMs, q.Bandwidth):", "case !r.Room(e, q.VMs, 0):"}, "-run Request ./heuristics/online/wire"},
	{fault{"a policy of another program may take its time without being busy", "heuristics/online/wire/policy.go",
		"until <= p.now:", "until <= p.now+1e9:"}, "-run Request ./heuristics/online/wire"},
	{fault{"a run that is stopped passes for a whole one", "heuristics/online/wire/wire.go",
		"case !c.heard:", "case !c.heard && ctx.Err() == nil:"}, "-run Request ./heuristics/online/wire"},
	{fault{"Batch: what is dropped for its number is as good as refuted", "exact/internal/tiers/search.go",
		"s.rest = min(s.rest, s.open[half].bound)", "s.rest = math.Inf(1)"}, "-run Halve ./exact/internal/tiers"},
	{fault{"Batch: who has just enough processors beside busy ones is barred", "exact/internal/tiers/barred.go",
		"high+p.t.Jobs[j].Processes > p.t.Processors", "high+p.t.Jobs[j].Processes >= p.t.Processors"}, "-run Bar ./exact/internal/tiers"},
	{fault{"Batch: who was in the background leaves it with the one above", "exact/internal/tiers/barred.go",
		"stays = n.phase[j] == runs && n.beneath[k]>>j&1 == 1", "stays = false"}, "-run Under ./exact/internal/tiers"},
	{fault{"Batch: who starts above a job sends it out of the background", "exact/internal/tiers/last.go",
		"if x.set>>f&1 == 1 && !s.Unbarred {", "if !s.Unbarred {"}, "-run TwoTiersWithout ./exact/batch"},
	{fault{"a policy of two tiers is told the losses", "heuristics/online/wire/twotier.go",
		"p.walltimes[e.Job.Number]", "p.clock.seconds(e.Job.Estimate)"}, "-run NoFuture ./heuristics/online/wire"},
	{fault{"a policy of two tiers may have two jobs in one foreground", "heuristics/online/twotier_decisions.go",
		"case !background && r.fore[p].job >= 0:", "case !background && r.fore[p].job > 1e6:"}, "-run Request ./heuristics/online/wire"},
	{fault{"Reservation: what ends early holds its PEs on", "heuristics/online/reservation_run.go",
		"r.held.leave(e.Start, k)", "r.held.leave(e.Start+1, k)"}, "./heuristics/online"},
	{fault{"Reservation: PEs are promised twice", "heuristics/online/reservation_run.go",
		"if x.request != k && x.blocks&blocks != 0 {", "if x.request != k && x.blocks&blocks == 0 {"}, "./heuristics/online"},
	{fault{"Reservation: a withdrawal is told at the start", "heuristics/online/reservation_run.go",
		"r.expect(k, max(q.Cancel, r.now), withdraws, 0)", "r.expect(k, start, withdraws, 0)"}, "./heuristics/online"},
	{fault{"TVC: what goes on in its place ends twice", "heuristics/online/simulation.go",
		"slices.Compact(due)", "due"}, "-run BgMBFOfKTH ./heuristics/tvc"},
	{fault{"TVC: a migration costs nothing in the loop", "internal/problem/tvc/fattree/course.go",
		"x.Owed = migration", "x.Owed = 0"}, "./heuristics/online"},
	{fault{"TVC: one that goes on has been suspended", "internal/problem/tvc/fattree/course.go",
		"if there && last.End == now &&", "if there && last.End == now && len(x.Segments) > 99 &&"}, "./heuristics/online"},
	{fault{"TVC: the loop doesn't look at links", "heuristics/online/tvc_run.go",
		"case !r.Room(e, q.VMs, q.Bandwidth):", "case vms < 0 && !r.Room(e, q.VMs, q.Bandwidth):"}, "./heuristics/online"},
	{fault{"Batch: on two tiers a migration costs nothing", "heuristics/online/twotier_decisions.go",
		"x.migrates = r.now + r.t.Migration", "x.migrates = r.now"}, "./heuristics/online"},
	{fault{"Batch: a start in the foreground slows nothing below", "heuristics/online/twotier_decisions.go",
		"\t\t\tr.touch(r.back[p])", ""}, "./heuristics/online"},
	{fault{"Batch: a job that is killed in the background keeps its work", "heuristics/online/twotier_run.go",
		"if lost {", "if lost && !x.background {"}, "./heuristics/online"},
	{fault{"the judge: the one machine ends a job a unit too late", "verify/evidence_machine.go",
		"j.end = now\n", "j.end = now + 1\n"}, "-run Squashed ./verify"},
	{fault{"the judge: the background makes as much of idle cycles as the foreground", "verify/evidence_batch.go",
		"a < b && a*below < above*b", "a < b && a*below > above*b"}, "-run Evidence/batch ./verify"},
	{fault{"Batch: the shadow time of a job that overran its estimate is past", "heuristics/batch/easy.go",
		"s.shadow = max(s.now, s.ends.reach(width-s.free))", "s.shadow = s.ends.reach(width - s.free)"}, "./heuristics/batch"},
	{fault{"Batch: an end at the shadow time gives no extra processors", "heuristics/batch/easy.go",
		"s.ends.until(s.shadow) - width", "s.ends.until(s.shadow-1) - width"}, "./heuristics/batch"},
	{fault{"DAG: a transfer takes a tick more of a link than it has data", "exact/dag/links.go",
		"To: to.At, Length: length}", "To: to.At, Length: length + 1}"}, "-run Link ./exact/dag"},
	{fault{"DAG: a transfer that is held back gets half of its rate at most", "exact/dag/held.go",
		"h.most[e] = g.Rate[int(m)*g.Machines+int(n)]", "h.most[e] = 0.5 * g.Rate[int(m)*g.Machines+int(n)]"}, "-run Linked|Held ./exact/dag"},
	{fault{"DAG: a transfer with a weight gets no more than others", "exact/dag/held.go",
		"rate[e] = least * float64(weight)", "rate[e] = least"}, "-run Held ./exact/dag"},
	{fault{"DAG: data that leave a machine wait for a start-up of any route", "internal/core/view/dag.go",
		"least[m] = min(least[m], g.Startup(m, n))", "least[m] = g.Startup(m, n)"}, "-run Gathering ./bounds/dag"},
	{fault{"the judge: a route's latency isn't waited for", "verify/dag_paths.go",
		"StartupS + p.latency[[2]int{m, n}]", "StartupS"}, "-run Textbook|DAG|Replay ./verify"},
	{fault{"Batch: the background takes a hundredth less", "bounds/batch/uses.go",
		"c = min(c, (1-alpha)*u/(e*g))", "c = min(c, 1.01*(1-alpha)*u/(e*g))"}, "./bounds/batch"},
	{fault{"Batch: the slowdown of short jobs is above 1", "internal/core/view/batch.go",
		"uint64(max(floor, j.Length))", "uint64(j.Length)"}, "./bounds/batch"},
	{fault{"Batch: due a thousandth sooner", "bounds/batch/slowdown.go",
		"return j.slowdown * (1 - 1e-12)", "return j.slowdown * (1 + 1e-3)"}, "./bounds/batch"},
	{fault{"the judge: a slowdown is reached where all still fits", "verify/evidence_slowdown.go",
		"bigProduct(w.To-w.From, capacity)", "bigProduct((w.To-w.From)/2, capacity)"}, "-run EvidenceForged ./verify"},
	{fault{"the judge: less may move than the budget", "verify/evidence_moves.go",
		"new(big.Int).Quo(beta.Num(), beta.Denom())", "new(big.Int).Quo(beta.Num(), bigProduct(2, 1).Mul(beta.Denom(), big.NewInt(2)))"}, "-run EvidenceForged ./verify"},
	{fault{"the judge: a job isn't held up by who may run just then", "verify/evidence_starts.go",
		"at <= j.due {", "at < j.due-j.length {"}, "-run EvidenceForged ./verify"},
	{fault{"the judge: a job is in a chain after itself alone", "verify/evidence_starts.go",
		"if set>>k&1 == 0 {", "if set>>k&1 == 1 {"}, "-run EvidenceForged ./verify"},
	{fault{"the judge: a switch has servers below it but the last", "verify/evidence_tvc_resources.go",
		"for range count {", "for range count - 1 {"}, "-run EvidenceLayers ./verify"},
	{fault{"the judge: shares of servers are one short", "verify/evidence_tvc_resources.go",
		"big.NewInt(int64(e.Count)+1)", "big.NewInt(int64(e.Count))"}, "-run EvidenceLayers ./verify"},
	{fault{"the judge: each VM of a pattern loads the link", "verify/evidence_tvc_patterns.go",
		"if load := min(c, m.vms-c);", "if load := c;"}, "-run Evidence(Layers|Forged) ./verify"},
	{fault{"the judge: patterns of requests that run one after the other", "verify/evidence_tvc_patterns.go",
		"if last >= first {", "if last > first+1e9 {"}, "-run EvidenceForms ./verify"},
	{fault{"the judge: all VMs below a switch load the link above it", "verify/evidence_tvc_resources.go",
		"case int64(m) == n:\n\t\t\t\tloads[m] = 0", "case int64(m) == n:\n\t\t\t\tloads[m] = min(n, shape.most[k])"}, "-run Evidence(Layers|Forged) ./verify"},
	{fault{"the judge: tasks that edges order may not be on one machine together", "verify/evidence_ordering.go",
		"if i >= j || !o.free(i, j) ||", "if i >= j ||"}, "-run OrderingRows ./verify"},
	{fault{"the judge: a task starts sooner after one that may come later", "verify/evidence_ordering.go",
		"Sub(o.high[i], o.low[j])", "Sub(o.low[i], o.low[j])"}, "-run OrderingRows ./verify"},
	{fault{"the judge: a relaxation is rounded up twice", "verify/evidence_ordering.go",
		"q.Add(q, big.NewInt(1))", "q.Add(q, big.NewInt(2))"}, "-run EvidenceForged ./verify"},
	{fault{"DAG: what comes together may all be on the machine only", "bounds/dag/gather.go",
		"range []bool{true, false} {", "range []bool{true} {"}, "-run Gathering ./bounds/dag"},
	{fault{"DAG: who sends to a machine and back waits a second more", "bounds/dag/gather.go",
		"after = max(after, e.round)", "after = max(after, e.round+1)"}, "-run Gathering ./bounds/dag"},
	{fault{"DAG: all data into a machine pass a link that only some do", "bounds/dag/gather.go",
		"return !slices.Contains(used, l)", "return false"}, "-run Gathering ./bounds/dag"},
	{fault{"DAG: the judge lets a unit more of a resource be taken than there is", "verify/cumulative.go",
		"r.used[i] <= r.capacity[i]", "r.used[i] <= r.capacity[i]+1"}, "-run Crowds ./verify"},
	{fault{"the judge: what ends gives back a unit more of each resource than it took", "verify/cumulative.go",
		"r.used[i] -= n", "r.used[i] -= n + 1"}, "-run Crowds ./verify"},
	{fault{"DAG: the judge tolerates a hundredth of what it should where there is no room", "verify/dag_capacity.go",
		"a.finish.sub(double{hi: b.start}).hi > far {", "a.finish.sub(double{hi: b.start}).hi > far/100 {"}, "-run Crowds ./verify"},
	{fault{"DAG: of a proof's tasks those that need all of a machine aren't in its room", "verify/proof_dag_rooms.go",
		"need > c.capacity ||", "need >= c.capacity ||"}, "-run Capacities ./exact/dag"},
	{fault{"DAG: a resource's room is a unit less", "internal/problem/dag/dagmodel/dagmodel.go",
		"c.Capacity = capacity / common", "c.Capacity = max(1, capacity/common-1)"}, "-run Capacities ./exact/dag"},
	{fault{"DAG: in an area a task takes a unit more than it needs", "internal/problem/dag/dagmodel/dagmodel.go",
		"(m.need(t, a, r) / common) * cost", "(m.need(t, a, r)/common + 1) * cost"}, "-run Capacities ./exact/dag"},
	{fault{"DAG: a task takes its share of the first machine's capacity", "internal/core/view/dag_room.go",
		"float64(n) / float64(r.Of(m)[resource])", "float64(n) / float64(r.Of(0)[resource])"}, "-run Capacities ./exact/dag"},
	{fault{"DAG: in a window a task takes its share on the last machine", "internal/core/view/dag_room.go",
		"least[t] = min(least[t], r.share(t, m, resource))", "least[t] = r.share(t, m, resource)"}, "-run Capacities ./exact/dag"},
	{fault{"DAG: the judge lets tasks lie where they can't run", "verify/dag.go",
		"math.IsInf(in.Cost(t, int(m)), 1) {", "false {"}, "-run DAGMutations ./verify"},
	{fault{"DAG: data that stay on a machine take no time whatever its rate", "internal/core/view/dag.go",
		"return g.Data[e] / g.Rate[int(m)*g.Machines+int(m)]", "return 0"}, "-run LocalRate ./exact/dag"},
	{fault{"DAG: a file is sent to a machine that has it", "internal/problem/dag/dagplay/files.go",
		"x.leader[i] = x.first[m]", "x.leader[i] = i"}, "-run Files ./exact/dag"},
	{fault{"DAG: an edge arrives with its first file", "verify/dag_times.go",
		"if last.less(x.double) {", "if k == j.carries[e][0] {"}, "-run Files ./exact/dag"},
	{fault{"DAG: links carry a file for each of its readers", "internal/core/view/dag_files.go",
		"f.File[item], f.Shared[k] = k, append(f.Shared[k], item)",
		"f.File[item], f.Shared[k], load = k, append(f.Shared[k], item), load+size"}, "-run Files ./exact/dag"},
	{fault{"DAG: data go where there is no path", "internal/core/view/dag.go",
		"if rate == 0 {", "if rate < 0 {"}, "-run NoPath ./exact/dag"},
	{fault{"DAG: data weigh on a bus when they leave and when they come", "bounds/dag/traffic.go",
		"x.both[l] = true", "x.both[l] = false"}, "-run EvidenceContention ./verify"},
	{fault{"DAG: prices of half as many data", "bounds/dag/traffic.go",
		"max(-x.o[a]*d*(1-1e-12), *p))", "2*max(-x.o[a]*d*(1-1e-12), *p))"}, "-run EvidenceContention ./verify"},
	{fault{"the judge: data pay for a move what they like", "verify/evidence_traffic.go",
		"exact(q).Cmp(limit) > 0", "exact(q).Cmp(limit) > 1"}, "-run EvidenceContention ./verify"},
	{fault{"the judge: links have no weight", "verify/evidence_traffic.go",
		"range e.Weights {\n\t\tall.Add", "range e.Weights[:m] {\n\t\tall.Add"}, "-run EvidenceContention ./verify"},
	{fault{"the judge: what comes together may all be on the machine only", "verify/evidence_gathering.go",
		"for _, on := range []bool{true, false} {", "for _, on := range []bool{true} {"}, "-run EvidenceContention ./verify"},
	{fault{"the judge: all data into a machine pass a link that only some do", "verify/evidence_gathering.go",
		"if k == routes &&", "if k > 0 &&"}, "-run EvidenceContention ./verify"},
	{fault{"the judge: who sends to a machine waits for its start-up, too", "verify/evidence_gathering.go",
		"		return g.startup[a], 0", "		return g.startup[a], g.startup[a]"}, "-run EvidenceContention ./verify"},
	{fault{"the judge: no host has more than a reference host", "verify/evidence_vcsched.go",
		"most.Mul(most, exact(s.Rigid(r)))", "most.Mul(most, exact(min(1, s.Rigid(r))))"}, "-run EvidenceFewHosts ./verify"},
	{fault{"the judge: a host has as much of each resource as of memory for two tasks", "verify/evidence_vcsched.go",
		"n.need[r][a]+n.need[r][b] > s.room[r]", "n.need[r][a]+n.need[r][b] > s.room[1]"}, "-run EvidenceRigid ./verify"},
	{fault{"the judge: there is one host of a size less than tasks", "verify/evidence_vcsched.go",
		"s.count = min(s.count, n.all)", "s.count = min(s.count, max(1, n.all-1))"}, "-run EvidenceResources ./verify"},
	{fault{"the judge: a knapsack has no resource but CPU and the last", "verify/evidence_knapsack.go",
		"if r == 0 || total[r] > x {", "if r == 0 || r == len(capacity)-1 && total[r] > x {"}, "-run EvidenceResources ./verify"},
	{fault{"the judge: a load is rounded up by a unit too many", "verify/evidence_vcsched.go",
		"x.Quo(x, unit).Add(x, one)", "x.Quo(x, unit).Add(x, one).Add(x, one)"}, "-run EvidenceResources ./verify"},
	{fault{"the judge: who comes before two waits for one after the other", "verify/evidence_gathering.go",
		"after = max(after, g.elsewhere(", "after = plus(after, g.elsewhere("}, "-run EvidenceContention ./verify"},
	{fault{"the judge: weights don't count", "verify/batch.go",
		"int64(max(1, in.Jobs[k].Weight))", "int64(max(1, 0*in.Jobs[k].Weight))"}, "-run Batch ./verify"},
	{fault{"the judge: a migration of a job costs nothing", "verify/batch.go",
		"x.since, x.rate = max(s.start, x.migrates), 0", "x.since, x.rate = s.start, 0"}, "-run Batch ./verify"},
	{fault{"the judge: a process in the background takes the whole of a processor", "verify/batch.go",
		"idle, use := int64(1), int64(1)", "idle, use := int64(1), int64(2)"}, "-run Batch ./verify"},
	{fault{"Account: a reader takes a key that says more for one that says nothing", "instances/wfformat.go",
		"t.Runtime4, t.Cores4, t.Memory4, t.Priority = x.runtime(), x.cores(), ", "t.Runtime4, t.Cores4, t.Memory4, t.Priority = x.runtime(), 0, "},
		"-run WfFormat ./instances"},
	{fault{"Account: keys that a reader doesn't know are dropped", "instances/internal/keys/keys.go",
		"if !known && !slices.Contains(w.unknown, at) {", "if !known && open == '[' {"}, "-run WfFormat ./instances"},
}
