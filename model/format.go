// SPDX-License-Identifier: MIT

package model

import "slices"

// format makes the empty values that a problem's files are decoded into.
type format struct {
	Kind     Kind
	Instance func() Instance
	Solution func() Solution
	Details  func() Details // nil: the problem's results have no details
	Keys     *object        // of an instance; they make its schema
	Decided  *object        // keys of a solution
}

// formats lists the problems that have a file format.
var formats = []format{batchFormat, consolidationFormat, dagFormat, reservationFormat, tvcFormat, vcschedFormat}

// format returns the format of a kind, nil if the kind is unknown.
func (k Kind) format() *format {
	for i := range formats {
		if formats[i].Kind == k {
			return &formats[i]
		}
	}
	return nil
}

// New returns an empty instance of a kind, nil if the kind is unknown.
func (k Kind) New() Instance {
	if f := k.format(); f != nil {
		return f.Instance()
	}
	return nil
}

// Kinds returns the known kinds in alphabetical order.
func Kinds() []Kind {
	var all []Kind
	for _, f := range formats {
		all = append(all, f.Kind)
	}
	slices.Sort(all)
	return all
}
