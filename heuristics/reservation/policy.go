// SPDX-License-Identifier: MIT

package reservation

import (
	"context"

	"github.com/gapwise/gapwise/model"
)

// policy chooses among the feasible starts of a request (section 5) the one with
// the least score, of equal ones the earliest.
type policy struct {
	name  string
	score func(candidate) float64
	// first takes the first feasible start; rectangle and load say which figures the score needs.
	first, rectangle, load bool
	open                   bool // see rectangle
}

// candidate is a feasible start as a policy sees it.
type candidate struct {
	pes    float64 // of the rectangle
	length float64 // of the rectangle in ticks
	load   float64 // PE-ticks that are taken over the run
}

// The paper's policies.
var (
	ff    = policy{name: "FF", first: true, score: func(candidate) float64 { return 0 }}
	peB   = policy{name: "PE_B", score: func(c candidate) float64 { return c.pes }}
	duB   = policy{name: "DU_B", rectangle: true, score: func(c candidate) float64 { return c.length }}
	peduB = policy{name: "PEDU_B", rectangle: true, score: func(c candidate) float64 { return c.pes * c.length }}
	peW   = policy{name: "PE_W", score: func(c candidate) float64 { return -c.pes }}
	duW   = policy{name: "DU_W", rectangle: true, score: func(c candidate) float64 { return -c.length }}
	peduW = policy{name: "PEDU_W", rectangle: true, score: func(c candidate) float64 { return -c.pes * c.length }}

	// policies lists them all.
	policies = []policy{ff, peB, duB, peduB, peW, duW, peduW}

	leastLoad = policy{name: "least load", load: true, score: func(c candidate) float64 { return c.load }}
)

// FF starts each request at the first start that fits (section 5).
func FF(ctx context.Context, in *model.Reservation, set model.Settings) (*model.Bookings, error) {
	return ff.book(ctx, in, set)
}

// PEB starts each request where the fewest PEs are free (section 5).
func PEB(ctx context.Context, in *model.Reservation, set model.Settings) (*model.Bookings, error) {
	return peB.book(ctx, in, set)
}

// DUB starts each request where the availability rectangle is shortest (section 5).
func DUB(ctx context.Context, in *model.Reservation, set model.Settings) (*model.Bookings, error) {
	return duB.book(ctx, in, set)
}

// PEDUB starts each request where the availability rectangle is smallest (section 5).
func PEDUB(ctx context.Context, in *model.Reservation, set model.Settings) (*model.Bookings, error) {
	return peduB.book(ctx, in, set)
}

// PEW starts each request where the most PEs are free (section 5).
func PEW(ctx context.Context, in *model.Reservation, set model.Settings) (*model.Bookings, error) {
	return peW.book(ctx, in, set)
}

// DUW starts each request where the availability rectangle is longest (section 5).
func DUW(ctx context.Context, in *model.Reservation, set model.Settings) (*model.Bookings, error) {
	return duW.book(ctx, in, set)
}

// PEDUW starts each request where the availability rectangle is largest (section 5).
func PEDUW(ctx context.Context, in *model.Reservation, set model.Settings) (*model.Bookings, error) {
	return peduW.book(ctx, in, set)
}

// LeastLoad starts a request where the fewest PE-ticks are taken over its run. PE_W looks at the PEs that are free all
// the time, and so at the peak alone. Of two windows with the same peak, one may be empty elsewhere. Not in the paper.
func LeastLoad(ctx context.Context, in *model.Reservation, set model.Settings) (*model.Bookings, error) {
	return leastLoad.book(ctx, in, set)
}

// opened returns the policy with rectangles that don't end at the deadline, see
// rectangle.
func (p policy) opened() policy {
	p.name, p.open = p.name+" open", true
	return p
}
