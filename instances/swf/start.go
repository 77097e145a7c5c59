package swf

import (
	"fmt"
	"time"
)

// Start returns when the log begins, second 0 of its submit times: the header's
// UnixStartTime in the zone of its TimeZone, an offset in seconds. It is false
// without a UnixStartTime that is a time.
func (h Header) Start() (time.Time, bool) {
	begin, ok, err := h.Int("UnixStartTime")
	if err != nil || !ok || begin <= 0 || begin > 1<<40 {
		return time.Time{}, false
	}
	offset, ok, err := h.Int("TimeZone")
	if err != nil || !ok || offset < -86400 || offset > 86400 {
		offset = 0
	}
	name := "UTC"
	if offset != 0 {
		sign, size := "+", offset
		if offset < 0 {
			sign, size = "-", -offset
		}
		name = fmt.Sprintf("UTC%s%d", sign, size/3600)
		if m := size % 3600 / 60; m != 0 {
			name += fmt.Sprintf(":%02d", m)
		}
	}
	return time.Unix(begin, 0).In(time.FixedZone(name, int(offset))), true
}
