package papers

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gapwise/gapwise/internal/runs"
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

// finder checks the findings of the paper on one problem.
type finder struct {
	// whole says that the findings choose their parameters themselves: x is empty.
	whole bool
	// over holds the parameters that an empty x takes those from that vary; nil: all.
	over  []string
	check func(records []runs.Record, x []string) ([]Finding, error)
}

// finders holds the problems whose papers' findings are checked.
var finders = map[model.Kind]finder{
	model.KindBatch:       {over: []string{"load", "migration_s"}, check: batchFindings},
	model.KindDAG:         {whole: true, check: dagFindings},
	model.KindReservation: {check: reservationFindings},
	model.KindTVC:         {check: tvcFindings},
	model.KindVCSched:     {whole: true, check: vcschedFindings},
}

// FindingsOf checks the findings of the paper on the records' problem over x: one
// parameter, or several that change together. An empty x is that of the paper where
// findings go over several parameters, else all that vary.
//
// A finding compares runs in pairs: two algorithms on one instance, or one
// algorithm on one draw at two values of x. A comparison holds if the 95 %
// confidence interval of the mean difference (Student's t over the draws, or over
// the instances where each is a draw of its own) lies wholly on the side that the
// paper says, doesn't hold if it lies wholly on the other side, and is undecided
// otherwise. A printed figure is met if the interval of ours lies wholly within a
// stated margin around it, isn't if it lies wholly outside, and it is undecided
// otherwise.
//
// Each interval stands for itself: none is widened because there are several. Of
// many comparisons whose true difference is 0 one in twenty is decided by chance. A
// finding about several comparisons holds if all hold, which chance makes less
// likely, and doesn't if one doesn't, which it makes more likely.
//
// The error wraps model.ErrInvalid.
func FindingsOf(records []runs.Record, x []string) ([]Finding, error) {
	bad := func(err error) error { return fmt.Errorf("%w results: %w", model.ErrInvalid, err) }
	records, _, err := runs.Merge(records)
	if err != nil {
		return nil, err
	}
	if len(records) == 0 {
		return nil, bad(errors.New("there are none to check findings against"))
	}
	for i := range records {
		if a, b := records[0].Kind, records[i].Kind; a != b {
			return nil, bad(fmt.Errorf("there are runs of %s and of %s, give one kind alone", a, b))
		}
		if a, b := goal(&records[0]), goal(&records[i]); a != b {
			return nil, bad(fmt.Errorf("there are runs whose objective is %s and others of %s, give one goal alone", a, b))
		}
	}
	f, ok := finders[records[0].Kind]
	switch {
	case !ok:
		return nil, bad(fmt.Errorf("there are no findings about %s; there are some about %q", records[0].Kind, slices.Sorted(maps.Keys(finders))))
	case f.whole && len(x) > 0:
		return nil, bad(fmt.Errorf("findings about %s are over the paper's own parameters, give none; given are %q", records[0].Kind, x))
	case !f.whole && len(x) == 0:
		if x = Varied(records); f.over != nil {
			x = slices.DeleteFunc(x, func(p string) bool { return !slices.Contains(f.over, p) })
		}
	}
	all, err := f.check(records, x)
	if err != nil {
		return nil, bad(err)
	}
	return all, nil
}

// Varied returns the generator parameters, without the draw, that have several
// values among the records, in alphabetical order.
func Varied(records []runs.Record) []string {
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

// goal returns the name of the run's objective.
func goal(r *runs.Record) string {
	first, _ := r.Objectives()
	return first.Name
}
