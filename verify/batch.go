// SPDX-License-Identifier: MIT

package verify

import (
	"context"
	"math"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// Constraints of Batch (sections 2 and 3.2 of its paper, and model.Batch). Those on
// runs in segments hold, too (see emptyRun), and declinedRequest for a job that
// doesn't run.
const (
	suspendedJob      = "suspended_job"      // a pause between segments, though no work is lost
	unknownTier       = "unknown_tier"       // neither the foreground nor, with two tiers, the background
	processCount      = "process_count"      // the number of processors isn't the number of processes
	unknownProcessor  = "unknown_processor"  // a processor number that isn't from 0 to P-1
	repeatedProcessor = "repeated_processor" // two processes of a job on one processor
	foregroundOverlap = "foreground_overlap" // two processes at a time in the foreground of a processor
	backgroundOverlap = "background_overlap" // two processes at a time in its background
	busyForeground    = "busy_foreground"    // a start in the background where the foreground use isn't below the threshold
)

// batch judges executions. Times are whole microseconds, rates and shares whole
// ten-thousandths, work their product; nothing is tolerated. Amounts are shares: of
// a job's work, of its length on dedicated processors, of its processes.
//
// At one instant ends come first, then starts in the foreground, then starts in the
// background, then rates change. So a process may start in the background if the foreground use is below the threshold
// after all foreground ends and starts of that instant. If any order of the starts satisfies the threshold and has
// foreground before background, this one does, for starts in the background change no foreground use. Later starts in
// the foreground are free. A segment in the background that follows another one of its job is a start like any other.
//
// A job's rate is its slowest process's rate. A job isn't suspended: when a segment with kept work ends, the next one
// starts. If that has other processors, or the same ones in another order (its processes change places), the job
// migrates: for the time of a migration it does no work, also if it changes tier meanwhile. Its run ends in the first
// microsecond by which its work is done.
//
// On a machine of nodes processes hold their needs of a node instead of a processor (see judgedNodes).
//
// A segment with a wrong place is left out of the further checks. A process on a
// processor that is taken has no effect there. The work of a run with a wrong place,
// time or order of segments isn't checked. segmentJudge.read describes how the objectives are computed, if all jobs
// run.
//
// The time is O(s log s + p + r) and the memory O(s + p + P), for s segments of p processes in all. The foreground of
// background jobs changes for r of their processes, summed over the instants.
func batch(ctx context.Context, in *model.Batch, e *model.Execution, r *Report) {
	j := newBatchJudge(ctx, in, r)
	runs := &segmentJudge[model.BatchPlace]{ctx: ctx, report: r, noun: "job", requests: len(in.Jobs),
		request: func(k int) (string, int64, int64) { return in.Jobs[k].ID, j.jobs[k].submit, j.jobs[k].length },
		moved:   func(from, to *model.BatchPlace) bool { return !slices.Equal(from.Processors, to.Processors) },
	}
	segments, complete := runs.read(e.Runs)
	for k, run := range segments {
		if stopped(ctx, k) {
			return
		}
		if run == nil {
			r.add(declinedRequest, 0, "job %q doesn't run", in.Jobs[k].ID)
			complete = false
		}
		for i := 1; i < len(run); i++ {
			if run[i].moved && j.nodes != nil {
				r.add(movedJob, 0, "job %q moves to other nodes at %v, it stays on its nodes unless it is killed", run[i].id, inSeconds(run[i].start))
			}
			if before := &run[i-1]; run[i].sound && !before.lost && run[i].start > before.end {
				r.add(suspendedJob, share(float64(run[i].start-before.end), j.jobs[k].length), "job %q has a segment until %v and the next one from %v, it can't be suspended",
					run[i].id, inSeconds(before.end), inSeconds(run[i].start))
			}
		}
	}
	runs.replay(segments, j.start, j.end, j.settled)
	if complete && ctx.Err() == nil {
		var all responses
		for k, run := range segments {
			all.add(run[len(run)-1].end-j.jobs[k].submit, j.jobs[k].length, int64(max(1, in.Jobs[k].Weight)))
		}
		r.Objective, r.Second = all.means()
	}
}

// batchSegment is a segment of a job.
type batchSegment = segment[model.BatchPlace]

// batchJudge holds the running segments at a moment.
type batchJudge struct {
	ctx                  context.Context
	in                   *model.Batch
	report               *Report
	threshold, migration int64
	jobs                 []batchRun
	foreground           []*batchSegment // by processor; nil: idle
	background           []*batchSegment
	use                  []int32         // of the foreground, by processor
	starting             []*batchSegment // starts in the background, at this instant
	touched              []*batchSegment // in the background, their rates may change at this instant
	last                 []*batchSegment // of each job of two tiers the last in touched
	uses                 []int32         // of all processes, of jobs without uses the first
	seen                 []int           // by processor, the number of the last segment that lists it
	segments             int
	nodes                *judgedNodes // nil: processors alone
}

// batchRun is a job and its progress.
type batchRun struct {
	submit, length   int64
	done             int64 // work, in ten-thousandths of microseconds of dedicated processors
	since            int64 // done is the work done by then
	rate             int64 // from then on
	migrates         int64 // until then
	uses             int   // in batchJudge.uses, of its first process
	loss, efficiency int16
	single           bool // there is one use for all processes
	broken           bool // its work can't be counted
}

// dedicated is the rate of a dedicated processor.
const dedicated = 10_000

// tenThousandths reads a share that is a whole number of them.
func tenThousandths(x float64) int64 { return int64(math.Round(x * dedicated)) }

func newBatchJudge(ctx context.Context, in *model.Batch, r *Report) *batchJudge {
	j := &batchJudge{ctx: ctx, in: in, report: r, threshold: 9600, jobs: make([]batchRun, len(in.Jobs)), use: make([]int32, in.Processors),
		foreground: make([]*batchSegment, in.Processors), background: make([]*batchSegment, in.Processors), seen: make([]int, in.Processors)}
	j.nodes = newJudgedNodes(in)
	if in.Threshold != 0 {
		j.threshold = tenThousandths(in.Threshold)
	}
	j.migration, _ = micros(in.MigrationS)
	j.uses = []int32{dedicated}
	if in.Tiers == 2 {
		j.last = make([]*batchSegment, len(in.Jobs))
	}
	for k := range in.Jobs {
		if stopped(ctx, k) {
			return j
		}
		job, x := &in.Jobs[k], &j.jobs[k]
		x.submit, x.length = workOf(in, k)
		x.efficiency = int16(tenThousandths(job.BgEfficiency))
		if in.Tiers == 2 {
			x.loss = int16(tenThousandths(job.FgLoss))
		}
		if x.single = len(job.CPU) < 2 || in.Tiers == 1; len(job.CPU) > 0 && in.Tiers == 2 { // on one tier nothing depends on them
			x.uses = len(j.uses)
			for _, u := range job.CPU {
				j.uses = append(j.uses, int32(tenThousandths(u)))
			}
		}
	}
	return j
}

// useOf returns the use of process i of a job.
func (j *batchJudge) useOf(x *batchRun, i int) int32 {
	if x.single {
		i = 0
	}
	return j.uses[x.uses+i]
}

// progress counts the work up to now. It stops counting at 4·10^18, where sums are
// within int64; no job has more than 10^18 (model.Batch.Validate).
func (x *batchRun) progress(now int64) {
	const most = 4e18
	if now <= x.since {
		return
	}
	if time := now - x.since; x.rate > 0 {
		if time > most/x.rate {
			x.done = most
		} else {
			x.done = min(x.done+x.rate*time, most)
		}
	}
	x.since = now
}

// start starts a segment in the foreground, and notes one in the background for
// settled.
func (j *batchJudge) start(s *batchSegment) {
	x := &j.jobs[s.request]
	if x.broken = x.broken || !s.sound || !j.place(s); !s.placed {
		return
	}
	if s.moved {
		x.migrates = s.start + j.migration
	}
	x.since, x.rate = max(s.start, x.migrates), 0
	if s.place.Tier == model.TierBackground {
		j.starting = append(j.starting, s)
		return
	}
	x.rate = dedicated - int64(x.loss)
	if j.nodes != nil {
		j.nodes.start(j.report, s, j.in.Jobs[s.request].Needs)
		return
	}
	j.hold(s, j.foreground, foregroundOverlap)
	for i, p := range s.place.Processors {
		if j.foreground[p] == s {
			j.use[p] = j.useOf(x, i)
			j.touch(j.background[p])
		}
	}
}

// place checks the place of a segment by itself.
func (j *batchJudge) place(s *batchSegment) bool {
	r, tier, list := j.report, s.place.Tier, s.place.Processors
	before, needs, noun := len(r.Violations), j.in.Jobs[s.request].Needs, "processor"
	if needs != nil {
		noun = "node"
	}
	if tier != model.TierForeground && (tier != model.TierBackground || j.in.Tiers == 1) {
		r.add(unknownTier, 0, "job %q runs in the tier %q, there is the foreground and, with two tiers, %q; the instance has %d", s.id, tier, model.TierBackground, j.in.Tiers)
	}
	if n := j.in.Jobs[s.request].Processes; len(list) != n {
		r.add(processCount, 0, "job %q has %d processes, on %d %ss", s.id, n, len(list), noun)
	}
	j.segments++
	for _, p := range list {
		switch {
		case p < 0 || int(p) >= j.in.Processors:
			r.add(unknownProcessor, 0, "job %q runs on %s %d, there are 0 to %d", s.id, noun, p, j.in.Processors-1)
		case j.seen[p] == j.segments && needs != nil:
			if needs.Spread {
				r.add(sharedNode, 0, "job %q runs two processes on node %d, it spreads them", s.id, p)
			}
		case j.seen[p] == j.segments:
			r.add(repeatedProcessor, 0, "job %q runs two processes on processor %d", s.id, p)
		default:
			j.seen[p] = j.segments
		}
	}
	if needs != nil && len(r.Violations) == before {
		j.nodes.allowed(r, s, needs)
	}
	s.placed = len(r.Violations) == before
	return s.placed
}

// hold takes those processors of a segment that are idle in a tier.
func (j *batchJudge) hold(s *batchSegment, tier []*batchSegment, constraint string) {
	taken, first := 0, int32(0)
	for _, p := range s.place.Processors {
		if tier[p] == nil {
			tier[p] = s
		} else if taken++; taken == 1 {
			first = p
		}
	}
	if taken > 0 {
		j.report.add(constraint, j.shareOf(s, taken), "job %q starts at %v on processor %d, where job %q runs until %v", s.id, inSeconds(s.start), first, tier[first].id, inSeconds(tier[first].end))
	}
}

// shareOf returns a number of processes as a share of the processes of the segment's job.
func (j *batchJudge) shareOf(s *batchSegment, processes int) float64 {
	return float64(processes) / float64(len(s.place.Processors))
}

// touch notes that the rate of a segment in the background may change; nil: none.
func (j *batchJudge) touch(s *batchSegment) {
	if s != nil && j.last[s.request] != s {
		j.last[s.request] = s
		j.touched = append(j.touched, s)
	}
}

// settled starts segments in the background and computes the rates of those there,
// at the end of an instant.
func (j *batchJudge) settled(now int64) {
	for k, s := range j.starting {
		if stopped(j.ctx, k) {
			return
		}
		j.hold(s, j.background, backgroundOverlap)
		j.touch(s)
		busy, first := 0, int32(0)
		for _, p := range s.place.Processors {
			if int64(j.use[p]) >= j.threshold {
				if busy++; busy == 1 {
					first = p
				}
			}
		}
		if busy > 0 {
			j.report.add(busyForeground, j.shareOf(s, busy), "job %q starts at %v in the background of processor %d, whose foreground use is %v, must be below %v",
				s.id, inSeconds(now), first, float64(j.use[first])/dedicated, float64(j.threshold)/dedicated)
		}
	}
	j.starting = j.starting[:0]
	for k, s := range j.touched {
		if stopped(j.ctx, k) {
			return
		}
		x := &j.jobs[s.request]
		if j.last[s.request] = nil; s.end > now {
			x.progress(now)
			x.rate = j.backgroundRate(s)
		}
	}
	j.touched = j.touched[:0]
}

// backgroundRate returns the rate of the slowest process, the one with the least idle/use, at most 1, as rounding down
// keeps the order.
func (j *batchJudge) backgroundRate(s *batchSegment) int64 {
	x := &j.jobs[s.request]
	idle, use := int64(1), int64(1)
	for i, p := range s.place.Processors {
		if a, b := dedicated-int64(j.use[p]), int64(j.useOf(x, i)); a*use < idle*b {
			idle, use = a, b
		}
	}
	return int64(x.efficiency) * idle / use
}

// end gives back the resources of a segment and checks the work of its job.
func (j *batchJudge) end(s *batchSegment) {
	if !s.placed {
		return
	}
	if j.nodes != nil {
		j.nodes.end(s, j.in.Jobs[s.request].Needs)
	}
	tier := j.foreground
	if s.place.Tier == model.TierBackground {
		tier = j.background
	}
	for _, p := range s.place.Processors {
		if tier[p] == s {
			if tier[p] = nil; s.place.Tier == model.TierForeground {
				j.use[p] = 0
				j.touch(j.background[p])
			}
		}
	}
	if x := &j.jobs[s.request]; !x.broken {
		j.work(x, s)
	}
}

// work checks the work of a job at the end of a segment.
func (j *batchJudge) work(x *batchRun, s *batchSegment) {
	x.progress(s.end)
	work, problem := x.length*dedicated, ""
	switch {
	case !s.last && x.done >= work:
		problem = "has done its work before its last segment"
	case s.last && s.lost:
		problem = "is killed in its last segment"
	case s.last && x.done < work:
		problem = "hasn't done its work"
	case s.last && x.done-x.rate >= work: // without the last microsecond; in a migration nothing has been added
		problem = "has done its work earlier"
	}
	if problem != "" {
		x.broken = true
		amount := math.Abs(float64(x.done-work)) / float64(work)
		j.report.add(wrongWork, amount, "job %q %s: at %v it has done %v s of %v s", s.id, problem, inSeconds(s.end), inSeconds(x.done)/dedicated, inSeconds(x.length))
	}
	if s.lost {
		x.done, x.migrates = 0, 0
	}
}
