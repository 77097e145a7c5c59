package verify_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/verify"
)

// naive judges bookings by the definitions alone: PE by PE, pair by pair, in
// fractions. It tells each violation as the constraint and the requests,
// pairs with their PEs and the amount, and the two objectives.
func naive(in *model.Reservation, b *model.Bookings, tolerance float64) (found []string, objective, second float64) {
	rat := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	sum := func(x, y float64) *big.Rat { return new(big.Rat).Add(rat(x), rat(y)) }
	last := 0.0
	for _, q := range in.Requests {
		last = max(last, q.DeadlineS)
	}
	allowed := new(big.Rat).Mul(rat(tolerance), rat(last))
	over := func(x, y *big.Rat) bool { return new(big.Rat).Sub(x, y).Cmp(allowed) > 0 }
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
	whole := b.Goal == "" || b.Goal == in.Aim()
	if !whole {
		say(verify.WrongGoal, string(b.Goal), string(in.Aim()))
	}
	booked := map[string]bool{}
	for _, x := range b.Bookings {
		k := slices.IndexFunc(in.Requests, func(q model.Request) bool { return q.ID == x.ID })
		if k < 0 || booked[x.ID] {
			say(map[bool]string{true: verify.UnknownRequest, false: verify.RepeatedRequest}[k < 0], x.ID)
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
			say(verify.UnknownPE, x.ID)
		}
		if order {
			say(verify.PEOrder, x.ID)
		}
		if len(h.pes) != h.q.PEs {
			say(verify.PECount, x.ID)
		}
		if math.IsNaN(x.StartS) || math.IsInf(x.StartS, 0) {
			say(verify.InvalidStart, x.ID)
			whole = false
			continue
		}
		runtime := h.q.DurationS
		if h.q.RuntimeS != nil {
			runtime = *h.q.RuntimeS
		}
		h.start, h.end, h.reserved = rat(x.StartS), sum(x.StartS, runtime), sum(x.StartS, h.q.DurationS)
		h.runs = h.q.CancelS == nil || x.StartS <= *h.q.CancelS
		if over(rat(h.q.ReadyS), h.start) {
			say(verify.EarlyStart, x.ID)
		}
		if over(h.reserved, rat(h.q.DeadlineS)) {
			say(verify.LateEnd, x.ID)
		}
		weight := big.NewRat(1, 1)
		if in.Aim() == model.GoalPESeconds {
			weight.Mul(rat(h.q.DurationS), new(big.Rat).SetInt64(int64(h.q.PEs)))
		}
		total.Add(total, weight)
		if h.runs {
			running++
			s := sum(x.StartS, -h.q.ReadyS)
			s.Add(s, rat(h.q.DurationS))
			slowdowns.Add(slowdowns, s.Quo(s, rat(h.q.DurationS)))
		}
		all = append(all, h)
	}
	if in.Aim() == model.GoalAll {
		for _, q := range in.Requests {
			if !booked[q.ID] {
				say(verify.DeclinedRequest, q.ID)
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
		by, _ := new(big.Rat).Quo(new(big.Rat).Sub(to, from), rat(last)).Float64()
		by = max(by, math.SmallestNonzeroFloat64) // 0 would mean none
		ids := []string{x.q.ID, y.q.ID}
		slices.Sort(ids)
		say(fmt.Sprintf("%s %s %.9g", constraint, text, by), ids...)
	}
	for i, x := range all {
		for _, y := range all[i+1:] {
			if x.runs && y.runs {
				pair(verify.PEOverlap, x, y, x.end, y.end)
			}
		}
	}
	if !b.Online {
		goto objectives
	}
	for i, x := range all {
		before := slices.IndexFunc(all[:i], func(y held) bool { return y.number > x.number })
		if before >= 0 {
			say(verify.OnlineOrder, x.q.ID)
		}
		for _, y := range all {
			now := rat(x.q.ArrivalS)
			switch {
			case y.number >= x.number: // comes later
			case !y.runs && *y.q.CancelS <= x.q.ArrivalS:
			case y.runs && !over(y.end, now):
			default:
				pair(verify.OnlineConflict, y, x, y.reserved, x.reserved)
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
		case verify.OnlineOrder:
			ids = ids[:1]
		case verify.PEOverlap, verify.OnlineConflict:
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
	in := &model.Reservation{Name: "drawn", PEs: 1 + rng.IntN(6), Goal: model.Goals[rng.IntN(3)]}
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
			if found, _, _ := naive(in, b, verify.Tolerance); !slices.ContainsFunc(found, func(f string) bool { return !strings.HasPrefix(f, verify.DeclinedRequest) }) {
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
		b.Goal = append(model.Goals, "none")[rng.IntN(4)]
	},
	func(rng *rand.Rand, in *model.Reservation, b *model.Bookings, x *model.Booking, q *model.Request) {
		in.Goal = model.Goals[rng.IntN(3)]
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
		q.CancelS = pointer(max(q.ArrivalS, []float64{x.StartS, math.Nextafter(x.StartS, 0), q.ArrivalS, 1e16}[rng.IntN(4)]))
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
	rng := rand.New(rand.NewPCG(2, 44))
	zero, seen := 0.0, map[string]int{}
	for draw := range 3000 {
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
		if err := in.Validate(); err != nil {
			t.Fatal(err)
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
			if o, err := in.Objective(b); err != nil != math.IsNaN(objective) || err == nil && math.Abs(second) < 1e100 &&
				(math.Abs(o.Value-objective) > 1e-9*objective || math.Abs(o.Second-second) > 1e-9*max(1, math.Abs(second))) {
				t.Fatalf("draw %d: the model says %+v, %v, want %v and %v", draw, o, err, objective, second)
			}
			for _, v := range r.Violations {
				seen[v.Constraint]++
			}
		}
	}
	for _, c := range []string{verify.UnknownRequest, verify.RepeatedRequest, verify.DeclinedRequest, verify.WrongGoal, verify.PECount, verify.UnknownPE,
		verify.PEOrder, verify.InvalidStart, verify.EarlyStart, verify.LateEnd, verify.PEOverlap, verify.OnlineOrder, verify.OnlineConflict} {
		if seen[c] < 50 {
			t.Errorf("%s was seen %d times only", c, seen[c])
		}
	}
}
