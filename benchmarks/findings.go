package benchmarks

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// Finding is a statement of a paper about its experiments, checked against
// results.
type Finding struct {
	Text    string
	Verdict Verdict
	// Measured describes the figures that decide.
	Measured string
}

// Verdict says what results tell of a finding.
type Verdict string

// The verdicts.
const (
	Held      Verdict = "held"
	NotHeld   Verdict = "not held"
	Undecided Verdict = "undecided"
)

// findings holds the findings of the paper on each problem that has some.
var findings = map[model.Kind]func(records []Record, x []string) ([]Finding, error){
	model.KindBatch:       batchFindings,
	model.KindReservation: reservationFindings,
	model.KindTVC:         tvcFindings,
}

// FindingsOf checks the findings of the paper on the records' problem over x: one
// parameter, or several that change together.
//
// A finding compares runs in pairs: two algorithms on one instance, or one
// algorithm on one draw at two values of x. A comparison holds if the 95 %
// confidence interval of the mean difference (Student's t over the draws) lies
// wholly on the side that the paper says, doesn't hold if it lies wholly on the
// other side, and is undecided otherwise. Each interval stands for itself: none is
// widened because there are several. A finding about several comparisons holds if
// all hold, and doesn't if one doesn't.
//
// The error wraps model.ErrInvalid.
func FindingsOf(records []Record, x []string) ([]Finding, error) {
	bad := func(err error) error { return fmt.Errorf("%w results: %w", model.ErrInvalid, err) }
	records, err := Merge(records)
	if err != nil {
		return nil, err
	}
	if len(records) == 0 {
		return nil, bad(errors.New("there are none to check findings against"))
	}
	if len(x) == 0 {
		return nil, bad(errors.New("no parameter is given that findings are over"))
	}
	for i := range records {
		if a, b := records[0].Kind, records[i].Kind; a != b {
			return nil, bad(fmt.Errorf("there are runs of %s and of %s, give one kind alone", a, b))
		}
		if a, b := measure(&records[0]), measure(&records[i]); a != b {
			return nil, bad(fmt.Errorf("there are runs whose objective is %s and others of %s, give one goal alone", a, b))
		}
	}
	of, ok := findings[records[0].Kind]
	if !ok {
		return nil, bad(fmt.Errorf("there are no findings about %s; there are some about %q", records[0].Kind, slices.Sorted(maps.Keys(findings))))
	}
	all, err := of(records, x)
	if err != nil {
		return nil, bad(err)
	}
	return all, nil
}

// Varied returns the generator parameters, without the draw, that have several
// values among the records, in alphabetical order.
func Varied(records []Record) []string {
	values := map[string]map[float64]bool{}
	for _, r := range records {
		for p, v := range r.Params {
			if values[p] == nil {
				values[p] = map[float64]bool{}
			}
			values[p][v] = true
		}
	}
	var all []string
	for p := range values {
		if len(values[p]) > 1 && p != "draw" {
			all = append(all, p)
		}
	}
	slices.Sort(all)
	return all
}

// experiment holds the runs that findings are about.
type experiment struct {
	x      []string
	points [][]float64 // values of x, ascending
	runs   map[cell]map[drawn]float64
}

// cell is a value (see ValueNames) of an algorithm at a point of x.
type cell struct {
	value, algorithm string
	point            int
}

// drawn tells runs of one cell apart and pairs those of two.
type drawn struct {
	draw float64
	seed uint64
}

// newExperiment reads some values of the runs of some algorithms. Every algorithm
// must have runs at every point, and of one draw at one point there is one
// instance.
func newExperiment(records []Record, x, algorithms, wanted []string) (*experiment, error) {
	e := &experiment{x: x, runs: map[cell]map[drawn]float64{}}
	type at struct {
		point string
		draw  float64
	}
	instances := map[at]*Record{}
	var chosen []*Record
	var points []string
	for i := range records {
		r := &records[i]
		if !slices.Contains(algorithms, r.Algorithm) {
			continue
		}
		p, err := parameters(r, x)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(e.points, func(q []float64) bool { return slices.Equal(p, q) }) {
			e.points = append(e.points, p)
		}
		here := at{fmt.Sprint(p), r.Params["draw"]}
		if other := instances[here]; other != nil && other.Hash != r.Hash {
			return nil, fmt.Errorf("draw %v at %s %s is %s and %s; give the results of one setting", here.draw, strings.Join(x, ","), label(p), other.Instance, r.Instance)
		}
		instances[here] = r
		chosen, points = append(chosen, r), append(points, here.point)
	}
	slices.SortFunc(e.points, slices.Compare)
	index := map[string]int{}
	for k, p := range e.points {
		index[fmt.Sprint(p)] = k
	}
	known := learn(records, algorithms)
	for _, name := range wanted {
		which := slices.IndexFunc(values(), func(v value) bool { return v.name == name })
		for i, r := range chosen {
			y, err := values()[which].at(measured{r, known[r.Hash]})
			if err != nil {
				return nil, err
			}
			c := cell{name, r.Algorithm, index[points[i]]}
			if e.runs[c] == nil {
				e.runs[c] = map[drawn]float64{}
			}
			if !math.IsNaN(y) {
				e.runs[c][drawn{r.Params["draw"], r.Seed}] = y
			}
		}
		for _, a := range algorithms {
			for k := range max(len(e.points), 2) {
				if len(e.runs[cell{name, a, k}]) == 0 {
					return nil, fmt.Errorf("findings need runs of each of %s at two values of %s at least", strings.Join(algorithms, ", "), strings.Join(x, ", "))
				}
			}
		}
	}
	return e, nil
}

// where describes point k in words.
func (e *experiment) where(k int) string {
	text := label(e.points[k])
	if len(e.x) == 1 {
		text = figure(e.points[k][0])
	}
	return strings.Join(e.x, ",") + " " + text
}

// term is a cell that counts with a sign.
type term struct {
	sign float64
	cell
}

// estimate is the mean of a figure and the half-width of its 95 % confidence
// interval, NaN for a single pair.
type estimate struct{ mean, half float64 }

func (x estimate) String() string {
	if math.IsNaN(x.half) {
		return plain(x.mean) + " (one run)"
	}
	return plain(x.mean) + " ± " + plain(x.half)
}

// plain prints three significant digits, and all before the decimal point.
func plain(x float64) string {
	if math.Abs(x) >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

// mean estimates the sum of some terms over the draws that all of them have.
func (e *experiment) mean(terms ...term) estimate {
	var all []float64
	largest := 0.0
next:
	for d := range e.runs[terms[0].cell] {
		sum, size := 0.0, 0.0
		for _, t := range terms {
			y, ok := e.runs[t.cell][d]
			if !ok {
				continue next
			}
			sum += t.sign * y
			size += math.Abs(y)
		}
		all = append(all, sum)
		largest = max(largest, size)
	}
	if len(all) == 0 {
		return estimate{math.NaN(), math.NaN()}
	}
	mean, half := interval(all)
	// Rounding errors are no difference.
	for _, x := range []*float64{&mean, &half} {
		if math.Abs(*x) < 1e-12*largest {
			*x = 0
		}
	}
	return estimate{mean, half}
}

// claim says that a figure is above a limit, or below it if less.
type claim struct {
	text  string // what the figure is
	value estimate
	limit float64
	less  bool
}

// excess returns by how much the mean is on the claimed side of the limit.
func (c *claim) excess() float64 {
	if c.less {
		return c.limit - c.value.mean
	}
	return c.value.mean - c.limit
}

func (c *claim) verdict() Verdict {
	switch x := c.excess(); {
	case x > c.value.half:
		return Held
	case -x > c.value.half:
		return NotHeld
	}
	return Undecided // NaN, too
}

// lead claims that one algorithm's value is above another's at point k, below it
// if less.
func (e *experiment) lead(value, first, second string, k int, less bool) claim {
	d := e.mean(term{1, cell{value, first, k}}, term{-1, cell{value, second, k}})
	return claim{fmt.Sprintf("%s minus %s at %s", first, second, e.where(k)), d, 0, less}
}

// leads makes a lead at every point of each of some algorithms over each of
// others.
func (e *experiment) leads(value string, first, second []string, less bool) (all []claim) {
	for _, a := range first {
		for _, b := range second {
			for k := range e.points {
				all = append(all, e.lead(value, a, b, k, less))
			}
		}
	}
	return all
}

// steps claims that some algorithms' values rise, or fall, from each point to the
// next.
func (e *experiment) steps(value string, algorithms []string, fall bool) (all []claim) {
	for _, a := range algorithms {
		for k := 1; k < len(e.points); k++ {
			d := e.mean(term{1, cell{value, a, k}}, term{-1, cell{value, a, k - 1}})
			all = append(all, claim{fmt.Sprintf("%s from %s to %s", a, e.where(k-1), e.where(k)), d, 0, fall})
		}
	}
	return all
}

// supported compares claims by how well the results support them.
func supported(a, b claim) int {
	rank := []Verdict{NotHeld, Undecided, Held}
	return cmp.Or(cmp.Compare(slices.Index(rank, a.verdict()), slices.Index(rank, b.verdict())), cmp.Compare(a.excess(), b.excess()))
}

// tally counts the claims that hold, those that don't, and those undecided.
func tally(claims []claim) (held, not, undecided int) {
	for i := range claims {
		switch claims[i].verdict() {
		case Held:
			held++
		case NotHeld:
			not++
		default:
			undecided++
		}
	}
	return held, not, undecided
}

// every is the finding that all claims hold.
func every(text string, claims []claim) Finding {
	held, not, undecided := tally(claims)
	verdict := Held
	switch {
	case not > 0:
		verdict = NotHeld
	case undecided > 0:
		verdict = Undecided
	}
	return Finding{text, verdict, weakest(claims, held, not, undecided)}
}

// most is the finding that more than half of the claims hold.
func most(text string, claims []claim) Finding {
	held, not, undecided := tally(claims)
	verdict := Undecided
	switch {
	case 2*held > len(claims):
		verdict = Held
	case 2*(held+undecided) <= len(claims):
		verdict = NotHeld
	}
	return Finding{text, verdict, weakest(claims, held, not, undecided)}
}

// oneOf is the finding that one claim at least holds.
func oneOf(text string, claims []claim) Finding {
	held, not, undecided := tally(claims)
	verdict := Undecided
	switch {
	case held > 0:
		verdict = Held
	case undecided == 0:
		verdict = NotHeld
	}
	c := slices.MaxFunc(claims, supported)
	return Finding{text, verdict, fmt.Sprintf("strongest: %s, %v; of %d comparisons %d hold, %d don't, %d undecided", c.text, c.value, len(claims), held, not, undecided)}
}

// weakest describes the claim that the results support least, and how many hold.
func weakest(claims []claim, held, not, undecided int) string {
	c := slices.MinFunc(claims, supported)
	if len(claims) == 1 {
		return fmt.Sprintf("%s: %v", c.text, c.value)
	}
	return fmt.Sprintf("weakest: %s, %v; of %d comparisons %d hold, %d don't, %d undecided", c.text, c.value, len(claims), held, not, undecided)
}
