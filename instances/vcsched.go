// SPDX-License-Identifier: MIT

package instances

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// VCSchedSpec specifies VCSched instances as the paper's section 4.1 draws them. A field's zero value means its
// default, if one is named.
type VCSchedSpec struct {
	Hosts int `key:"hosts" default:"4" small:"2" hard:"12" required:"yes" usage:"number of hosts"`
	Jobs  int `key:"jobs" default:"12" small:"3,5" hard:"50" required:"yes" usage:"number of jobs; 0: as many as --tasks needs"`
	// Tasks, if not 0, is the number of tasks of all jobs together, and Jobs is 0.
	// Jobs are drawn until they have so many; the last one has fewer tasks if need
	// be.
	Tasks int `key:"tasks" usage:"number of tasks, with --jobs 0" shown:"0"`
	// Slack is the share of the hosts' memory that is free: the mean memory need of a task is Hosts (1 - Slack) /
	// tasks. Memory says which needs have this mean.
	Slack     float64 `key:"slack" default:"0.5" small:"0.1,0.5" usage:"share of the hosts' memory that is free"`
	MeanCPU   float64 `key:"mean_cpu" default:"0.5" usage:"mean CPU need of a task, in hosts"`
	CoVCPU    float64 `key:"cov_cpu" default:"0.5" usage:"coefficient of variation of CPU needs"`
	CoVMemory float64 `key:"cov_memory" default:"0.5" usage:"coefficient of variation of memory needs"`
	// Memory is one of vcSchedMemories; empty is memoryRedrawn.
	Memory string `key:"memory" default:"left" small:",rescaled" usage:"left, rescaled (both give an exact sum of needs; with left some may exceed a host) or redrawn"`
	// MaxTasks above 1 makes jobs parallel, with a number of tasks from the
	// Lublin-Feitelson model for a machine of that size (section 5.2: 64).
	MaxTasks int `key:"max_tasks" default:"1" usage:"most tasks per job; 1: no parallel jobs"`
	// Running is the share of the jobs that run already, on random hosts with the memory for them. Budget is the
	// migration budget in hosts' memories (section 6.1); no budget and no current hosts at 0.
	Running float64 `key:"running" small:"0,0.6" usage:"share of the jobs that already run"`
	Budget  float64 `key:"budget" small:"0.3" usage:"memory that may move, in hosts, with --running"`
	// Resources is the number of further rigid resources. Their needs have the mean of
	// the memory needs, CoVResources, and the reading Memory, as those have.
	Resources    int     `key:"resources" usage:"number of rigid resources in addition to memory" shown:"0"`
	CoVResources float64 `key:"cov_resources" default:"0.5" usage:"coefficient of variation of needs of resources"`
	// HostSizes above 1 makes hosts of so many sizes, from 1 - HostSpread to 1 + HostSpread of everything at equal
	// steps. Their numbers differ by one at most.
	HostSizes  int     `key:"host_sizes" default:"1" usage:"number of different host sizes"`
	HostSpread float64 `key:"host_spread" default:"0.5" usage:"host sizes range from 1 minus this to 1 plus this"`
	// Index counts the instances of one specification; each is drawn from a
	// stream of its own, made of Seed, all other fields and Index.
	Index int
	Seed  uint64
}

// The readings of the paper's memory needs, which are "sampled from a normal
// distribution with given mean and coefficient of variance, truncated so that
// values are between 0 and 1" (section 4.1).
const (
	// memoryRedrawn draws a need again until it is above 0 and at most 1. That
	// moves the mean of wide distributions upwards: at a coefficient of variation
	// of 0.75 the sum of the needs may be above the hosts' memory.
	memoryRedrawn = "redrawn"
	// memoryLeft multiplies the needs of memoryRedrawn by one factor so that their sum
	// is Hosts (1 - Slack). A need that comes out above a host is left as it is: such an
	// instance has no placement (model.VCSched.Oversized). It is the likeliest reading of
	// the paper, see docs/results/vcsched-large.md.
	memoryLeft = "left"
	// memoryRescaled is memoryLeft except for needs above 1. They become 1, and the others grow until the sum is right:
	// so all needs are between 0 and 1.
	memoryRescaled = "rescaled"
)

// vcSchedMemories lists the readings, the likeliest first.
var vcSchedMemories = []string{memoryLeft, memoryRescaled, memoryRedrawn}

// checkKeys implements Spec.
func (s *VCSchedSpec) checkKeys(map[string]bool) error {
	switch {
	case s.Memory != "" && !slices.Contains(vcSchedMemories, s.Memory):
		return fmt.Errorf("memory is %q, must be one of %q", s.Memory, vcSchedMemories)
	case s.Tasks != 0 && s.Jobs != 0:
		return fmt.Errorf("tasks is %d and jobs %d: with a number of tasks jobs must be 0", s.Tasks, s.Jobs)
	}
	return nil
}

// nth implements Spec.
func (s *VCSchedSpec) nth(k, _ int, seed uint64) Planned {
	one := *s
	one.Index, one.Seed = k, seed
	c := newPlanned(&one, one.name(), k, one.Generate)
	for _, key := range []string{"jobs", "tasks"} { // one of them makes the other
		if c.Params[key] == 0 {
			delete(c.Params, key)
		}
	}
	if s.Resources == 0 {
		delete(c.Params, "resources")
		delete(c.Params, "cov_resources")
	}
	if s.HostSizes <= 1 {
		delete(c.Params, "host_sizes")
		delete(c.Params, "host_spread")
	}
	return c
}

// name names the specification: H4-J12-s10-ca75-cm25-3 is instance 3 with 4 hosts, 12 jobs, slack 0.10 and coefficients
// of variation of 0.75 (CPU) and 0.25 (memory). Further parts are -t64 for parallel jobs of up to 64 tasks, -x2-cx50
// for two further resources with a coefficient of 0.5, and -k3-hs50 for three sizes of hosts from 0.5 to 1.5. Then come
// -r50-b30 for half of the jobs running and a budget of 0.3, and -left or -rescaled for that reading of the memory
// needs. H64-T100 has 100 tasks in any number of jobs.
func (s VCSchedSpec) name() string {
	if s.Memory == memoryRescaled || s.Memory == memoryLeft {
		return fmt.Sprintf("%s-%s-%d", s.drawName(), s.Memory, s.Index)
	}
	return fmt.Sprintf("%s-%d", s.drawName(), s.Index)
}

// drawName names what decides the random numbers, without Index.
func (s VCSchedSpec) drawName() string {
	percent := func(x float64) string { return fmt.Sprintf("%02.6g", math.Round(x*1e8)/1e6) }
	size := fmt.Sprintf("J%d", s.Jobs)
	if s.Tasks != 0 {
		size = fmt.Sprintf("T%d", s.Tasks)
	}
	name := fmt.Sprintf("H%d-%s-s%s-ca%s-cm%s", s.Hosts, size, percent(s.Slack), percent(s.CoVCPU), percent(s.CoVMemory))
	if s.MeanCPU != 0 && s.MeanCPU != 0.5 {
		name += "-c" + percent(s.MeanCPU)
	}
	if s.MaxTasks > 1 {
		name += fmt.Sprintf("-t%d", s.MaxTasks)
	}
	if s.Resources > 0 {
		name += fmt.Sprintf("-x%d-cx%s", s.Resources, percent(s.CoVResources))
	}
	if s.HostSizes > 1 {
		name += fmt.Sprintf("-k%d-hs%s", s.HostSizes, percent(s.HostSpread))
	}
	if s.Running > 0 {
		name += fmt.Sprintf("-r%s-b%s", percent(s.Running), percent(s.Budget))
	}
	return name
}

func (s VCSchedSpec) validate() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w vcsched specification: %s", model.ErrInvalid, fmt.Sprintf(format, args...))
	}
	in := func(x, lo, hi float64) bool { return x >= lo && x <= hi }
	if err := s.checkKeys(nil); err != nil {
		return bad("%v", err)
	}
	switch {
	case s.Hosts < 1 || s.Hosts > 1_000_000:
		return bad("hosts is %d, must be from 1 to 1,000,000", s.Hosts)
	case s.Tasks == 0 && (s.Jobs < 1 || s.Jobs > 1_000_000):
		return bad("jobs is %d, must be from 1 to 1,000,000", s.Jobs)
	case s.Tasks < 0 || s.Tasks > 1_000_000:
		return bad("tasks is %d, must be from 0 to 1,000,000", s.Tasks)
	case !(s.Slack >= 0 && s.Slack < 1):
		return bad("slack is %v, must be from 0 to below 1", s.Slack)
	case !(s.MeanCPU > 0 && s.MeanCPU <= 1):
		return bad("mean_cpu is %v, must be above 0 and at most 1", s.MeanCPU)
	case !in(s.CoVCPU, 0, 10) || !in(s.CoVMemory, 0, 10):
		return bad("the coefficients of variation are %v and %v, must be from 0 to 10", s.CoVCPU, s.CoVMemory)
	case s.MaxTasks < 0 || s.MaxTasks > 100_000:
		return bad("max_tasks is %d, must be from 0 to 100,000", s.MaxTasks)
	case s.Resources < 0 || s.Resources > 64:
		return bad("resources is %d, must be from 0 to 64", s.Resources)
	case !in(s.CoVResources, 0, 10):
		return bad("cov_resources is %v, must be from 0 to 10", s.CoVResources)
	case s.HostSizes < 0 || s.HostSizes > max(1, min(s.Hosts, 10_000)):
		return bad("host_sizes is %d, must be from 1 to the number of hosts and at most 10,000", s.HostSizes)
	case s.HostSizes > 1 && !(s.HostSpread > 0 && s.HostSpread <= 0.99):
		return bad("host_spread is %v, must be above 0 and at most 0.99", s.HostSpread)
	case !in(s.Running, 0, 1) || !in(s.Budget, 0, 1e6):
		return bad("running is %v (0 to 1) and budget %v (0 to 1,000,000)", s.Running, s.Budget)
	}
	return nil
}

// Generate draws the instance. Needs come from normal distributions truncated to (0, 1] by drawing again, which moves
// the mean of wide ones, and are rounded to six decimals. All readings of the memory needs have the same random
// numbers. For parallel jobs the paper only says that the methodology is the same. Here the mean memory is per task, H
// (1 - slack) / (number of tasks), so that the slack keeps its meaning. If hosts differ, H is their capacity together;
// a need is at most the capacity of a host of size 1. The paper says nothing about further resources. The error is
// model.ErrInvalid for a value out of range and for a mean memory need above a host's memory.
func (s VCSchedSpec) Generate() (*model.VCSched, error) {
	if s.MeanCPU == 0 {
		s.MeanCPU = 0.5
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%s-%d", s.drawName(), s.Index)
	rng := rand.New(rand.NewPCG(s.Seed, h.Sum64()))
	in := &model.VCSched{Name: s.name(), Hosts: s.Hosts}
	for r := range s.Resources {
		in.Resources = append(in.Resources, fmt.Sprintf("r%d", r+1))
	}
	s.sizes(in)
	tasks := 0
	for len(in.Jobs) < s.Jobs || tasks < s.Tasks {
		n := 1
		if s.MaxTasks > 1 {
			n = lublinTasks(rng, s.MaxTasks)
		}
		if s.Tasks > 0 {
			n = min(n, s.Tasks-tasks)
		}
		in.Jobs = append(in.Jobs, model.VCSchedJob{ID: fmt.Sprintf("j%d", len(in.Jobs)+1), Tasks: n})
		tasks += n
	}
	total := 0.0 // of the memory needs, and of those of each further resource
	for _, size := range in.Sizes() {
		total += float64(size.Count) * size.Memory * (1 - s.Slack)
	}
	mean := total / float64(tasks)
	if mean > 1 {
		return nil, fmt.Errorf("%w vcsched specification: a task's mean memory is %.3g hosts; give more jobs or more slack", model.ErrInvalid, mean)
	}
	scaled, most := s.Memory != "" && s.Memory != memoryRedrawn, 1.0
	if s.Memory == memoryLeft {
		most = 1000 // the limit of oversized needs
	}
	for i := range in.Jobs {
		in.Jobs[i].CPU = truncatedNormal(rng, s.MeanCPU, s.CoVCPU)
		in.Jobs[i].Memory = truncatedNormal(rng, mean, s.CoVMemory)
	}
	for r := range s.Resources {
		for i := range in.Jobs {
			in.Jobs[i].Resources = append(in.Jobs[i].Resources, truncatedNormal(rng, mean, s.CoVResources))
		}
		if scaled {
			rescale(in, total, most, func(j *model.VCSchedJob) *float64 { return &j.Resources[r] })
		}
	}
	if scaled {
		rescale(in, total, most, func(j *model.VCSchedJob) *float64 { return &j.Memory })
	}
	in.Oversized = above(in)
	if s.Running > 0 {
		s.place(in, rng)
	}
	return in, in.Validate()
}

// above reports whether a task needs more of something rigid than any host has.
func above(in *model.VCSched) bool {
	for r := -1; r < len(in.Resources); r++ {
		most := 0.0
		for _, s := range in.Sizes() {
			most = max(most, s.Rigid(r))
		}
		if slices.ContainsFunc(in.Jobs, func(j model.VCSchedJob) bool { return j.Rigid(r) > most }) {
			return true
		}
	}
	return false
}

// sizes makes the hosts' sizes, to six decimals, small ones first.
func (s VCSchedSpec) sizes(in *model.VCSched) {
	for k := 0; s.HostSizes > 1 && k < s.HostSizes; k++ {
		x := 1 + s.HostSpread*(2*float64(k)/float64(s.HostSizes-1)-1)
		x = math.Round(x*1e6) / 1e6
		size := model.HostSize{Count: s.Hosts*(k+1)/s.HostSizes - s.Hosts*k/s.HostSizes, CPU: x, Memory: x}
		for range s.Resources {
			size.Resources = append(size.Resources, x)
		}
		in.HostSizes = append(in.HostSizes, size)
	}
}

// truncatedNormal draws until the value, rounded to six decimals, is in (0, 1].
func truncatedNormal(rng *rand.Rand, mean, cov float64) float64 {
	for {
		x := math.Round((mean+cov*mean*rng.NormFloat64())*1e6) / 1e6
		if x > 0 && x <= 1 {
			return x
		}
		if cov == 0 { // rounds to 0: the smallest need there is
			return 1e-6
		}
	}
}

// rescale multiplies the needs of one resource so that the needs of all tasks add up to total, at most their number
// times most. A need becomes min(most, f need). As long as the factor f = (total - needs at most) / (needs of the other
// tasks) brings further ones to most, these stay there. So f grows, and needs at most remain there. The next job gets
// the amount that rounding to six decimals takes from a job. The sum is off by half of the last job's tasks, in
// millionths, at most, unless a need is below a millionth.
func rescale(in *model.VCSched, total, most float64, of func(j *model.VCSchedJob) *float64) {
	f := 0.0
	for {
		full, rest := 0.0, 0.0
		for i := range in.Jobs {
			n := float64(in.Jobs[i].Tasks)
			if need := *of(&in.Jobs[i]); f*need >= most {
				full += n * most
			} else {
				rest += n * need
			}
		}
		if rest == 0 || (total-full)/rest <= f*(1+1e-12) {
			break
		}
		f = (total - full) / rest
	}
	carry := 0.0
	for i := range in.Jobs {
		need, tasks := of(&in.Jobs[i]), float64(in.Jobs[i].Tasks)
		exact := min(most, f**need) * tasks
		*need = min(most, max(1e-6, math.Round((exact+carry)/tasks*1e6)/1e6))
		carry += exact - *need*tasks
	}
}

// place lets the first jobs run, each task on a random host that has memory and the further resources for it. A job for
// which there is no host arrives new.
func (s VCSchedSpec) place(in *model.VCSched, rng *rand.Rand) {
	var free [][]float64 // [host][resource, memory first]
	for _, size := range in.Sizes() {
		for range size.Count {
			has := append([]float64{size.Memory}, size.Resources...)
			free = append(free, has)
		}
	}
	// use takes what a task of the job needs from host h, or gives it back by -1.
	use := func(h int, j *model.VCSchedJob, times float64) {
		for r := range free[h] {
			free[h][r] -= times * j.Rigid(r-1)
		}
	}
	fits := func(h int, j *model.VCSchedJob) bool {
		for r, left := range free[h] {
			if left < j.Rigid(r-1) {
				return false
			}
		}
		return true
	}
	for i := range int(math.Round(s.Running * float64(len(in.Jobs)))) {
		j := &in.Jobs[i]
		var hosts []int
		for range j.Tasks {
			start := rng.IntN(s.Hosts)
			for k := range s.Hosts {
				if h := (start + k) % s.Hosts; fits(h, j) {
					use(h, j, 1)
					hosts = append(hosts, h)
					break
				}
			}
		}
		if len(hosts) == j.Tasks {
			j.CurrentHosts = hosts
			continue
		}
		for _, h := range hosts {
			use(h, j, -1)
		}
	}
	budget := s.Budget
	in.MigrationBudget = &budget
}
