// SPDX-License-Identifier: MIT

package kubernetes

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/gapwise/gapwise/internal/test/require"
)

// recorded are the drawn clusters whose answers testdata/feasible.gz holds; a live run has as many others.
const recorded = 100

const record = "testdata/feasible.gz"

// refusals are the nodes that refuse a pod in the program's lines, with the plugin.
var refusals = regexp.MustCompile(` [^ =]+=[^ \n]+`)

// sumOf tells one drawn cluster from another.
func sumOf(data []byte) string { return fmt.Sprintf("%.8x", sha256.Sum256(data)) }

// TestFeasible compares the nodes on which gapwise's simulation allows each pod with those of kube-scheduler's own filter
// plugins (scripts/scheduler), as they were recorded.
func TestFeasible(t *testing.T) {
	if flag.Lookup("update").Value.String() == "true" { // see TestLiveTable
		var text bytes.Buffer
		clusters, lines := asked(t, scheduler(t), 0, recorded)
		for seed := range clusters {
			fmt.Fprintf(&text, "%d %s|%s\n", seed, sumOf(clusters[seed]), strings.ReplaceAll(refusals.ReplaceAllString(lines[seed], ""), "\n", "|"))
		}
		var packed bytes.Buffer
		w := require.Value(gzip.NewWriterLevel(&packed, gzip.BestCompression))(t)
		require.Value(w.Write(text.Bytes()))(t)
		require.OK(t, w.Close())
		require.OK(t, os.WriteFile(record, packed.Bytes(), 0o644))
	}
	f := require.Value(os.Open(record))(t)
	defer f.Close()
	text := string(require.Value(io.ReadAll(require.Value(gzip.NewReader(f))(t)))(t))
	count := tally{}
	for line := range strings.Lines(text) {
		head, lines, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "|")
		var seed uint64
		var sum string
		require.Value(fmt.Sscan(head, &seed, &sum))(t)
		data, _ := drawFeasible(t, seed, "")
		if sum != sumOf(data) {
			t.Fatalf("the cluster of seed %d isn't the recorded one: record anew (make scheduler)", seed)
		}
		count.compare(t, fmt.Sprint("seed ", seed), data, strings.ReplaceAll(lines, "|", "\n"))
	}
	count.judge(t)
}

// TestLiveFilters compares fresh clusters. GAPWISE_SCHEDULER is the built program of scripts/scheduler, GAPWISE_ROUNDS
// multiplies the clusters.
func TestLiveFilters(t *testing.T) {
	program, count := scheduler(t), tally{}
	first := uint64(recorded)
	if s := os.Getenv("GAPWISE_SEED"); s != "" {
		first = require.Value(strconv.ParseUint(s, 10, 64))(t)
	}
	clusters, lines := asked(t, program, first, uint64(max(2, require.Rounds(recorded))))
	for k := range clusters {
		count.compare(t, fmt.Sprint("seed ", first+uint64(k)), clusters[k], lines[k])
	}
	count.judge(t)
}

// scheduler returns the path of the program.
func scheduler(t *testing.T) string {
	program := os.Getenv("GAPWISE_SCHEDULER")
	if program == "" {
		t.Skip("GAPWISE_SCHEDULER doesn't name the program of scripts/scheduler (make scheduler)")
	}
	return program
}

// asked returns the program's lines about the clusters of some seeds.
func asked(t *testing.T, program string, first, n uint64) (clusters [][]byte, lines []string) {
	args, folder := []string{"-why"}, t.TempDir()
	for seed := first; seed < first+n; seed++ {
		name := filepath.Join(folder, fmt.Sprint(seed, ".json"))
		data, _ := drawFeasible(t, seed, "")
		require.OK(t, os.WriteFile(name, data, 0o600))
		clusters = append(clusters, data)
		args = append(args, name)
	}
	for text := range strings.SplitSeq(require.Run(t, exec.Command(program, args...)), "# ") {
		if _, text, is := strings.Cut(text, "\n"); is {
			lines = append(lines, strings.TrimSuffix(text, "\n"))
		}
	}
	require.Is(t, int(n), len(lines), "answers")
	return clusters, lines
}

// tally counts pairs of a pod and a node.
type tally struct {
	pairs, feasible, differ int
	kept                    map[string]int // pairs of pods that gapwise keeps, by the plugin
	careful                 int            // pairs that gapwise may refuse though kube-scheduler allows them
}

// simulated returns the pods of a cluster with the nodes that the simulation allows, and why pods are kept, "" if they
// aren't. careful are the pods and nodes of which a plan knows no exact amount.
func simulated(t *testing.T, data []byte) (nodes map[string][]string, kept map[string]string, in *Instance) {
	c := require.Value(Read(map[string][]byte{"cluster": data}))(t)
	in = require.Value(Convert(c, Options{}))(t)
	s := NewScheduler(in)
	nodes, kept = map[string][]string{}, map[string]string{}
	for i := range in.Jobs {
		for k, id := range in.Pods[i] {
			from := s.State.Plan[i][k]
			if from >= 0 {
				s.Evict(i, k)
			}
			nodes[id] = []string{}
			for _, h := range s.Feasible(i, k) {
				nodes[id] = append(nodes[id], in.Hosts[h].ID)
			}
			if from >= 0 {
				s.Place(i, k, int(from))
			}
			if kept[id] = in.Pins[in.Jobs[i].ID]; kept[id] == "" {
				kept[id] = in.converter.jobs[i].pods[k].held
			}
		}
	}
	return nodes, kept, in
}

// unknowns tell by the reason of a pod that is kept by which plugin the plan doesn't know where it may be; by another
// reason kube-scheduler allows it on no other node.
var unknowns = map[string]string{"it claims devices": "DynamicResources", "it names a disk": "VolumeRestrictions", "it shares a volume of one node": "VolumeRestrictions",
	"it shares a volume with other pods": "NodeVolumeLimits", "it was resized in place": "NodeResourcesFit", "its pod group": "GangScheduling",
	"the scheduler other": "another scheduler", "which volume its claim": "VolumeBinding"}

// unknown returns the plugin of a reason, "" if the plan knows that no other node is allowed.
func unknown(why string) string {
	for begins, plugin := range unknowns {
		if strings.HasPrefix(why, begins) {
			return plugin
		}
	}
	return ""
}

func (c *tally) compare(t *testing.T, where string, data []byte, lines string) {
	t.Helper()
	nodes, kept, in := simulated(t, data)
	if c.kept == nil {
		c.kept = map[string]int{}
	}
	careful := map[string]bool{} // nodes with a pod resized in place, and such pods
	for _, p := range in.converter.pods {
		if resized(p.Pod) && p.pin == "" {
			careful[p.Spec.NodeName], careful[p.id] = true, true
		}
	}
	for line := range strings.Lines(lines + "\n") {
		allowed := strings.Fields(line)
		id := allowed[0]
		got, is := nodes[id]
		if !is {
			continue // a daemon set's, or one that goes
		}
		refused := slices.DeleteFunc(allowed[1:], func(s string) bool { return !strings.Contains(s, "=") })
		allowed = slices.DeleteFunc(strings.Fields(line)[1:], func(s string) bool { return strings.Contains(s, "=") })
		own := in.Cluster.Pods[slices.IndexFunc(in.Cluster.Pods, func(p corev1.Pod) bool { return p.Namespace+"/"+p.Name == id })].Spec.NodeName
		if why := kept[id]; why != "" {
			others := slices.DeleteFunc(slices.Clone(allowed), func(n string) bool { return n == own })
			if len(got) > 1 || len(got) == 1 && got[0] != own {
				t.Errorf("%s: %s is kept (%s), and allowed on %v", where, id, why, got)
			}
			if plugin := unknown(why); plugin != "" {
				c.kept[plugin] += len(in.Hosts)
				continue
			}
			if c.pairs += len(in.Hosts); len(others) > 0 {
				t.Errorf("%s: %s is kept (%s), kube-scheduler allows %v, not %v", where, id, why, allowed, refused)
				c.differ += len(others)
			}
			continue
		}
		said := false
		for k := range in.Hosts {
			n := in.Hosts[k].ID
			ours, theirs := slices.Contains(got, n), slices.Contains(allowed, n)
			switch {
			case careful[id] || careful[n]:
				if c.careful++; ours && !theirs {
					t.Errorf("%s: %s is allowed on %s, where kube-scheduler doesn't allow it", where, id, n)
				}
				continue
			case ours != theirs:
				if c.differ++; !said {
					t.Errorf("%s: gapwise allows %s on %v, kube-scheduler on %v, not on %v", where, id, got, allowed, refused)
				}
				said = true
			}
			if c.pairs++; theirs {
				c.feasible++
			}
		}
	}
}

// judge checks that the counts mean something: enough pairs, about half of them feasible, and few of which a plan
// doesn't know.
func (c *tally) judge(t *testing.T) {
	t.Helper()
	kept := 0
	for _, n := range c.kept {
		kept += n
	}
	t.Logf("%d pairs, %d of them feasible, %d differ; besides %d of pods that a plan keeps %v, and %d of amounts that change", c.pairs, c.feasible, c.differ, kept, c.kept, c.careful)
	all := c.pairs + kept + c.careful
	if c.pairs < 5000 || c.feasible*3 < c.pairs || c.feasible*3 > 2*c.pairs || kept*7 > all || c.careful*20 > all {
		t.Error("too few pairs, too many or few of them feasible, or too many of pods that a plan keeps")
	}
	for _, plugin := range slices.Sorted(maps.Values(unknowns)) {
		if n := c.kept[plugin]; n == 0 || n*20 > all {
			t.Errorf("%d pairs of pods that are kept by %s", n, plugin)
		}
	}
}

// Each feature decides many pairs alone: without it other nodes are allowed.
func TestFeaturesDecide(t *testing.T) {
	t.Parallel()
	decides := map[string]int{}
	for seed := range uint64(recorded / 4) {
		data, used := drawFeasible(t, seed, "")
		with, _, _ := simulated(t, data)
		for feature := range used {
			data, _ := drawFeasible(t, seed, feature)
			without, _, _ := simulated(t, data)
			for id := range with {
				for _, n := range with[id] {
					if !slices.Contains(without[id], n) {
						decides[feature]++
					}
				}
				for _, n := range without[id] {
					if !slices.Contains(with[id], n) {
						decides[feature]++
					}
				}
			}
		}
	}
	for _, feature := range features {
		if t.Logf("%s: %d pairs", feature, decides[feature]); decides[feature] < 4 {
			t.Errorf("%s decides %d pairs alone", feature, decides[feature])
		}
	}
}
