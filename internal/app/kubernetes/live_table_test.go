// SPDX-License-Identifier: MIT

package kubernetes_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

var (
	liveRuns = flag.String("runs", "medium:default:4-4,small:packing:1-2", "drawn clusters that TestLiveTable drains: SIZE:PROFILE:FIRST-LAST of seeds,...")
	update   = flag.Bool("update", false, "write what was measured, and the tables of it")
)

const (
	liveCSV  = "testdata/live.csv"
	liveHead = "size,profile,seed,before,after,least,status,moves,evicted,refused,steps,plans,waiting_before,waiting_after,broken_budgets,seconds"
	results  = "../../../docs/results/kubernetes.md"
)

// Drains of drawn clusters end within a node of the proved least that budgets allow, with no pod pending that wasn't
// and no budget broken, which is watched all the time. With -update a row of each goes to testdata/live.csv.
func TestLiveTable(t *testing.T) {
	for _, part := range strings.FieldsFunc(*liveRuns, func(r rune) bool { return r == ',' }) {
		var first, last int
		f := strings.Split(part, ":")
		require.Is(t, 3, len(f), "-runs has", part)
		require.OK(t, require.Err(fmt.Sscanf(f[2], "%d-%d", &first, &last)), "-runs has", part)
		for seed := first; seed <= last; seed++ {
			t.Run(fmt.Sprint(f[0], " ", f[1], " ", seed), func(t *testing.T) { liveRow(t, f[0], f[1], seed) })
		}
	}
}

func liveRow(t *testing.T, size, profile string, seed int) {
	k := live(t, "--size", size, "--seed", fmt.Sprint(seed), "--scheduler", profile+"-scheduler")
	read := kubernetes.Options{Prices: kubernetes.PriceByNode, Packs: []string{"packing-scheduler"}}
	solve := gapwise.Options{Settings: model.Settings{Seed: 1, TimeLimit: 20 * time.Second}}
	c := require.Value(k.Read(t.Context()))(t)
	in := require.Value(kubernetes.Convert(c, read))(t)
	plan := require.Value(kubernetes.MakePlan(t.Context(), in, solve))(t)
	broken := watchBudgets(t, k)
	began := time.Now()
	d := require.Value(kubernetes.Drain(t.Context(), &k,
		kubernetes.DrainOptions{Options: read, Solve: solve, Allow: kubernetes.Harms, Patience: time.Minute,
			Poll: 300 * time.Millisecond, Log: t.Logf}))(t)
	seconds := time.Since(began).Seconds()
	n := broken()
	row := fmt.Sprintf("%s,%s,%d,%d,%d,%d,%s,%d,%d,%d,%d,%d,%d,%d,%d,%.0f", size, profile, seed, d.Before.Nodes, d.After.Nodes, plan.Then.Nodes, plan.CostStatus, plan.Moves, d.Evicted, d.Refused,
		d.Steps, d.Plans, d.Before.Waiting, d.After.Waiting, n, seconds)
	t.Log(liveHead + "\n" + row)
	if d.After.Nodes > plan.Then.Nodes+1 || d.After.Waiting > d.Before.Waiting || n > 0 {
		t.Errorf("%d nodes in use, the least is %d; %d pods wait, %d before; %d budgets broken", d.After.Nodes, plan.Then.Nodes, d.After.Waiting, d.Before.Waiting, n)
	}
	if *update {
		addRow(t, liveCSV, liveHead, row)
	}
}

// addRow appends a row to a table, instead of the one of the same first three columns.
func addRow(t *testing.T, file, head, row string) {
	t.Helper()
	text, _ := os.ReadFile(file) // there is none at first
	key := func(line string) string { return strings.Join(strings.SplitN(line, ",", 4)[:3], ",") }
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(string(text)), "\n"), func(line string) bool {
		return line == "" || line == head || key(line) == key(row)
	})
	lines = append(lines, row)
	slices.Sort(lines)
	require.OK(t, os.WriteFile(file, []byte(head+"\n"+strings.Join(lines, "\n")+"\n"), 0o644))
}

// watchBudgets watches the budgets. The returned function ends that, and returns how many were broken: budgets that had
// fewer healthy pods than they ask for, and hadn't at first.
func watchBudgets(t *testing.T, k kubernetes.Kubectl) func() int {
	ctx, stop := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, "kubectl", append(slices.Clone(k.Args), "get", "pdb", "-A", "--watch", "-o",
		`jsonpath={.metadata.namespace}/{.metadata.name} {.status.currentHealthy} {.status.desiredHealthy}{"\n"}`)...)
	var said bytes.Buffer
	cmd.Stdout = &said
	require.OK(t, cmd.Start())
	time.Sleep(time.Second)
	return func() int {
		time.Sleep(500 * time.Millisecond)
		stop()
		_ = cmd.Wait() // it was stopped
		first, broken := map[string]bool{}, map[string]bool{}
		for line := range strings.Lines(said.String()) {
			var name string
			var healthy, wanted int
			if _, err := fmt.Sscan(line, &name, &healthy, &wanted); err != nil {
				continue
			}
			if _, seen := first[name]; !seen {
				first[name] = healthy >= wanted
			}
			if first[name] && healthy < wanted {
				broken[name] = true
			}
		}
		if len(first) == 0 {
			t.Error("no budget was watched")
		}
		return len(broken)
	}
}

// rows reads a table that a live test has written.
func rows(t *testing.T, file string) (all []map[string]string) {
	t.Helper()
	lines := require.Value(csv.NewReader(bytes.NewReader(require.Value(os.ReadFile(file))(t))).ReadAll())(t)
	for _, line := range lines[1:] {
		row := map[string]string{}
		for k, name := range lines[0] {
			row[name] = line[k]
		}
		all = append(all, row)
	}
	return all
}

func number(t *testing.T, row map[string]string, name string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(row[name], 64)
	require.OK(t, err, name)
	return x
}

// The how-to's table of live drains matches the recorded runs.
func TestLiveTableInDocuments(t *testing.T) {
	groups := map[string][]map[string]string{}
	var names []string
	for _, row := range rows(t, liveCSV) {
		name := row["size"] + ", " + row["profile"]
		if groups[name] == nil {
			names = append(names, name)
		}
		groups[name] = append(groups[name], row)
	}
	var b strings.Builder
	b.WriteString("| clusters | runs | nodes before | after | least | moves planned | evicted | planned anew | refused | left waiting | budgets broken | s, median |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, name := range names {
		sum := map[string]float64{}
		var seconds []float64
		for _, row := range groups[name] {
			for _, column := range []string{"before", "after", "least", "evicted", "moves", "refused", "broken_budgets"} {
				sum[column] += number(t, row, column)
			}
			sum["anew"] += max(0, number(t, row, "plans")-1)
			sum["waiting"] += max(0, number(t, row, "waiting_after")-number(t, row, "waiting_before"))
			require.Same(t, name+": status of the least", "optimal", row["status"])
			if number(t, row, "after") > number(t, row, "least")+1 {
				t.Errorf("%s %s: it ends %s nodes, the least is %s", name, row["seed"], row["after"], row["least"])
			}
			seconds = append(seconds, number(t, row, "seconds"))
		}
		slices.Sort(seconds)
		fmt.Fprintf(&b, "| %s | %d | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f |\n", name, len(seconds), sum["before"], sum["after"], sum["least"], sum["moves"], sum["evicted"],
			sum["anew"], sum["refused"], sum["waiting"], sum["broken_budgets"], seconds[len(seconds)/2])
	}
	inDocument(t, "live", b.String())
}

// inDocument holds a part of the page of results, between the comments BEGIN and END of a name, against a text; with -update
// it is written.
func inDocument(t *testing.T, name, text string) {
	t.Helper()
	page := require.Value(os.ReadFile(results))(t)
	begin, end := "<!-- "+name+" begins: go test ./internal/app/kubernetes -update -->\n", "<!-- "+name+" ends -->"
	before, rest, found := strings.Cut(string(page), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no place for %s", results, name)
	}
	want := before + begin + text + end + after
	if want == string(page) {
		return
	}
	if !*update {
		t.Errorf("%s: the table %s isn't that of the recorded runs (-update)", results, name)
		return
	}
	require.OK(t, os.WriteFile(results, []byte(want), 0o644))
}
