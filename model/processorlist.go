// SPDX-License-Identifier: MIT

package model

import (
	"fmt"
	"strconv"
	"strings"
)

// ProcessorList is a list of distinct processors in the order of a job's processes.
// In files it is a string of numbers and ascending ranges: "0-31,64" or "5,3-4".
type ProcessorList []int32

// String returns the format of files.
func (l ProcessorList) String() string { return string(l.append(nil)) }

func (l ProcessorList) append(b []byte) []byte {
	for i := 0; i < len(l); {
		k := i
		for k+1 < len(l) && l[k+1] == l[k]+1 {
			k++
		}
		if i > 0 {
			b = append(b, ',')
		}
		if b = strconv.AppendInt(b, int64(l[i]), 10); k > i {
			b = strconv.AppendInt(append(b, '-'), int64(l[k]), 10)
		}
		i = k + 1
	}
	return b
}

// MarshalText writes the format of files.
func (l ProcessorList) MarshalText() ([]byte, error) { return l.append(nil), nil }

// UnmarshalText reads the format of files. Whether processors repeat is for the
// judge to find.
func (l *ProcessorList) UnmarshalText(text []byte) error {
	if list, ok := countedProcessors(text); ok {
		*l = list
		return nil
	}
	list := ProcessorList{}
	for _, part := range strings.Split(string(text), ",") {
		if len(text) == 0 {
			break
		}
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		a, err := parsePE(first)
		b, err2 := parsePE(last)
		if err != nil || err2 != nil || b < a {
			return fmt.Errorf("%w processor list: %q is neither a number nor an ascending range like 0-31", ErrInvalid, part)
		}
		if len(list)+b-a >= maxSize {
			return fmt.Errorf("%w processor list: more than %d processors", ErrInvalid, maxSize)
		}
		for p := a; p <= b; p++ {
			list = append(list, int32(p))
		}
	}
	*l = list
	return nil
}

// countedProcessors reads a list of numbers and ascending ranges that is as MarshalText
// writes it, into no more room than it needs.
func countedProcessors(text []byte) (list ProcessorList, ok bool) {
	for _, fill := range []bool{false, true} {
		n, first, x, digits := 0, -1, 0, 0
		for k := 0; k <= len(text); k++ {
			switch {
			case k < len(text) && text[k] >= '0' && text[k] <= '9' && digits < 8:
				x = 10*x + int(text[k]-'0')
				digits++
			case digits == 0:
				return nil, false
			case k < len(text) && text[k] == '-' && first < 0:
				first, x, digits = x, 0, 0
			case k == len(text) || text[k] == ',':
				if first < 0 {
					first = x
				}
				if x < first || x >= maxSize || n+x-first >= maxSize {
					return nil, false
				}
				for p := first; fill && p <= x; p++ {
					list = append(list, int32(p))
				}
				n, first, x, digits = n+x-first+1, -1, 0, 0
			default:
				return nil, false
			}
		}
		if !fill {
			list = make(ProcessorList, 0, n)
		}
	}
	return list, true
}
