// SPDX-License-Identifier: MIT

package batch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	batchheur "github.com/gapwise/gapwise/heuristics/batch"
	"github.com/gapwise/gapwise/instances"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

type heuristic = func(context.Context, *model.Batch, model.Settings) (*model.Execution, error)

var oneTier = map[string]heuristic{
	"fcfs": batchheur.FCFS, "sjf": batchheur.SJF, "easy": batchheur.EASY, "easy-sjbf": batchheur.EASYSJBF, "easy-saf": batchheur.EASYSAF,
	"conservative": batchheur.Conservative,
}

var orders = []model.BatchOrder{model.BatchOrderBatch, model.BatchOrderPyss}

func in(order model.BatchOrder) model.Settings {
	return model.Settings{Parameters: &model.BatchParameters{Order: order}}
}

// starts returns the start of each job in ticks, after a look at the processors.
func starts(t testing.TB, b *model.Batch, e *model.Execution) []int64 {
	t.Helper()
	index := require.Value(b.Index(e))(t)
	all := make([]int64, len(b.Jobs))
	type use struct{ from, to float64 }
	uses := make([][]use, b.Processors)
	for i, k := range index {
		s := e.Runs[i].Segments
		if len(s) != 1 || len(s[0].Place.Processors) != b.Jobs[k].Processes || s[0].Place.Tier != model.TierForeground || s[0].Lost {
			t.Fatalf("job %d runs as %+v", k, s)
		}
		all[k] = int64(math.Round(s[0].StartS * 1e6))
		for _, p := range s[0].Place.Processors {
			uses[p] = append(uses[p], use{s[0].StartS, s[0].EndS})
		}
	}
	for p, list := range uses {
		slices.SortFunc(list, func(a, b use) int { return int(math.Copysign(1, a.from-b.from)) })
		for i := 1; i < len(list); i++ {
			if list[i-1].to > list[i].from {
				t.Fatalf("processor %d runs two jobs at %v", p, list[i].from)
			}
		}
	}
	return all
}

// small draws a trace with ties, jobs submitted at once, and estimates that are
// exact, too long or too short.
func small(rng *rand.Rand) *model.Batch {
	b := &model.Batch{Processors: 1 + rng.IntN(8), Tiers: 1 + rng.IntN(2), KillAtEstimate: rng.IntN(2) == 0}
	exact, at := rng.IntN(3) == 0, 0.0
	for k := range 1 + rng.IntN(14) {
		if rng.IntN(2) == 0 {
			at += float64(rng.IntN(5))
		}
		j := model.BatchJob{ID: fmt.Sprint(k), SubmitS: at, RuntimeS: float64(1 + rng.IntN(8)), Processes: 1 + rng.IntN(b.Processors)}
		switch rng.IntN(5) {
		case 0:
			j.EstimateS = 1 + float64(rng.IntN(30))
		case 1:
			j.EstimateS = j.RuntimeS * 10
		case 2:
			j.EstimateS = 5
		case 3:
			j.EstimateS = max(1, j.RuntimeS-float64(rng.IntN(3)))
		}
		if exact {
			j.EstimateS = 0
		}
		if b.Tiers == 2 && rng.IntN(2) == 0 {
			j.FgLoss = float64(rng.IntN(401)) / 1e4
		}
		b.Jobs = append(b.Jobs, j)
	}
	return b
}

// The fast simulations and the plain one give identical schedules.
func TestDifferential(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(12, 1))
	ordersDiffer, backfilled := map[string]int{}, map[string]int{}
	for round := range require.Rounds(10_000) {
		b := small(rng)
		require.OK(t, b.Validate())
		var first []int64 // by FCFS
		for _, name := range []string{"fcfs", "sjf", "easy", "easy-sjbf", "easy-saf", "conservative"} {
			var before []int64
			for _, order := range orders {
				got, want := run(t, name, b, order), simulatePlain(b, name, order).start
				if !slices.Equal(got, want) {
					t.Fatalf("round %d, %s in order %s: starts %v, want %v; %+v", round, name, order, got, want, b)
				}
				if before != nil && !slices.Equal(before, got) {
					ordersDiffer[name]++
				}
				before = got
			}
			if first == nil {
				first = before
			} else if !slices.Equal(first, before) {
				backfilled[name]++
			}
		}
	}
	for name := range oneTier {
		if name != "fcfs" && (ordersDiffer[name] == 0 || backfilled[name] == 0) {
			t.Errorf("%s: the orders differ on %d traces, it differs from fcfs on %d: the traces test nothing", name, ordersDiffer[name], backfilled[name])
		}
	}
}

// deep draws a random trace with a queue tens of jobs long: bursts of jobs, some much shorter than estimated, some
// longer.
func deep(rng *rand.Rand) *model.Batch {
	b := &model.Batch{Processors: 1 + rng.IntN(70), Tiers: 1, KillAtEstimate: rng.IntN(4) == 0}
	at, overruns := 0.0, rng.IntN(2) == 0
	for k := range 30 + rng.IntN(40) {
		if rng.IntN(4) == 0 {
			at += float64(rng.IntN(60))
		}
		j := model.BatchJob{ID: fmt.Sprint(k), SubmitS: at, RuntimeS: float64(1 + rng.IntN(40)), Processes: 1 + rng.IntN(b.Processors)}
		if rng.IntN(2) == 0 {
			j.Processes = 1 << rng.IntN(bits.Len(uint(b.Processors)))
		}
		j.EstimateS = j.RuntimeS * float64(1+rng.IntN(10))
		if overruns && rng.IntN(5) == 0 {
			j.EstimateS = 1 + float64(rng.IntN(int(j.RuntimeS)))
		}
		b.Jobs = append(b.Jobs, j)
	}
	return b
}

// The same with long queues, in which a compression takes several rounds.
func TestDifferentialDeep(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(12, 42))
	most := 0
	for round := range require.Rounds(300) {
		b := deep(rng)
		for _, name := range []string{"easy", "easy-sjbf", "easy-saf", "conservative"} {
			for _, order := range orders {
				p := simulatePlain(b, name, order)
				if got := run(t, name, b, order); !slices.Equal(got, p.start) {
					t.Fatalf("round %d, %s in order %s: starts %v, want %v; %+v", round, name, order, got, p.start, b)
				}
				most = max(most, p.rounds)
			}
		}
	}
	if most < 4 {
		t.Errorf("compressions take %d rounds at most: the traces test little", most)
	}
}

// kth reads the cleaned log of KTH; jobs take 1 s at least.
func kth(t testing.TB) *model.Batch {
	t.Helper()
	log := require.Value(instances.LoadLog(require.Data(t, "swf", "KTH-SP2-1996-2.1-cln.swf.gz"), instances.LogOptions{}))(t)
	b := &model.Batch{Processors: 100, Tiers: 1}
	last := 0.0
	for k := range log.Jobs {
		j := &log.Jobs[k]
		if j.Size() < 1 || j.Size() > 100 {
			continue // one job tells no processors
		}
		last = max(last, j.Submit)
		b.Jobs = append(b.Jobs, model.BatchJob{ID: fmt.Sprint(k), SubmitS: last, RuntimeS: max(1, j.Runtime),
			EstimateS: max(0, j.RequestedTime), Processes: int(j.Size())})
	}
	require.OK(t, b.Validate())
	return b
}

func TestDifferentialKTH(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("the plain simulation takes seconds")
	}
	b := kth(t)
	for _, name := range []string{"fcfs", "easy", "conservative"} {
		if name == "conservative" {
			b.Jobs = b.Jobs[:5000] // the plain one takes 20 s for all
		}
		for _, order := range orders {
			if got, want := run(t, name, b, order), simulatePlain(b, name, order).start; !slices.Equal(got, want) {
				t.Errorf("%s in order %s: other starts than the plain simulation's", name, order)
			}
		}
	}
}

// Cases computed by hand: 4 processors, starts in seconds.
func TestByHand(t *testing.T) {
	t.Parallel()
	job := func(submit, runtime, estimate float64, processes int) model.BatchJob {
		return model.BatchJob{SubmitS: submit, RuntimeS: runtime, EstimateS: estimate, Processes: processes}
	}
	type want map[string][]float64
	for name, c := range map[string]struct {
		jobs        []model.BatchJob
		kill        bool
		batch, pyss want // by order; pyss nil: as batch
	}{
		// The head, 1, waits for 0 until 10. 2 ends by then, 4 exactly then. 3 doesn't,
		// and there are no extra processors.
		"backfill by the shadow time": {
			jobs: []model.BatchJob{job(0, 10, 10, 2), job(0, 5, 5, 4), job(0, 8, 8, 1), job(0, 11, 11, 1), job(0, 10, 10, 1)},
			batch: want{"fcfs": {0, 10, 15, 15, 15}, "easy": {0, 10, 0, 15, 0}, "easy-sjbf": {0, 10, 0, 15, 0}, "easy-saf": {0, 10, 0, 15, 0},
				"sjf": {5, 0, 5, 13, 5}},
			// The first arrival starts at once.
			pyss: want{"fcfs": {0, 10, 15, 15, 15}, "easy": {0, 10, 0, 15, 0}},
		},
		// 0 and 1 both end at the shadow time 10. The head, 2, needs 0's end alone, so
		// one processor is extra, and 3 takes it.
		"all ends at the shadow time count": {
			jobs:  []model.BatchJob{job(0, 10, 10, 2), job(0, 10, 10, 1), job(1, 5, 5, 3), job(1, 50, 50, 1)},
			batch: want{"fcfs": {0, 0, 10, 10}, "easy": {0, 0, 10, 1}},
		},
		// 0 has overrun its estimate when 1 becomes the head: the shadow time is now,
		// 12, and two processors are extra.
		"overrun": {
			jobs:  []model.BatchJob{job(0, 20, 10, 3), job(12, 5, 5, 2), job(12, 100, 100, 1)},
			batch: want{"fcfs": {0, 20, 20}, "easy": {0, 20, 12}},
		},
		// 0 and 1 have overrun. The head, 2, needs 0's end alone, but 1 counts as ending
		// now, too: one processor is extra.
		"all overruns count": {
			jobs:  []model.BatchJob{job(0, 20, 10, 2), job(0, 20, 11, 1), job(12, 5, 5, 3), job(12, 100, 100, 1)},
			batch: want{"fcfs": {0, 0, 20, 20}, "easy": {0, 0, 20, 12}},
		},
		"kill": {
			jobs: []model.BatchJob{job(0, 20, 10, 3), job(9, 5, 5, 2), job(9, 100, 100, 1)}, kill: true,
			batch: want{"fcfs": {0, 10, 10}, "easy": {0, 10, 9}},
		},
		// In each order of backfilling another job is the first.
		"orders of backfilling": {
			jobs:  []model.BatchJob{job(0, 10, 10, 2), job(0, 10, 10, 3), job(0, 6, 6, 2), job(0, 5, 5, 2), job(0, 7, 7, 1), job(0, 8, 8, 1)},
			batch: want{"easy": {0, 10, 0, 20, 6, 13}, "easy-sjbf": {0, 10, 20, 0, 5, 12}, "easy-saf": {0, 10, 20, 20, 0, 0}},
			pyss:  want{"easy": {0, 10, 0, 20, 6, 13}},
		},
		// 0 and 1 end together and earlier than estimated. If each has a pass, 4 is backfilled after the first and
		// takes a processor of the head, 3.
		"a pass for each end": {
			jobs:  []model.BatchJob{job(0, 5, 10, 1), job(0, 5, 100, 1), job(0, 100, 100, 2), job(1, 10, 10, 2), job(1, 200, 200, 1)},
			batch: want{"easy": {0, 0, 0, 5, 15}},
			pyss:  want{"easy": {0, 0, 0, 100, 5}},
		},
		// 0 ends at 5 as estimated: in the order of pyss 1 starts before 2 arrives.
		"an estimated end counts before arrivals": {
			jobs:  []model.BatchJob{job(0, 5, 5, 4), job(5, 8, 8, 4), job(5, 3, 3, 4)},
			batch: want{"sjf": {0, 8, 5}},
			pyss:  want{"sjf": {0, 5, 13}},
		},
		// 0 ends at 5, earlier than estimated: both have arrived when that is seen.
		"an early end counts after arrivals": {
			jobs:  []model.BatchJob{job(0, 5, 6, 4), job(5, 8, 8, 4), job(5, 3, 3, 4)},
			batch: want{"sjf": {0, 8, 5}},
			pyss:  want{"sjf": {0, 8, 5}},
		},
		// EASY starts 3 on an extra processor of the head, 1, and so delays 2, which is reserved for 20 to 30.
		"a reservation for every job": {
			jobs:  []model.BatchJob{job(0, 10, 10, 3), job(0, 10, 10, 2), job(0, 10, 10, 4), job(0, 25, 25, 1)},
			batch: want{"easy": {0, 10, 25, 0}, "conservative": {0, 10, 20, 30}},
		},
		// Reservations are at first 10, 20, 10, and move when 0 ends at 4.
		"compression": {
			jobs:  []model.BatchJob{job(0, 4, 10, 4), job(0, 10, 10, 3), job(0, 10, 10, 3), job(0, 10, 10, 1)},
			batch: want{"conservative": {0, 4, 14, 4}},
		},
		// Reservations are at first 10 for 2 and 6 for 3. When 0 ends at 4, 2 is looked
		// at and can't move, as 3 is reserved; 3 moves to 4, and then 2 to 8.
		"compression until none moves": {
			jobs:  []model.BatchJob{job(0, 4, 10, 3), job(0, 6, 6, 1), job(0, 5, 5, 4), job(0, 4, 4, 1)},
			batch: want{"conservative": {0, 0, 8, 4}},
		},
		// Job 0 is taken to need as long again at 10 and 20: until 20, until 40. Job 1 is reserved for these times in
		// turn. Job 3 is reserved for 25, behind 1, and for 20 when 1 goes to 40.
		"an overrun delays reservations": {
			jobs:  []model.BatchJob{job(0, 30, 10, 3), job(0, 5, 5, 4), job(11, 8, 8, 1), job(11, 10, 10, 1)},
			batch: want{"conservative": {0, 30, 11, 20}},
		},
	} {
		b := &model.Batch{Processors: 4, Tiers: 1, KillAtEstimate: c.kill, Jobs: c.jobs}
		for k := range b.Jobs {
			b.Jobs[k].ID = fmt.Sprint(k)
		}
		if c.pyss == nil {
			c.pyss = c.batch
		}
		for order, want := range map[model.BatchOrder]want{model.BatchOrderBatch: c.batch, model.BatchOrderPyss: c.pyss} {
			for algorithm, seconds := range want {
				for k, at := range run(t, algorithm, b, order) {
					if at != int64(seconds[k]*1e6) {
						t.Errorf("%s, %s in order %s: job %d starts at %v s, want %v", name, algorithm, order, k, float64(at)/1e6, seconds[k])
					}
				}
			}
		}
	}
}

// Jobs on two tiers run in the foreground, at its rate, lowest processors first.
func TestForeground(t *testing.T) {
	t.Parallel()
	b := &model.Batch{Processors: 2, Tiers: 2, Jobs: []model.BatchJob{
		{ID: "a", RuntimeS: 99, Processes: 1, FgLoss: 0.01}, {ID: "b", RuntimeS: 0.000001, Processes: 1, FgLoss: 0.01}, {ID: "c", RuntimeS: 1, Processes: 2}}}
	for name, algorithm := range oneTier {
		if name == "sjf" {
			continue
		}
		e := require.Value(algorithm(context.Background(), b, model.Settings{}))(t)
		want := `{"kind":"batch","version":1,"runs":[` +
			`{"id":"a","segments":[{"start_s":0,"end_s":100,"place":{"processors":"0"}}]},` +
			`{"id":"b","segments":[{"start_s":0,"end_s":0.000002,"place":{"processors":"1"}}]},` +
			`{"id":"c","segments":[{"start_s":100,"end_s":101,"place":{"processors":"0-1"}}]}]}`
		got := require.Value(json.Marshal(e))(t)
		require.Same(t, name, want, string(got))
	}
}

// No head of EASY's queue starts later than its first shadow time if estimates are exact. No job of conservative
// backfilling starts later than its first reservation if no estimate is too short.
func TestReservationsAreKept(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(12, 2))
	heads, earlier := 0, 0
	for range require.Rounds(3000) {
		b := small(rng)
		b.KillAtEstimate = true
		exact := *b
		exact.Jobs = slices.Clone(b.Jobs)
		for k := range exact.Jobs {
			exact.Jobs[k].EstimateS = 0
		}
		for _, order := range orders {
			for _, name := range []string{"easy", "easy-sjbf", "easy-saf"} {
				p := simulatePlain(&exact, name, order)
				for k, at := range run(t, name, &exact, order) {
					if shadow, ok := p.heads[k]; ok && at > shadow {
						t.Fatalf("%s in order %s starts head %d at %d, after its shadow time %d: %+v", name, order, k, at, shadow, b)
					} else if ok {
						heads++
					}
				}
			}
			p := simulatePlain(b, "conservative", order)
			for k, at := range run(t, "conservative", b, order) {
				if at > p.first[k] {
					t.Fatalf("job %d starts at %d, its reservation was %d: %+v", k, at, p.first[k], b)
				} else if at < p.first[k] {
					earlier++
				}
			}
		}
	}
	if heads == 0 || earlier == 0 {
		t.Errorf("%d heads had shadow times, %d jobs started before their reservations: the traces test nothing", heads, earlier)
	}
}

func run(t *testing.T, name string, b *model.Batch, order model.BatchOrder) []int64 {
	t.Helper()
	e := require.Value(oneTier[name](context.Background(), b, in(order)))(t)
	return starts(t, b, e)
}

// An unknown order is refused, as are times that don't fit.
func TestErrors(t *testing.T) {
	t.Parallel()
	b := &model.Batch{Processors: 1, Tiers: 2, Jobs: []model.BatchJob{{ID: "a", RuntimeS: 1e8, EstimateS: 1e8, Processes: 1, FgLoss: 0.9999}}}
	for name, algorithm := range oneTier {
		require.Refused(t, name, require.Err(algorithm(context.Background(), b, model.Settings{})),
			model.ErrUnsupported, "")
		one := *b
		one.Tiers = 1
		require.Refused(t, name, require.Err(algorithm(context.Background(), &one, in("random"))),
			model.ErrUnsupported, "")
	}
}
