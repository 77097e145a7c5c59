package reservation

import "github.com/gapwise/gapwise/model"

// Ticks and Job are what the model calls them.
type (
	Ticks = model.ReservationTicks
	Job   = model.ReservationJob
)

// NewTicks returns the ticks of a valid instance.
func NewTicks(in *model.Reservation) *Ticks { return in.Ticks() }
