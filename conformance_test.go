// SPDX-License-Identifier: MIT

package gapwise_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/sync/errgroup"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/exact"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
	"github.com/gapwise/gapwise/model/milp/highs"
	"github.com/gapwise/gapwise/verify"
)

// The conformance suite holds every problem of gapwise.Problems to the same
// rules: no line of it names a problem. Its instances come from the problem's
// generator, by the tags small and hard of the specification.

// eachProblem runs a test for every problem, side by side.
func eachProblem(t *testing.T, test func(t *testing.T, p *gapwise.Problem)) {
	t.Parallel()
	for _, p := range gapwise.Problems() {
		t.Run(string(p.Kind), func(t *testing.T) {
			t.Parallel()
			test(t, p)
		})
	}
}

// smallInstances draws instances that every exact engine solves at once: draws
// for each combination of the parameters' small values.
func smallInstances(t *testing.T, p *gapwise.Problem, draws int) []model.Instance {
	t.Helper()
	values := map[string][]string{}
	for _, x := range p.Generator.Parameters() {
		if len(x.Small) > 0 {
			values[x.Key] = x.Small
		}
	}
	return slices.DeleteFunc(instancesOf(t, p, values, draws), func(in model.Instance) bool {
		b, ok := in.(*model.Batch) // three jobs on two tiers can be too many for their engine
		return ok && b.Tiers == 2 && len(b.Jobs) > 2
	})
}

// few returns a third of the instances in everyday tests, evenly spread.
func few(all []model.Instance) []model.Instance {
	if !testing.Short() {
		return all
	}
	return spread(all, len(all)/3+1)
}

// hardInstance draws an instance that no exact engine solves in seconds; false if the specification doesn't define one,
// and this is one of the defaults.
func hardInstance(t *testing.T, p *gapwise.Problem) (model.Instance, bool) {
	t.Helper()
	values := map[string][]string{}
	for _, x := range p.Generator.Parameters() {
		if x.Hard != "" {
			values[x.Key] = []string{x.Hard}
		}
	}
	return instancesOf(t, p, values, 1)[0], len(values) > 0
}

func instancesOf(t *testing.T, p *gapwise.Problem, values map[string][]string, draws int) (all []model.Instance) {
	t.Helper()
	specs := require.Value(p.Generator.Grid(values, 1000))(t)
	for seed, s := range specs {
		for k := range instances.Count(s, draws) {
			in, err := instances.Nth(s, k, draws, uint64(seed)).Load()
			switch {
			case errors.Is(err, model.ErrInvalid): // values that don't go together
				continue
			case err != nil:
				t.Fatal(err)
			case in.Kind() != p.Kind:
				t.Fatalf("the generator draws a %s", in.Kind())
			}
			all = append(all, in)
		}
	}
	if len(all) == 0 {
		t.Fatal("the generator draws no instance")
	}
	return all
}

// stumps returns the valid copies of an instance with lists, in its file, cut off after 0 or 1 elements: empty
// instances, and instances of one element.
func stumps(t *testing.T, in model.Instance) (all []model.Instance) {
	t.Helper()
	whole := map[string]json.RawMessage{}
	unmarshal(t, marshal(t, in), &whole)
	files := []map[string]json.RawMessage{whole}
	for key, value := range whole {
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil {
			continue
		}
		for _, f := range slices.Clone(files) {
			for n := range min(2, len(list)) {
				cut := map[string]json.RawMessage{}
				for k, v := range f {
					cut[k] = v
				}
				cut[key] = marshal(t, list[:n])
				files = append(files, cut)
			}
		}
	}
	for _, f := range files[1:] {
		if stump, err := model.DecodeInstance(marshal(t, f)); err == nil {
			all = append(all, stump)
		} else if !errors.Is(err, model.ErrInvalid) {
			t.Errorf("%s: %v, want an error that wraps %v", marshal(t, f), err, model.ErrInvalid)
		}
	}
	return all
}

func marshal(t *testing.T, x any) []byte {
	t.Helper()
	return require.Value(json.Marshal(x))(t)
}

func unmarshal(t *testing.T, data []byte, x any) {
	t.Helper()
	require.OK(t, json.Unmarshal(data, x))
}

// candidate is a way to solve instances of a problem.
type candidate struct {
	name   string
	o      gapwise.Options
	exact  bool // it ends with a proof
	seeded bool
	once   bool // solve, and leave out the checks that take further runs
	turn   int  // ways through HiGHS, which takes long, run further on every fourth instance, each on others
}

// candidates lists every algorithm, the phases of the native search by themselves, and the names for engines.
func candidates(t *testing.T, p *gapwise.Problem) (all []candidate) {
	t.Helper()
	for _, a := range p.Algorithms {
		all = append(all, candidate{name: a.Name, o: gapwise.Options{Algorithm: a.Name}, exact: a.Exact, seeded: a.Seeded})
	}
	for _, s := range p.Phases {
		all = append(all, candidate{name: s.Name(), o: gapwise.Options{Solver: s}, seeded: true})
	}
	for _, o := range []gapwise.Options{{}, {Algorithm: "auto"}, {Algorithm: "exact"}, {Algorithm: "exact", Engine: strings.Join(p.Engines(), ",")}} {
		all = append(all, candidate{name: fmt.Sprintf("%q %q", o.Algorithm, o.Engine), o: o, exact: true, seeded: true})
	}
	for k := range all {
		all[k].turn = k
	}
	return all
}

// ablated lists the native search and the kernel with each of their devices
// switched off.
func ablated(t *testing.T, p *gapwise.Problem) (all []candidate) {
	t.Helper()
	add := func(engine exact.Switchable) {
		if engine == nil {
			return
		}
		if _, err := engine.Without("magic"); err == nil || !strings.Contains(err.Error(), `"magic"`) || !strings.Contains(err.Error(), engine.Devices()[0].Name) {
			t.Errorf("%s: an unknown device: error %v, want one that lists the known ones", engine.Name(), err)
		}
		seen := map[string]bool{}
		for _, d := range engine.Devices() {
			if !regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`).MatchString(d.Name) || seen[d.Name] || d.Summary == "" {
				t.Errorf("%s: the name of the device %q isn't one of its own in kebab-case, or has no summary", engine.Name(), d.Name)
			}
			seen[d.Name] = true
			s := require.Value(engine.Without(d.Name))(t)
			all = append(all, candidate{name: engine.Name() + " without " + d.Name, o: gapwise.Options{Solver: s}, exact: true, once: true})
		}
	}
	if p.Search != nil {
		add(p.Search)
	}
	add(p.Kernel)
	return all
}

// outcome is everything of a result that a seed determines, as text.
func outcome(t *testing.T, r model.Result) string {
	t.Helper()
	return fmt.Sprintf("%s, objective %v and %v, bound %v, gap %v, %s", r.Status, r.Objective, r.SecondObjective, r.Bound, r.Gap, marshal(t, r.Solution))
}

// The problem's data on its algorithms are complete and true.
func TestConformanceCatalogue(t *testing.T) {
	for _, p := range gapwise.Problems() {
		here := map[string]bool{}
		for _, a := range p.Algorithms {
			if a.Name == "" || a.Name != strings.ToLower(a.Name) || here[a.Name] {
				t.Errorf("the name %q is empty, not lower case or taken", a.Name)
			}
			here[a.Name] = true
			if a.Kind != p.Kind || a.Paper == "" || a.Complexity == "" || a.Summary == "" || a.Solver == nil {
				t.Errorf("%s lacks something: %+v", a.Name, a)
			}
			if a.Solver.Name() != a.Name {
				t.Errorf("%s has a solver called %s", a.Name, a.Solver.Name())
			}
		}
		if a, err := gapwise.Find(p.Kind, p.Default); err != nil || !a.Exact {
			t.Errorf("%s: the default engine %q: %v, exact %v", p.Kind, p.Default, err, a.Exact)
		}
		for _, name := range p.Gantt {
			if !here[name] {
				t.Errorf("%s: there is no algorithm %q to draw", p.Kind, name)
			}
		}
		if in := p.Kind.New(); in == nil || in.Kind() != p.Kind {
			t.Errorf("%s: its empty instance is %v", p.Kind, in)
		}
	}
}

// On small, empty and one-element instances, the judge accepts every solution, and no algorithm contradicts another's
// proof. Each gives the same for the same seed, proves the same at any number of threads, and a start is never made
// worse.
func TestConformanceSolve(t *testing.T) {
	eachProblem(t, func(t *testing.T, p *gapwise.Problem) {
		var all []model.Instance
		seen := map[string]bool{}
		for k, in := range few(smallInstances(t, p, 1)) {
			family := []model.Instance{in}
			if k == 0 || !testing.Short() && k%3 == 0 || require.Night() {
				family = append(family, stumps(t, in)...)
			}
			for _, in := range family {
				if hash, err := model.Hash(in); err != nil {
					t.Fatal(err)
				} else if !seen[hash] {
					seen[hash] = true
					all = append(all, in)
				}
			}
		}
		ways := append(candidates(t, p), ablated(t, p)...)
		answered, withoutHiGHS, infeasible := map[string]int{}, map[string]bool{}, 0
		for k, in := range all {
			c := &conformance{T: t, p: p, in: in, turn: k, ways: ways, answered: answered, withoutHiGHS: withoutHiGHS}
			c.check()
			if c.infeasible != "" {
				infeasible++
			}
		}
		for _, x := range ways {
			if answered[x.name] == 0 && !withoutHiGHS[x.name] {
				t.Errorf("%s takes none of the %d instances", x.name, len(all))
			}
		}
		if answered["a start that is kept"] == 0 && !testing.Short() {
			t.Error("no algorithm found anything worse than its start")
		}
		t.Logf("%d instances, %d of them infeasible", len(all), infeasible)
	})
}

// No algorithm fails on an instance without hosts, of one machine, without edges, of the largest figures. Each returns
// a verified result, or reports that it doesn't take the instance. Proofs agree.
func TestConformanceExtremes(t *testing.T) {
	eachProblem(t, func(t *testing.T, p *gapwise.Problem) {
		rng := rand.New(rand.NewPCG(11, 47))
		for k, small := 0, few(smallInstances(t, p, 1)); k < max(24, len(small)); k++ {
			in := testkit.Extreme(rng, small[k%len(small)])
			var all []model.Result
			names := []string{"exact", "auto"}
			for _, a := range p.Algorithms {
				names = append(names, a.Name)
			}
			for _, name := range names {
				r, err := gapwise.Solve(t.Context(), in, gapwise.Options{Algorithm: name, Settings: model.Settings{Seed: 1, Effort: 30_000}})
				switch {
				case errors.Is(err, model.ErrUnsupported), errors.Is(err, highs.ErrMissing):
				case err != nil:
					raw, _ := json.Marshal(in)
					t.Errorf("%s: %v\n%s", name, err, raw)
				case strings.Contains(r.Reason, "left out"):
					raw, _ := json.Marshal(in)
					t.Errorf("%s: %s\n%s", name, r.Reason, raw)
				default:
					all = append(all, r)
				}
			}
			if err := gapwise.Join(in, all, model.DefaultGap); err != nil {
				raw, _ := json.Marshal(in)
				t.Errorf("%v\n%s", err, raw)
			}
		}
	})
}

// A search with a gap below the resolution of floats ends too: an engine with whole numbers reports optimal, another
// that the rest is rounding.
func TestConformanceLeastGap(t *testing.T) {
	eachProblem(t, func(t *testing.T, p *gapwise.Problem) {
		for _, in := range few(smallInstances(t, p, 1)) {
			for _, x := range candidates(t, p) {
				if !x.exact || x.o.Algorithm == "" || x.o.Algorithm == "auto" { // may choose a heuristic
					continue
				}
				x.o.Settings = model.Settings{Seed: 1, Gap: 1e-15}
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				r, err := gapwise.Solve(ctx, in, x.o)
				switch {
				case errors.Is(err, model.ErrUnsupported):
				case err != nil:
					t.Errorf("%s: %v", x.name, err)
				case ctx.Err() != nil || r.Status == model.StatusFeasible && r.Gap > 1e-6:
					t.Errorf("%s on %s: %s, gap %v after %v (%s)", x.name, in.ID(), r.Status, r.Gap, r.Elapsed, r.Reason)
				}
				cancel()
			}
		}
	})
}

// One Solver solves several instances at the same time: it keeps no state, and shares its caches without a race. (The
// race detector sees these runs: most packages start no goroutine, so their own tests aren't run with it.)
func TestConformanceAtOnce(t *testing.T) {
	eachProblem(t, func(t *testing.T, p *gapwise.Problem) {
		in := smallInstances(t, p, 1)[0]
		for _, x := range candidates(t, p) {
			x.o.Seed = 1
			outcomes := make([]string, 3)
			var group errgroup.Group
			for i := range outcomes {
				group.Go(func() error {
					r, err := gapwise.Solve(t.Context(), in, x.o)
					if errors.Is(err, model.ErrUnsupported) {
						return nil
					}
					if err == nil {
						outcomes[i] = outcome(t, r)
					}
					return err
				})
			}
			if err := group.Wait(); err != nil {
				t.Errorf("%s: %v", x.name, err)
			}
			for _, o := range outcomes[1:] {
				if o != outcomes[0] {
					t.Errorf("%s: three runs at once end with\n%s", x.name, strings.Join(outcomes, "\n"))
					break
				}
			}
		}
	})
}

// conformance holds all algorithms' answers on one instance.
type conformance struct {
	*testing.T
	p        *gapwise.Problem
	in       model.Instance
	turn     int // its number
	ways     []candidate
	answered map[string]int // instances, by the names of ways
	// withoutHiGHS names the ways that need HiGHS, in a build without it.
	withoutHiGHS map[string]bool
	results      map[string]model.Result
	infeasible   string // the one that proves it; "": none
}

func (c *conformance) errorf(format string, args ...any) {
	c.Helper()
	c.Errorf("%s: %s\n%s", c.in.ID(), fmt.Sprintf(format, args...), marshal(c.T, c.in))
}

// solve returns the result, and false if the algorithm doesn't take the instance.
func (c *conformance) solve(x candidate, set model.Settings) (model.Result, bool) {
	c.Helper()
	o := x.o
	o.Settings = set
	r, err := gapwise.Solve(c.Context(), c.in, o)
	if errors.Is(err, highs.ErrMissing) {
		c.withoutHiGHS[x.name] = true
	}
	if errors.Is(err, model.ErrUnsupported) {
		return r, false
	}
	if err != nil {
		c.errorf("%s: %v", x.name, err)
		return r, false
	}
	return r, true
}

// once reports whether the way solves this instance and takes no further runs.
func (c *conformance) once(x candidate) bool {
	return x.once || strings.Contains(x.name, "highs") && (c.turn+x.turn)%4 != 0
}

func (c *conformance) check() {
	hash := require.Value(model.Hash(c.in))(c)
	c.instanceFile(hash)
	c.results = map[string]model.Result{}
	for _, x := range c.ways {
		r, ok := c.solve(x, model.Settings{Seed: 1})
		if !ok {
			continue
		}
		c.answered[x.name]++
		c.results[x.name] = r
		c.stamp(x, r, hash)
		if c.once(x) {
			continue
		}
		first := outcome(c.T, r)
		for _, set := range []model.Settings{{Seed: 1, Threads: 4}, {Seed: 2}} {
			again, ok := c.solve(x, set)
			if x.exact && set.Threads > 1 { // which of several optimal solutions it finds may depend on them
				again.Solution, again.SecondObjective = r.Solution, r.SecondObjective
			}
			if ok && (set.Seed == 1 || !x.seeded) && outcome(c.T, again) != first {
				c.errorf("%s with seed %d and %d threads: %s, with seed 1 and one: %s", x.name, set.Seed, set.Threads, outcome(c.T, again), first)
			}
		}
	}
	c.claims()
	c.starts()
	c.partial(rand.New(rand.NewPCG(15, 1)))
	c.incumbents()
	c.formulations()
	c.variants()
	if again, err := model.Hash(c.in); err != nil || again != hash {
		c.errorf("the instance was changed: %v", err)
	}
}

// schemas holds the published schemas, compiled once.
var schemas struct {
	sync.Mutex
	byName map[string]*jsonschema.Schema
}

func schema(name string) (*jsonschema.Schema, error) {
	schemas.Lock()
	defer schemas.Unlock()
	s, err := schemas.byName[name], error(nil)
	if s == nil {
		if s, err = require.Schema("docs/reference/schema", name+".json"); err == nil {
			if schemas.byName == nil {
				schemas.byName = map[string]*jsonschema.Schema{}
			}
			schemas.byName[name] = s
		}
	}
	return s, err
}

// published checks that the schema docs/reference/schema/NAME.json describes a file of that
// sort, and knows its keys: it refuses the file with one more.
func (c *conformance) published(name string, file []byte) {
	c.Helper()
	s, err := schema(name)
	if err != nil {
		c.errorf("%v", err)
		return
	}
	accepts := func(file []byte) error {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(file))
		if err != nil {
			return err
		}
		return s.Validate(doc)
	}
	if err := accepts(file); err != nil {
		c.errorf("docs/reference/schema/%s.json: %v\n%s", name, err, file)
	}
	if accepts(bytes.Replace(file, []byte("{"), []byte(`{"another_key":1,`), 1)) == nil {
		c.errorf("docs/reference/schema/%s.json takes any key", name)
	}
}

// instanceFile checks that a file holds the instance.
func (c *conformance) instanceFile(hash string) {
	c.published(string(c.p.Kind), marshal(c.T, c.in))
	back, err := model.DecodeInstance(marshal(c.T, c.in))
	if err != nil {
		c.errorf("its file can't be read: %v", err)
		return
	}
	if again, err := model.Hash(back); err != nil || again != hash {
		c.errorf("from its file it has the hash %s and not %s (%v)", again, hash, err)
	}
}

// stamp checks a result's data on itself, and that a file holds it.
func (c *conformance) stamp(x candidate, r model.Result, hash string) {
	if r.Instance != c.in.ID() || r.InstanceHash != hash || r.Kind != c.p.Kind || r.Version != gapwise.Version || r.Seed != 1 || r.Algorithm == "" || r.Unverified {
		c.errorf("%s: the stamp is %q %q %q %q %d %q, unverified %v", x.name, r.Instance, r.InstanceHash, r.Kind, r.Version, r.Seed, r.Algorithm, r.Unverified)
	}
	if x.o.Algorithm == x.name && r.Algorithm != x.name {
		c.errorf("%s calls itself %s", x.name, r.Algorithm)
	}
	// Auto proves nothing where no engine takes the instance.
	stopped, cancel := context.WithCancel(c.Context())
	cancel()
	_, err := gapwise.Solve(stopped, c.in, gapwise.Options{Algorithm: "exact", Settings: x.o.Settings})
	open := r.Algorithm == "auto" && errors.Is(err, model.ErrUnsupported)
	if x.exact && !open && r.Status != model.StatusOptimal && r.Status != model.StatusInfeasible {
		c.errorf("%s ends with %s: %s", x.name, r.Status, r.Reason)
	}
	if r.Solution != nil {
		if gap := model.Gap(r.Objective, r.Bound); gap != r.Gap && !(math.IsNaN(gap) && math.IsNaN(r.Gap)) {
			c.errorf("%s: the gap is %v, want %v", x.name, r.Gap, gap)
		}
		data := marshal(c.T, r.Solution)
		c.published(string(c.p.Kind)+"-solution", data)
		if s, err := model.DecodeSolution(data); err != nil || string(marshal(c.T, s)) != string(data) {
			c.errorf("%s: its solution's file can't be read, or is another: %v\n%s", x.name, err, data)
		}
	}
	data := marshal(c.T, r)
	c.published(string(c.p.Kind)+"-result", data)
	if back, err := model.DecodeResult(data); err != nil || string(marshal(c.T, back)) != string(data) {
		c.errorf("%s: its result's file can't be read, or is another: %v\n%s", x.name, err, data)
	}
}

// claims compares the proofs and the solutions with each other.
func (c *conformance) claims() {
	type bound struct {
		name  string
		value float64
	}
	var all []bound
	for name, r := range c.results {
		if r.Status == model.StatusInfeasible {
			c.infeasible = name
		} else if !math.IsNaN(r.Bound) {
			all = append(all, bound{name, r.Bound})
		}
	}
	computed, err := gapwise.Bounds(c.Context(), c.in)
	if err != nil && !errors.Is(err, model.ErrUnsupported) {
		c.errorf("bounds: %v", err)
	}
	for _, b := range append(computed, c.p.Quick(c.Context(), c.in)...) {
		switch {
		case b.Infeasible && b.Reason == "":
			c.errorf("the bound %s says infeasible for no reason", b.Name)
		case b.Infeasible:
			c.infeasible = b.Name
		case math.IsNaN(b.Value):
			c.errorf("the bound %s is NaN", b.Name)
		default:
			all = append(all, bound{b.Name, b.Value})
		}
	}
	sense := model.SenseOf(c.in)
	for name, r := range c.results {
		if r.Solution == nil {
			continue
		}
		if c.infeasible != "" {
			c.errorf("%s says infeasible, %s has a solution", c.infeasible, name)
		}
		for _, b := range all {
			if sense.Better(r.Objective, b.value) && math.Abs(r.Objective-b.value) > 1e-9*math.Abs(b.value) {
				c.errorf("the objective %v of %s beats the bound %v of %s", r.Objective, name, b.value, b.name)
			}
		}
	}
	if c.infeasible == "" {
		return
	}
	for _, x := range c.ways {
		if r, ok := c.results[x.name]; ok && x.exact && r.Status != model.StatusInfeasible {
			c.errorf("%s says infeasible, %s %s", c.infeasible, x.name, r.Status)
		}
	}
}

// worstAndBest returns the two solutions of the worst and the best objective.
func (c *conformance) worstAndBest() []model.Result {
	var all []model.Result
	for _, r := range c.results {
		if r.Solution != nil {
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return nil
	}
	sense := model.SenseOf(c.in)
	slices.SortFunc(all, func(a, b model.Result) int {
		switch {
		case sense.Better(b.Objective, a.Objective):
			return -1
		case sense.Better(a.Objective, b.Objective):
			return 1
		}
		return strings.Compare(a.Algorithm, b.Algorithm)
	})
	return []model.Result{all[0], all[len(all)-1]}
}

// starts checks that no result is worse than its start.
func (c *conformance) starts() {
	sense := model.SenseOf(c.in)
	for _, start := range c.worstAndBest() {
		for _, x := range c.ways {
			if _, ok := c.results[x.name]; !ok || c.once(x) {
				continue
			}
			r, ok := c.solve(x, model.Settings{Seed: 1, Start: start.Solution})
			switch {
			case !ok:
				c.errorf("%s doesn't take what it takes without a start", x.name)
			case r.Solution == nil:
				c.errorf("%s loses the start of %s", x.name, start.Algorithm)
			case sense.Better(start.Objective, r.Objective):
				c.errorf("%s makes %v of the start's %v", x.name, r.Objective, start.Objective)
			case r.SolutionOf == "start":
				c.answered["a start that is kept"]++
			}
		}
	}
}

// partial checks that any part of a solution, with something that isn't in the instance, is taken as a start. It also
// checks that completing a whole one changes nothing, and that engines prove the same as without a start.
func (c *conformance) partial(rng *rand.Rand) {
	for _, start := range c.worstAndBest() {
		if start.Solution == nil {
			continue
		}
		file := map[string]json.RawMessage{}
		unmarshal(c.T, marshal(c.T, start.Solution), &file)
		key, list := "", []json.RawMessage{}
		for k, v := range file {
			var elements []map[string]json.RawMessage
			if json.Unmarshal(v, &elements) == nil && (len(elements) == 0 || elements[0]["id"] != nil) {
				if key = k; len(elements) > 0 {
					unmarshal(c.T, v, &list)
					break
				}
			}
		}
		if len(list) == 0 {
			continue
		}
		shares := []float64{0, 0.5, 1}
		if testing.Short() {
			shares = shares[1:2]
		}
		for _, keep := range shares {
			var kept []json.RawMessage
			for _, x := range list {
				if rng.Float64() < keep {
					kept = append(kept, x)
				}
			}
			strangers := 0
			if len(kept) > 0 && keep < 1 {
				stranger := map[string]json.RawMessage{}
				unmarshal(c.T, list[0], &stranger)
				stranger["id"] = json.RawMessage(`"no such id"`)
				kept, strangers = append(kept, marshal(c.T, stranger)), 1
			}
			if file[key] = marshal(c.T, kept); kept == nil {
				file[key] = json.RawMessage("[]")
			}
			part := require.Value(model.DecodeSolution(marshal(c.T, file)))(c)
			whole, changes, err := gapwise.CompleteStart(c.Context(), c.in, part)
			if err != nil || changes.Ignored != strangers {
				c.errorf("a start with %d of %d and %d strangers: %+v, %v", len(kept)-strangers, len(list), strangers, changes, err)
				continue
			}
			if o, err := c.in.Objective(whole); err != nil {
				c.errorf("%s of a part of a solution isn't a solution: %v", marshal(c.T, whole), err)
			} else if keep == 1 && model.SenseOf(c.in).Better(start.Objective, o.Value) {
				c.errorf("the whole start has %v, completed %v", start.Objective, o.Value)
			}
			for _, x := range c.ways {
				first, ok := c.results[x.name]
				if !ok || c.once(x) {
					continue
				}
				r, ok := c.solve(x, model.Settings{Seed: 1, Start: part})
				if !ok || x.exact && (r.Status != first.Status || model.Gap(r.Objective, first.Objective) > 2*model.DefaultGap) {
					c.errorf("%s from a start with %d of %d: %s %v, without %s %v", x.name, len(kept)-strangers, len(list), r.Status, r.Objective, first.Status, first.Objective)
				}
			}
		}
	}
}

// incumbents checks the reports of algorithms on the way: each solution is feasible, has the reported objective and is
// better than the one before, and the last is the one returned.
func (c *conformance) incumbents() {
	sense := model.SenseOf(c.in)
	for _, x := range c.ways {
		if c.once(x) && !x.once {
			continue
		}
		var told []model.Progress
		r, ok := c.solve(x, model.Settings{Seed: 1, Progress: func(p model.Progress) {
			if p.Solution != nil {
				told = append(told, p)
			}
		}})
		if !ok {
			continue
		}
		for k, p := range told {
			report, err := verify.Verify(c.Context(), c.in, p.Solution, verify.Options{})
			if err != nil || !report.Feasible() {
				c.errorf("%s tells a solution that the judge refuses: %v, %v", x.name, report, err)
			}
			if o, err := c.in.Objective(p.Solution); err != nil || o.Value != p.Incumbent || k > 0 && !sense.Better(p.Incumbent, told[k-1].Incumbent) {
				c.errorf("%s tells a solution of %v as one of %v, %v", x.name, o.Value, p.Incumbent, err)
			}
		}
		if r.Solution != nil && (len(told) == 0 || told[len(told)-1].Incumbent != r.Objective) {
			c.errorf("%s returns %v and told %d solutions before", x.name, r.Objective, len(told))
		}
	}
}

// formulations checks the way from solutions to the models' points and back.
func (c *conformance) formulations() {
	for _, name := range c.p.Formulations {
		f, err := gapwise.Formulation(c.Context(), c.in, name)
		switch {
		case errors.Is(err, model.ErrUnsupported), errors.Is(err, model.ErrInfeasible), errors.Is(err, model.ErrNoSolution):
			continue
		case err != nil:
			c.errorf("formulation %s: %v", name, err)
			continue
		}
		if err := f.Validate(); err != nil {
			c.errorf("formulation %s: %v", name, err)
			continue
		}
		for k, r := range c.worstAndBest() {
			x := f.Encode(r.Solution)
			if x == nil && k == 0 {
				continue // it may leave out solutions that aren't the best
			}
			if len(x) != len(f.Vars) {
				c.errorf("formulation %s: %d values for %d variables of the solution of %s", name, len(x), len(f.Vars), r.Algorithm)
				continue
			}
			if v := f.Violation(x); v > 1e-6 {
				c.errorf("formulation %s: the solution of %s breaks it by %v", name, r.Algorithm, v)
			}
			c.near(name+": the point's value", f.Value(f.Objective(x)), r.Objective)
			s, err := f.Decode(x)
			if err != nil {
				c.errorf("formulation %s: the point of the solution of %s: %v", name, r.Algorithm, err)
				continue
			}
			report, err := verify.Verify(c.Context(), c.in, s, verify.Options{})
			if err != nil || !report.Feasible() {
				c.errorf("formulation %s: from the point of the solution of %s: %v %v", name, r.Algorithm, err, report.Err())
			}
			c.near(name+": the decoded solution's objective", report.Objective, r.Objective)
		}
	}
}

func (c *conformance) near(what string, got, want float64) {
	c.Helper()
	if !(math.Abs(got-want) <= 1e-6*max(1, math.Abs(want))) {
		c.errorf("%s is %v, want %v", what, got, want)
	}
}

// variants checks that each reading of an instance is the one selected.
func (c *conformance) variants() {
	for _, v := range c.p.Variants {
		current := v.Get(c.in)
		if !slices.Contains(v.Values, current) {
			c.errorf("--%s is %q, not one of %q", v.Flag, current, v.Values)
		}
		for _, value := range v.Values {
			other := v.With(c.in, value)
			if got := v.Get(other); got != value || v.Get(c.in) != current || other.Kind() != c.p.Kind {
				c.errorf("--%s %s reads %q, and the instance %q", v.Flag, value, got, v.Get(c.in))
			}
			if err := other.Validate(); err != nil {
				c.errorf("--%s %s: %v", v.Flag, value, err)
			}
			for _, r := range c.worstAndBest() {
				if made := v.MadeFor(other, r.Solution); made != "" {
					c.errorf("--%s %s leaves it to the solution: %q", v.Flag, value, made)
				}
			}
		}
		for name, r := range c.results {
			if r.Solution == nil {
				continue
			}
			if made := v.MadeFor(c.in, r.Solution); made != "" && made != current {
				c.errorf("%s made its solution for --%s %q, the instance is read as %q", name, v.Flag, made, current)
			}
		}
	}
}

// On a hard instance, heuristics give the same for the same seed at any number of threads, and unseeded ones for any
// seed. An interrupted algorithm ends soon with a result that the judge accepts and that agrees with all others.
func TestConformanceHard(t *testing.T) {
	eachProblem(t, func(t *testing.T, p *gapwise.Problem) {
		in, hard := hardInstance(t, p)
		seeds := uint64(4)
		if testing.Short() {
			seeds = 2
		}
		effort := int64(require.Rounds(1_000_000)) // a second
		c := &conformance{T: t, p: p, in: in, ways: candidates(t, p), results: map[string]model.Result{}, withoutHiGHS: map[string]bool{}}
		for _, x := range c.ways {
			if x.exact || x.o.Solver != nil {
				continue
			}
			first, ok := c.solve(x, model.Settings{Seed: 1, Effort: effort})
			if !ok {
				continue
			}
			c.results[x.name] = first
			for seed := uint64(1); seed < seeds; seed++ {
				again, ok := c.solve(x, model.Settings{Seed: seed, Threads: 2, Effort: effort})
				if ok && (seed == 1 || !x.seeded) && outcome(t, again) != outcome(t, first) {
					c.errorf("%s with seed %d and two threads isn't what it is with seed 1 and one", x.name, seed)
				}
			}
		}
		latest, slowest := time.Duration(0), ""
		for _, x := range c.ways {
			for when, interrupt := range interrupts {
				r, late, ok := c.interrupted(x, interrupt)
				if !ok {
					continue
				}
				c.results[x.name+" interrupted "+when] = r
				if hard && x.exact && r.Status == model.StatusOptimal {
					c.errorf("%s, interrupted %s, calls its solution optimal", x.name, when)
				}
				if late > latest {
					latest, slowest = late, x.name+", interrupted "+when
				}
				if late > 5*time.Second {
					t.Errorf("%s ends %v after it is interrupted %s", x.name, late, when)
				}
			}
		}
		c.claims()
		t.Logf("the last to end after it was interrupted: %s, %v", slowest, latest)
	})
}

// interrupts lists when a context is cancelled. An algorithm that reports no
// progress is interrupted all the same.
var interrupts = map[string]func(cancel func(), set *model.Settings){
	"before it begins": func(cancel func(), _ *model.Settings) { cancel() },
	"soon":             func(cancel func(), _ *model.Settings) { time.AfterFunc(20*time.Millisecond, cancel) },
	"by its progress": func(cancel func(), set *model.Settings) {
		set.Progress = func(model.Progress) { cancel() }
		time.AfterFunc(500*time.Millisecond, cancel)
	},
}

// interrupted solves the instance until it is interrupted, and returns how much later it ended.
func (c *conformance) interrupted(x candidate, interrupt func(func(), *model.Settings)) (r model.Result, late time.Duration, ok bool) {
	ctx, cancel := context.WithCancel(c.Context())
	defer cancel()
	cancelled := make(chan time.Time, 1)
	o := x.o
	o.Settings = model.Settings{Seed: 1}
	interrupt(func() {
		select {
		case cancelled <- time.Now():
			cancel()
		default:
		}
	}, &o.Settings)
	r, err := gapwise.Solve(ctx, c.in, o)
	select {
	case at := <-cancelled:
		late = time.Since(at)
	default: // it ended by itself
	}
	if err != nil && !errors.Is(err, model.ErrUnsupported) {
		c.errorf("%s: %v", x.name, err)
	}
	return r, late, err == nil
}
