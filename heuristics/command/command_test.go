// SPDX-License-Identifier: MIT

//go:build unix

package command

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// small is an instance with one-line solutions.
var small = &model.VCSched{Name: "small", Hosts: 1, Jobs: []model.VCSchedJob{{ID: "a", Tasks: 1, CPU: 0.5}}}

const solved = `{"kind":"vcsched","version":1,"jobs":[{"id":"a","hosts":[0],"cpu":[0.5]}]}`

func decode(_ context.Context, _ model.Instance, data []byte) (model.Solution, error) {
	return model.DecodeSolution(data)
}

func solve(t *testing.T, ctx context.Context, script string, set model.Settings, args string) (model.Result, error) {
	t.Helper()
	s := require.Value(New(Prefix+"sh -c '"+script+"' "+args, decode))(t)
	return s.Solve(ctx, small, set)
}

func TestSolve(t *testing.T) {
	t.Parallel()
	instance := require.Value(json.Marshal(small))(t)
	// The script checks its input, and repeats the solution.
	text := strings.ReplaceAll(solved, `"`, `\"`)
	check := `[ "$GAPWISE_SEED $GAPWISE_TIME_LIMIT_S" = "7 1.5" ] || exit 9; [ "$(cat $IN)" = "` + strings.ReplaceAll(string(instance), `"`, `\"`) + `" ] || exit 8; `
	set := model.Settings{Seed: 7, TimeLimit: 1500 * time.Millisecond}
	for name, c := range map[string]struct{ script, args string }{
		"files":    {`IN=$0; ` + check + `[ "$2 $3" = "7 1.5" ] || exit 7; echo "` + text + `" > $1`, "{in} {out} {seed} {time_limit}"},
		"standard": {check + `echo "` + text + `"`, ""},
	} {
		r, err := solve(t, t.Context(), c.script, set, c.args)
		if err != nil || r.Status != model.StatusFeasible || r.Objective != 1 || r.Reason != "" || r.Seed != 7 || r.Elapsed <= 0 {
			t.Errorf("%s: %+v %v", name, r, err)
		}
	}
	r, err := solve(t, t.Context(), `echo "$GAPWISE_TIME_LIMIT_S $0" >&2`, model.Settings{}, "{time_limit}")
	if err != nil || r.Reason != "it ended without a solution: 1000000000 1000000000" {
		t.Errorf("no limit: %+v %v", r, err)
	}
}

// How a command can fail.
func TestFailures(t *testing.T) {
	t.Parallel()
	text := strings.ReplaceAll(solved, `"`, `\"`)
	for name, c := range map[string]struct {
		script  string
		status  model.Status
		reason  string
		refused string
	}{
		"exit code":               {`echo one >&2; echo two >&2; exit 3`, model.StatusUnknown, "exit code 3: one; two", ""},
		"exit code, solution":     {`echo "` + text + `"; exit 3`, model.StatusFeasible, "exit code 3", ""},
		"killed":                  {`kill -9 $$`, model.StatusUnknown, "it was killed", ""},
		"nothing":                 {`true`, model.StatusUnknown, "it ended without a solution", ""},
		"no JSON":                 {`echo hello`, "", "", "invalid JSON"},
		"another instance":        {`echo "` + strings.Replace(text, "jobs", "tasks", 1) + `"`, "", "", "unknown key"},
		"a job that isn't there":  {`echo "` + strings.Replace(text, `\"a\"`, `\"b\"`, 1) + `"`, "", "", `the instance has "a"`},
		"a reason isn't too long": {`i=0; while [ $i -lt 500 ]; do echo -n "xxxxx " >&2; i=$((i+1)); done; exit 1`, model.StatusUnknown, "...", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := solve(t, t.Context(), c.script, model.Settings{}, "")
			if c.refused != "" {
				var refused *RefusedError
				if !errors.As(err, &refused) || !errors.Is(err, model.ErrInfeasible) || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("%v, want a refusal with %q", err, c.refused)
				}
				return
			}
			if err != nil || r.Status != c.status || !strings.Contains(r.Reason, c.reason) || (c.reason == "") != (r.Reason == "") || len(r.Reason) > 500 {
				t.Errorf("%s, %q, %v", r.Status, r.Reason, err)
			}
		})
	}
	for _, name := range []string{"cmd:", "cmd:a 'b", "cmd:there-is-no-such-program {in}"} {
		if _, err := New(name, decode); !errors.Is(err, model.ErrInvalid) && !errors.Is(err, model.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A command is asked to end when its time is over. Its whole lines count, a line that is cut off doesn't.
func TestTimeLimit(t *testing.T) {
	text := strings.ReplaceAll(solved, `"`, `\"`)
	for name, c := range map[string]struct {
		script string
		status model.Status
		reason string
	}{
		"it writes when asked":   {`trap "echo \"` + strings.ReplaceAll(text, `\`, `\\\`) + `\" > $0; exit 0" TERM; while :; do sleep 0.01; done`, model.StatusFeasible, "stopped by the time limit"},
		"it wrote before":        {`echo "` + text + `" > $0; trap "" TERM; while :; do sleep 0.01; done`, model.StatusFeasible, "stopped by the time limit"},
		"it was in the middle":   {`echo "` + text[:40] + `" > $0; exec sleep 60`, model.StatusUnknown, "stopped by the time limit while it wrote its solution"},
		"it had written nothing": {`exec sleep 60`, model.StatusUnknown, "stopped by the time limit"},
	} {
		r, err := solve(t, t.Context(), c.script, model.Settings{TimeLimit: 300 * time.Millisecond}, "{out}")
		if err != nil || r.Status != c.status || r.Reason != c.reason {
			t.Errorf("%s: %s, %q, %v", name, r.Status, r.Reason, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := solve(t, ctx, `exit 1`, model.Settings{}, ""); err != nil || r.Status != model.StatusUnknown || r.Reason != "interrupted" {
		t.Errorf("%+v %v", r, err)
	}
}

func TestLimited(t *testing.T) {
	t.Parallel()
	l := &limited{most: 1}
	if _, err := l.Write([]byte("y")); err != nil {
		t.Error(err)
	}
	if _, err := l.Write([]byte("z")); err == nil {
		t.Error("a solution of any size is kept")
	}
}
