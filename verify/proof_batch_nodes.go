// SPDX-License-Identifier: MIT

package verify

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// nodesProof builds the objects that proofs of batches on nodes have beside the starts.
//
// Variables: "before I K", 1 if and only if job I ends before K starts. Constraints:
// "order I K", which says so; "pool R E G G ...", the slots of E of a resource on all nodes, or on those of some groups;
// "crowd I K I K ...", a nogood: the pairs of jobs don't all overlap in time.
//
// A job fits the empty machine, so the last start of batchProof holds here, too: what is later moves forward with its
// nodes.
type nodesProof struct {
	in     *model.Batch
	s      *proofState
	jobs   *proofCumulative // all starts and lengths
	before map[[2]int]int32
}

const maxNodesProof = 1 << 22 // jobs times groups

func newNodesProof(in *model.Batch, s *proofState, jobs *proofCumulative) (*nodesProof, error) {
	if n := len(in.Jobs) * len(in.Nodes); n > maxNodesProof {
		return nil, fmt.Errorf("%d jobs on %d groups of nodes are more than %d together, the most that the checker takes", len(in.Jobs), len(in.Nodes), maxNodesProof)
	}
	return &nodesProof{in, s, jobs, map[[2]int]int32{}}, nil
}

// pair reads two different jobs.
func (n *nodesProof) pair(words []string) (pair [2]int, err error) {
	for x := range pair {
		if pair[x], err = proofIndex(words[x], len(n.in.Jobs)); err != nil {
			return pair, err
		}
	}
	if pair[0] == pair[1] {
		return pair, errors.New("it is a pair of one job")
	}
	return pair, nil
}

// ends returns the variable that says whether the first of two jobs ends before the second starts.
func (n *nodesProof) ends(pair [2]int) int32 {
	v, ok := n.before[pair]
	if !ok {
		v = n.s.add(0, 1, always)
		n.before[pair] = v
	}
	return v
}

// variable returns a variable, given in words.
func (n *nodesProof) variable(name []string) (int32, error) {
	if len(name) != 3 || name[0] != "before" {
		return 0, errUnknownName
	}
	pair, err := n.pair(name[1:])
	if err != nil {
		return 0, err
	}
	return n.ends(pair), nil
}

// constraint returns a constraint, given in words.
func (n *nodesProof) constraint(name []string) (proofRule, error) {
	switch {
	case name[0] == "order" && len(name) == 3:
		pair, err := n.pair(name[1:])
		if err != nil {
			return nil, err
		}
		return n.order(pair), nil
	case name[0] == "pool" && len(name) > 2:
		return n.pool(name[1:])
	case name[0] == "crowd" && len(name) > 2 && len(name)%2 == 1:
		return n.crowd(name[1:])
	}
	return nil, errUnknownName
}

// order returns two rows, start I + length ≤ start K if I ends before K starts and start K < start I + length if not.
// A row that isn't asked for is wide enough for all starts of the range that the jobs had at first, so it is met.
func (n *nodesProof) order(pair [2]int) proofAny {
	first := atLeast(n.ends(pair), 1)
	x, y := n.jobs.starts[pair[0]].at, n.jobs.starts[pair[1]].at
	length := n.jobs.lengths[pair[0]]
	row := func(less, more int32, asked bound, most int64) *proofLinear {
		wide := int64(maxProofNumber) * 4 // starts are below 2^60, lengths up to 2^61
		r := &proofLinear{terms: []proofTerm{{1, less}, {-1, more}}, groups: [][]proofChoice{{{asked, wide}, {asked.not(), 0}}}}
		r.allow(1, wide)
		r.allow(1, most)
		return r
	}
	return proofAny{row(x, y, first, -length), row(y, x, first.not(), length-1)}
}

// pool returns the row of a resource in slots of so many units, of some groups or all. A node of capacity c has ⌊c/e⌋
// slots of e. Processes with needs x on it hold Σ ⌊x/e⌋ ≤ ⌊Σ x/e⌋ ≤ ⌊c/e⌋ of them. The jobs that run on nothing but the
// groups hold at most their C slots at every instant. If C is above pooledParts, slots times parts/C, rounded down, sum
// to at most the parts. Other jobs hold nothing.
func (n *nodesProof) pool(words []string) (proofRule, error) {
	r, err := proofIndex(words[0], len(n.in.Resources))
	if err != nil {
		return nil, err
	}
	e, err := proofID([]byte(words[1]))
	if err != nil || e < 1 {
		return nil, fmt.Errorf("%q must be a number of at least 1", words[1])
	}
	inside := make([]bool, len(n.in.Nodes))
	for _, w := range words[2:] {
		g, err := proofIndex(w, len(n.in.Nodes))
		if err != nil {
			return nil, err
		}
		inside[g] = true
	}
	slots := int64(0) // at most 10^18
	for g := range n.in.Nodes {
		if inside[g] = inside[g] || len(words) == 2; inside[g] {
			slots += int64(n.in.Nodes[g].Count) * (n.in.Nodes[g].Capacity[r] / e)
		}
	}
	if slots == 0 {
		return nil, fmt.Errorf("the nodes have no slots of %d %s", e, n.in.Resources[r])
	}
	row := *n.jobs
	row.capacity = min(slots, pooledParts)
	row.demands = make([]int64, len(n.in.Jobs))
	for k := range n.in.Jobs {
		if n.s.spend(len(n.in.Nodes)) {
			return nil, errors.New("it takes too long")
		}
		if needsWithin(n.in, n.in.Jobs[k].Needs, inside) {
			x := n.slots(k, r, e)
			x.Mul(x, big.NewInt(row.capacity)).Quo(x, big.NewInt(slots))
			row.demands[k] = min(x.Int64(), row.capacity) // as it fits the nodes, the first is the lesser
		}
	}
	return &row, nil
}

// slots returns how many slots of e of a resource job k holds at least. A job that has its nodes alone holds all theirs:
// if a node of group g has s slots and room for f of the job's p processes, so at least p times the least s/f. And it
// holds those of one node.
func (n *nodesProof) slots(k, r int, e int64) *big.Int {
	needs, processes := n.in.Jobs[k].Needs, big.NewInt(int64(n.in.Jobs[k].Processes))
	most := big.NewInt(needs.Each[r] / e)
	most.Mul(most, processes)
	if !needs.Exclusive {
		return most
	}
	var least, one *big.Int
	for g := range n.in.Nodes {
		group := &n.in.Nodes[g]
		fit := nodeFit(needs, group.Capacity, int64(n.in.Jobs[k].Processes))
		if fit == 0 || !mayUse(needs, group) {
			continue
		}
		s := big.NewInt(group.Capacity[r] / e)
		held := new(big.Int).Mul(s, processes)
		held.Add(held, big.NewInt(fit-1)).Quo(held, big.NewInt(fit))
		if least == nil || held.Cmp(least) < 0 {
			least = held
		}
		if one == nil || s.Cmp(one) < 0 {
			one = s
		}
	}
	for _, x := range []*big.Int{least, one} {
		if x != nil && x.Cmp(most) > 0 {
			most = x
		}
	}
	return most
}

// nodeFit returns how many processes, up to most, fit what a node has free.
func nodeFit(needs *model.NodeNeeds, free []int64, most int64) int64 {
	if needs.Spread {
		most = min(most, 1)
	}
	for r, need := range needs.Each {
		if need > 0 {
			most = min(most, free[r]/need)
		}
	}
	return most
}

// Limits of a crowd.
const (
	maxCrowd      = 64 // jobs
	maxCrowdWork  = 1 << 25
	maxCrowdDepth = 1 << 15 // nested steps
)

// crowd returns the nogood that some pairs of jobs don't all overlap, if there are no nodes for the jobs such that of
// each set of jobs that are pairwise among them all fit each node together.
//
// If all pairs overlap in some schedule, the jobs of such a set run at one time, since intervals that overlap pairwise
// have a common instant (Helly 1923); so they fit their nodes then, and there are such nodes. Lengths are above 0, and
// a job that ends when another one starts doesn't overlap it: neither of a pair ends before the other starts.
func (n *nodesProof) crowd(words []string) (proofRule, error) {
	c := &crowd{in: n.in, s: n.s, failed: map[string]bool{}}
	at := map[int]int{}
	var nogood proofNogood
	for ; len(words) > 0; words = words[2:] {
		pair, err := n.pair(words)
		if err != nil {
			return nil, err
		}
		for _, k := range pair {
			if _, ok := at[k]; ok {
				continue
			}
			if len(c.jobs) == maxCrowd {
				return nil, fmt.Errorf("a crowd has more than %d jobs, the most that the checker takes", maxCrowd)
			}
			if n.jobs.lengths[k] < 1 {
				return nil, fmt.Errorf("job %d takes no time", k)
			}
			at[k] = len(c.jobs)
			c.jobs, c.meets = append(c.jobs, k), append(c.meets, 0)
		}
		a, b := at[pair[0]], at[pair[1]]
		c.meets[a] |= 1 << b
		c.meets[b] |= 1 << a
		nogood = append(nogood, atMost(n.ends(pair), 0), atMost(n.ends([2]int{pair[1], pair[0]}), 0))
	}
	found := c.search()
	switch {
	case c.over:
		return nil, fmt.Errorf("the search for nodes of these %d jobs takes more than %d steps, or %d within each other, the most that the checker takes", len(c.jobs), maxCrowdWork, maxCrowdDepth)
	case found:
		return nil, errors.New("there are nodes for these jobs, they can all overlap")
	}
	return nogood, nil
}

// crowd is a search for nodes of jobs of which some pairs overlap. It places one job after the other, in all ways.
// Nodes of a group that hold the same processes of the same jobs are alike. A job that overlaps none of those still to
// be placed makes no difference any more, and is left out. It takes exponential time at worst, in the number of jobs.
type crowd struct {
	in     *model.Batch
	s      *proofState
	jobs   []int      // in the order in which they are placed
	meets  []uint64   // of each, the jobs that it overlaps, as bits
	ways   [][][]bool // of each, the groups that it may use in each of its partitions
	failed map[string]bool
	work   int
	depth  int
	over   bool // the limits are reached: it is not known whether there are nodes
}

// likeNodes are some nodes of a group that hold the same.
type likeNodes struct {
	group, count int
	held         []processesOf // by job
}

// processesOf is processes of a job, by its number in the crowd, on each of some nodes.
type processesOf struct{ job, each int }

// spend notes work, and reports whether the limit is reached.
func (c *crowd) spend(work int) bool {
	c.work += work + 1
	c.over = c.s.spend(work) || c.over || c.work > maxCrowdWork
	return c.over
}

func (c *crowd) needs(job int) *model.NodeNeeds { return c.in.Jobs[c.jobs[job]].Needs }

// search reports whether all jobs have nodes. If over is set it doesn't know.
func (c *crowd) search() bool {
	usable := make([]bool, len(c.in.Nodes))
	for job := range c.jobs {
		var ways [][]bool
		for _, partition := range waysOf(c.needs(job)) {
			if c.spend(len(c.in.Nodes)) {
				return false
			}
			way := make([]bool, len(c.in.Nodes))
			for g := range way {
				way[g] = groupAllowed(c.needs(job), &c.in.Nodes[g], partition)
				usable[g] = usable[g] || way[g]
			}
			ways = append(ways, way)
		}
		c.ways = append(c.ways, ways)
	}
	var all []likeNodes
	for g := range usable {
		if usable[g] {
			all = append(all, likeNodes{group: g, count: c.in.Nodes[g].Count})
		}
	}
	return c.place(0, all)
}

// place places the jobs from one on.
func (c *crowd) place(job int, all []likeNodes) bool {
	if job == len(c.jobs) {
		return true
	}
	all, key := c.matter(job, all)
	if c.over || c.failed[key] {
		return false
	}
	for _, way := range c.ways[job] {
		if c.spend(len(all)) {
			return false
		}
		f := &filling{crowd: c, job: job, all: all}
		for i := range all {
			if way[all[i].group] {
				if room := c.room(job, &all[i]); room > 0 {
					f.open = append(f.open, openNodes{i, room, int64(room) * int64(all[i].count)})
				}
			}
		}
		for i := len(f.open) - 2; i >= 0; i-- {
			f.open[i].rest += f.open[i+1].rest
		}
		if f.fill(0, c.in.Jobs[c.jobs[job]].Processes) {
			return true
		}
	}
	c.failed[key] = true
	return false
}

// matter returns the nodes with the jobs that overlap one of those from job on, and a key for them. Nodes that hold the
// same are merged.
func (c *crowd) matter(job int, all []likeNodes) (merged []likeNodes, key string) {
	first, texts, size := map[string]int{}, []string{}, len(all)
	for _, n := range all {
		text := strconv.AppendInt(nil, int64(n.group), 10)
		var held []processesOf
		for _, h := range n.held {
			if c.meets[h.job]>>job != 0 {
				held = append(held, h)
				text = strconv.AppendInt(append(text, '+'), int64(h.job), 10)
				text = strconv.AppendInt(append(text, '*'), int64(h.each), 10)
			}
		}
		i, ok := first[string(text)]
		if !ok {
			i = len(merged)
			merged, first[string(text)], texts = append(merged, likeNodes{group: n.group, held: held}), i, append(texts, string(text))
		}
		merged[i].count += n.count
		size += len(text)
	}
	slices.Sort(texts)
	for k, text := range texts {
		texts[k] = text + ":" + strconv.Itoa(merged[first[text]].count)
	}
	c.spend(size)
	return merged, strconv.Itoa(job) + " " + strings.Join(texts, " ")
}

// room returns how many processes of a job each of some nodes takes, beside those that it overlaps.
func (c *crowd) room(job int, n *likeNodes) int {
	needs, among := c.needs(job), uint64(0)
	for _, h := range n.held {
		if c.meets[job]>>h.job&1 == 1 {
			if among |= 1 << h.job; needs.Exclusive || c.needs(h.job).Exclusive {
				return 0
			}
		}
	}
	free := slices.Clone(c.in.Nodes[n.group].Capacity)
	for r, need := range needs.Each {
		if need > 0 {
			free[r] -= c.taken(n.held, among, r)
		}
	}
	return int(nodeFit(needs, free, int64(c.in.Jobs[c.jobs[job]].Processes)))
}

// taken returns the most of a resource that jobs which overlap each other hold, of those among held. These fit the node
// together, as the last of them was placed beside the others.
func (c *crowd) taken(held []processesOf, among uint64, r int) int64 {
	if c.spend(len(held)) {
		return 0
	}
	for i, h := range held {
		if among>>h.job&1 == 0 {
			continue
		}
		among &^= 1 << h.job
		with := int64(h.each)*c.needs(h.job).Each[r] + c.taken(held[i+1:], among&c.meets[h.job], r)
		if among&^c.meets[h.job] == 0 { // it overlaps all others
			return with
		}
		return max(with, c.taken(held[i+1:], among, r))
	}
	return 0
}

// filling is the ways to put the processes of a job on nodes.
type filling struct {
	*crowd
	job  int
	all  []likeNodes
	open []openNodes // with room for a process
	used []usedNodes
}

// openNodes are nodes with room for so many processes each; rest is the room on all of them and those behind.
type openNodes struct {
	at, room int
	rest     int64
}

// usedNodes are some of open nodes, with so many processes each.
type usedNodes struct{ open, count, each int }

// fill puts processes on nodes of open from one on.
func (f *filling) fill(i, processes int) bool {
	if processes == 0 {
		return f.place(f.job+1, f.put())
	}
	if i == len(f.open) || f.open[i].rest < int64(processes) {
		return false
	}
	return f.fewer(i, f.open[i].room, f.all[f.open[i].at].count, processes)
}

// fewer puts processes on so many nodes that are left of open i, at most most on each, and goes on.
func (f *filling) fewer(i, most, left, processes int) bool {
	if f.depth++; f.depth > maxCrowdDepth {
		f.over = true
	}
	defer func() { f.depth-- }()
	behind := int64(0)
	if i+1 < len(f.open) {
		behind = f.open[i+1].rest
	}
	for each := min(most, processes); left > 0 && each > 0 && int64(each)*int64(left)+behind >= int64(processes); each-- {
		for count := 1; count <= min(left, processes/each); count++ {
			if f.spend(1) {
				return false
			}
			f.used = append(f.used, usedNodes{i, count, each})
			if f.fewer(i, each-1, left-count, processes-count*each) {
				return true
			}
			f.used = f.used[:len(f.used)-1]
		}
	}
	return f.fill(i+1, processes)
}

// put returns the nodes with the job's processes.
func (f *filling) put() []likeNodes {
	f.spend(len(f.all) + len(f.used))
	list := slices.Clone(f.all)
	for _, u := range f.used {
		n := &list[f.open[u.open].at]
		n.count -= u.count
		list = append(list, likeNodes{n.group, u.count, append(slices.Clone(n.held), processesOf{f.job, u.each})})
	}
	return slices.DeleteFunc(list, func(n likeNodes) bool { return n.count == 0 })
}
