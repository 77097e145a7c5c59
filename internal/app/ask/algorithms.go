// SPDX-License-Identifier: MIT

package ask

import (
	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/model"
)

// AlgorithmsAnswer lists the algorithms of all problems, each problem's in its order.
type AlgorithmsAnswer struct {
	Algorithms []Algorithm `json:"algorithms"`
}

// Algorithm describes one that a problem has.
type Algorithm struct {
	Name       string      `json:"name"`
	Kind       model.Kind  `json:"kind"`
	Class      model.Class `json:"class" about:"online, offline or yardstick; the three are never ranked together"`
	Exact      bool        `json:"exact" about:"it can prove its solution optimal"`
	Seeded     bool        `json:"seeded" about:"its result depends on the seed"`
	Summary    string      `json:"summary"`
	Complexity string      `json:"complexity"`
	Paper      string      `json:"paper"`
}

// Algorithms returns the algorithms of some problems.
func Algorithms(kinds ...model.Kind) (x AlgorithmsAnswer) {
	for _, kind := range kinds {
		for _, a := range gapwise.Algorithms(kind) {
			x.Algorithms = append(x.Algorithms, Algorithm{a.Name, a.Kind, a.Class, a.Exact, a.Seeded, a.Summary, a.Complexity, a.Paper})
		}
	}
	return x
}
