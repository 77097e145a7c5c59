// SPDX-License-Identifier: MIT

package dagplay

import "github.com/gapwise/gapwise/internal/core/view"

// files sends each file once to a machine. The items of one file whose edges lead to one machine are alike there: the
// first of them, the leader, stands for the file on that machine.
type files struct {
	*view.Files
	leader  []int32 // by item
	state   []uint8 // by leader
	waiting []int32 // by leader: the item that waits for it since last, -1 without
	before  []int32 // by item that waits: the one that does so longer, -1 without
	missing []int32 // by edge: files that it waits for
	first   []int32 // scratch, by machine: the leader of the file at hand, if turn says so
	turn    []int32 // scratch, by machine: 1 + the number of the file that first is of
}

// The states of a file on a machine.
const (
	fileUnasked uint8 = iota
	fileUnderWay
	fileThere
)

func newFiles(g *view.Graph) *files {
	n := len(g.Files.Edge)
	return &files{Files: g.Files, leader: make([]int32, n), state: make([]uint8, n), waiting: make([]int32, n),
		before: make([]int32, n), missing: make([]int32, len(g.Data)), first: make([]int32, g.Machines), turn: make([]int32, g.Machines)}
}

// reset begins a run with tasks on machines. O(items + machines).
func (x *files) reset(g *view.Graph, machine []int32) {
	clear(x.state)
	clear(x.missing)
	clear(x.turn)
	for i := range x.leader {
		x.leader[i], x.waiting[i] = int32(i), -1
	}
	for f, items := range x.Shared {
		for _, i := range items {
			m := machine[g.To[x.Edge[i]]]
			if x.turn[m] != int32(f)+1 {
				x.turn[m], x.first[m] = int32(f)+1, i
			}
			x.leader[i] = x.first[m]
		}
	}
}

// ask starts an edge from machine m to another one, n: files that aren't under way begin, and it waits for those that
// aren't there.
func (r *Replay) ask(e, m, n int32) {
	x := r.files
	for i := x.At[e]; i < x.At[e+1]; i++ {
		l := x.leader[i]
		switch x.state[l] {
		case fileThere:
			continue
		case fileUnasked:
			x.state[l] = fileUnderWay
			if r.Contends(m, n) && x.Size[l] > 0 {
				r.queue.push(event{r.now + r.g.Startup(m, n), flowBegins, l})
			} else {
				r.queue.push(event{r.now + r.g.Send(x.Size[l], m, n), lands, l})
			}
		}
		x.missing[e]++
		x.before[i], x.waiting[l] = x.waiting[l], i
	}
	if x.missing[e] == 0 {
		r.arrive(e)
	}
}

// land ends the transfer of a file, or of an edge.
func (r *Replay) land(file int32) {
	x := r.files
	if x == nil {
		r.arrive(file)
		return
	}
	x.state[file] = fileThere
	for i := x.waiting[file]; i >= 0; i = x.before[i] {
		e := x.Edge[i]
		if x.missing[e]--; x.missing[e] == 0 {
			r.arrive(e)
		}
	}
}
