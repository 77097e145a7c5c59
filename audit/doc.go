// Package audit holds everything that gapwise claims against everything else
// that it claims: on instances drawn from many families it runs engines, plain
// engines (package plain), heuristics, bounds and the judge, and compares what
// they prove. It shrinks an instance on which two of them disagree.
//
// Every claim about an instance's optimum is an interval: a solution that the
// judge accepts bounds it from one side, a proved bound from the other. Two
// claims agree if their intervals meet. Relations (other numbering, figures
// doubled, time reversed, two instances joined, ...) turn a claim about one
// instance into one about another, so claims can be compared at sizes that no
// plain engine reaches.
package audit
