// SPDX-License-Identifier: MIT

package model_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

const (
	twoHosts = `{"kind":"consolidation","version":1,"name":"c","resources":["cpu"],"hosts":[{"id":"a","capacity":[4],"price":1},{"id":"b","capacity":[2],"price":3,"kept":true}],
		"offers":[{"id":"big","capacity":[8],"price":2,"count":1}],"jobs":[{"id":"j","tasks":2,"needs":[1],"current_hosts":["a",""],"leave_out_cost":7}],
		"rules":[{"id":"r","type":"spread","jobs":["j"],"max_skew":1,"min_domains":2,"standing":[{"offer":"big","count":2}]}],"limits":[{"id":"l","most":3,"counts":[{"host":"a","count":2}]}]}`
	twoPlaced = `{"kind":"consolidation","version":1,"bought":[{"id":"new","offer":"big"}],"jobs":[{"id":"j","hosts":["new",""]}]}`
)

// A decoded assignment has figures if it is one of the instance's tasks, and an error otherwise; neither changes when
// it is written and read again.
func FuzzConsolidation(f *testing.F) {
	f.Add([]byte(twoHosts), []byte(twoPlaced))
	f.Add([]byte(twoHosts), []byte(`{"kind":"consolidation","version":1,"jobs":[{"id":"j","hosts":["c","a"]}]}`))
	f.Fuzz(func(t *testing.T, instance, solution []byte) {
		in, err := model.DecodeInstance(instance)
		if err != nil {
			return
		}
		c, ok := in.(*model.Consolidation)
		if !ok || c.Tasks() > 1000 {
			return
		}
		s, err := model.DecodeSolution(solution)
		if err != nil {
			return
		}
		a, ok := s.(*model.Assignment)
		if !ok {
			return
		}
		o, err := c.Objective(a)
		if shape := c.CheckShape(a); (err == nil) != (shape == nil) || err != nil && !errors.Is(err, model.ErrInvalid) {
			t.Fatalf("figures: %v, shape: %v", err, shape)
		}
		text := require.Value(json.Marshal(a))(t)
		again, wrong := model.DecodeSolution(text)
		if wrong != nil {
			t.Fatalf("%v: %s", wrong, text)
		}
		require.Same(t, "read again", s, again, cmpopts.EquateEmpty())
		if p, second := c.Objective(again); (second == nil) != (err == nil) || err == nil && cmp.Diff(o, p) != "" {
			t.Fatalf("%+v, then %+v (%v)", o, p, second)
		}
	})
}

// The figures of a plan: a bought host, a kept one, a task that is left out and one that moves.
func TestAssignmentObjective(t *testing.T) {
	t.Parallel()
	in := require.Value(model.DecodeInstance([]byte(twoHosts)))(t)
	s := require.Value(model.DecodeSolution([]byte(twoPlaced)))(t)
	if o, err := in.Objective(s); err != nil || o.Value != 3+2+7 || o.Second != 1 {
		t.Errorf("%+v, %v", o, err)
	}
}

// An amount that has no float64 of its own is held against the limit as it is written.
func TestConsolidationAmounts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{`"move_budget":9223372036854775807`: "", `"cost_limit":9223372036854775807`: "",
		`"move_budget":-1`: "move_budget is -1, must be at least 0"} {
		_, err := model.DecodeInstance([]byte(strings.Replace(twoHosts, `"hosts"`, text+`,"hosts"`, 1)))
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasSuffix(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{"9007199254740992": "", "9007199254740993": "capacity[0] is 9007199254740993, must be from 0 to 9007199254740992"} {
		_, err := model.DecodeInstance([]byte(strings.Replace(twoHosts, `"capacity":[4]`, `"capacity":[`+text+`]`, 1)))
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasSuffix(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
