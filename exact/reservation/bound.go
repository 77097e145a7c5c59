// SPDX-License-Identifier: MIT

package reservation

import resbounds "github.com/gapwise/gapwise/bounds/reservation"

// manyJobs is the number of jobs above which multipliers may take all the time that there is.
const manyJobs = 150

// bound finds a part's multipliers, and lowers its bound by them.
func (s *searcher) bound(p *part) {
	if s.off&charges != 0 {
		return
	}
	enough := p.value + 0.99*s.grainOf(p) // less proves the plan
	p.relax = resbounds.NewMultipliers(s.Ctx, s.scale.pes, priced(p.jobs), p.value, enough)
	most, rounding := p.relax.Bound()
	p.rounding = rounding
	p.lower(s.floor(p, most))
}

// priced returns jobs as multipliers see them.
func priced(jobs []job) []resbounds.Job {
	all := make([]resbounds.Job, len(jobs))
	for i := range jobs {
		j := &jobs[i]
		all[i] = resbounds.Job{Ready: int64(j.ready), Latest: int64(j.latest), Length: int64(j.length), PEs: j.pes, Weight: j.weight}
	}
	return all
}
