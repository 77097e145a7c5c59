// SPDX-License-Identifier: MIT

package model

import (
	"fmt"
	"strconv"
	"strings"
)

// PEList is a set of PEs as ascending, disjoint ranges. In files it is a string
// in the list format of Linux's cpusets and of Slurm: "0-31,64,70-71".
type PEList []PERange

// PERange is the PEs First to Last, both included, numbered from 0.
type PERange struct{ First, Last int }

// Len returns the number of PEs.
func (l PEList) Len() int {
	n := 0
	for _, r := range l {
		n += r.Last - r.First + 1
	}
	return n
}

// Append returns the list with one more PE, which must be above all others.
func (l PEList) Append(pe int) PEList {
	if n := len(l); n > 0 && l[n-1].Last == pe-1 {
		l[n-1].Last = pe
		return l
	}
	return append(l, PERange{pe, pe})
}

// String returns the list format.
func (l PEList) String() string {
	var b []byte
	for i, r := range l {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(r.First), 10)
		if r.Last != r.First {
			b = append(b, '-')
			b = strconv.AppendInt(b, int64(r.Last), 10)
		}
	}
	return string(b)
}

// MarshalText writes the list format.
func (l PEList) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads the list format. The error is ErrInvalid if that isn't one of
// ascending, disjoint ranges.
func (l *PEList) UnmarshalText(text []byte) error {
	list := PEList{}
	if len(text) == 0 {
		*l = list
		return nil
	}
	for _, part := range strings.Split(string(text), ",") {
		first, last, isRange := strings.Cut(part, "-")
		r := PERange{}
		var err error
		if r.First, err = parsePE(first); err == nil {
			if r.Last = r.First; isRange {
				r.Last, err = parsePE(last)
			}
		}
		if err != nil || r.Last < r.First {
			return fmt.Errorf("%w PE list: %q is neither a PE number nor a range like 0-31", ErrInvalid, part)
		}
		if n := len(list); n > 0 && r.First <= list[n-1].Last {
			return fmt.Errorf("%w PE list: %q comes after %d, list each PE once and in ascending order", ErrInvalid, part, list[n-1].Last)
		}
		if n := len(list); n > 0 && r.First == list[n-1].Last+1 {
			list[n-1].Last = r.Last
		} else {
			list = append(list, r)
		}
	}
	*l = list
	return nil
}

// parsePE reads a PE's number, of digits alone.
func parsePE(s string) (int, error) {
	if s == "" || s[0] < '0' || s[0] > '9' {
		return 0, strconv.ErrSyntax
	}
	n, err := strconv.Atoi(s)
	if err == nil && n >= maxSize {
		err = strconv.ErrRange
	}
	return n, err
}
