// SPDX-License-Identifier: MIT

package report

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// barsPage returns the page of a plan for a cluster of so many nodes, with a pod or two on each, and the plan.
func barsPage(t *testing.T, nodes int, name string) (string, *kubernetes.Plan) {
	t.Helper()
	var items []string
	for n := range nodes {
		items = append(items, fmt.Sprintf(`{"kind":"Node","metadata":{"name":"%s%d"},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"20"},"capacity":{"cpu":"4"}}}`, name, (n*7)%nodes))
		for k := range n%2 + 1 {
			items = append(items, fmt.Sprintf(`{"kind":"Pod","metadata":{"name":"p%d-%d","namespace":"d","ownerReferences":[{"kind":"ReplicaSet","name":"r%d","controller":true}]},"spec":{"nodeName":"%s%d","containers":[{"name":"c","resources":{"requests":{"cpu":"900m","memory":"1Gi"}}}]},"status":{"phase":"Running"}}`, n, k, n, name, n))
		}
	}
	items = append(items, `{"kind":"Node","metadata":{"name":"spare"},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"20"},"capacity":{"cpu":"4"}}}`)
	c := require.Value(kubernetes.Read(map[string][]byte{"x": []byte(`{"kind":"List","items":[` + strings.Join(items, ",") + `]}`)}))(t)
	in := require.Value(kubernetes.Convert(c, kubernetes.Options{}))(t)
	plan := require.Value(kubernetes.MakePlan(t.Context(), in, gapwise.Options{Settings: model.Settings{Seed: 1, Threads: 1, Effort: 100_000}}))(t)
	var b bytes.Buffer
	require.OK(t, Cluster(&b, plan, nil, Options{Title: "A plan for the cluster <i>x", Date: "2026-11-30"}))
	return b.String(), plan
}

// Each node has one row for both states, by its name: those that hold pods then first. What moves has an edge in both.
func TestBars(t *testing.T) {
	t.Parallel()
	for _, nodes := range []int{6, 501} {
		const name = `a&quot;&lt;b&gt;` // in the page; JSON takes the entity's text as it is
		page, plan := barsPage(t, nodes, name)
		var want []string
		use := func(a *model.Assignment) map[string]bool {
			used := map[string]bool{}
			for i := range a.Jobs {
				for _, h := range a.Jobs[i].Hosts {
					used[h] = true
				}
			}
			return used
		}
		now, then := use(plan.Today), use(plan.Solution)
		for _, in := range []func(h string) bool{func(h string) bool { return then[h] }, func(h string) bool { return !then[h] && now[h] },
			func(h string) bool { return !then[h] && !now[h] }} {
			for k := range plan.Instance.Hosts {
				if h := plan.Instance.Hosts[k].ID; in(h) {
					want = append(want, h)
				}
			}
		}
		require.Same(t, "the last node", "spare", want[len(want)-1])
		figure := page[strings.Index(page, `<figure class="nodes">`):]
		figure = figure[:strings.Index(figure, "</figure>")]
		rows := strings.Split(figure, "<tr")[2:]
		require.Same(t, "rows", nodes+1, len(rows))
		moves, left, come := 0, 0, 0
		for k, row := range rows {
			m := regexp.MustCompile(`^[^>]*><th scope="row" title="([^"]*): ([a-z ]*)">([^<]*)<`).FindStringSubmatch(row)
			if m == nil {
				t.Fatalf("no name: %s", row)
			}
			require.Same(t, "the node's name, on hovering", want[k], html.UnescapeString(m[1]))
			require.Same(t, "the node's name", want[k], html.UnescapeString(m[3]))
			require.Same(t, want[k]+": is empty then", !then[want[k]], strings.Contains(row, `class="goes"`))
			states := strings.Split(row, "<td>")[1:]
			require.Same(t, "states", 2, len(states))
			left, come = left+strings.Count(states[0], `"moves r0"`), come+strings.Count(states[1], `"moves r0"`)
			if !then[want[k]] && (strings.Contains(states[1], "<rect") || strings.Contains(states[0], `"stays`)) {
				t.Errorf("%s: what stays on it, or comes", want[k])
			}
		}
		for i := range plan.Today.Jobs {
			for k, h := range plan.Today.Jobs[i].Hosts {
				if plan.Solution.Jobs[i].Hosts[k] != h {
					moves++
				}
			}
		}
		if moves == 0 || moves != left || moves != come {
			t.Errorf("%d pods move, %d edges before and %d after", moves, left, come)
		}
		require.Says(t, "the caption", figure, "in one order", "CPU, memory", fmt.Sprintf("The last %d nodes hold no pods then.", nodes+1-len(then)))
		require.Says(t, "the head", page, "A plan for the cluster &lt;i&gt;x", "2026-11-30 · ", "gapwise "+gapwise.Version)
		for _, word := range []string{"<i>x", "cpu_m", "memory_bytes", "hosts", "tasks", `title="a"`} {
			if strings.Contains(strings.ToLower(page[strings.Index(page, "<body>"):strings.Index(page, "<script>")]), word) {
				t.Errorf("the page says %q", word)
			}
		}
		if slices.Equal(want, slices.Sorted(slices.Values(want))) {
			t.Error("the nodes are in the order of their names: the test tells nothing")
		}
	}
}

// In a browser of any width the bars of many nodes can be read, and the page is no wider than the window.
func TestBarsInBrowser(t *testing.T) {
	b := newBrowser(t)
	page, _ := barsPage(t, 300, "ip-10-0-0-1.eu-central-1.compute.internal-")
	for _, wide := range []int64{1280, 360} {
		b.Width(wide)
		b.open([]byte(page))
		if eval[int](b, "document.documentElement.scrollWidth") > int(wide) {
			t.Errorf("%d: the page is wider than the window", wide)
		}
		const every = "Array.from(document.querySelectorAll('.nodes svg'))"
		require.Same(t, "bars", 602, eval[int](b, every+".length"))
		if !eval[bool](b, every+".every(x => x.getBoundingClientRect().width > 100 && x.getBoundingClientRect().height >= 20)") {
			t.Errorf("%d: a bar is small", wide)
		}
		if !eval[bool](b, "Array.from(document.querySelectorAll('.nodes tbody th')).every(x => x.scrollWidth <= x.clientWidth)") {
			t.Errorf("%d: a name is cut off", wide)
		}
		b.Quiet()
	}
}
