package instances

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"

	"github.com/gapwise/gapwise/model"
)

// VCSchedSpec specifies VCSched instances as the paper's section 4.1 draws
// them. The zero value of a field means its default where one is named.
type VCSchedSpec struct {
	Hosts int `key:"hosts" default:"4" small:"2" hard:"12" required:"yes" usage:"number of identical hosts"`
	Jobs  int `key:"jobs" default:"12" small:"3,5" hard:"50" required:"yes" usage:"number of jobs"`
	// Slack is the share of the hosts' memory that is free on average: the
	// mean memory need of a task is Hosts (1 - Slack) / tasks.
	Slack     float64 `key:"slack" default:"0.5" small:"0.1,0.5" usage:"share of the hosts' memory that is free"`
	MeanCPU   float64 `key:"mean_cpu" default:"0.5" usage:"mean CPU need of a task, in hosts"`
	CoVCPU    float64 `key:"cov_cpu" default:"0.5" usage:"variation coefficient of the CPU needs"`
	CoVMemory float64 `key:"cov_memory" default:"0.5" usage:"variation coefficient of memory needs"`
	// MaxTasks above 1 makes jobs parallel, with a number of tasks from the
	// Lublin-Feitelson model for a machine of that size (section 5.2: 64).
	MaxTasks int `key:"max_tasks" default:"1" usage:"most tasks per job; 1: no parallel jobs"`
	// Running is the share of the jobs that run already, on random hosts
	// with the memory for them, and Budget the migration budget in hosts'
	// memories (section 6.1); no budget and no current hosts at 0.
	Running float64 `key:"running" small:"0,0.6" usage:"share of the jobs that run already"`
	Budget  float64 `key:"budget" small:"0.3" usage:"memory that may move, in hosts, with --running"`
	// Index counts the instances of one specification; each is drawn from a
	// stream of its own, made of Seed, all other fields and Index.
	Index int
	Seed  uint64
}

// Count implements Spec.
func (s *VCSchedSpec) Count(draws int) int { return draws }

// Nth implements Spec.
func (s *VCSchedSpec) Nth(k, _ int, seed uint64) Planned {
	one := *s
	one.Index, one.Seed = k, seed
	return newPlanned(&one, one.Name(), k, one.Generate)
}

// Name names the specification: H4-J12-s10-ca75-cm25-3 is instance 3 with 4
// hosts, 12 jobs, slack 0.10 and coefficients of variation of 0.75 (CPU) and
// 0.25 (memory). Where they apply, -t64 follows for parallel jobs of up to 64
// tasks, and -r50-b30 for half of the jobs running and a budget of 0.3.
func (s VCSchedSpec) Name() string {
	percent := func(x float64) string { return fmt.Sprintf("%02.6g", math.Round(x*1e8)/1e6) }
	name := fmt.Sprintf("H%d-J%d-s%s-ca%s-cm%s", s.Hosts, s.Jobs, percent(s.Slack), percent(s.CoVCPU), percent(s.CoVMemory))
	if s.MeanCPU != 0 && s.MeanCPU != 0.5 {
		name += "-c" + percent(s.MeanCPU)
	}
	if s.MaxTasks > 1 {
		name += fmt.Sprintf("-t%d", s.MaxTasks)
	}
	if s.Running > 0 {
		name += fmt.Sprintf("-r%s-b%s", percent(s.Running), percent(s.Budget))
	}
	return fmt.Sprintf("%s-%d", name, s.Index)
}

func (s VCSchedSpec) validate() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w vcsched specification: %s", model.ErrInvalid, fmt.Sprintf(format, args...))
	}
	in := func(x, lo, hi float64) bool { return x >= lo && x <= hi }
	switch {
	case s.Hosts < 1 || s.Hosts > 1_000_000:
		return bad("hosts is %d, must be from 1 to 1,000,000", s.Hosts)
	case s.Jobs < 1 || s.Jobs > 1_000_000:
		return bad("jobs is %d, must be from 1 to 1,000,000", s.Jobs)
	case !(s.Slack >= 0 && s.Slack < 1):
		return bad("slack is %v, must be from 0 to below 1", s.Slack)
	case !(s.MeanCPU > 0 && s.MeanCPU <= 1):
		return bad("mean_cpu is %v, must be above 0 and at most 1", s.MeanCPU)
	case !in(s.CoVCPU, 0, 10) || !in(s.CoVMemory, 0, 10):
		return bad("the coefficients of variation are %v and %v, must be from 0 to 10", s.CoVCPU, s.CoVMemory)
	case s.MaxTasks < 0 || s.MaxTasks > 100_000:
		return bad("max_tasks is %d, must be from 0 to 100,000", s.MaxTasks)
	case !in(s.Running, 0, 1) || !in(s.Budget, 0, 1e6):
		return bad("running is %v (0 to 1) and budget %v (0 to 1,000,000)", s.Running, s.Budget)
	}
	return nil
}

// Generate draws the instance. Needs come from normal distributions truncated
// to (0, 1] by drawing again, which moves the mean of wide ones, and are
// rounded to six decimals. For parallel jobs the paper only says that the
// methodology is the same; here the mean memory is per task, H (1 - slack) /
// (number of tasks), so that the slack keeps its meaning. The error is
// model.ErrInvalid for a value out of range and for a mean memory need above a
// host's memory.
func (s VCSchedSpec) Generate() (*model.VCSched, error) {
	if s.MeanCPU == 0 {
		s.MeanCPU = 0.5
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	h := fnv.New64a()
	fmt.Fprint(h, s.Name())
	rng := rand.New(rand.NewPCG(s.Seed, h.Sum64()))
	in := &model.VCSched{Name: s.Name(), Hosts: s.Hosts, Jobs: make([]model.VCSchedJob, s.Jobs)}
	tasks := 0
	for i := range in.Jobs {
		n := 1
		if s.MaxTasks > 1 {
			n = LublinTasks(rng, s.MaxTasks)
		}
		in.Jobs[i] = model.VCSchedJob{ID: fmt.Sprintf("j%d", i+1), Tasks: n}
		tasks += n
	}
	mean := float64(s.Hosts) * (1 - s.Slack) / float64(tasks)
	if mean > 1 {
		return nil, fmt.Errorf("%w vcsched specification: a task's mean memory is %.3g hosts; give more jobs or more slack", model.ErrInvalid, mean)
	}
	for i := range in.Jobs {
		in.Jobs[i].CPU = truncatedNormal(rng, s.MeanCPU, s.CoVCPU)
		in.Jobs[i].Memory = truncatedNormal(rng, mean, s.CoVMemory)
	}
	if s.Running > 0 {
		s.place(in, rng)
	}
	return in, in.Validate()
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

// place lets the first jobs run, each task on a random host that has memory for
// it; a job for which there is no host arrives new.
func (s VCSchedSpec) place(in *model.VCSched, rng *rand.Rand) {
	free := make([]float64, s.Hosts)
	for h := range free {
		free[h] = 1
	}
	for i := range int(math.Round(s.Running * float64(s.Jobs))) {
		j := &in.Jobs[i]
		var hosts []int
		for range j.Tasks {
			start := rng.IntN(s.Hosts)
			for k := range s.Hosts {
				if h := (start + k) % s.Hosts; free[h] >= j.Memory {
					free[h] -= j.Memory
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
			free[h] += j.Memory
		}
	}
	budget := s.Budget
	in.MigrationBudget = &budget
}
