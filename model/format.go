package model

import "slices"

// Format is what the files of a problem hold.
type Format struct {
	Kind     Kind
	Instance func() Instance // empty
	Solution func() Solution // empty
	Details  func() Details  // empty; nil if the problem's results hold no more than all results
}

// formats lists the problems that files can be of, in alphabetical order.
var formats = []Format{dagFormat, reservationFormat, vcschedFormat}

// format returns the format of a kind, nil if there is no such problem.
func (k Kind) format() *Format {
	for i := range formats {
		if formats[i].Kind == k {
			return &formats[i]
		}
	}
	return nil
}

// New returns the empty instance of a problem, nil if there is no such problem.
func (k Kind) New() Instance {
	if f := k.format(); f != nil {
		return f.Instance()
	}
	return nil
}

// Kinds lists the known problems in alphabetical order.
func Kinds() []Kind {
	var all []Kind
	for _, f := range formats {
		all = append(all, f.Kind)
	}
	slices.Sort(all)
	return all
}
