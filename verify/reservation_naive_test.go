// SPDX-License-Identifier: MIT

package verify_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// decimal is the decimal number that a float64 prints as.
func decimal(x float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'f', -1, 64))
	if !ok {
		panic(x)
	}
	return r
}

// ticker rounds decimal numbers to whole ticks: of 10^-k s with the least k
// for which nothing is rounded, or the most for which the last time is within 2^52.
type ticker struct{ perSecond *big.Rat }

func newTicker(in *model.Reservation) ticker {
	var all []*big.Rat
	last := new(big.Rat)
	for _, q := range in.Requests {
		all = append(all, decimal(q.ArrivalS), decimal(q.ReadyS), decimal(q.DurationS), decimal(q.DeadlineS), decimal(q.Runtime()))
		if q.CancelS != nil && *q.CancelS <= q.DeadlineS {
			all = append(all, decimal(*q.CancelS))
		}
		if d := decimal(q.DeadlineS); d.Cmp(last) > 0 {
			last = d
		}
	}
	c := ticker{big.NewRat(1, 1)}
	for k := 0; ; k++ {
		whole := !slices.ContainsFunc(all, func(x *big.Rat) bool { return !new(big.Rat).Mul(x, c.perSecond).IsInt() })
		finer := new(big.Rat).Mul(c.perSecond, big.NewRat(10, 1))
		if whole || k == 22 || new(big.Rat).Mul(last, finer).Cmp(big.NewRat(1<<52, 1)) > 0 {
			return c
		}
		c.perSecond = finer
	}
}

func (c ticker) down(x *big.Rat) *big.Rat {
	x = new(big.Rat).Mul(x, c.perSecond)
	return new(big.Rat).SetInt(new(big.Int).Div(x.Num(), x.Denom())) // towards -Inf, as denominators are positive
}

func (c ticker) up(x *big.Rat) *big.Rat {
	return new(big.Rat).Neg(c.down(new(big.Rat).Neg(x)))
}

// cancelled is when a request is: no earlier than its latest start if that is
// no later than its cancellation before either is rounded.
func (c ticker) cancelled(q *model.Request) *big.Rat {
	at, ready, due := c.down(decimal(*q.CancelS)), c.down(decimal(q.ReadyS)), c.up(decimal(q.DeadlineS))
	latest := due.Sub(due, c.down(decimal(q.DurationS)))
	if latest.Cmp(ready) < 0 {
		latest = ready
	}
	before := new(big.Rat).Sub(decimal(q.DeadlineS), decimal(q.DurationS))
	if at.Cmp(latest) < 0 && *q.CancelS >= q.ReadyS && before.Cmp(decimal(*q.CancelS)) <= 0 {
		return latest
	}
	return at
}

// start is a booking's start, or the nearest tick if that is near.
func (c ticker) start(x, tolerance float64, shortest *big.Rat) *big.Rat {
	at := new(big.Rat).Mul(decimal(x), c.perSecond)
	if tolerance == 0 || x < 0 || x > 1e300 {
		if x < 0 { // early, whatever it is
			return c.down(decimal(x))
		}
		return at
	}
	allowed := new(big.Rat).Mul(new(big.Rat).SetFloat64(tolerance), shortest)
	ulps := new(big.Rat).Mul(new(big.Rat).SetFloat64(4*(math.Nextafter(x, math.Inf(1))-x)), c.perSecond)
	if ulps.Cmp(allowed) > 0 {
		allowed = ulps
	}
	nearest := c.down(new(big.Rat).Add(decimal(x), new(big.Rat).Quo(big.NewRat(1, 2), c.perSecond)))
	if d := new(big.Rat).Sub(at, nearest); d.Abs(d).Cmp(allowed) <= 0 {
		return nearest
	}
	return at
}

// naive judges bookings by the definitions alone: PE by PE, pair by pair, in
// fractions. It reports each violation as the constraint and the requests, pairs with their PEs and the amount, and the
// two objectives.
func naive(in *model.Reservation, b *model.Bookings, tolerance float64) (found []string, objective, second float64) {
	rat := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	clock := newTicker(in)
	shortest := new(big.Rat)
	for k, q := range in.Requests {
		if d := clock.down(decimal(q.Runtime())); k == 0 || d.Cmp(shortest) < 0 {
			shortest = d
		}
	}
	over := func(x, y *big.Rat) bool { return x.Cmp(y) > 0 }
	say := func(constraint string, ids ...string) {
		slices.Sort(ids)
		found = append(found, constraint+" "+strings.Join(ids, " "))
	}
	type held struct {
		q                    *model.Request
		number               int
		start, end, reserved *big.Rat
		runs                 bool
		pes                  map[int]bool
	}
	var all []held
	total, slowdowns, running := new(big.Rat), new(big.Rat), int64(0)
	whole := b.Goal == "" || b.Goal == in.EffectiveGoal()
	if !whole {
		say("wrong_goal", string(b.Goal), string(in.EffectiveGoal()))
	}
	booked := map[string]bool{}
	for _, x := range b.Bookings {
		k := slices.IndexFunc(in.Requests, func(q model.Request) bool { return q.ID == x.ID })
		if k < 0 || booked[x.ID] {
			say(map[bool]string{true: "unknown_request", false: "repeated_request"}[k < 0], x.ID)
			whole = false
			continue
		}
		booked[x.ID] = true
		h := held{q: &in.Requests[k], number: k, pes: map[int]bool{}}
		unknown, order, highest := false, false, math.MinInt
		for _, s := range x.PEs {
			order = order || s.First > s.Last
			for p := s.First; p <= s.Last; p++ {
				order = order || p <= highest
				highest = p
				if p < 0 || p >= in.PEs {
					unknown = true
				} else {
					h.pes[p] = true
				}
			}
		}
		if unknown {
			say("unknown_pe", x.ID)
		}
		if order {
			say("pe_order", x.ID)
		}
		if len(h.pes) != h.q.PEs {
			say("pe_count", x.ID)
		}
		if math.IsNaN(x.StartS) || math.IsInf(x.StartS, 0) {
			say("invalid_start", x.ID)
			whole = false
			continue
		}
		runtime := h.q.DurationS
		if h.q.RuntimeS != nil {
			runtime = *h.q.RuntimeS
		}
		h.start = clock.start(x.StartS, tolerance, shortest)
		ready, duration := clock.down(decimal(h.q.ReadyS)), clock.down(decimal(h.q.DurationS))
		h.end, h.reserved = new(big.Rat).Add(h.start, clock.down(decimal(runtime))), new(big.Rat).Add(h.start, duration)
		h.runs = h.q.CancelS == nil || *h.q.CancelS > h.q.DeadlineS || x.StartS <= *h.q.CancelS || !over(h.start, clock.cancelled(h.q))
		if over(ready, h.start) {
			say("early_start", x.ID)
		}
		due := clock.up(decimal(h.q.DeadlineS))
		if sum := new(big.Rat).Add(ready, duration); over(sum, due) {
			due = sum
		}
		if over(h.reserved, due) {
			say("late_end", x.ID)
		}
		weight := big.NewRat(1, 1)
		switch in.EffectiveGoal() {
		case model.GoalPESeconds:
			if weight.Mul(rat(runtime), new(big.Rat).SetInt64(int64(h.q.PEs))); !h.runs {
				weight.SetInt64(0)
			}
		case model.GoalReservedPESeconds:
			weight.Mul(rat(h.q.DurationS), new(big.Rat).SetInt64(int64(h.q.PEs)))
		}
		total.Add(total, weight)
		if h.runs {
			running++
			s := new(big.Rat).Sub(rat(x.StartS), rat(h.q.ReadyS))
			s.Add(s, rat(h.q.DurationS))
			slowdowns.Add(slowdowns, s.Quo(s, rat(h.q.DurationS)))
		}
		all = append(all, h)
	}
	if in.EffectiveGoal() == model.GoalAll {
		for _, q := range in.Requests {
			if !booked[q.ID] {
				say("declined_request", q.ID)
			}
		}
	}
	pair := func(constraint string, x, y held, xEnd, yEnd *big.Rat) {
		if !over(xEnd, y.start) || !over(yEnd, x.start) {
			return
		}
		var both model.PEList
		for p := range in.PEs {
			if x.pes[p] && y.pes[p] {
				both = both.Append(p)
			}
		}
		if len(both) == 0 {
			return
		}
		text := both.String()
		if len(both) > 16 {
			text = fmt.Sprintf("%s and %d more", both[:16], both[16:].Len())
		}
		from, to := x.start, xEnd
		if y.start.Cmp(from) > 0 {
			from = y.start
		}
		if yEnd.Cmp(to) < 0 {
			to = yEnd
		}
		shorter := new(big.Rat).Sub(xEnd, x.start)
		if d := new(big.Rat).Sub(yEnd, y.start); d.Cmp(shorter) < 0 {
			shorter = d
		}
		by, _ := new(big.Rat).Quo(new(big.Rat).Sub(to, from), shorter).Float64()
		by = max(by, math.SmallestNonzeroFloat64) // 0 would mean none
		ids := []string{x.q.ID, y.q.ID}
		slices.Sort(ids)
		say(fmt.Sprintf("%s %s %.9g", constraint, text, by), ids...)
	}
	for i, x := range all {
		for _, y := range all[i+1:] {
			if x.runs && y.runs {
				pair("pe_overlap", x, y, x.end, y.end)
			}
		}
	}
	if !b.Online {
		goto objectives
	}
	for i, x := range all {
		before := slices.IndexFunc(all[:i], func(y held) bool { return y.number > x.number })
		if before >= 0 {
			say("online_order", x.q.ID)
		}
		for _, y := range all {
			now := clock.down(decimal(x.q.ArrivalS))
			switch {
			case y.number >= x.number: // comes later
			case !y.runs && !over(clock.cancelled(y.q), now):
			case y.runs && !over(y.end, now):
			default:
				pair("online_conflict", y, x, y.reserved, x.reserved)
			}
		}
	}
objectives:
	slices.Sort(found)
	if !whole {
		return found, math.NaN(), math.NaN()
	}
	objective, _ = total.Float64()
	second = 1
	if running > 0 {
		second, _ = slowdowns.Quo(slowdowns, new(big.Rat).SetInt64(running)).Float64()
	}
	return found, objective, second
}

var (
	quoted = regexp.MustCompile(`"([^"]*)"`)
	listed = regexp.MustCompile(` PEs ([0-9,-]+(?: and \d+ more)?) for `)
)

// told is a report in naive's words.
func told(r verify.Report) (found []string) {
	for _, v := range r.Violations {
		var ids []string
		for _, m := range quoted.FindAllStringSubmatch(v.Where, -1) {
			ids = append(ids, m[1])
		}
		head := v.Constraint
		switch v.Constraint {
		case "online_order":
			ids = ids[:1]
		case "pe_overlap", "online_conflict":
			head = fmt.Sprintf("%s %s %.9g", head, listed.FindStringSubmatch(v.Where)[1], v.Amount)
		}
		slices.Sort(ids)
		found = append(found, head+" "+strings.Join(ids, " "))
	}
	slices.Sort(found)
	return found
}

// drawBookings draws a small instance and bookings that are feasible, with
// jobs that touch, end early or are cancelled; often they could be online.
func drawBookings(rng *rand.Rand) (*model.Reservation, *model.Bookings) {
	unit := []float64{1, 0.1, 1. / 3}[rng.IntN(3)]
	time := func(n int) float64 { return unit * float64(rng.IntN(n)) }
	in := &model.Reservation{Name: "drawn", PEs: 1 + rng.IntN(6), Goal: model.Goals[rng.IntN(4)]}
	if rng.IntN(10) == 0 {
		in.PEs += 60
	}
	b := &model.Bookings{Online: rng.IntN(2) == 0}
	arrival := 0.0
	for i := range 1 + rng.IntN(8) {
		arrival += time(4)
		q := model.Request{ID: fmt.Sprint("r", i), ArrivalS: arrival, ReadyS: arrival + time(6), DurationS: time(8) + unit, PEs: 1 + rng.IntN(in.PEs)}
		q.DeadlineS = q.ReadyS + q.DurationS + time(12)
		if rng.IntN(3) == 0 {
			q.RuntimeS = pointer(min(q.DurationS, time(8)+unit))
		}
		if rng.IntN(4) == 0 {
			q.CancelS = pointer(arrival + time(10))
		}
		in.Requests = append(in.Requests, q)
		for range 4 { // tries to place it
			x := model.Booking{ID: q.ID, StartS: min(q.ReadyS+time(12), q.Latest())}
			if n := len(b.Bookings); n > 0 && rng.IntN(2) == 0 { // right behind another
				k := rng.IntN(n)
				other := &in.Requests[slices.IndexFunc(in.Requests, func(q model.Request) bool { return q.ID == b.Bookings[k].ID })]
				x.StartS = b.Bookings[k].StartS + []float64{other.DurationS, other.Runtime()}[rng.IntN(2)]
			}
			chosen := rng.Perm(in.PEs)[:q.PEs]
			slices.Sort(chosen)
			for _, p := range chosen {
				x.PEs = x.PEs.Append(p)
			}
			b.Bookings = append(b.Bookings, x)
			if found, _, _ := naive(in, b, verify.Tolerance); !slices.ContainsFunc(found, func(f string) bool { return !strings.HasPrefix(f, "declined_request") }) {
				break
			}
			b.Bookings = b.Bookings[:len(b.Bookings)-1]
		}
	}
	if in.Goal == model.GoalAll && len(b.Bookings) < len(in.Requests) {
		in.Goal = ""
	}
	return in, b
}

// bookingMutations change a solution or its instance in some way or other.
var bookingMutations = []func(*rand.Rand, *model.Reservation, *model.Bookings, *model.Booking, *model.Request){
	func(rng *rand.Rand, in *model.Reservation, b *model.Bookings, x *model.Booking, q *model.Request) {
		x.ID = "none"
	},
	func(rng *rand.Rand, in *model.Reservation, b *model.Bookings, x *model.Booking, q *model.Request) {
		b.Bookings = append(b.Bookings, *x)
	},
	func(rng *rand.Rand, in *model.Reservation, b *model.Bookings, x *model.Booking, q *model.Request) {
		x.ID = b.Bookings[rng.IntN(len(b.Bookings))].ID
	},
	func(rng *rand.Rand, in *model.Reservation, b *model.Bookings, x *model.Booking, q *model.Request) {
		x.StartS += []float64{-3, -1, -1e-3, -1e-8, -1e-12, 1e-12, 1e-8, 1e-3, 1, 3}[rng.IntN(10)]
	},
	func(rng *rand.Rand, in *model.Reservation, b *model.Bookings, x *model.Booking, q *model.Request) {
		x.StartS = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, -1}[rng.IntN(7)]
	},
	func(rng *rand.Rand, in *model.Reservation, b *model.Bookings, x *model.Booking, q *model.Request) {
		x.StartS = math.Nextafter(x.StartS, float64(rng.IntN(2)*100))
	},
	func(rng *rand.Rand, in *model.Reservation, b *model.Bookings, x *model.Booking, q *model.Request) {
		x.StartS = b.Bookings[rng.IntN(len(b.Bookings))].StartS
	},
	func(rng *rand.Rand, in *model.Reservation, b *model.Bookings, x *model.Booking, q *model.Request) {
		x.PEs = b.Bookings[rng.IntN(len(b.Bookings))].PEs
	},
	func(rng *rand.Rand, in *model.Reservation, b *model.Bookings, x *model.Booking, q *model.Request) {
		first := rng.IntN(in.PEs+3) - 2
		x.PEs = slices.Insert(slices.Clone(x.PEs), rng.IntN(len(x.PEs)+1), model.PERange{First: first, Last: first + rng.IntN(4) - 1})
	},
	func(rng *rand.Rand, in *model.Reservation, b *model.Bookings, x *model.Booking, q *model.Request) {
		x.PEs = slices.Clone(x.PEs)
		slices.Reverse(x.PEs)
	},
	func(rng *rand.Rand, in *model.Reservation, b *model.Bookings, x *model.Booking, q *model.Request) {
		x.PEs = x.PEs[1:]
	},
	func(rng *rand.Rand, in *model.Reservation, b *model.Bookings, x *model.Booking, q *model.Request) {
		b.Goal = append(slices.Clone(model.Goals), "none")[rng.IntN(5)]
	},
	func(rng *rand.Rand, in *model.Reservation, b *model.Bookings, x *model.Booking, q *model.Request) {
		in.Goal = model.Goals[rng.IntN(4)]
		b.Bookings = b.Bookings[1:]
	},
	func(rng *rand.Rand, in *model.Reservation, b *model.Bookings, x *model.Booking, q *model.Request) {
		b.Online = !b.Online
	},
	func(rng *rand.Rand, in *model.Reservation, b *model.Bookings, x *model.Booking, q *model.Request) {
		b.Online = true
		*x, b.Bookings[0] = b.Bookings[0], *x
	},
	func(rng *rand.Rand, in *model.Reservation, b *model.Bookings, x *model.Booking, q *model.Request) {
		q.RuntimeS = nil
	},
	func(rng *rand.Rand, in *model.Reservation, b *model.Bookings, x *model.Booking, q *model.Request) {
		q.CancelS = nil
	},
	func(rng *rand.Rand, in *model.Reservation, b *model.Bookings, x *model.Booking, q *model.Request) {
		q.RuntimeS = pointer(max(1e-9, q.DurationS*[]float64{1, 0.5, 1e-9}[rng.IntN(3)]))
	},
	func(rng *rand.Rand, in *model.Reservation, b *model.Bookings, x *model.Booking, q *model.Request) {
		q.CancelS = pointer(max(q.ArrivalS, []float64{x.StartS, math.Nextafter(x.StartS, 0), q.ArrivalS, 4e15}[rng.IntN(4)]))
	},
	func(rng *rand.Rand, in *model.Reservation, b *model.Bookings, x *model.Booking, q *model.Request) {
		q.DeadlineS += 1e11
	},
	func(rng *rand.Rand, in *model.Reservation, b *model.Bookings, x *model.Booking, q *model.Request) {
		q.ArrivalS = max(in.Requests[0].ArrivalS, 0)
		for k := range in.Requests {
			in.Requests[k].ArrivalS = min(in.Requests[k].ArrivalS, q.ArrivalS)
		}
	},
}

// The judge and the naive one find the same in bookings that are feasible and
// in ones that were changed, at both tolerances.
func TestReservationAgainstNaive(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 44))
	zero, refused, seen := 0.0, 0, map[string]int{}
	draws := require.Rounds(1000)
	for draw := range draws {
		in, b := drawBookings(rng)
		if r := judge(t, in, b, verify.Options{}); !r.Feasible() {
			t.Fatalf("before a mutation: %v\n%+v\n%+v", r, in, b)
		}
		for range 1 + rng.IntN(3) {
			if len(b.Bookings) == 0 {
				break
			}
			x := &b.Bookings[rng.IntN(len(b.Bookings))]
			q := &in.Requests[rng.IntN(len(in.Requests))]
			if k := slices.IndexFunc(in.Requests, func(q model.Request) bool { return q.ID == x.ID }); k >= 0 {
				q = &in.Requests[k]
			}
			if len(x.PEs) == 0 || !(math.Abs(x.StartS) < 1e15) {
				break
			}
			bookingMutations[rng.IntN(len(bookingMutations))](rng, in, b, x, q)
		}
		if in.Validate() != nil {
			refused++ // figures of too many digits and sizes, most of them by a far deadline
			continue
		}
		for _, o := range []verify.Options{{}, {Tolerance: &zero}} {
			r := judge(t, in, b, o)
			want, objective, second := naive(in, b, r.Tolerance)
			if diff := cmp.Diff(want, told(r)); diff != "" {
				t.Fatalf("draw %d, tolerance %v: (-want,+got)\n%s\n%+v\n%+v", draw, r.Tolerance, diff, in, b)
			}
			same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
			if !same(r.Objective, objective) || !same(r.Second, second) {
				t.Fatalf("draw %d: objectives %v and %v, want %v and %v", draw, r.Objective, r.Second, objective, second)
			}
			if r.Tolerance == 0 && slices.ContainsFunc(in.Requests, func(q model.Request) bool { return q.CancelS != nil }) {
				continue // whether it runs at the moment of its cancellation depends on the tolerance
			}
			if o, err := in.Objective(b); err != nil != math.IsNaN(objective) || err == nil && math.Abs(second) < 1e100 &&
				(math.Abs(o.Value-objective) > 1e-9*objective || math.Abs(o.Second-second) > 1e-9*max(1, math.Abs(second))) {
				t.Fatalf("draw %d: the model says %+v, %v, want %v and %v: %+v %+v", draw, o, err, objective, second, in, b)
			}
			for _, v := range r.Violations {
				seen[v.Constraint]++
			}
		}
	}
	if refused > draws/10 {
		t.Errorf("%d of %d instances are refused", refused, draws)
	}
	for _, c := range []string{"unknown_request", "repeated_request", "declined_request", "wrong_goal", "pe_count", "unknown_pe",
		"pe_order", "invalid_start", "early_start", "late_end", "pe_overlap", "online_order", "online_conflict"} {
		if seen[c] < draws/60 {
			t.Errorf("%s was seen %d times only", c, seen[c])
		}
	}
}
