// SPDX-License-Identifier: MIT

package batch_test

import (
	"fmt"
	"strings"
	"testing"

	batchheur "github.com/gapwise/gapwise/heuristics/batch"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// stays writes the segments of a job as tier, start-end@processors, with "lost"
// where it is killed: "bg 0-5@1 lost, fg 5-8@2".
func stays(run []model.Segment[model.BatchPlace]) string {
	var all []string
	for _, s := range run {
		tier, lost := "fg", ""
		if s.Place.Tier == model.TierBackground {
			tier = "bg"
		}
		if s.Lost {
			lost = " lost"
		}
		all = append(all, fmt.Sprintf("%s %g-%g@%s%s", tier, s.StartS, s.EndS, s.Place.Processors, lost))
	}
	return strings.Join(all, ", ")
}

func expect(t *testing.T, name string, b *model.Batch, run heuristic, want map[string]string) {
	t.Helper()
	require.OK(t, b.Validate())
	for k, s := range segments(t, b, run) {
		if w, ok := want[b.Jobs[k].ID]; ok && stays(s) != w {
			t.Errorf("%s: %s runs %q, want %q", name, b.Jobs[k].ID, stays(s), w)
		}
	}
}

// job returns a job that uses all of its processors, or a given share. Its work in
// the background has an efficiency of 1.
func job(id string, processes int, runtime float64, use ...float64) model.BatchJob {
	return model.BatchJob{ID: id, RuntimeS: runtime, Processes: processes, CPU: use, BgEfficiency: 1}
}

// figure1 is the worked example of section 2.2.2: 5 processors, 12 jobs. The (requirement, time) pairs of the drawing
// are lost. These ones, with CPU uses and efficiencies, are chosen such that every sentence of the text holds. The
// paper's P1 to P5 are processors 4 to 0: it takes the highest numbers first.
func figure1() *model.Batch {
	b := &model.Batch{Processors: 5, Tiers: 2, Jobs: []model.BatchJob{
		job("J1", 2, 10, 0.5), job("J2", 4, 6, 0.375), job("J3", 2, 5, 0.6), job("J4", 1, 11), job("J5", 1, 2), job("J6", 1, 3),
		job("J7", 1, 5), job("J8", 1, 4), job("J9", 1, 5), job("J10", 1, 8), job("J11", 5, 4, 0.7), job("J12", 4, 6, 0.7)}}
	b.Jobs[4].BgEfficiency, b.Jobs[5].BgEfficiency = 0.8, 0.8 // 2 s of work in 5 s below J1
	b.Jobs[8].BgEfficiency, b.Jobs[9].BgEfficiency = 0.64, 0.5
	return b
}

func TestFigure1KEASY(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		// "At time 0, J1 is placed onto P4-5 according to FCFS; J3 and J4 are deployed onto
		// the foreground VMs of P1-3 according to EASY backfilling".
		"J1": "fg 0-10@0-1", "J3": "fg 0-5@2-3", "J4": "fg 0-11@4",
		// "J5, J6, J7, and J8 are scheduled onto the background VMs of P2-5 by SJF", "J5-8
		// all advance 2 time units during time 0-5", "At time 5, J3 and J5 depart".
		"J5": "bg 0-5@0",
		// "J6 is backfilled onto the foreground VM of P3 by killing its run in P4".
		"J6": "bg 0-5@1 lost, fg 5-8@2",
		// "J7 is backfilled onto the foreground VM of its original processor by swapping
		// the CPU priorities ... of P2", "At time 8, J6 and J7 depart the system".
		"J7": "bg 0-5@3, fg 5-8@3",
		// "J8 ... hardly advances because there is no idle CPU cycle left by J6", "J8
		// cannot be backfilled as its original execution time is 4, it still finishes at
		// time 10".
		"J8": "bg 0-10@2",
		// Processors without a background process first.
		"J2": "fg 10-16@2-3,0-1",
		// "J9 and J10 are arranged onto the background VMs of P5 and P4", "J9 advances 2
		// time units during time 5-11": 5·0.32 + 1·0.4. "J9 is restarted from the very
		// beginning on the foreground VM of P1".
		"J9": "bg 5-11@0 lost, fg 11-16@4",
		// "If J10 cannot finish before going to the foreground tier, the reservation for
		// J11 is made at time 16 and, in this case, J12 leapfrogs J11". J10 has done 5·0.25
		// + 6·0.3125 = 3.125 s.
		"J10": "bg 5-16@1, fg 16-20.875@1", "J12": "fg 16-22@0,2-4",
		// J11 does 1.125·0.4285 s below J12.
		"J11": "bg 20.875-22@1,0,2-4, fg 22-25.517938@1,0,2-4",
	}
	expect(t, "keasy", figure1(), batchheur.KEASY, want)

	// "If J10 finishes earlier than time 16, ... J11 can run on the foreground VMs of
	// P1-5 immediately at time 16". J10 has done 5·0.5 + 4·0.625 = 5 s at 14. J12 does 2·0.8928 + 4·0.4285 s
	// below J2 and J11.
	b := figure1()
	b.Jobs[9] = job("J10", 1, 5)
	want["J10"], want["J11"], want["J12"] = "bg 5-14@1", "fg 16-20@4,0-3", "bg 14-20@0-3, fg 20-22.5004@0-3"
	expect(t, "keasy, J10 early", b, batchheur.KEASY, want)
}

// In Figure 1(b) "J6 advances 3 time units during time 0-8 and J9 advances 5 time
// units during time 5-16", other than in (a), so their efficiencies are others.
func TestFigure1REASY(t *testing.T) {
	t.Parallel()
	b := figure1()
	b.Jobs[5].BgEfficiency, b.Jobs[8].BgEfficiency = 0.75, 0.8
	expect(t, "reasy", b, batchheur.REASY, map[string]string{
		"J1": "fg 0-10@0-1", "J3": "fg 0-5@2-3", "J4": "fg 0-11@4", "J5": "bg 0-5@0", "J2": "fg 10-16@1,3,0,2",
		// "in time 5, J6 still stays at its original background VM".
		"J6": "bg 0-8@1",
		"J7": "bg 0-5@3, fg 5-8@3", "J8": "bg 0-5@2, fg 5-7@2",
		// "At time 11, J9 also still runs on the background VM of P5".
		"J9": "bg 5-16@0",
	})
}

// "At time 11 ... a reservation for J9 is made because it is now the head job". Figure 5: "when making reservation for
// J3, the shadow time is 10 as J1 finishes at time 10 and the extra foreground VM is the foreground VM on P1". J3 runs
// in the background of processors 0, below J1, and 1; P1 is processor 2.
func TestFigure5(t *testing.T) {
	t.Parallel()
	b := &model.Batch{Processors: 3, Tiers: 2, Jobs: []model.BatchJob{job("J1", 1, 10, 0.5), job("J2", 2, 4, 0.5), job("J3", 2, 30, 1),
		job("early", 1, 6), job("extra", 1, 7), job("late", 1, 7)}}
	for k := 3; k < 6; k++ {
		b.Jobs[k].SubmitS = 4
	}
	expect(t, "reasy", b, batchheur.REASY, map[string]string{"J1": "fg 0-10@0", "J2": "fg 0-4@1-2",
		// The first ends by the shadow time, 10. 11 is too late for the second, but it fits the extra processor. The
		// third doesn't: it goes to the background of J2's processor. Dispatch has the first on processor 2, which has
		// no process in the background, so the second is on one of the head's.
		"early": "fg 4-10@2", "extra": "fg 4-11@1"})
	// Without "early" the reservation holds.
	b.Jobs = append(b.Jobs[:3], b.Jobs[4:]...)
	expect(t, "reasy", b, batchheur.REASY, map[string]string{"extra": "fg 4-11@2"})
}

// Figures 2 to 4 show that KEASY may be ahead of EASY even if all processes use the whole of their processors:
// background jobs run on an idle foreground. The drawings are lost; these cases are made by hand from the text.
func TestFigures2To4(t *testing.T) {
	t.Parallel()
	estimated := job("J3", 1, 5)
	estimated.EstimateS = 15
	for _, c := range []struct {
		name        string
		processors  int
		jobs        []model.BatchJob
		easy, keasy map[string]string
	}{
		// Exact runtimes: 15 s are too long for J3 to be backfilled before J2. J3 does 10 s of work in the background
		// first, and goes on in the foreground after J2.
		{"figure 2", 2, []model.BatchJob{job("J1", 1, 10), job("J2", 2, 10), job("J3", 1, 15)},
			map[string]string{"J1": "fg 0-10@0", "J2": "fg 10-20@0-1", "J3": "fg 20-35@0"},
			map[string]string{"J1": "fg 0-10@0", "J2": "fg 10-20@0-1", "J3": "bg 0-20@1, fg 20-25@1"}},
		// Exact runtimes: J5 is never backfilled, as its runtime ends after the shadow
		// times, 5 and 20. It ends in the background of a processor that is idle before the
		// first and before the second.
		{"figure 3", 3, []model.BatchJob{job("J1", 1, 5), job("J2", 1, 20), job("J3", 2, 10), job("J4", 3, 10), job("J5", 1, 8)},
			map[string]string{"J1": "fg 0-5@0", "J2": "fg 0-20@1", "J3": "fg 5-15@0,2", "J4": "fg 20-30@0-2", "J5": "fg 30-38@0"},
			map[string]string{"J1": "fg 0-5@0", "J2": "fg 0-20@1", "J3": "fg 5-15@0,2", "J4": "fg 20-30@0-2", "J5": "bg 0-18@2"}},
		// J3 ends early enough to be backfilled, but its estimate doesn't.
		{"figure 4", 2, []model.BatchJob{job("J1", 1, 10), job("J2", 2, 10), estimated},
			map[string]string{"J1": "fg 0-10@0", "J2": "fg 10-20@0-1", "J3": "fg 20-25@0"},
			map[string]string{"J1": "fg 0-10@0", "J2": "fg 10-20@0-1", "J3": "bg 0-5@1"}},
	} {
		b := &model.Batch{Processors: c.processors, Tiers: 2, Jobs: c.jobs}
		expect(t, c.name+", easy", b, batchheur.EASY, c.easy)
		expect(t, c.name+", keasy", b, batchheur.KEASY, c.keasy)
	}
}

// Rates and migrations computed by hand.
func TestTwoTierByHand(t *testing.T) {
	t.Parallel()
	b := &model.Batch{Processors: 2, Tiers: 2, MigrationS: 20, Jobs: []model.BatchJob{
		job("a", 1, 96, 0.6), job("b", 1, 40, 0.3), job("c", 2, 7, 0.4, 0.8), job("d", 1, 10), job("e", 1, 3)}}
	b.Jobs[0].FgLoss, b.Jobs[2].BgEfficiency = 0.04, 0.5
	b.Jobs[3].SubmitS, b.Jobs[3].EstimateS, b.Jobs[4].SubmitS = 16, 30, 41
	want := map[string]string{
		"a": "fg 0-100@0", // 96/0.96
		"b": "fg 0-40@1",
		// Its process of high use is with b: min(0.5·0.7/0.8, 0.5·0.4/0.4) = 0.4375. At the
		// instant at which it ends, d comes. It ends below b after 10/0.7 s.
		"c": "bg 0-16@0-1",
		"d": "bg 16-30.285715@1",
		"e": "fg 41-44@1",
	}
	expect(t, "measy", b, batchheur.MEASY, want)

	// d is in the background of a, below b's end at 20: it has done 4·0.4 of its 10 s.
	// There its processor isn't idle, so it moves: 20 s for the migration and 8.4.
	b = &model.Batch{Processors: 2, Tiers: 2, MigrationS: 20, Jobs: []model.BatchJob{job("a", 1, 100, 0.6), job("b", 1, 20), job("d", 1, 10)}}
	b.Jobs[2].SubmitS = 16
	expect(t, "measy", b, batchheur.MEASY, map[string]string{"d": "bg 16-20@0, fg 20-48.4@1"})
	expect(t, "keasy", b, batchheur.KEASY, map[string]string{"d": "bg 16-20@0 lost, fg 20-30@1"})
	expect(t, "reasy", b, batchheur.REASY, map[string]string{"d": "bg 16-41@0"})

	// a and b have overrun their estimates when c comes: its shadow time is now, 12,
	// and both count, so there is an extra processor for d.
	b = &model.Batch{Processors: 3, Tiers: 2, Jobs: []model.BatchJob{job("a", 1, 20), job("b", 1, 20), job("c", 2, 10), job("d", 1, 100)}}
	b.Jobs[0].EstimateS, b.Jobs[1].EstimateS, b.Jobs[2].SubmitS, b.Jobs[3].SubmitS = 5, 10, 12, 12
	for _, name := range []string{"keasy", "reasy", "measy"} {
		expect(t, name, b, twoTier[name], map[string]string{"c": "fg 20-30@0-1", "d": "fg 12-112@2"})
	}
}

// A job in the background uses the idle foreground of its processors. J2 takes them
// at 10, or a microsecond later if its use is too large to start the job below it.
func TestPEASYByHand(t *testing.T) {
	t.Parallel()
	b := &model.Batch{Processors: 2, Tiers: 2, Jobs: []model.BatchJob{job("J1", 1, 10), job("J2", 2, 10, 0.5), job("J3", 1, 15)}}
	b.Jobs[2].BgEfficiency = 0.5
	expect(t, "peasy", b, batchheur.PEASY, map[string]string{"J2": "fg 10-20@0-1", "J3": "fg 0-10@1, bg 10-20@1, fg 20-22.5@1"})
	b.Jobs[1].CPU = nil
	expect(t, "peasy", b, batchheur.PEASY, map[string]string{"J2": "fg 10.000001-20.000001@0-1", "J3": "fg 0-10@1, bg 10-20.000001@1, fg 20.000001-25.000001@1"})
	// The short one of the two that wait for J1 is backfilled first.
	long, short := job("long", 1, 901), job("short", 1, 800)
	b = &model.Batch{Processors: 2, Tiers: 2, Jobs: []model.BatchJob{job("J1", 1, 2000), job("J2", 2, 1), long, short}}
	expect(t, "peasy", b, batchheur.PEASY, map[string]string{"short": "fg 0-800@1"})
	expect(t, "measy", b, batchheur.MEASY, map[string]string{"long": "fg 0-901@1"})
}
