// SPDX-License-Identifier: MIT

package verify

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/internal/core/evidence"
	"github.com/gapwise/gapwise/model"
)

// An evidenceForm is the shape of evidence of one type: the condition on each JSON key that it has. Every other key but
// type and method must be absent.
type evidenceForm map[string]func(e *model.Evidence, n evidenceShape) error

// evidenceShape holds an instance's sizes for its evidence: the numbers of ids (tasks, jobs or requests) and of
// machines, for a dag the numbers of edges and links, and for vcsched the names of its resources, CPU first.
type evidenceShape struct {
	ids, machines, edges, links int
	resources                   []string
}

// evidenceForms lists every form of evidence from which the judge computes a bound. The rules rely on these shapes:
// evidence that doesn't fit is refused before any of them computes.
var evidenceForms = map[model.Kind]map[string]evidenceForm{
	model.KindConsolidation: {
		evidence.Cover:   {"resource": keyAnything, "elements": keyAtMost(0, 1)},
		evidence.Apart:   {"elements": keyAtMost(1, 1)},
		evidence.Emptied: {},
	},
	model.KindDAG: {
		evidence.Path:     {"elements": keyIDs},
		evidence.Load:     {"weights": keyMachineWeights, "resource": keyAnything},
		evidence.Interval: {"window": keyWindow, "resource": keyAnything},
		evidence.Ordering: {"window": keyHorizon, "parts": keyParts(0, math.MaxInt, evidenceForm{
			"resource": keyOneOf(evidence.OrderingRows...), "rows": keyRows, "weights": keyMultipliers})},
		evidence.Gathering: {"parts": keyParts(0, 2, evidenceForm{"resource": keyOneOf(evidence.Heads, evidence.Tails),
			"parts": keyParts(0, math.MaxInt, evidenceForm{"elements": keyGathered, "rows": keyRows})})},
		evidence.Traffic: {"weights": keyTrafficWeights, "prices": keyTrafficPrices, "resource": keyAnything},
	},
	model.KindVCSched: {
		evidence.Sum:      {"scale": keyScale, "resource": keyResource},
		evidence.Crowd:    {"scale": keyScale, "resource": keyRigid, "count": keyCount},
		evidence.Clique:   {"scale": keyScale, "elements": keyIDs, "weights": keyJobWeights(1, 1<<24)},
		evidence.Misfit:   {"elements": keyAtMost(1, 1)},
		evidence.Filling:  {"scale": keyScale, "resource": keyFilled, "elements": keyAnything, "function": keyFunction, "load": keyLoad},
		evidence.Patterns: {"scale": keyScale, "elements": keyIDs, "weights": keyJobWeights(0, 1<<36), "load": keyLoad},
		evidence.Moves: {"scale": keyScale, "load": keyLoad, "prices": keyLambda, "parts": keyParts(0, math.MaxInt, evidenceForm{
			"count": keyAnything, "elements": keyIDs, "weights": keyJobWeights(0, 1<<36)})},
	},
	model.KindReservation: {
		evidence.Areas:   {"function": keyFunction, "mirrored": keyAnything},
		evidence.Windows: {"windows": keyWindows},
		evidence.Prices: {"parts": keyParts(1, math.MaxInt, evidenceForm{
			"elements": keyIDs, "function": keyFunction, "resource": keyOneOf("", "job"), "times": keyTimes, "prices": keyOwnPrices})},
	},
	model.KindBatch: {
		evidence.Sum: {"figure": keyFigure("", evidence.MeanSlowdown)},
		evidence.Machine: {"figure": keyFigure("", evidence.MeanSlowdown), "function": keyFunction, "count": keyTenths,
			"resource": keyAnything, "rows": keyRows},
		evidence.Prices: {"figure": keyFigure("", evidence.MeanSlowdown), "resource": keyOneOf("", "job"),
			"times": keyTimes, "prices": keyClassPrices},
		evidence.Windows: {"figure": keyFigure(evidence.MostSlowdown), "windows": keyOneWindow, "resource": keyAnything, "rows": keyRows},
	},
	model.KindTVC: {
		evidence.Sum:     {},
		evidence.Machine: {"resource": keyOneOf(tvcResources...), "count": keyShare, "function": keyOfLinks, "parts": keyOfShares},
		evidence.Prices: {"parts": keyParts(0, math.MaxInt, evidenceForm{"elements": keyIDs, "parts": keyParts(0, math.MaxInt, evidenceForm{
			"resource": keyOneOf(append([]string{evidence.PatternsOfServers}, tvcResources...)...), "count": keyShare, "function": keyOfLinks, "parts": keyOfShares,
			"elements": keyOfPatterns(keyIDs), "weights": keyOfPatterns(keyJobWeights(0, 1<<36)), "times": keyTimes, "prices": keyInstants})})},
	},
}

// tvcResources are the resources of tvc that prices and machines may be for.
var tvcResources = append([]string{evidence.Slots, evidence.Servers, evidence.Shares}, evidence.Links...)

// fitsForm reports what of evidence of an instance isn't of the shape that its type has.
func fitsForm(kind model.Kind, e *model.Evidence, n evidenceShape) error {
	f, ok := evidenceForms[kind][e.Type]
	if !ok {
		return fmt.Errorf("no bound of a %s follows from evidence of type %q", kind, e.Type)
	}
	// No bound needs more; it keeps the judge from work that the instance doesn't account for.
	if most := evidence.MostEntries(n.ids, n.machines) + min(n.edges*n.machines, evidence.MostPrices); evidenceEntries(e) > most {
		return fmt.Errorf("it has more than %d entries in all, too many for an instance of this size", most)
	}
	return f.fits(e, n)
}

func (f evidenceForm) fits(e *model.Evidence, n evidenceShape) error {
	v := reflect.ValueOf(e).Elem()
	for i := range v.NumField() {
		key, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if key == "type" || key == "method" {
			continue
		}
		x := v.Field(i)
		check, ok := f[key]
		switch {
		case !ok && (x.Kind() == reflect.Slice && x.Len() > 0 || x.Kind() != reflect.Slice && !x.IsZero()):
			return fmt.Errorf("evidence of type %q has no key %q here", e.Type, key)
		case ok:
			if err := check(e, n); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	return nil
}

// evidenceEntries counts the entries in the lists of evidence.
func evidenceEntries(e *model.Evidence) int {
	n := len(e.Elements) + len(e.Weights) + len(e.Windows) + len(e.Times) + len(e.Rows) + len(e.Prices) + len(e.Parts)
	for k := range e.Parts {
		n += evidenceEntries(&e.Parts[k])
	}
	return n
}

// keyAnything requires nothing.
func keyAnything(*model.Evidence, evidenceShape) error { return nil }

// keyIDs requires some ids, each once. The rule decides whether the instance has them.
func keyIDs(e *model.Evidence, n evidenceShape) error {
	if len(e.Elements) == 0 || len(e.Elements) > n.ids {
		return fmt.Errorf("there are %d, must be from 1 to %d", len(e.Elements), n.ids)
	}
	seen := make(map[string]bool, len(e.Elements))
	for _, id := range e.Elements {
		if seen[id] {
			return fmt.Errorf("%q is named twice", id)
		}
		seen[id] = true
	}
	return nil
}

// keyGathered requires a task and a set of others.
func keyGathered(e *model.Evidence, n evidenceShape) error {
	if len(e.Elements) > maxGather+1 {
		return fmt.Errorf("there are %d, must be %d at most", len(e.Elements), maxGather+1)
	}
	return keyIDs(e, n)
}

// keyAtMost requires from so many to so many ids.
func keyAtMost(least, most int) func(*model.Evidence, evidenceShape) error {
	return func(e *model.Evidence, _ evidenceShape) error {
		if n := len(e.Elements); n < least || n > most {
			return fmt.Errorf("there are %d, must be from %d to %d", n, least, most)
		}
		return nil
	}
}

// keyMachineWeights requires a weight of each machine, not all 0.
func keyMachineWeights(e *model.Evidence, n evidenceShape) error {
	if len(e.Weights) != n.machines {
		return fmt.Errorf("there are %d for %d machines", len(e.Weights), n.machines)
	}
	all := 0.0
	for _, w := range e.Weights {
		if !(w >= 0 && w <= math.MaxFloat64) {
			return fmt.Errorf("%v isn't at least 0 and finite", w)
		}
		all = max(all, w)
	}
	if all == 0 {
		return errors.New("all are 0")
	}
	return nil
}

// keyJobWeights requires whole numbers of a range, one for each element.
func keyJobWeights(least, most float64) func(*model.Evidence, evidenceShape) error {
	return func(e *model.Evidence, _ evidenceShape) error {
		if len(e.Weights) != len(e.Elements) {
			return fmt.Errorf("there are %d for %d elements", len(e.Weights), len(e.Elements))
		}
		for _, w := range e.Weights {
			if !(w >= least && w <= most) || w != math.Trunc(w) {
				return fmt.Errorf("%v isn't a whole number from %.0f to %.0f", w, least, most)
			}
		}
		return nil
	}
}

// keyWindow requires a time and a later one, in seconds.
func keyWindow(e *model.Evidence, _ evidenceShape) error {
	if len(e.Window) != 2 || !finite(e.Window[0]) || !finite(e.Window[1]) || e.Window[0] >= e.Window[1] {
		return fmt.Errorf("%v isn't a time and a later one", e.Window)
	}
	return nil
}

// keyHorizon requires the time 0 and a later one.
func keyHorizon(e *model.Evidence, n evidenceShape) error {
	if err := keyWindow(e, n); err != nil {
		return err
	}
	if e.Window[0] != 0 {
		return fmt.Errorf("it begins at %v, must begin at 0", e.Window[0])
	}
	return nil
}

// keyRows requires numbers in ascending order. The rule decides whether there are such rows.
func keyRows(e *model.Evidence, _ evidenceShape) error {
	for i, x := range e.Rows {
		if x < 0 || i > 0 && x <= e.Rows[i-1] {
			return fmt.Errorf("%d is below 0 or not after the one before it", x)
		}
	}
	return nil
}

// keyMultipliers requires a multiplier of each row: of any sign for an equation, else at least 0.
func keyMultipliers(e *model.Evidence, _ evidenceShape) error {
	if len(e.Weights) != len(e.Rows) {
		return fmt.Errorf("there are %d for %d rows", len(e.Weights), len(e.Rows))
	}
	for _, w := range e.Weights {
		size := w
		if e.Resource == evidence.FromRow || e.Resource == evidence.ToRow {
			size = math.Abs(w)
		}
		if !(size >= 1e-60 && size <= 1e30) {
			return fmt.Errorf("%s isn't from 1e-60 to 1e30", strconv.FormatFloat(w, 'g', -1, 64))
		}
	}
	return nil
}

// keyWindows requires windows in ticks, in the order of time, that don't meet.
func keyWindows(e *model.Evidence, _ evidenceShape) error {
	last := int64(-beyond)
	for i, w := range e.Windows {
		if w.From < last || w.To <= w.From || w.To > beyond {
			return fmt.Errorf("that from %d to %d is empty, out of range, or begins before the one before it has ended", w.From, w.To)
		}
		last = w.To
		if err := keyFunction(&model.Evidence{Function: w.Function}, evidenceShape{}); err != nil {
			return fmt.Errorf("[%d].function: %w", i, err)
		}
	}
	return nil
}

// keyOneWindow requires one window, in which demands are as they are.
func keyOneWindow(e *model.Evidence, n evidenceShape) error {
	if len(e.Windows) != 1 || e.Windows[0].Function != nil {
		return errors.New("there must be one, without a function")
	}
	return keyWindows(e, n)
}

// keyFigure requires one of some figures.
func keyFigure(names ...string) func(*model.Evidence, evidenceShape) error {
	return func(e *model.Evidence, _ evidenceShape) error {
		if !slices.Contains(names, e.Figure) {
			return fmt.Errorf("%q isn't one of %q", e.Figure, names)
		}
		return nil
	}
}

// keyTimes requires ticks in ascending order.
func keyTimes(e *model.Evidence, _ evidenceShape) error {
	for i, x := range e.Times {
		if x < -beyond || x > beyond || i > 0 && x <= e.Times[i-1] {
			return fmt.Errorf("%d is out of range or not after the one before it", x)
		}
	}
	return nil
}

// keyPrices requires prices between each two times (spans 1) or at each time (spans 0).
func keyPrices(spans int) func(*model.Evidence, evidenceShape) error {
	return func(e *model.Evidence, _ evidenceShape) error {
		if len(e.Prices) == 0 || len(e.Prices) != len(e.Times)-spans {
			return fmt.Errorf("there are %d for %d times, must be %d fewer than times and at least 1", len(e.Prices), len(e.Times), spans)
		}
		return keyEachPrice(e)
	}
}

// keyLambda requires one price or none.
func keyLambda(e *model.Evidence, _ evidenceShape) error {
	if len(e.Prices) > 1 {
		return fmt.Errorf("there are %d, must be one or none", len(e.Prices))
	}
	return keyEachPrice(e)
}

// keySomePrices requires prices between each two times or at each time.
func keySomePrices(e *model.Evidence, n evidenceShape) error {
	if len(e.Prices) == len(e.Times) {
		return keyPrices(0)(e, n)
	}
	return keyPrices(1)(e, n)
}

// keyClassPrices requires prices between each two times, or of each of some classes so many.
func keyClassPrices(e *model.Evidence, n evidenceShape) error {
	if e.Resource == "" {
		return keyPrices(1)(e, n)
	}
	if spans := len(e.Times) - 1; spans < 1 || len(e.Prices) == 0 || len(e.Prices)%spans != 0 {
		return fmt.Errorf("there are %d for %d times, must be a multiple of one fewer than times", len(e.Prices), len(e.Times))
	}
	return keyEachPrice(e)
}

// keyOwnPrices requires prices between each two times or at each time, or any number if each job has its own: the judge
// counts these (ownTariffs).
func keyOwnPrices(e *model.Evidence, n evidenceShape) error {
	switch {
	case e.Resource == "":
		return keySomePrices(e, n)
	case len(e.Times) < 2 || e.Function != nil:
		return fmt.Errorf("there are %d times, must be at least 2, and no function", len(e.Times))
	}
	return keyEachPrice(e)
}

func keyEachPrice(e *model.Evidence) error {
	for _, x := range e.Prices {
		if !(x == 0 || x >= 1e-60 && x <= 1e30) {
			return fmt.Errorf("%s isn't 0 nor from 1e-60 to 1e30", strconv.FormatFloat(x, 'g', -1, 64))
		}
	}
	return nil
}

// keyParts requires from so many to so many parts of the type and of a form, each of a resource of its own
// if that has one (see sameResource).
func keyParts(least, most int, f evidenceForm) func(*model.Evidence, evidenceShape) error {
	return func(e *model.Evidence, n evidenceShape) error {
		if k := len(e.Parts); k < least || k > most {
			return fmt.Errorf("there are %d", k)
		}
		for k := range e.Parts {
			p := &e.Parts[k]
			if p.Type != e.Type {
				return fmt.Errorf("[%d] is of type %q, must be %q", k, p.Type, e.Type)
			}
			if err := f.fits(p, n); err != nil {
				return fmt.Errorf("[%d].%w", k, err)
			}
			if p.Resource != "" && slices.ContainsFunc(e.Parts[:k], func(o model.Evidence) bool { return sameResource(&o, p) }) {
				return fmt.Errorf("two are of %s", p.Resource)
			}
		}
		return nil
	}
}

// sameResource reports whether two parts are of one resource; of patterns none are.
func sameResource(a, b *model.Evidence) bool {
	same := a.Resource == b.Resource && a.Count == b.Count && sameFunction(a.Function, b.Function) && a.Resource != evidence.PatternsOfServers
	if a.Resource != evidence.Shares {
		return same
	}
	return same && slices.EqualFunc(a.Parts, b.Parts, func(x, y model.Evidence) bool { return sameFunction(x.Function, y.Function) })
}

func sameFunction(a, b *model.DualFunction) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// keyScale requires a scale in which a need is less than 2^44 units.
func keyScale(e *model.Evidence, _ evidenceShape) error {
	if e.Scale < 1 || e.Scale > 1e13 {
		return fmt.Errorf("%d isn't from 1 to 10^13", e.Scale)
	}
	return nil
}

// keyLoad requires a value that a dual-feasible function takes as a capacity.
func keyLoad(e *model.Evidence, _ evidenceShape) error {
	if e.Load < 1 || e.Load > 1<<55 {
		return fmt.Errorf("%d isn't from 1 to 2^55", e.Load)
	}
	return nil
}

// keyCount requires a number of tasks.
func keyCount(e *model.Evidence, _ evidenceShape) error {
	if e.Count < 1 {
		return fmt.Errorf("%d isn't at least 1", e.Count)
	}
	return nil
}

// keyShare requires a number of slots of servers, a weight of slots in shares, and nothing of others.
func keyShare(e *model.Evidence, _ evidenceShape) error {
	counted := e.Resource == evidence.Servers || e.Resource == evidence.Shares
	if counted != (e.Count > 0) || e.Count < 0 || e.Count > 1<<30 {
		return fmt.Errorf("%d isn't a number that %q has", e.Count, e.Resource)
	}
	return nil
}

// keyOfLinks requires a function of links, or none.
func keyOfLinks(e *model.Evidence, n evidenceShape) error {
	if e.Function != nil && !slices.Contains(evidence.Links, e.Resource) {
		return fmt.Errorf("%q has none", e.Resource)
	}
	return keyFunction(e, n)
}

// keyOfShares requires slots and links of servers, each under a function or none, of shares, and nothing of others.
func keyOfShares(e *model.Evidence, n evidenceShape) error {
	if e.Resource != evidence.Shares {
		return keyParts(0, 0, nil)(e, n)
	}
	err := keyParts(2, 2, evidenceForm{"resource": keyOneOf(evidence.Slots, evidence.Links[0]), "function": keyFunction})(e, n)
	if err == nil && e.Parts[0].Resource != evidence.Slots {
		err = errors.New("the slots must be first")
	}
	return err
}

// keyOfPatterns requires the same as another key for patterns, and nothing for others.
func keyOfPatterns(key func(*model.Evidence, evidenceShape) error) func(*model.Evidence, evidenceShape) error {
	return func(e *model.Evidence, n evidenceShape) error {
		if e.Resource == evidence.PatternsOfServers {
			return key(e, n)
		}
		if len(e.Elements) > 0 || len(e.Weights) > 0 {
			return fmt.Errorf("%q has none", e.Resource)
		}
		return nil
	}
}

// keyInstants requires a price at each time, or of patterns one price without a time.
func keyInstants(e *model.Evidence, n evidenceShape) error {
	if e.Resource != evidence.PatternsOfServers {
		return keyPrices(0)(e, n)
	}
	if len(e.Prices) != 1 || len(e.Times) > 0 {
		return fmt.Errorf("there are %d for %d times, must be one for none", len(e.Prices), len(e.Times))
	}
	return keyEachPrice(e)
}

// keyTenths requires a share in tenths.
func keyTenths(e *model.Evidence, _ evidenceShape) error {
	if e.Count < 0 || e.Count > 10 {
		return fmt.Errorf("%d isn't from 0 to 10", e.Count)
	}
	return nil
}

// keyOneOf requires one of some resources.
func keyOneOf(names ...string) func(*model.Evidence, evidenceShape) error {
	return func(e *model.Evidence, _ evidenceShape) error {
		if !slices.Contains(names, e.Resource) {
			return fmt.Errorf("%q isn't one of %q", e.Resource, names)
		}
		return nil
	}
}

// keyResource requires a resource of the instance.
func keyResource(e *model.Evidence, n evidenceShape) error { return keyOneOf(n.resources...)(e, n) }

// keyRigid requires a resource other than CPU, or none.
func keyRigid(e *model.Evidence, n evidenceShape) error {
	if e.Resource == "" {
		return nil
	}
	return keyOneOf(n.resources[1:]...)(e, n)
}

// keyFilled requires a resource, or none and some other than CPU as elements, each once.
func keyFilled(e *model.Evidence, n evidenceShape) error {
	if len(e.Elements) == 0 {
		return keyResource(e, n)
	}
	if e.Resource != "" || len(e.Elements) < 2 {
		return fmt.Errorf("%q with %d elements, must be one resource, or none and two elements at least", e.Resource, len(e.Elements))
	}
	for k, name := range e.Elements {
		if !slices.Contains(n.resources[1:], name) || slices.Contains(e.Elements[:k], name) {
			return fmt.Errorf("element %q isn't one of %q, or there twice", name, n.resources[1:])
		}
	}
	return nil
}

// keyFunction requires a known function or none. The range of its parameter depends on the capacity: see dualFunction.
func keyFunction(e *model.Evidence, _ evidenceShape) error {
	if d := e.Function; d != nil && (!slices.Contains([]string{"steps", "threshold", "pieces", "halves"}, d.Name) || d.Parameter < 0) {
		return fmt.Errorf("%q of %d isn't a dual-feasible function", d.Name, d.Parameter)
	}
	return nil
}
