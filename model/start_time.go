package model

import (
	"fmt"
	"time"
)

// startTime returns the field of an instance that says when its second 0 is; nil
// for problems without one.
func startTime(in Instance) *string {
	switch in := in.(type) {
	case *Batch:
		return &in.StartTime
	case *Reservation:
		return &in.StartTime
	case *TVC:
		return &in.StartTime
	}
	return nil
}

// StartTime returns the moment of an instance's second 0, in the time zone that
// the instance gives; the zero time if it doesn't say.
func StartTime(in Instance) time.Time {
	if s := startTime(in); s != nil {
		if t, err := time.Parse(time.RFC3339, *s); err == nil {
			return t
		}
	}
	return time.Time{}
}

// SetStartTime states the moment of an instance's second 0; the zero time takes
// it away. Problems without one are left as they are.
func SetStartTime(in Instance, t time.Time) {
	switch s := startTime(in); {
	case s == nil:
	case t.IsZero():
		*s = ""
	default:
		*s = t.Format(time.RFC3339)
	}
}

// checkStartTime returns what is wrong with a start_time, "" if nothing.
func checkStartTime(s string) string {
	if s == "" {
		return ""
	}
	if _, err := time.Parse(time.RFC3339, s); err != nil {
		return fmt.Sprintf("start_time is %q, must be a date like 1996-09-23T14:00:31+01:00 (RFC 3339)", s)
	}
	return ""
}
