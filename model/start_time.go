// SPDX-License-Identifier: MIT

package model

import (
	"fmt"
	"time"
)

// dated is an instance with a field for the time of its second 0.
type dated interface{ startTime() *string }

func (b *Batch) startTime() *string       { return &b.StartTime }
func (r *Reservation) startTime() *string { return &r.StartTime }
func (v *TVC) startTime() *string         { return &v.StartTime }

// StartTime returns the moment of an instance's second 0, in the instance's time zone; the zero time if it states none.
func StartTime(in Instance) time.Time {
	if d, ok := in.(dated); ok {
		if t, err := time.Parse(time.RFC3339, *d.startTime()); err == nil {
			return t
		}
	}
	return time.Time{}
}

// SetStartTime states the moment of an instance's second 0; the zero time takes
// it away. Problems without one are left as they are.
func SetStartTime(in Instance, t time.Time) {
	if d, ok := in.(dated); ok {
		if *d.startTime() = ""; !t.IsZero() {
			*d.startTime() = t.Format(time.RFC3339)
		}
	}
}

// checkStartTime describes the error in a start_time, "" if there is none.
func checkStartTime(s string) string {
	if s == "" {
		return ""
	}
	if _, err := time.Parse(time.RFC3339, s); err != nil {
		return fmt.Sprintf("start_time is %q, must be a date like 1996-09-23T14:00:31+01:00 (RFC 3339)", s)
	}
	return ""
}
