// SPDX-License-Identifier: MIT

package slurm

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/instances/internal/jobs"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// Lists of nodes as Slurm writes them; others are refused, and so are lists of too many.
func TestHosts(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		"c1":                   "c1",
		"c[1,3-5]":             "c1 c3 c4 c5",
		"c[1-2],gpu[08-11]":    "c1 c2 gpu08 gpu09 gpu10 gpu11",
		"r[1-2]n[1-2],login-a": "r1n1 r1n2 r2n1 r2n2 login-a",
		"n[9-11]x":             "n9x n10x n11x",
	} {
		all, ok := hosts(list)
		if require.Same(t, list, want, strings.Join(all, " ")); !ok {
			t.Errorf("%s is refused", list)
		}
	}
	for _, list := range []string{"", ",", "a,", ",a", "c[", "c]", "c[1", "c[]", "c[1-]", "c[2-1]", "c[a]", "c[1-99999999]", "c[1-400]n[1-400]", "c[1]]", "None assigned[", "c[1,,2]"} {
		if all, ok := hosts(list); ok {
			t.Errorf("%q is %q", list, all)
		}
	}
}

// Each list is refused or has names without brackets and commas, within the bound.
func FuzzHosts(f *testing.F) {
	for _, list := range []string{"c[1,3-5],gpu[08-11]", "a[1-2]b[3]", "[1]", "x,,y"} {
		f.Add(list)
	}
	f.Fuzz(func(t *testing.T, list string) {
		all, ok := hosts(list)
		if ok != (len(all) > 0) || len(all) > mostHosts || slices.ContainsFunc(all, func(s string) bool { return s == "" || strings.ContainsAny(s, "[],") }) {
			t.Errorf("%q: %d, %v", list, len(all), ok)
		}
	})
}

// Features of jobs are needs of machines of nodes that tell theirs. Elsewhere, and with alternatives, they are told as not
// modelled.
func TestFeatures(t *testing.T) {
	t.Parallel()
	const table = "JobID|Partition|Submit|Start|Elapsed|AllocCPUS|NNodes|ReqMem|State|Constraints\n" +
		"1|p|10|10|00:00:05|1|1|1M|COMPLETED|fast&big\n2|p|10|10|00:00:05|1|1|1M|COMPLETED|\n3|p|10|10|00:00:05|1|1|1M|COMPLETED|fast|slow\n" +
		"4|p|10|10|00:00:05|1|1|1M|COMPLETED|[rack1|rack2]\n5|p|10|10|00:00:05|1|1|1M|COMPLETED|slow\n"
	text := strings.ReplaceAll(table, "fast|slow", "fast*2") // a bar would be a column's
	text = strings.ReplaceAll(text, "[rack1|rack2]", "[rack1]")
	const asks = "with a need for features of nodes"
	for name, c := range map[string]struct {
		nodes, groups, needs, says string
		placed                     bool
	}{
		"placed": {"NODELIST|PARTITION|CPUS|MEMORY|AVAIL_FEATURES|STATE\na|p|2|10|big,fast,blue|idle\nb|p|2|10|fast|idle\nc|p|2|10|(null)|idle\n",
			"[a big,fast b fast c ]", "1 [big fast] 2 [] 3 [] 4 []", "2 jobs " + asks + ", 40 % of the work (3, 4)/1 job that fit no nodes of their partitions and features (5)", true},
		"scontrol": {"NodeName=a CPUTot=2 RealMemory=10 AvailableFeatures=fast,big,slow ActiveFeatures=fast,big,slow Partitions=p State=IDLE\n",
			"[a big,fast,slow]", "1 [big fast] 2 [] 3 [] 4 [] 5 [slow]", "2 jobs " + asks, true},
		"nodes without": {"NODELIST|PARTITION|CPUS|MEMORY|STATE\na|p|2|10|idle\n", "[a ]", "1 [] 2 [] 3 [] 4 [] 5 []", "4 jobs " + asks, true},
		"processors":    {"NODELIST|PARTITION|CPUS|MEMORY|AVAIL_FEATURES|STATE\na|p|2|10|big,fast|idle\n", "[]", "", "4 jobs " + asks, false},
	} {
		o := jobs.Options{Placed: c.placed, Nodes: require.Value(ReadNodes([]byte(c.nodes)))(t)}
		a := model.NewAccount("x", "")
		log := require.Value(require.Value(Read([]byte(text), nil))(t).Log(&o, a))(t)
		groups, needs := []string{}, []string{}
		if p := log.Placed; p != nil {
			for _, g := range p.Nodes {
				groups = append(groups, g.ID+" "+strings.Join(g.Features, ","))
			}
			for k := range log.Jobs {
				needs = append(needs, log.Names.Jobs[k], fmt.Sprint(p.Needs[k].Features))
			}
		}
		require.Same(t, name+": groups", c.groups, fmt.Sprint(groups))
		require.Same(t, name+": needs", c.needs, strings.Join(needs, " "))
		for _, want := range strings.Split(c.says, "/") {
			require.Says(t, name, strings.Join(a.Lines(), "\n"), want)
		}
	}
}

// Keys of JSON that Slurm isn't known to write are named, and demands for which no instance has a place.
func TestKeys(t *testing.T) {
	t.Parallel()
	const job = `"job_state":"COMPLETED","submit_time":10,"start_time":10,"end_time":20,"cpus":1,"node_count":1,"partition":"p"`
	says := func(more string) string {
		a := model.NewAccount("x", "")
		text := `{"jobs":[{"job_id":1,` + job + `,"nice":5,"tasks":{"set":true,"number":1}` + more + `},{"job_id":2,` + job + `}]}`
		require.Value(require.Value(Read([]byte(text), nil))(t).Log(&jobs.Options{}, a))(t)
		return strings.Join(a.Lines(), "\n")
	}
	if plain := says(`,"required_nodes":"","contiguous":false,"exclusive":["false"],"burst_buffer":""`); strings.Contains(plain, "unknown meaning") || strings.Contains(plain, "jobs that") || strings.Contains(plain, "burst") {
		t.Error(plain)
	}
	require.Says(t, "unknown keys", says(`,"gang":{"size":3},"colour":1`), "keys of unknown meaning: colour, gang")
	for more, want := range map[string]string{`"required_nodes":"c1"`: "1 job that name nodes", `"excluded_nodes":"c[1-2]"`: "1 job that name nodes", `"contiguous":true`: "1 job that name nodes, or ask for neighbours",
		`"exclusive":["true"]`: "1 job that take whole nodes", `"burst_buffer":"#DW x"`: "1 job with a burst buffer", `"cluster_features":"big"`: "1 job with a need for features"} {
		require.Says(t, more, says(","+more), want)
	}
}
