package lcg

import (
	"cmp"
	"math"
	"slices"

	"github.com/gapwise/gapwise/model/cp"
)

// prices bounds a weighted sum of starts by the Lagrangian relaxation of the capacity
// (Fisher: Optimal solution of scheduling problems using Lagrange multipliers, 1973).
// For any prices λ(t) ≥ 0 of a unit of the capacity C, Λ its integral,
//
//	Objective ≥ Constant + Σ_i min {g_i(s) : low_i ≤ s ≤ high_i} - C Λ(∞)
//	g_i(s) = weight_i s + demand_i (Λ(s + length_i) - Λ(s))
//
// for at each time the demands add up to C at most. Where the sum with g_i(s) for the
// least is above the objective, i doesn't start at s.
//
// λ comes from the mean busy times between the bounds at hand (Goemans, Queyranne,
// Schulz, Skutella, Wang: Single machine scheduling with release dates, 2002; as a
// propagator: Kovács, Beck: A global constraint for total weighted completion time for
// cumulative resources, 2008). The relaxation in which activities
// may be split and run as fast as there is capacity is solved by the largest weight
// over area first; its dual solution are the prices. They are floating-point numbers,
// rounded to whole multiples of 1/scale; what follows from them is whole.
//
// An explanation has, for each activity, the widest bounds between which its least is
// as large as needed; activities whose least over all starts serves are left out, those
// first that need the least. O(n² log n), or n times the number of cells of λ.
type prices struct {
	c           *cp.WeightedStarts
	self        int32
	scale       int64
	first, last []int64 // bounds at the root, by activity
	now         tariff
	items       []share
	order       []int32
	need        []int64
	buffer      []cp.Lit
}

// tariff is λ, constant in cells between the points of a grid and 0 elsewhere, and g of
// each activity.
type tariff struct {
	grid  []int64
	price []int64 // of each cell, times scale
	sum   []int64 // Λ at each point of the grid, times scale
	paid  int64   // C Λ(∞), times scale
	costs []costs
}

// costs is g of an activity, times scale: linear between some starts.
type costs struct {
	at, value []int64
	root      int64 // the least of all
	least     int64 // between the bounds
}

// share is what an activity does in the relaxation: λ ≥ line - density t as soon as it
// may start.
type share struct {
	left, density, line float64
	known               bool
}

// piece is a time in which one activity works in the relaxation.
type piece struct {
	from, to float64
	item     int32
	ends     bool
}

// mostScale is how finely prices are told apart, if the sums fit.
const mostScale = 1 << 12

// cells is the number of cells of λ besides those at the ends of pieces.
const cells = 64

func newPrices(c *cp.WeightedStarts) *prices {
	n := len(c.Weights)
	return &prices{c: c, first: make([]int64, n), last: make([]int64, n), items: make([]share, n), need: make([]int64, n)}
}

func (p *prices) attach(k *Kernel, self int32) {
	p.self = self
	k.slow[self] = true
	sum := 1.0
	for i, s := range p.c.Shared.Starts {
		k.watch(2*int32(s.At), self, 0)
		k.watch(2*int32(s.At)+1, self, 0)
		_, high := p.bounds(k, i)
		sum += float64(p.c.Weights[i]) * float64(high+p.c.Shared.Lengths[i])
	}
	k.watch(2*int32(p.c.Objective)+1, self, 0)
	for p.scale = mostScale; p.scale > 1 && float64(p.scale)*sum > mostSum; p.scale /= 2 {
	}
}

// mostSum bounds what is paid for all of the capacity, times scale; there are up to
// 128 activities.
const mostSum = 1 << 54

func (p *prices) wake(k *Kernel, _, _ int32) { k.schedule(p.self) }
func (p *prices) cancel()                    {}

func (p *prices) bounds(k *Kernel, i int) (low, high int64) {
	s := p.c.Shared.Starts[i].At
	return k.low[2*s], -k.low[2*s+1]
}

func (p *prices) propagate(k *Kernel) {
	if k.level() == 0 {
		for i := range p.items {
			p.first[i], p.last[i] = p.bounds(k, i)
		}
	}
	if p.busy(k) {
		p.use(k, &p.now)
	}
}

// busy makes the prices of the mean busy times between the bounds: activities whose
// start is fixed take their capacity first. It reports whether they serve.
func (p *prices) busy(k *Kernel) bool {
	c := p.c.Shared
	var changes []change
	p.order = p.order[:0]
	begin, end := int64(math.MaxInt64), int64(0)
	for i := range p.items {
		low, high := p.bounds(k, i)
		area := float64(c.Lengths[i]) * float64(c.Demands[i])
		p.items[i] = share{left: area, density: float64(p.c.Weights[i]) / area}
		begin = min(begin, low)
		if area == 0 {
			continue
		}
		if low == high {
			changes = append(changes, change{low, c.Demands[i]}, change{low + c.Lengths[i], -c.Demands[i]})
		} else {
			p.order = append(p.order, int32(i))
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	release := func(i int32) float64 { return float64(k.low[2*c.Starts[i].At]) }
	slices.SortStableFunc(p.order, func(a, b int32) int { return cmp.Compare(release(a), release(b)) })
	var pieces []piece
	var queue []int32 // by density, the largest last
	rate, now, next, step := float64(c.Capacity), 0.0, 0, 0
	for next < len(p.order) || len(queue) > 0 {
		if len(queue) == 0 {
			now = max(now, release(p.order[next]))
		}
		for ; next < len(p.order) && release(p.order[next]) <= now; next++ {
			i := p.order[next]
			at, _ := slices.BinarySearchFunc(queue, i, func(a, b int32) int {
				return cmp.Or(cmp.Compare(p.items[a].density, p.items[b].density), cmp.Compare(b, a))
			})
			queue = slices.Insert(queue, at, i)
		}
		for ; step < len(changes) && float64(changes[step].at) <= now; step++ {
			rate -= float64(changes[step].by)
		}
		until := math.Inf(1)
		if next < len(p.order) {
			until = release(p.order[next])
		}
		if step < len(changes) {
			until = min(until, float64(changes[step].at))
		}
		if rate < 0.5 {
			if now = until; math.IsInf(now, 1) {
				return false
			}
			continue
		}
		i := queue[len(queue)-1]
		x := piece{now, now + p.items[i].left/rate, i, true}
		if until < x.to {
			x.to, x.ends = until, false
			p.items[i].left -= (until - now) * rate
		} else {
			queue = queue[:len(queue)-1]
		}
		pieces = append(pieces, x)
		now = x.to
	}
	t := &p.now
	t.grid = append(t.grid[:0], begin)
	for _, x := range slices.Backward(pieces) {
		if it := &p.items[x.item]; x.ends {
			it.line, it.known = it.density*x.to+p.price(k, x.to), true
		}
		t.grid = append(t.grid, int64(math.Round(x.from)), int64(math.Round(x.to)))
	}
	for _, at := range t.grid {
		end = max(end, at)
	}
	for j := range int64(cells) {
		t.grid = append(t.grid, begin+int64(float64(end-begin)*float64(j)/cells))
	}
	slices.Sort(t.grid)
	t.grid = slices.Compact(t.grid)
	t.price = t.price[:0]
	for j := range len(t.grid) - 1 {
		t.price = append(t.price, int64(p.price(k, float64(t.grid[j]+t.grid[j+1])/2)*float64(p.scale)+0.5))
	}
	return p.load(t)
}

// price returns the least λ at a time that the lines allow.
func (p *prices) price(k *Kernel, at float64) (x float64) {
	for _, i := range p.order {
		if it := &p.items[i]; it.known && float64(k.low[2*p.c.Shared.Starts[i].At]) <= at {
			x = max(x, it.line-it.density*at)
		}
	}
	return x
}

// load computes what follows from grid and price; it reports whether the sums fit.
func (p *prices) load(t *tariff) bool {
	c := p.c.Shared
	t.sum = append(t.sum[:0], 0)
	total := 0.0
	for j, x := range t.price {
		if total += float64(x) * float64(t.grid[j+1]-t.grid[j]); total*float64(c.Capacity) > mostSum {
			return false
		}
		t.sum = append(t.sum, t.sum[j]+x*(t.grid[j+1]-t.grid[j]))
	}
	t.paid = t.sum[len(t.price)] * c.Capacity
	if t.costs == nil {
		t.costs = make([]costs, len(p.items))
	}
	for i := range t.costs {
		p.loadCosts(t, i)
	}
	return true
}

// loadCosts computes g of activity i at the points between which it is linear.
func (p *prices) loadCosts(t *tariff, i int) {
	length, demand, weight := p.c.Shared.Lengths[i], p.c.Shared.Demands[i], p.scale*p.c.Weights[i]
	x := &t.costs[i]
	x.at, x.value, x.root = x.at[:0], x.value[:0], math.MaxInt64
	a, _ := slices.BinarySearch(t.grid, p.first[i]+1)        // the first points of the grid after the start,
	b, _ := slices.BinarySearch(t.grid, p.first[i]+length+1) // and after the end
	for s := p.first[i]; ; {
		g := weight*s + demand*(t.integral(b-1, s+length)-t.integral(a-1, s))
		x.at, x.value, x.root = append(x.at, s), append(x.value, g), min(x.root, g)
		if s >= p.last[i] {
			return
		}
		s = p.last[i]
		if a < len(t.grid) {
			s = min(s, t.grid[a])
		}
		if b < len(t.grid) {
			s = min(s, t.grid[b]-length)
		}
		if a < len(t.grid) && t.grid[a] == s {
			a++
		}
		if b < len(t.grid) && t.grid[b] == s+length {
			b++
		}
	}
}

// integral returns Λ at a time in a cell, -1 for those before the grid.
func (t *tariff) integral(cell int, at int64) int64 {
	switch {
	case cell < 0:
		return 0
	case cell >= len(t.price):
		return t.sum[len(t.price)]
	}
	return t.sum[cell] + t.price[cell]*(at-t.grid[cell])
}

// segment returns the last point at or before a start, and g there.
func (x *costs) segment(s int64) (n int, g int64) {
	n, found := slices.BinarySearch(x.at, s)
	if found {
		return n, x.value[n]
	}
	return n - 1, x.value[n-1] + x.slope(n-1)*(s-x.at[n-1])
}

// slope returns that of g from point n on, exactly.
func (x *costs) slope(n int) int64 {
	return (x.value[n+1] - x.value[n]) / (x.at[n+1] - x.at[n])
}

// lowest returns the least g from low to high.
func (x *costs) lowest(low, high int64) int64 {
	n, g := x.segment(low)
	for n++; n < len(x.at) && x.at[n] <= high; n++ {
		g = min(g, x.value[n])
	}
	_, v := x.segment(high)
	return min(g, v)
}

// next returns the first start from low to high where g is at most limit; high + 1 if
// there is none.
func (x *costs) next(low, high, limit int64) int64 {
	n, g := x.segment(low)
	for s := low; ; {
		if s > high || g <= limit {
			return min(s, high+1)
		}
		if n+1 >= len(x.at) || s >= high {
			return high + 1
		}
		if k := x.slope(n); k < 0 && x.value[n+1] <= limit {
			return min(s+(g-limit-k-1)/-k, high+1)
		}
		n++
		s, g = x.at[n], x.value[n]
	}
}

// previous returns the last start from low to high where g is at most limit; low - 1 if
// there is none.
func (x *costs) previous(low, high, limit int64) int64 {
	n, g := x.segment(high)
	for s := high; ; {
		if s < low || g <= limit {
			return max(s, low-1)
		}
		if x.at[n] == s {
			if n--; n < 0 {
				return low - 1
			}
		}
		if s <= low {
			return low - 1
		}
		if k := x.slope(n); k > 0 && x.value[n] <= limit {
			return max(s-(g-limit+k-1)/k, low-1)
		}
		s, g = x.at[n], x.value[n]
	}
}

// use sets what follows from a tariff, and reports whether nothing fails by it.
func (p *prices) use(k *Kernel, t *tariff) bool {
	total := p.scale*p.c.Constant - t.paid
	for i := range t.costs {
		low, high := p.bounds(k, i)
		t.costs[i].least = t.costs[i].lowest(low, high)
		total += t.costs[i].least
	}
	x := p.c.Objective
	high := -k.low[2*x+1]
	if most := total - high*p.scale; most > 0 {
		p.buffer = append(p.cover(k, t, p.buffer[:0], -1, most-1), x.AtMost(high))
		k.fail(p.buffer...)
		return false
	}
	// ⌈total/scale⌉, of numbers of either sign
	if b := -floorDiv(-total, p.scale); b > k.low[2*x] {
		p.buffer = p.cover(k, t, p.buffer[:0], -1, total-(b-1)*p.scale-1)
		if !k.imply(x.AtLeast(b), p.buffer) {
			return false
		}
	}
	slack := high*p.scale - total
	for i := range t.costs {
		low, last := p.bounds(k, i)
		if low == last {
			continue
		}
		g, s := &t.costs[i], p.c.Shared.Starts[i].At
		limit := g.least + slack
		if at := g.next(low, last, limit); at > low {
			worst := g.lowest(low, at-1)
			p.buffer = p.cover(k, t, p.buffer[:0], i, worst-limit-1)
			p.buffer = append(p.buffer, x.AtMost(high))
			if from := g.previous(p.first[i], low, worst-1) + 1; from > p.first[i] {
				p.buffer = append(p.buffer, s.AtLeast(from))
			}
			if !k.imply(s.AtLeast(at), p.buffer) {
				return false
			}
			low = at
		}
		if at := g.previous(low, last, limit); at < last {
			worst := g.lowest(at+1, last)
			p.buffer = p.cover(k, t, p.buffer[:0], i, worst-limit-1)
			p.buffer = append(p.buffer, x.AtMost(high))
			if to := g.next(last, p.last[i], worst-1) - 1; to < p.last[i] {
				p.buffer = append(p.buffer, s.AtMost(to))
			}
			if !k.imply(s.AtMost(at), p.buffer) {
				return false
			}
		}
	}
	return true
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// cover appends bounds of all activities but i by which their least costs are as large
// as they are, but for spare in all.
func (p *prices) cover(k *Kernel, t *tariff, out []cp.Lit, i int, spare int64) []cp.Lit {
	p.order = p.order[:0]
	for j := range t.costs {
		if p.need[j] = t.costs[j].least - t.costs[j].root; j != i && p.need[j] > 0 {
			p.order = append(p.order, int32(j))
		}
	}
	slices.SortStableFunc(p.order, func(a, b int32) int { return cmp.Compare(p.need[a], p.need[b]) })
	for _, j := range p.order {
		g, s := &t.costs[j], p.c.Shared.Starts[j].At
		if p.need[j] <= spare {
			spare -= p.need[j]
			continue
		}
		floor := g.least - spare
		spare = 0
		low, high := p.bounds(k, int(j))
		if from := g.previous(p.first[j], low, floor-1) + 1; from > p.first[j] {
			out = append(out, s.AtLeast(from))
		}
		if to := g.next(high, p.last[j], floor-1) - 1; to < p.last[j] {
			out = append(out, s.AtMost(to))
		}
	}
	return out
}

func (p *prices) explain(*Kernel, cp.Lit, int32, int32, []cp.Lit) []cp.Lit {
	panic("lcg: all explanations of prices are stored")
}
