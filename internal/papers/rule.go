// SPDX-License-Identifier: MIT

package papers

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// rule is a finding as a paper's file writes it, or several that have a loop or a
// condition in common.
type rule struct {
	For string // "a in LIST" or "a, b in LIST": once for each of the list
	If  string // a fact of the runs, or points ("p0=0.6") some of which must be there
	All []rule

	Say      string
	Judge    string // most, one, near, none, rank 1 or 3, furthest apart; empty: every claim holds
	Figure   string // what the paper prints, for near and counts; {printed} in Say
	Contrary string // what another rule says that can't be true as well
	Count    *count
	Claim    `yaml:",inline"`
	Claims   []Claim // in place of one
}

// Claim says that figures of the runs are above a limit, or below it. How its texts, lists,
// cells and points are written is said at put, list, term and points.
type Claim struct {
	In   string // the experiment; empty: the main one
	Of   string // the measure that cells without one are of
	At   string // points, see points
	Each string // a loop, outside of that over the points
	Text string

	Lead, Over, Steps, Ends, Apart string // claims with a text and a sum of their own
	From, To                       string // points of Ends; empty: first and last
	Sum, Change, Curves, Minus     string // the figure
	Times                          string // how many times as large one cell is as another
	Line                           string // the share of its increase by which {a} may be off a line
	Bend                           string // a point where {a} is further off its line than at {k}
	Average                        string // the mean of a cell over all points
	Largest                        bool   // of the claims the one with the largest figure
	Abs                            bool   // its size
	Negative                       bool   // by how much less, in place of more
	Measured                       bool   // leaves out what no run has

	More, Less, Within string // the limit: a number, or a printed figure; empty: more than 0
	Same               string // what counts as no difference, in place of what the paper's ties say
}

// count counts the runs of a cell whose measure is above a number, or below it.
type count struct {
	Cell         string
	Above, Below *float64
	Solved       bool // leaves out runs without a solution
}

// scope is what rules are read in.
type scope struct {
	*paper
	experiments map[string]*experiment
	lists       map[string][]string
	facts       map[string]bool
	vars        map[string]string
	scale       float64 // of limits that are taken, 0 for 1
	err         *error
}

func (s *scope) fail(format string, args ...any) {
	if *s.err == nil {
		*s.err = fmt.Errorf(s.File+": "+format, args...)
	}
}

// findings returns the findings of rules.
func (s *scope) findings(rules []rule) (all []Finding) {
	for i := range rules {
		r := &rules[i]
		s.loop(r.For, func(s *scope) {
			switch {
			case r.If != "" && !s.holds(r.If, r.In):
			case r.All != nil:
				all = append(all, s.findings(r.All)...)
			default:
				all = append(all, s.finding(r))
			}
		})
	}
	return all
}

// loop calls do for each element of a loop, once without one.
func (s *scope) loop(loop string, do func(*scope)) {
	if loop == "" {
		do(s)
		return
	}
	names, list, found := strings.Cut(loop, " in ")
	if !found {
		s.fail("the loop %q isn't of the form a in LIST", loop)
	}
	vars := strings.Split(names, ", ")
	all := s.list(list)
	if len(vars) > 1 {
		all = strings.Split(s.put(list), ", ")
	}
	for _, x := range all {
		here, values := *s, []string{x}
		if len(vars) > 1 {
			values = strings.Fields(x)
		}
		if len(values) != len(vars) {
			s.fail("the loop %q has %d values for %d names", loop, len(values), len(vars))
			return
		}
		here.vars = maps.Clone(s.vars)
		for k, v := range vars {
			here.vars[v] = values[k]
		}
		do(&here)
	}
}

// list returns a list by its name, or names of algorithms and lists of them; after "not"
// all but these.
func (s *scope) list(text string) (all []string) {
	text = s.put(text)
	if l, ok := s.lists[text]; ok {
		return l
	}
	if but, ok := strings.CutPrefix(text, "not "); ok {
		some := s.list(but)
		return slices.DeleteFunc(slices.Clone(s.lists["all"]), func(a string) bool { return slices.Contains(some, a) })
	}
	for _, name := range strings.Fields(text) {
		if l, ok := s.lists[name]; ok {
			all = append(all, l...)
		} else {
			all = append(all, name)
		}
	}
	return all
}

var variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{([a-zA-Z][^{}]*)\}`) })

// put puts in the variables that a text names: {a}, and {a!} as it is printed.
func (s *scope) put(text string) string {
	return variable().ReplaceAllStringFunc(text, func(v string) string {
		name, printed := strings.CutSuffix(v[1:len(v)-1], "!")
		x, ok := s.vars[name]
		switch {
		case ok && printed:
			return s.printed(x)
		case ok:
			return x
		}
		return v
	})
}

// printed returns a name as the paper prints it.
func (s *scope) printed(name string) string {
	if p, ok := s.Names[name]; ok {
		return p
	}
	return strings.ToUpper(name)
}

// holds reports whether something is a fact or, of points, is there.
func (s *scope) holds(condition, in string) bool {
	condition, not := strings.CutPrefix(s.put(condition), "not ")
	a, b, equal := strings.Cut(condition, " = ")
	switch {
	case equal:
		return (a == b) != not
	case predicate().MatchString(condition):
		return len(s.points(s.in(in), condition, "")) > 0 != not
	}
	return s.facts[condition] != not
}

func (s *scope) in(name string) *experiment {
	e := s.experiments[s.put(name)]
	if e == nil {
		s.fail("there is no experiment %q", s.put(name))
		return &experiment{}
	}
	return e
}

var predicate = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^p(\d)(<=|>=|<|>|=|!=)([0-9.]+)$`) })

// points returns points of an experiment: all for "", those after the first for "steps",
// one by its name (see point), those that a predicate "p0<0.4" holds of, p0 being the
// first parameter.
func (s *scope) points(e *experiment, at, measure string) (all []int) {
	at = s.put(at)
	m := predicate().FindStringSubmatch(at)
	for k, p := range e.points {
		switch {
		case m != nil:
			i, _ := strconv.Atoi(m[1])
			if i >= len(p) {
				s.fail("%q is of a parameter that these points don't have", at)
				return nil
			}
			x, limit := p[i], s.number(m[3])
			if map[string]bool{"<": x < limit, "<=": x <= limit, ">": x > limit, ">=": x >= limit, "=": x == limit, "!=": x != limit}[m[2]] {
				all = append(all, k)
			}
		case at == "", at == "steps" && k > 0, at == "but last" && k+1 < len(e.points), at != "k" && at != "steps" && at != "but last" && k == s.point(e, at, k+1, measure):
			all = append(all, k)
		}
	}
	return all
}

// point returns a point by its name: k, before (k), first, last, "solved A" (the first of
// which A has the measure), a mark of the experiment; -1 if there is none.
func (s *scope) point(e *experiment, name string, k int, measure string) int {
	last := len(e.points) - 1
	if p, ok := map[string]int{"k": k, "": k, "before": k - 1, "first": 0, "last": last}[name]; ok {
		return p
	}
	if p, ok := e.marks[name]; ok {
		return p
	}
	if a, ok := strings.CutPrefix(name, "solved "); ok {
		least := 0
		for least < last && len(e.runs[cell{measure, a, least}]) == 0 {
			least++
		}
		return least
	}
	if predicate().MatchString(name) {
		if some := s.points(e, name, ""); len(some) > 0 {
			return some[0]
		}
	}
	return -1
}

// said puts variables and points in a text.
func (s *scope) said(text string, e *experiment, k int, from, to int) string {
	return variable().ReplaceAllStringFunc(s.put(text), func(v string) string {
		switch name := v[1 : len(v)-1]; name {
		case "from":
			return e.where(from)
		case "to":
			return e.where(to)
		default:
			if p := s.point(e, name, k, ""); p >= 0 {
				return e.where(p)
			}
			if f := s.Figures[name]; f != nil {
				return fmt.Sprintf("%g", f.Value)
			}
			s.fail("%q has no %s", text, v)
			return v
		}
	})
}

// number returns a number that is written as one, or the value of a printed figure.
func (s *scope) number(text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		f := s.figure(text)
		if x = f.Value; f.Taken {
			x *= cmp.Or(s.scale, 1)
		}
	}
	return x
}

func (s *scope) figure(name string) *Figure {
	f := s.Figures[s.put(name)]
	if f == nil {
		s.fail("there is no printed figure %q", s.put(name))
		return &Figure{}
	}
	return f
}

// finding judges a rule. Where its limit isn't printed but taken it says what another one,
// half or twice as large, changes.
func (s *scope) finding(r *rule) Finding {
	f := s.judge(r)
	f.contrary = s.put(r.Contrary)
	for _, other := range []struct {
		text  string
		scale float64
	}{{"half", 0.5}, {"twice", 2}} {
		here := *s
		here.scale = other.scale
		if g := here.judge(r); g.Verdict != f.Verdict {
			f.Measured += fmt.Sprintf("; with %s the limit %s", other.text, g.Verdict)
		}
	}
	return f
}

func (s *scope) judge(r *rule) Finding {
	text := s.put(r.Say)
	if r.Figure != "" {
		text = strings.ReplaceAll(text, "{printed}", s.figure(r.Figure).printed())
	}
	if strings.Contains(text, "{") {
		text = s.said(text, s.in(r.In), 0, 0, 0)
	}
	if r.Count != nil {
		n := s.count(r.Count, s.in(r.In), r.Of, r.At)
		if r.Judge == "none" {
			return none(text, n)
		}
		f := s.figure(r.Figure)
		return counted(text, n, tally{int(f.Value), f.Among})
	}
	var claims []claim
	if r.Claims == nil {
		claims = s.claims(&r.Claim)
	}
	for i := range r.Claims {
		claims = append(claims, s.claims(&r.Claims[i])...)
	}
	switch r.Judge {
	case "", "most", "one":
		return judged(text, r.Judge, claims)
	case "near":
		if len(claims) != 1 {
			s.fail("%q is near what, there are %d figures", text, len(claims))
			return Finding{}
		}
		return near(text, claims[0].value, s.figure(r.Figure))
	case "rank 1", "rank 3":
		return ranked(text, int(r.Judge[5]-'0'), s.in(r.In), s.put(r.Of), s.list(r.Lead)[0], s.list(r.Over))
	case "furthest apart":
		return furthestApart(text, s.in(r.In), r.Of, s.list(r.Apart), s.list(r.Over))
	}
	s.fail("%q is no way to judge", r.Judge)
	return Finding{}
}

// claims returns the claims that a Claim stands for.
func (s *scope) claims(c *Claim) (all []claim) {
	x := *c
	loops, once := []string{}, true
	switch {
	case c.Lead != "" && c.Over != "":
		loops, x.Text, x.Sum, once = []string{"first in " + c.Lead, "second in " + c.Over}, "{first} minus {second} at {k}", "+{first} -{second}", false
	case c.Steps != "":
		loops, x.At, x.Text, x.Sum, once = []string{"a in " + c.Steps}, "steps", "{a} from {before} to {k}", "+{a} -{a}@before", false
	case c.Ends != "":
		loops, x.Text, x.Sum = []string{"a in " + c.Ends}, "{a} from {from} to {to}", "+{a}@to -{a}@from"
	case c.Apart != "":
		loops, x.Text, x.Sum, x.Abs, once = []string{"first, second in " + c.Apart}, "{first} minus {second} at {k}", "+{first} -{second}", true, false
	default:
		once = c.At == "" && !strings.Contains(c.Sum+c.Change+c.Times, "@k") && !strings.Contains(c.Text, "{k}") && !strings.Contains(c.Text, "{before}")
	}
	if c.Each != "" {
		loops = append([]string{c.Each}, loops...)
	}
	var run func(s *scope, loops []string)
	run = func(s *scope, loops []string) {
		if len(loops) > 0 {
			s.loop(loops[0], func(s *scope) { run(s, loops[1:]) })
			return
		}
		e := s.in(x.In)
		points := s.points(e, x.At, s.put(x.Of))
		if once {
			points = []int{0}
		}
		for _, k := range points {
			all = append(all, s.at(&x, e, k)...)
		}
	}
	run(s, loops)
	if x.Largest && len(all) > 0 {
		all = []claim{slices.MaxFunc(all, func(a, b claim) int { return cmp.Compare(a.value.mean, b.value.mean) })}
	}
	if x.Measured {
		all = slices.DeleteFunc(all, func(c claim) bool { return math.IsNaN(c.value.mean) })
	}
	return all
}

// at returns the claim about point k, none at points that aren't there.
func (s *scope) at(c *Claim, e *experiment, k int) []claim {
	from, to := s.point(e, cmp.Or(s.put(c.From), "first"), k, s.put(c.Of)), s.point(e, cmp.Or(s.put(c.To), "last"), k, s.put(c.Of))
	if from < 0 || to < 0 {
		return nil
	}
	points := func(name string) int {
		if p, ok := map[string]int{"from": from, "to": to}[name]; ok {
			return p
		}
		return s.point(e, name, k, "")
	}
	value := s.estimate(c, e, points)
	if c.Negative {
		value.mean = -value.mean
	}
	text := s.said(c.Text, e, k, from, to)
	if c.Abs && value.mean < 0 {
		value.mean = -value.mean
		if c.Apart != "" { // the other way round
			text = fmt.Sprintf("%s minus %s at %s", s.vars["second"], s.vars["first"], e.where(k))
		}
	}
	var x claim
	switch {
	case c.Within != "":
		limit := s.number(c.Within)
		x = between(text, value, -limit, limit)
	case c.Less != "":
		x = below(text, value, s.number(c.Less))
	default:
		x = above(text, value, s.number(cmp.Or(c.More, "0")))
	}
	switch {
	case c.Same != "":
		x.same = s.number(c.Same)
	case c.Sum != "" && !c.Abs && (x.low == 0 || x.high == 0):
		x.same = s.Ties[s.put(c.Of)].Within
	}
	return []claim{x}
}

// estimate returns the figure of a claim.
func (s *scope) estimate(c *Claim, e *experiment, point func(string) int) estimate {
	measure := s.put(c.Of)
	cells := func(text string, least int) (all []term) {
		for _, t := range strings.Fields(s.put(text)) {
			all = append(all, s.term(t, measure, point))
		}
		if len(all) < least {
			s.fail("%q has %d terms, %d are needed", text, len(all), least)
			all = make([]term, least)
		}
		return all
	}
	of := func(sum, change, curves string) estimate {
		switch {
		case sum != "":
			return e.mean(cells(sum, 1)...)
		case curves != "":
			x := cells(curves, 2)
			return e.curves(x[0].cell, x[1].cell)
		}
		x := cells(change, 2)
		return e.change(x[0].cell, x[1].cell)
	}
	switch a := s.vars["a"]; {
	case c.Line != "":
		return e.offLine(measure, a, point("k"), s.number(c.Line))
	case c.Average != "":
		var terms []term
		for k := range e.points {
			terms = append(terms, term{1 / float64(len(e.points)), cell{measure, s.put(c.Average), k}})
		}
		return e.mean(terms...)
	case c.Times != "":
		x := cells(c.Times, 2)
		y := e.change(x[0].cell, x[1].cell)
		return estimate{1 + y.mean/100, y.half / 100, y.df}
	case c.Bend != "":
		return e.bend(measure, a, point(c.Bend), point("k"))
	}
	value := of(c.Sum, c.Change, c.Curves)
	if c.Minus != "" {
		sum, change := c.Minus, ""
		if c.Change != "" {
			sum, change = "", c.Minus
		}
		value = difference(value, of(sum, change, ""))
	}
	return value
}

var termText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([+-]?)(?:([0-9.]+)\*)?([^@:]+)(?:@([^:]+))?(?::(.+))?$`)
})

// term reads "+2*ALGORITHM@POINT:MEASURE", of which all but the algorithm may be absent;
// _ stands for a space.
func (s *scope) term(text, measure string, point func(string) int) term {
	m := termText().FindStringSubmatch(text)
	if m == nil {
		s.fail("%q is no term", text)
		return term{}
	}
	t := term{1, cell{measure, m[3], point(strings.ReplaceAll(m[4], "_", " "))}}
	if m[2] != "" {
		t.sign = s.number(m[2])
	}
	if m[1] == "-" {
		t.sign = -t.sign
	}
	if m[5] != "" {
		t.value = strings.ReplaceAll(m[5], "_", " ")
	}
	return t
}

// count counts the runs of a cell at some points.
func (s *scope) count(c *count, e *experiment, measure, at string) (n tally) {
	for _, k := range s.points(e, at, measure) {
		of := s.term(s.put(c.Cell), s.put(measure), func(string) int { return k }).cell
		for d, y := range e.runs[of] {
			if c.Solved && e.runs[cell{unsolved, of.algorithm, k}][d] > 0 {
				continue
			}
			if n.of++; c.Above != nil && y > *c.Above || c.Below != nil && y < *c.Below {
				n.n++
			}
		}
	}
	return n
}
