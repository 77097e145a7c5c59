// SPDX-License-Identifier: MIT

package lcg

import (
	"cmp"
	"slices"

	"github.com/gapwise/gapwise/internal/cp"
)

// energy is time-table edge finding (Vilím: Timetable edge finding filtering algorithm for
// discrete cumulative resources, 2011; Schutt, Feydy, Stuckey: Explaining time-table-edge-finding
// propagation for the cumulative resource constraint, 2013) for the activities that run.
//
// A window [begin, end) from a least start to a latest end has room for capacity times its length. The need is the
// compulsory parts in it, the rest of the activities within it, and, for activities that begin within it, the rest that
// can't come after it. The need can't exceed the room. If an activity that begins within it, and may end after it, had
// no room with its earliest start, it starts later. The room left over limits how much of it lies in the window.
// Mirrored in time, the rule bounds the ends of activities. O(n²) for n activities.
//
// The explanation is by energetic reasoning: an activity with a start from begin + p - length to end - p has p time
// units in the window at least. Anything not needed to exceed the room is left out.
type energy struct {
	c       *cp.Cumulative
	mirror  bool // time runs backwards: a start s means -(s + length)
	items   []energyItem
	byStart []int32 // by falling least starts
	ends    []int64
	changes []change
	times   []int64 // when the height of the compulsory parts changes
	heights []int64 // from each of them on
	used    []int64 // energy of the compulsory parts before each of them
}

// energyItem is an activity that runs, in the current direction of time.
type energyItem struct {
	i            int32
	first, last  int64 // starts
	length, by   int64 // demand
	free         int64 // the part of its length that isn't compulsory
	before, upTo int64 // energy of all compulsory parts before its first start and its latest end
}

func (x *energyItem) end() int64 { return x.last + x.length }

// compulsory returns the part of the window up to end in which the activity surely runs, if its first start is in the
// window.
func (x *energyItem) compulsory(end int64) int64 {
	return max(0, min(x.first+x.length, end)-x.last)
}

// inside returns the further time of it that must lie in the window up to end, which it may end after.
func (x *energyItem) inside(end int64) int64 { return max(0, end-max(x.last, x.first+x.length)) }

// propagate looks for windows without enough room. It returns false on a conflict.
func (p *energy) propagate(k *Kernel) bool {
	k.work += int64(len(p.c.Starts) * len(p.c.Starts) / 2)
	for _, p.mirror = range []bool{false, true} {
		p.read(k)
		last := int64(0)
		for n, end := range p.ends {
			if n > 0 && end == last {
				continue
			}
			if last = end; !p.window(k, end) {
				return false
			}
		}
	}
	return true
}

// read takes the activities that run, and their compulsory parts.
func (p *energy) read(k *Kernel) {
	p.items, p.byStart, p.ends, p.changes = p.items[:0], p.byStart[:0], p.ends[:0], p.changes[:0]
	for i, s := range p.c.Starts {
		if !k.holds(s.If) {
			continue
		}
		x := energyItem{i: int32(i), first: k.low[2*s.At], last: -k.low[2*s.At+1], length: p.c.Lengths[i], by: p.c.Demands[i]}
		if p.mirror {
			x.first, x.last = -(x.last + x.length), -(x.first + x.length)
		}
		x.free = x.length
		if end := x.first + x.length; x.last < end {
			x.free -= end - x.last
			p.changes = append(p.changes, change{x.last, x.by}, change{end, -x.by})
		}
		p.byStart = append(p.byStart, int32(len(p.items)))
		p.items = append(p.items, x)
		p.ends = append(p.ends, x.end())
	}
	slices.Sort(p.ends)
	slices.SortFunc(p.changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	p.times, p.heights, p.used = p.times[:0], p.heights[:0], p.used[:0]
	var height, used int64
	for n, c := range p.changes {
		if n > 0 {
			used += height * (c.at - p.changes[n-1].at)
		}
		height += c.by
		p.times, p.heights, p.used = append(p.times, c.at), append(p.heights, height), append(p.used, used)
	}
	for n := range p.items {
		x := &p.items[n]
		x.before, x.upTo = p.usedBefore(x.first), p.usedBefore(x.end())
	}
	slices.SortFunc(p.byStart, func(a, b int32) int { return cmp.Compare(p.items[b].first, p.items[a].first) })
}

// usedBefore returns the energy of the compulsory parts before a time.
func (p *energy) usedBefore(at int64) int64 {
	n, _ := slices.BinarySearch(p.times, at)
	if n == 0 {
		return 0
	}
	return p.used[n-1] + p.heights[n-1]*(at-p.times[n-1])
}

// window looks at the windows that end at a time, from the shortest on.
func (p *energy) window(k *Kernel, end int64) bool {
	needed, upTo := int64(0), p.usedBefore(end)
	var u *energyItem // the one that needs most beyond, if it starts as early as it can
	var most int64
	for _, n := range p.byStart {
		x := &p.items[n]
		if x.first >= end {
			continue
		}
		if x.end() <= end {
			needed += x.by * x.free
		} else {
			inside := x.inside(end)
			needed += x.by * inside
			if more := x.by * (min(x.length, end-x.first) - x.compulsory(end) - inside); more > most {
				u, most = x, more
			}
		}
		room := p.c.Capacity*(end-x.first) - needed - (upTo - x.before)
		if room < 0 {
			k.fail(p.premises(k, x.first, end, -1, -1)...)
			return false
		}
		if room < most && !p.later(k, x.first, end, u) {
			return false
		}
	}
	return true
}

// least returns the least time of activity x in a window.
func least(x *energyItem, begin, end int64) int64 {
	return max(0, min(x.length, end-begin, x.first+x.length-begin, end-x.last))
}

// later raises the earliest start of u, which has too little room in a window.
func (p *energy) later(k *Kernel, begin, end int64, u *energyItem) bool {
	room := p.c.Capacity * (end - begin)
	for n := range p.items {
		if x := &p.items[n]; x != u {
			room -= x.by * least(x, begin, end)
		}
	}
	if room < 0 {
		k.fail(p.premises(k, begin, end, -1, -1)...)
		return false
	}
	fits := room / u.by
	if fits >= min(u.length, end-u.first) {
		return true // it has been moved in this round
	}
	premises := p.premises(k, begin, end, u.i, fits)
	k.analysis.block = premises
	return k.imply(p.atLeast(u.i, end-fits), premises)
}

// premises says why the activities, except u, leave room in the window for u's length of fits and not more. If u = -1,
// it says why they need more than there is.
func (p *energy) premises(k *Kernel, begin, end int64, u int32, fits int64) []cp.Lit {
	spare := -p.c.Capacity*(end-begin) - 1
	out := k.analysis.block[:0]
	for n := range p.items {
		x := &p.items[n]
		if x.i == u {
			spare += x.by * (fits + 1)
			out = append(out, p.atLeast(u, begin+fits+1-x.length))
		} else {
			spare += x.by * least(x, begin, end)
		}
	}
	for n := range p.items {
		x := &p.items[n]
		in := least(x, begin, end)
		if x.i == u || in == 0 {
			continue
		}
		less := min(in, spare/x.by)
		if spare -= less * x.by; less == in {
			continue
		}
		in -= less
		out = append(out, p.c.Starts[x.i].If, p.atLeast(x.i, begin+in-x.length), p.atMost(x.i, end-in))
	}
	return out
}

// atLeast says that an activity starts at or after a time.
func (p *energy) atLeast(i int32, at int64) cp.Lit {
	if p.mirror {
		return p.c.Starts[i].At.AtMost(-at - p.c.Lengths[i])
	}
	return p.c.Starts[i].At.AtLeast(at)
}

// atMost says that an activity starts at or before a time.
func (p *energy) atMost(i int32, at int64) cp.Lit {
	if p.mirror {
		return p.c.Starts[i].At.AtLeast(-at - p.c.Lengths[i])
	}
	return p.c.Starts[i].At.AtMost(at)
}
