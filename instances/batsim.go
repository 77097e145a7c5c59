// SPDX-License-Identifier: MIT

package instances

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/gapwise/gapwise/instances/internal/keys"
	"github.com/gapwise/gapwise/internal/num/order"
	"github.com/gapwise/gapwise/model"
)

// formatBatsim is the name of the format in accounts.
const formatBatsim = "Batsim workload"

// batsimFile holds the keys that are read from a workload of Batsim.
type batsimFile struct {
	Resources *int                     `json:"nb_res"`
	Jobs      []batsimJob              `json:"jobs"`
	Profiles  map[string]batsimProfile `json:"profiles"`
	About     keys.Ignored             `json:"description"`
	Comments  keys.Ignored             `json:"comments"`
	Command   keys.Ignored             `json:"command"`
	Date      keys.Ignored             `json:"date"`
	runtimes  map[string]batsimRuntime // of profiles that were looked at
}

type batsimJob struct {
	ID           sagaName        `json:"id"` // a number or a text
	Submit       *float64        `json:"subtime"`
	Walltime     *float64        `json:"walltime"` // nil or at most 0: none
	Resources    *int            `json:"res"`
	Profile      *sagaName       `json:"profile"`
	Dependencies json.RawMessage `json:"dependencies"`
	Extra        json.RawMessage `json:"extra_data"`
}

type batsimProfile struct {
	Type     string     `json:"type"`
	Delay    *float64   `json:"delay"`
	Sequence []sagaName `json:"seq"`
	Repeat   *int       `json:"repeat"`
	Times    *int       `json:"nb"` // before Batsim 4
	Walltime float64    `json:"walltime"`

	Return   keys.Ignored `json:"ret"`
	Expected keys.Ignored `json:"expected_execution_time"`
	Extra    keys.Ignored `json:"extra_data"`
	CPU      keys.Ignored `json:"cpu"` // this and the following: of profiles that only a platform runs
	Com      keys.Ignored `json:"com"`
	Strategy keys.Ignored `json:"generation_strategy"`
	Trace    keys.Ignored `json:"trace"`
	File     keys.Ignored `json:"filename"`
	Kind     keys.Ignored `json:"trace_type"`
	Read     keys.Ignored `json:"bytes_to_read"`
	Write    keys.Ignored `json:"bytes_to_write"`
	Bytes    keys.Ignored `json:"nb_bytes"`
	From     keys.Ignored `json:"from"`
	To       keys.Ignored `json:"to"`
	Storage  keys.Ignored `json:"storage"`
	Host     keys.Ignored `json:"host"`
}

// batsimRuntime is the runtime of a profile, or the type of one for which only a platform tells it.
type batsimRuntime struct {
	seconds, walltime float64
	other             string
}

func badBatsim(format string, args ...any) error {
	return fmt.Errorf("%w Batsim workload: %w", model.ErrInvalid, fmt.Errorf(format, args...))
}

// runtime returns the runtime of a profile: a delay, or a sequence of such profiles, repeated.
func (f *batsimFile) runtime(name string) (r batsimRuntime, err error) {
	if r, ok := f.runtimes[name]; ok {
		if r.other == within {
			err = fmt.Errorf("profile %q is a part of itself", name)
		}
		return r, err
	}
	p, ok := f.Profiles[name]
	if !ok {
		return r, fmt.Errorf("there is no profile %q", name)
	}
	f.runtimes[name] = batsimRuntime{other: within}
	switch p.Type {
	case "delay", "DelayProfile":
		if p.Delay == nil {
			return r, fmt.Errorf("profile %q: delay is missing", name)
		}
		r.seconds = *p.Delay
	case "composed", "SequentialCompositionProfile", "SequentialProfile":
		times := cmp.Or(p.Repeat, p.Times)
		if len(p.Sequence) == 0 || times != nil && *times < 1 {
			return r, fmt.Errorf("profile %q: seq is empty, or repeat isn't at least 1", name)
		}
		for _, part := range p.Sequence {
			named := string(part)
			if _, local, ok := strings.Cut(named, "!"); ok && !f.has(named) { // w0!delay10
				named = local
			}
			x, err := f.runtime(named)
			if err != nil {
				return r, err
			}
			r.seconds, r.other = r.seconds+x.seconds, cmp.Or(r.other, x.other)
		}
		if times != nil {
			r.seconds *= float64(*times)
		}
	default:
		r.other = cmp.Or(p.Type, "none")
	}
	r.walltime = p.Walltime
	f.runtimes[name] = r
	return r, nil
}

func (f *batsimFile) has(profile string) bool {
	_, ok := f.Profiles[profile]
	return ok
}

// within marks a profile of which the parts are looked at.
const within = "\x00"

// readBatsim reads a workload of Batsim 3 to 5 (JSON: nb_res, jobs, profiles). Its jobs run by delays and sequences of
// them; those of other profiles have no runtime without a platform and are left out. So are jobs that are larger than
// the machine, unless they are refused. The instance has one tier, and jobs end at their walltimes at the latest, as in
// Batsim. Jobs of one instant stay in the order of the file. Errors wrap model.ErrInvalid. O(length of the file + n log
// n).
func readBatsim(file *File, refuseLarge bool) (*model.Batch, error) {
	data := file.data
	if err := model.CheckText(data); err != nil {
		return nil, err
	}
	f := batsimFile{}
	strict := json.NewDecoder(bytes.NewReader(data))
	strict.DisallowUnknownFields()
	err := strict.Decode(&f)
	_, end := strict.Token()
	odd := err != nil || end != io.EOF
	if odd { // read again, for the first error but an unknown key
		f = batsimFile{}
		err = json.Unmarshal(data, &f)
	}
	if err != nil {
		return nil, badBatsim("%w", model.JSONError(data, err))
	}
	f.runtimes = map[string]batsimRuntime{}
	if f.Resources == nil {
		return nil, badBatsim("nb_res, the number of processors, is missing")
	}
	a := file.account
	in := &model.Batch{Name: file.name, Account: a, Processors: *f.Resources, Tiers: 1, KillAtEstimate: true, Jobs: make([]model.BatchJob, 0, len(f.Jobs))}
	open, rounded, other := 0, 0, ""
	whole := func(x float64) float64 {
		y := math.Round(x*1e6) / 1e6
		if y != x {
			rounded++
		}
		return y
	}
	for k := range f.Jobs {
		j := &f.Jobs[k]
		switch {
		case j.ID == "":
			return nil, badBatsim("jobs[%d]: id is missing or empty", k)
		case j.Submit == nil || j.Resources == nil || j.Profile == nil:
			return nil, badBatsim("jobs[%d]: id %q: subtime, res or profile is missing", k, j.ID)
		}
		id := string(j.ID)
		p, err := f.runtime(string(*j.Profile))
		switch {
		case err != nil:
			return nil, badBatsim("jobs[%d]: id %q: %w", k, id, err)
		case p.other != "":
			other = p.other
			a.LeftOut.Add(id, fmt.Sprintf("jobs with a profile of the type %.40q: only a platform tells its runtime", other))
			continue
		case *j.Resources > in.Processors && in.Processors > 0 && !refuseLarge:
			a.LeftOut.Add(id, largerJobs)
			continue
		}
		if needed := strings.Trim(string(j.Dependencies), "[] \t\r\n"); needed != "" && needed != "null" {
			a.NotModelled.Add(id, "jobs with dependencies")
		}
		if j.Extra != nil {
			a.NotModelled.Add(id, "jobs with extra_data for their scheduler")
		}
		x := model.BatchJob{ID: id, SubmitS: whole(*j.Submit), RuntimeS: whole(p.seconds), Processes: *j.Resources}
		if j.Walltime != nil && *j.Walltime > 0 {
			x.EstimateS = whole(*j.Walltime)
		} else if p.walltime > 0 {
			x.EstimateS = whole(p.walltime)
		} else {
			open++
		}
		in.Jobs = append(in.Jobs, x)
	}
	if odd {
		keys.Tell(data, f, a)
	}
	if other != "" && len(in.Jobs) == 0 {
		return nil, badBatsim("no job is left: %v", a.LeftOut)
	}
	order.Stable(in.Jobs, func(a, b model.BatchJob) int { return cmp.Compare(a.SubmitS, b.SubmitS) })
	if err := in.Validate(); err != nil {
		var at *model.ElementError
		if errors.As(err, &at) && at.Index >= 0 && at.Index < len(in.Jobs) { // the index is after sorting
			return nil, badBatsim("%s", at.Reason)
		}
		return nil, err
	}
	file.account.Took(float64(len(in.Jobs)), "jobs")
	file.account.Took(float64(in.Processors), "processors")
	file.account.Assumed.Count(open, "jobs without a walltime, of which schedulers know the runtime")
	file.account.Remarks.Count(rounded, "times rounded to microseconds")
	return in, nil
}
