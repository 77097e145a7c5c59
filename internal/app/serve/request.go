// SPDX-License-Identifier: MIT

package serve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/run/limits"
	"github.com/gapwise/gapwise/model"
)

// SolveRequest asks for a solution.
type SolveRequest struct {
	Instance jsontext.Value `json:"instance" schema:"instance" about:"an instance in gapwise's own format"`
	Options  Options        `json:"options,omitzero"`
	Start    jsontext.Value `json:"start,omitempty" schema:"solution" about:"a solution to start from, which may leave out what follows from the rest"`
}

// Options configure a solve.
type Options struct {
	Algorithm   string            `json:"algorithm,omitempty" about:"auto (and left out), exact or a name of gapwise algorithms"`
	Engine      string            `json:"engine,omitempty" about:"engines of exact, with commas between several: search, highs, kernel; both is the default and highs"`
	Formulation string            `json:"formulation,omitempty" about:"formulation of highs"`
	TimeLimitS  float64           `json:"time_limit_s,omitempty" about:"in seconds; left out: 10, or the service's longest if that is shorter"`
	Seed        *uint64           `json:"seed,omitempty" about:"seed of the random generator; left out: 1"`
	Effort      int64             `json:"effort,omitempty" about:"limit of the work counted, in about microseconds of a core"`
	Threads     int               `json:"threads,omitempty" about:"number of worker threads; left out: 1"`
	Gap         float64           `json:"gap,omitempty" about:"gap that counts as optimal; left out: 1e-6"`
	Parameters  map[string]string `json:"parameters,omitempty" about:"settings that only this problem's algorithms know"`
}

// decode reads a request, strictly: unknown and repeated keys and keys in another case are errors, and so is text after
// the object.
func decode(data []byte, into any) error {
	err := json.Unmarshal(data, into, json.RejectUnknownMembers(true))
	if err == nil {
		return nil
	}
	why := err.Error()
	var syntax *jsontext.SyntacticError
	var meaning *json.SemanticError
	switch {
	case errors.As(err, &syntax):
		why = fmt.Sprintf("byte %d: %v", syntax.ByteOffset, syntax.Err)
	case errors.As(err, &meaning) && meaning.Err != nil:
		why = fmt.Sprintf("%s: %v", meaning.JSONPointer, meaning.Err)
	case errors.As(err, &meaning):
		why = fmt.Sprintf("%s is of the wrong type", meaning.JSONPointer)
	}
	return failuref(http.StatusBadRequest, "body", "see /v1/openapi.json", "the body is no such request: %s", strings.Join(strings.Fields(why), " "))
}

// body enters the gate and reads the request of a POST into a value. The caller must leave if it gets a pass.
func (s *Server) body(w http.ResponseWriter, r *http.Request, into any) (p *pass, err error) {
	if s.draining.Load() {
		return nil, ending()
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, failuref(http.StatusUnsupportedMediaType, "header Content-Type", "send Content-Type: application/json",
			"the content type is %q, must be application/json", r.Header.Get("Content-Type"))
	}
	if err := queried(r); err != nil {
		return nil, err
	}
	if p, err = s.gate.enter(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.leave()
		}
	}()
	if r.ContentLength > s.Body {
		return p, p.hold(r.ContentLength)
	}
	data, err := p.read(r.Body)
	if err != nil {
		return p, err
	}
	// Reading has a deadline, which would end the request's context while it is solved.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // without deadlines, as in a test, it needs none
	return p, decode(data, into)
}

// queried reports an option of the query that the request doesn't take.
func queried(r *http.Request) error {
	known := "the body holds the options"
	switch r.URL.Path {
	case "/v1/generate", "/v1/convert", "/v1/draw", "/v1/kubernetes/plan": // whose commands know them
		return nil
	case "/v1/solve":
		known = "give stream alone, the body holds the options"
	}
	for key := range r.URL.Query() {
		if key != "stream" || r.URL.Path != "/v1/solve" {
			return failuref(http.StatusBadRequest, "query "+key, known, "%s has no option %s in its query", r.URL.Path, key)
		}
	}
	return nil
}

// perItem is the weight of a host, processor, PE, slot, process, unnamed task or VM, in bytes: instances of some bytes
// can have ten million of them.
const perItem = 64

// weight returns the bytes that an instance takes beyond its text, here or in an answer, which repeats the
// names of machines and hosts.
func weight(in model.Instance) int64 {
	items, longest := 0, 0
	switch in := in.(type) {
	case *model.VCSched:
		items = in.Hosts
		for _, j := range in.Jobs {
			items += j.Tasks
		}
	case *model.Batch:
		items = in.Processors
		for _, j := range in.Jobs {
			items += j.Processes
		}
	case *model.Reservation:
		items = in.PEs
	case *model.TVC:
		items = in.FatTree.Servers() * in.FatTree.Slots
		for _, r := range in.Requests {
			items += r.VMs
		}
	case *model.DAG:
		for _, m := range in.Machines {
			longest = max(longest, len(m.ID))
		}
		computed := 0 // costs that the text doesn't give
		for _, t := range in.Tasks {
			if t.Work != nil {
				computed += len(in.Machines)
			}
		}
		return int64(len(in.Tasks))*int64(longest) + 8*int64(computed)
	case *model.Consolidation:
		for _, j := range in.Jobs {
			items += j.Tasks
		}
		for _, h := range in.Hosts {
			longest = max(longest, len(h.ID))
		}
		tasks := items
		for _, o := range in.Offers {
			items += min(o.Count, tasks) // no more are ever used
			longest = max(longest, len(o.ID))
		}
		return int64(items)*perItem + int64(tasks)*int64(longest)
	}
	return int64(items) * perItem
}

// instance decodes an instance, which must be valid, and has it weighed.
func (p *pass) instance(ctx context.Context, data jsontext.Value) (model.Instance, error) {
	if len(data) == 0 {
		return nil, failuref(http.StatusBadRequest, "body", "see /v1/openapi.json", "the key instance is missing")
	}
	leave, err := acquire(ctx, p.reading)
	if err != nil {
		return nil, err
	}
	defer leave()
	in, err := model.DecodeInstance(data)
	if err != nil {
		return nil, failureOf(err, "instance")
	}
	return in, p.hold(weight(in))
}

// seconds returns a time limit in seconds as a duration; 0: the default.
func (s *Server) seconds(limit float64) (time.Duration, error) {
	if !(limit >= 0 && limit <= s.TimeLimit.Seconds()) {
		return 0, failuref(http.StatusBadRequest, "options.time_limit_s", "give a shorter one, or leave it out",
			"the time limit is %v s, must be from 0 to %v", limit, s.TimeLimit.Seconds())
	}
	if limit == 0 {
		return min(s.TimeLimit, gapwise.AutoTimeLimit), nil
	}
	return max(1, time.Duration(math.Ceil(limit*1e9))), nil
}

// options returns the options of gapwise.Solve for an instance. Programs aren't run, and no
// address is called: names of the problem's own algorithms and engines are all that there is.
func (s *Server) options(in model.Instance, o Options) (gapwise.Options, error) {
	var all gapwise.Options
	problem, err := gapwise.ProblemOf(in.Kind())
	if err != nil {
		return all, err
	}
	names := []string{"", "auto", "exact"}
	for _, a := range problem.Algorithms {
		names = append(names, a.Name)
	}
	if !slices.Contains(names, o.Algorithm) {
		return all, failuref(http.StatusBadRequest, "options.algorithm", "gapwise algorithms lists what there is",
			"the service has no algorithm %q for %s; give one of %s", o.Algorithm, in.Kind(), strings.Join(names[1:], ", "))
	}
	for engine := range strings.SplitSeq(o.Engine, ",") {
		if own := append(problem.Engines(), "", "both"); !slices.Contains(own, engine) {
			return all, failuref(http.StatusBadRequest, "options.engine", "give another one, or leave it out",
				"the service has no engine %q for %s; give one of %s", engine, in.Kind(), strings.Join(problem.Engines(), ", "))
		}
	}
	all = gapwise.Options{Algorithm: o.Algorithm, Engine: o.Engine, Formulation: o.Formulation,
		Settings: model.Settings{Seed: 1, Threads: max(1, o.Threads), Effort: o.Effort, Gap: o.Gap}}
	if o.Seed != nil {
		all.Seed = *o.Seed
	}
	switch {
	case o.Threads < 0 || o.Threads > s.Threads: // Config.Threads, too, is a limit
		return all, failuref(http.StatusBadRequest, "options.threads", "leave it out", "threads is %d, must be from 1 to %d", o.Threads, s.Threads)
	default:
		if setting, why := limits.Wrong(all.Settings, nil); setting != "" {
			return all, failuref(http.StatusBadRequest, "options."+setting, "leave it out", "%s %s", setting, why)
		}
	}
	if all.TimeLimit, err = s.seconds(o.TimeLimitS); err != nil {
		return all, err
	}
	if all.Parameters, err = problem.ParseParameters(o.Parameters); err != nil {
		return all, failuref(http.StatusBadRequest, "options.parameters", "gapwise solve --help lists them", "%v", err)
	}
	return all, all.Check(in.Kind())
}
