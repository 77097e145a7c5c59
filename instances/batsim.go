// SPDX-License-Identifier: MIT

package instances

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// batsimFile holds the keys that are read from a workload of Batsim; other keys don't matter here.
type batsimFile struct {
	Resources *int                     `json:"nb_res"`
	Jobs      []batsimJob              `json:"jobs"`
	Profiles  map[string]batsimProfile `json:"profiles"`
}

type batsimJob struct {
	ID        sagaName  `json:"id"` // a number or a text
	Submit    *float64  `json:"subtime"`
	Walltime  *float64  `json:"walltime"` // nil or at most 0: none
	Resources *int      `json:"res"`
	Profile   *sagaName `json:"profile"`
}

type batsimProfile struct {
	Type  string   `json:"type"`
	Delay *float64 `json:"delay"`
}

func badBatsim(format string, args ...any) error {
	return fmt.Errorf("%w Batsim workload: %w", model.ErrInvalid, fmt.Errorf(format, args...))
}

// isBatsim reports whether the keys of a JSON object belong to a workload of Batsim.
func isBatsim(keys map[string]json.RawMessage) bool {
	return keys["jobs"] != nil && keys["profiles"] != nil && keys["kind"] == nil
}

// readBatsim reads a workload of Batsim 3 or 4 (JSON: nb_res, jobs, profiles). Its jobs run by profiles of the type
// delay: others have no runtime without a platform. The instance has one tier, and jobs end at their walltimes at the
// latest, as in Batsim. Jobs of one instant stay in the order of the file. The result assumed names the values that the
// file leaves open; "" for none. Errors wrap model.ErrInvalid. O(length of the file + n log n).
func readBatsim(name string, data []byte) (in *model.Batch, assumed string, err error) {
	if err := model.CheckText(data); err != nil {
		return nil, "", err
	}
	var f batsimFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, "", badBatsim("%w", model.JSONError(data, err))
	}
	if f.Resources == nil {
		return nil, "", badBatsim("nb_res, the number of processors, is missing")
	}
	in = &model.Batch{Name: name, Processors: *f.Resources, Tiers: 1, KillAtEstimate: true, Jobs: make([]model.BatchJob, len(f.Jobs))}
	open, rounded := 0, 0
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
			return nil, "", badBatsim("jobs[%d]: id is missing or empty", k)
		case j.Submit == nil || j.Resources == nil || j.Profile == nil:
			return nil, "", badBatsim("jobs[%d]: id %q: subtime, res or profile is missing", k, j.ID)
		}
		p, ok := f.Profiles[string(*j.Profile)]
		switch {
		case !ok:
			return nil, "", badBatsim("jobs[%d]: id %q: there is no profile %q", k, j.ID, *j.Profile)
		case p.Type != "delay":
			return nil, "", badBatsim("jobs[%d]: id %q: the profile %q is of the type %q; only delay tells a runtime without a platform", k, j.ID, *j.Profile, p.Type)
		case p.Delay == nil:
			return nil, "", badBatsim("profile %q: delay is missing", *j.Profile)
		}
		x := model.BatchJob{ID: string(j.ID), SubmitS: whole(*j.Submit), RuntimeS: whole(*p.Delay), Processes: *j.Resources}
		if j.Walltime != nil && *j.Walltime > 0 {
			x.EstimateS = whole(*j.Walltime)
		} else {
			open++
		}
		in.Jobs[k] = x
	}
	slices.SortStableFunc(in.Jobs, func(a, b model.BatchJob) int { return cmp.Compare(a.SubmitS, b.SubmitS) })
	if err := in.Validate(); err != nil {
		var at *model.ElementError
		if errors.As(err, &at) && at.Index >= 0 && at.Index < len(in.Jobs) { // the index is after sorting
			return nil, "", badBatsim("%s", at.Reason)
		}
		return nil, "", err
	}
	if open > 0 {
		assumed = fmt.Sprintf("assumed, not told by the file: schedulers know the runtimes of %d of %d jobs, which have no walltime", open, len(in.Jobs))
	}
	if rounded > 0 {
		if assumed != "" {
			assumed += "; "
		}
		assumed += fmt.Sprintf("%d times were rounded to microseconds", rounded)
	}
	return in, assumed, nil
}
