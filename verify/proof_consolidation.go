// SPDX-License-Identifier: MIT

package verify

import (
	"errors"
	"fmt"

	"github.com/gapwise/gapwise/model"
)

// consolidationProof builds the objects in proofs of consolidations. Tasks of a job are alike, so it counts them. Hosts
// are the instance's, and then of each offer as many as a useful solution can buy. These are at most as many as there
// are tasks, and as the cost allows: at most the cost limit or, if cost is the goal, the objective. The first hosts of
// an offer are in use before the others, since they are alike. None is bought without tasks: it costs, and no rule or
// limit asks for it.
//
// Variables: "use H", "stay J H", tasks that stay, "anew J H", tasks that are placed anew, "leave J",
// tasks that are left out, "objective". The rules have more, see auxiliary: for each solution they
// have values that meet all rows. Constraints: see constraint.
type consolidationProof struct {
	s        *proofState
	j        *consolidationJudge
	in       *model.Consolidation
	existing int
	use      []int32
	stay     []map[int]consolidationCount
	anew     [][]consolidationCount // of each job and host
	leave    []int32                // -1: none may be left out
	goal     int32
	pinned   []bool           // of each host: a pinned task is on it
	aux      map[string]int32 // variables of the rules
	domains  map[string]*consolidationDomains
	spreads  map[int]*consolidationSpread
	all      wideSum // no solution's objective is greater
}

// consolidationCount is a variable with its largest value at first; -1: there is none.
type consolidationCount struct {
	v    int32
	most int64
}

// consolidationDomains are the domains of a key, in the order of their first hosts.
type consolidationDomains struct {
	of    []int // of each host: its domain, nowhere without
	hosts [][]int
}

// maxConsolidationProof bounds jobs times hosts, those that can be bought among them.
const maxConsolidationProof = 1 << 20

var errConsolidationProofSize = fmt.Errorf("the jobs times the hosts of use are more than %d, the most that the checker takes", maxConsolidationProof)

func newConsolidationProof(in model.Instance, s *proofState, unit string, upper int64) (proofKind, error) {
	c, ok := in.(*model.Consolidation)
	if !ok || unit != "1" {
		return nil, errors.New("the instance is none of consolidation, or the unit isn't 1")
	}
	k := &consolidationProof{s: s, in: c, existing: len(c.Hosts), aux: map[string]int32{}, domains: map[string]*consolidationDomains{}, spreads: map[int]*consolidationSpread{}}
	most := int64(-1) // of a cost
	switch {
	case c.CostLimit != nil:
		most = *c.CostLimit
	case c.Goal != model.GoalMoves:
		most = upper
	}
	tasks, slots, dearest := int64(c.Tasks()), int64(0), int64(0)
	for i := range c.Offers {
		o := &c.Offers[i]
		n := min(tasks, int64(o.Count))
		dearest = max(dearest, o.Price)
		if o.Price > 0 && most >= 0 {
			n = min(n, most/o.Price)
		}
		slots = max(slots, n)
	}
	hosts := int64(len(c.Hosts))
	for i := range c.Offers {
		hosts += min(int64(c.Offers[i].Count), slots)
	}
	if hosts > maxConsolidationProof || int64(len(c.Jobs))*hosts > maxConsolidationProof {
		return nil, errConsolidationProofSize
	}
	k.j = newConsolidationJudge(c, nil)
	for i := range c.Offers {
		o := &c.Offers[i]
		for range min(int64(o.Count), slots) {
			k.j.hosts = append(k.j.hosts, consolidationHost{capacity: o.Capacity, price: o.Price, labels: o.Labels, offer: o.ID})
		}
	}
	for i := range c.Jobs {
		k.j.jobs[c.Jobs[i].ID] = i
	}
	k.variables()
	for i := range c.Jobs {
		x := k.moving(i)
		if c.Goal != model.GoalMoves {
			x = max(0, k.leaving(i))
		}
		k.all.add(x, int64(c.Jobs[i].Tasks))
	}
	if c.Goal != model.GoalMoves { // as many hosts are bought as there are tasks, at most
		k.all.add(dearest, tasks)
		for h := range c.Hosts {
			k.all.add(c.Hosts[h].Price, 1)
		}
	}
	k.goal = s.add(0, upper, always)
	return k, nil
}

// variables adds the variables of hosts and jobs.
func (k *consolidationProof) variables() {
	hosts, keys := k.j.hosts, k.keys()
	k.pinned = make([]bool, len(hosts))
	for i := range k.in.Jobs {
		job, now := &k.in.Jobs[i], map[int]int64{}
		for _, id := range job.CurrentHosts {
			if id != "" {
				h := k.j.number[id]
				now[h]++
				k.pinned[h] = k.pinned[h] || job.Pinned
			}
		}
		stay := map[int]consolidationCount{}
		for h := range hosts {
			if n := now[h]; n > 0 {
				low := int64(0)
				if job.Pinned {
					low = n
				}
				stay[h] = consolidationCount{k.s.add(low, n, always), n}
			}
		}
		anew, allowed := make([]consolidationCount, len(hosts)), k.j.members(job.Allowed)
		for h := range hosts {
			anew[h].v = -1
			if job.Pinned || hosts[h].closed || allowed != nil && !allowed.have(&hosts[h]) {
				continue
			}
			room := int64(job.Tasks)
			for r, x := range job.Needs {
				if x > 0 {
					room = min(room, hosts[h].capacity[r]/x)
				}
			}
			if room == 0 {
				continue
			}
			for _, key := range keys[i] {
				if hosts[h].labels[key] == "" {
					room = 0
				}
			}
			anew[h] = consolidationCount{k.s.add(0, room, always), room}
		}
		leave := int32(-1)
		if k.leaving(i) >= 0 {
			leave = k.s.add(0, int64(job.Tasks), always)
		}
		k.stay, k.anew, k.leave = append(k.stay, stay), append(k.anew, anew), append(k.leave, leave)
	}
	for h := range hosts {
		low := int64(0)
		if hosts[h].kept || k.pinned[h] {
			low = 1
		}
		k.use = append(k.use, k.s.add(low, 1, always))
	}
}

// moving returns the cost of moving a task of a job.
func (k *consolidationProof) moving(i int) int64 {
	if x := k.in.Jobs[i].MoveCost; x > 0 {
		return x
	}
	return 1
}

// leaving returns the cost of leaving out a task of a job, -1 if none may be.
func (k *consolidationProof) leaving(i int) int64 {
	if j := &k.in.Jobs[i]; j.LeaveOutCost != nil && !j.Pinned {
		return *j.LeaveOutCost
	}
	return -1
}

// keys returns, for each job, the keys of the rules that restrict its newly placed tasks to domains.
func (k *consolidationProof) keys() [][]string {
	all := make([][]string, len(k.in.Jobs))
	for q := range k.in.Rules {
		if r := &k.in.Rules[q]; r.Type != model.RuleApart && r.Domain != "" {
			for _, id := range r.Jobs {
				i := k.j.jobs[id]
				all[i] = append(all[i], r.Domain)
			}
		}
	}
	return all
}

// domainsOf returns the domains of a key.
func (k *consolidationProof) domainsOf(key string) *consolidationDomains {
	d, ok := k.domains[key]
	if ok {
		return d
	}
	d = &consolidationDomains{}
	number := map[string]int{}
	for h := range k.j.hosts {
		at, value := len(d.hosts), k.j.hosts[h].labels[key]
		if key != "" {
			if value == "" {
				d.of = append(d.of, nowhere)
				continue
			}
			if x, ok := number[value]; ok {
				at = x
			}
			number[value] = at
		}
		if at == len(d.hosts) {
			d.hosts = append(d.hosts, nil)
		}
		d.of, d.hosts[at] = append(d.of, at), append(d.hosts[at], h)
	}
	k.domains[key] = d
	return d
}

func (k *consolidationProof) objective() string { return "objective" }

func (k *consolidationProof) claim(below int64) (string, float64) {
	what := "costs less than"
	if k.in.Goal == model.GoalMoves {
		what = "has moves below"
	}
	beyond := k.all
	if beyond.add(-1, below); beyond.negative() {
		return "there is no assignment", float64(below)
	}
	return fmt.Sprintf("no assignment %s %d", what, below), float64(below)
}

// numbers reads the numbers of a name, each below a limit.
func (k *consolidationProof) numbers(words []string, limits ...int) ([]int, error) {
	if len(words) != len(limits) {
		return nil, errUnknownName
	}
	n := make([]int, len(words))
	for i, w := range words {
		x, err := proofIndex(w, limits[i])
		if err != nil {
			return nil, err
		}
		n[i] = x
	}
	return n, nil
}

func (k *consolidationProof) variable(name []string) (int32, error) {
	jobs, hosts, v := len(k.in.Jobs), len(k.use), int32(-1)
	switch name[0] {
	case "objective":
		if len(name) == 1 {
			v = k.goal
		}
	case "use":
		n, err := k.numbers(name[1:], hosts)
		if err != nil {
			return 0, err
		}
		v = k.use[n[0]]
	case "leave":
		n, err := k.numbers(name[1:], jobs)
		if err != nil {
			return 0, err
		}
		v = k.leave[n[0]]
	case "stay", "anew":
		n, err := k.numbers(name[1:], jobs, hosts)
		if err != nil {
			return 0, err
		}
		v = k.count(name[0], n[0], n[1]).v
	default:
		return k.auxiliary(name)
	}
	if v < 0 {
		return 0, errUnknownName
	}
	return v, nil
}

// count returns the variable of a job's tasks that stay or are newly placed on a host.
func (k *consolidationProof) count(word string, i, h int) consolidationCount {
	if word == "anew" {
		return k.anew[i][h]
	}
	if x, ok := k.stay[i][h]; ok {
		return x
	}
	return consolidationCount{v: -1}
}
