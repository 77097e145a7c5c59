// SPDX-License-Identifier: MIT

// Package audit compares everything that gapwise claims. It draws instances
// from many families and runs engines, plain engines (package plain),
// heuristics, bounds and the judge on them. It shrinks an instance on which two
// of them disagree.
//
// A claim about an instance's optimum is an interval: a solution that the judge
// accepts bounds the optimum from one side, a proved bound from the other. Two
// claims agree if their intervals intersect. Metamorphic relations (tasks
// renamed, figures doubled, time reversed, two instances joined, ...) turn a
// claim about one instance into one about another. So claims can be compared on
// instances that are too large for a plain engine.
package audit
