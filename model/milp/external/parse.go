// SPDX-License-Identifier: MIT

package external

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/model/milp"
)

// errNoFile is the error of a program that wrote no solution file and proved
// nothing.
var errNoFile = errors.New("it wrote no solution")

// unread is an error about a solution file that isn't as it should be.
func unread(format string, args ...any) error {
	return fmt.Errorf("can't read its solution: "+format, args...)
}

// nothing is an outcome without a point or a bound.
func nothing(s milp.Status) outcome { return outcome{status: s, bound: math.NaN()} }

// value reads a finite number.
func value(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, unread("%q is no number", text)
	}
	return x, nil
}

// last returns the first group of an expression's last match as a number, NaN
// without one.
func last(e *regexp.Regexp, text string) float64 {
	all := e.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return math.NaN()
	}
	x, err := strconv.ParseFloat(all[len(all)-1][1], 64)
	if err != nil {
		return math.NaN()
	}
	return x
}

// count returns last as a number of nodes, 0 without one.
func count(e *regexp.Regexp, text string) int64 {
	if n := last(e, text); n >= 0 && n < 1e15 {
		return int64(n)
	}
	return 0
}

// below returns a number that is less than x by a relative error, at least by as
// much of 1.
func below(x, relative float64) float64 { return x - relative*max(1, math.Abs(x)) }

// lowest returns the smaller of two bounds; one that is NaN isn't there.
func lowest(a, b float64) float64 {
	if math.IsNaN(a) || b < a {
		return b
	}
	return a
}

// has reports whether one of some parts stands in a text.
func has(text string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}
