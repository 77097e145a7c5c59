// SPDX-License-Identifier: MIT

package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/internal/test/testkit"
	"github.com/gapwise/gapwise/model"
)

// decider answers requests of any problem, by their contents alone.
func decider(in model.Instance) func(told) string {
	running, pes, tree, waiting := map[string]float64{}, 0.0, 0.0, []string(nil)
	return func(m told) string {
		var all []string
		for _, e := range m.Events {
			id, _ := e.Data["request_id"].(string)
			q, _ := e.Data["request"].(map[string]any)
			switch e.Type {
			case simulationBegins:
				if pes, _ = e.Data["pes"].(float64); e.Data["fat_tree"] != nil {
					tree = e.Data["fat_tree"].(map[string]any)["slots"].(float64)
				}
			case requestCompleted, requestWithdrawn:
				delete(running, id)
			case jobCompleted:
				delete(running, e.Data["job_id"].(string))
			case jobSubmitted:
				waiting = append(waiting, e.Data["job_id"].(string))
			case requestSubmitted:
				if pes > 0 && len(running) == 0 {
					running[id] = 1
					all = append(all, accept(m.Now, id, fmt.Sprint(q["ready_s"]), ""))
				} else if need, _ := q["vms"].(float64); pes == 0 && need <= tree && len(running) == 0 {
					running[id] = 1
					all = append(all, embed(m.Now, id, "edge-0-0", int(need)))
				} else if in, is := in.(*model.TVC); !is || !in.Queue {
					all = append(all, reject(m.Now, id))
				}
			}
		}
		if len(waiting) > 0 && len(running) == 0 { // one by one
			running[waiting[0]] = 1
			all = append(all, do(m.Now, executeJob, `{"job_id":"`+waiting[0]+`"}`))
			waiting = waiting[1:]
		}
		return at(m.Now, all...)
	}
}

// No event is reported before its time: later events, or another truth, change no request until then.
func TestNoFuture(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(27, 7))
	changed := 0
	for i := range 300 {
		seed := rng.Uint64()
		var from float64
		draw := func(other bool) (in model.Instance) {
			rng := rand.New(rand.NewPCG(seed, 1))
			if i%3 == 2 {
				v := testkit.RandomBatch(rng, 1+i%2, 6, 12)
				from = v.Jobs[len(v.Jobs)/2].SubmitS
				for k := range v.Jobs {
					j := &v.Jobs[k]
					if other && j.SubmitS+j.RuntimeS > from { // it ends later, whatever its rate
						j.EstimateS, j.RuntimeS = cmp.Or(j.EstimateS, j.RuntimeS), math.Round(1e6*(j.RuntimeS+1))/1e6
						j.FgLoss, j.BgEfficiency = 0.25, 0.3
					}
					if other && k >= len(v.Jobs)/2 {
						j.Processes, j.CPU = 1, nil
					}
				}
				return v
			}
			if i%2 == 0 {
				v := testkit.RandomTVC(rng, 2, 12, i%4 == 0)
				from = v.Requests[len(v.Requests)/2].ArrivalS
				for k := len(v.Requests) / 2; other && k < len(v.Requests); k++ {
					v.Requests[k].VMs, v.Requests[k].DurationS = 1, 7
				}
				return v
			}
			v := testkit.RandomReservation(rng, 12)
			from = v.Requests[len(v.Requests)/2].ArrivalS
			for k := range v.Requests {
				q := &v.Requests[k]
				if q.RuntimeS != nil && q.ReadyS+*q.RuntimeS > from && other { // it ends later at the earliest
					q.RuntimeS = &q.DurationS
				}
				if q.CancelS != nil && *q.CancelS > from && other {
					later := *q.CancelS + 1
					q.CancelS = &later
				}
				if other && k >= len(v.Requests)/2 {
					q.PEs = 1
				}
			}
			return v
		}
		var asked [2][]string
		for other := range asked {
			in := draw(other == 1)
			require.OK(t, in.Validate())
			p := &player{answer: decider(in)}
			play(t, in, p, model.Settings{})
			asked[other] = p.asked
		}
		if !slices.Equal(asked[0], asked[1]) {
			changed++
		}
		for k, text := range asked[0] {
			var m told
			require.OK(t, json.Unmarshal([]byte(text), &m))
			if k == 0 && i%3 != 2 && i%2 == 1 { // a tick is as long as the times of the instance need
				continue
			}
			if m.Now < from && (k >= len(asked[1]) || asked[1][k] != text) {
				t.Fatalf("seed %d: %s, and in another future %s", i, text, asked[1][min(k, len(asked[1])-1)])
			}
			for _, secret := range []string{"runtime", "cancel_s", "fg_loss", "bg_eff"} {
				if strings.Contains(text, secret) {
					t.Errorf("%s tells a %s", text, secret)
				}
			}
		}
	}
	if changed < 100 {
		t.Errorf("only %d pairs differ at all", changed)
	}
}

// Times go either way without a change, also where ticks are as fine as they can be.
func TestClock(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(27, 8))
	for range 20_000 {
		c := clock{[]float64{1, 10, 1e3, 1e6, 1e9}[rng.IntN(5)], 0}
		c.last = 0x1p52 / c.perSecond
		tick := rng.Int64N(1<<rng.IntN(52) + 1)
		text := require.Value(json.Marshal(c.seconds(tick)))(t)
		var back float64
		require.OK(t, json.Unmarshal(text, &back))
		if got, err := c.ticks(back); err != nil || got != tick {
			t.Fatalf("%v of %+v: %s, %d, %v", tick, c, text, got, err)
		}
	}
}
