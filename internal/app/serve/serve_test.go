// SPDX-License-Identifier: MIT

package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/internal/app/ask"
	"github.com/gapwise/gapwise/internal/test/require"
	"github.com/gapwise/gapwise/model"
)

// usual is a configuration for tests.
func usual() Config {
	return Config{Body: 1 << 20, Memory: 1 << 30, TimeLimit: time.Minute, AtOnce: 2, Waiting: 300, Threads: 2, Jobs: 10, Keep: time.Minute, Grace: time.Minute}
}

// started returns a server at work and its address.
func started(t testing.TB, c Config) (*Server, string) {
	t.Helper()
	require.OK(t, c.Check())
	s := New(c)
	web := httptest.NewServer(s)
	t.Cleanup(func() { s.halt(); web.Close() })
	return s, web.URL
}

// example returns an instance of docs/examples, or of virtual machines.
func example(t testing.TB, name string) json.RawMessage {
	t.Helper()
	if name == "vms" {
		return json.RawMessage(`{"kind":"vcsched","version":1,"name":"vms","hosts":2,"jobs":[{"id":"a","tasks":1,"cpu":0.9,"memory":0.6},{"id":"b","tasks":2,"cpu":0.5,"memory":0.2},{"id":"c","tasks":1,"cpu":0.7,"memory":0.3}]}`)
	}
	return require.Value(os.ReadFile(filepath.Join("..", "..", "..", "docs", "examples", name+".json")))(t)
}

// examples has an instance of each kind, which engines solve at once.
var examples = []string{"vms", "six-tasks", "eight-requests", "fourteen-clusters", "three-jobs"}

// long returns an instance that no engine solves within minutes.
func long() json.RawMessage {
	rng := rand.New(rand.NewPCG(1, 2))
	d := model.DAG{Name: "long"}
	for m := range 5 {
		d.Machines = append(d.Machines, model.Machine{ID: fmt.Sprint("m", m)})
	}
	for k := range 90 {
		task := model.DAGTask{ID: fmt.Sprint("t", k)}
		for range 5 {
			task.CostS = append(task.CostS, float64(5+rng.IntN(40)))
		}
		d.Tasks = append(d.Tasks, task)
		for from := range k {
			if rng.IntN(20) == 0 {
				d.Edges = append(d.Edges, model.DAGEdge{From: fmt.Sprint("t", from), To: fmt.Sprint("t", k), Data: float64(1 + rng.IntN(30))})
			}
		}
	}
	d.Network.Bandwidth = 1
	text, err := json.Marshal(&d)
	if err != nil {
		panic(err)
	}
	return text
}

// body returns a request of keys and values.
func body(pairs ...any) []byte {
	all := map[string]any{}
	for k := 0; k < len(pairs); k += 2 {
		all[pairs[k].(string)] = pairs[k+1]
	}
	text, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return text
}

// send sends a request and returns the status code and the answer.
func send(t testing.TB, method, url string, text []byte, header ...string) (int, []byte, http.Header) {
	t.Helper()
	r := require.Value(http.NewRequest(method, url, bytes.NewReader(text)))(t)
	r.Header.Set("Content-Type", "application/json")
	for k := 0; k < len(header); k += 2 {
		r.Header.Set(header[k], header[k+1])
		if header[k] == "Host" {
			r.Host = header[k+1]
		}
	}
	answer := require.Value(http.DefaultClient.Do(r))(t)
	defer answer.Body.Close()
	return answer.StatusCode, require.Value(io.ReadAll(answer.Body))(t), answer.Header
}

// answers sends a request, reports another status code or words that the answer lacks, and returns it.
func answers(t testing.TB, code int, method, url string, text []byte, words ...string) []byte {
	t.Helper()
	got, answer, _ := send(t, method, url, text)
	if got != code {
		t.Errorf("%s %s: %d, want %d: %.1000s", method, url, got, code, answer)
	}
	require.Says(t, url, string(answer), words...)
	return answer
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: it doesn't come to that", what)
		}
	}
}

// Each problem is solved to the value of gapwise.Solve, judged, bounded and explained.
func TestEachProblem(t *testing.T) {
	t.Parallel()
	_, url := started(t, usual())
	for _, name := range examples {
		text := example(t, name)
		in := require.Value(model.DecodeInstance(text))(t)
		want := require.Value(gapwise.Solve(context.Background(), in,
			gapwise.Options{Settings: model.Settings{Seed: 1}}))(t)
		code, answer, _ := send(t, "POST", url+"/v1/solve", body("instance", text))
		got, err := model.DecodeResult(answer)
		if code != 200 || err != nil || got.Status != want.Status || got.Objective != want.Objective || got.InstanceHash != want.InstanceHash || bytes.Count(answer, []byte("\n")) != 1 {
			t.Errorf("%s: solve: %d, %v, want %v: %s", name, code, err, want.Objective, answer)
			continue
		}
		valid(t, "result", answer)
		var v struct {
			Accepted  bool
			Objective float64
		}
		solution, _ := json.Marshal(got.Solution)
		for what, s := range map[string][]byte{"result": answer, "solution": solution} {
			code, judged, _ := send(t, "POST", url+"/v1/verify", body("instance", text, "solution", json.RawMessage(s)))
			if err := json.Unmarshal(judged, &v); code != 200 || err != nil || !v.Accepted || model.Gap(v.Objective, want.Objective) > 1e-12 {
				t.Errorf("%s: verify %s: %d, %v: %s", name, what, code, err, judged)
			}
			valid(t, "Verdict", judged)
		}
		list := answers(t, 200, "POST", url+"/v1/bound", body("instance", text))
		var b ask.BoundAnswer
		if err := json.Unmarshal(list, &b); err != nil || len(b.Bounds) == 0 {
			t.Errorf("%s: bound: %v: %s", name, err, list)
		}
		valid(t, "BoundAnswer", list)
		for _, q := range [][]byte{body("instance", text, "result", json.RawMessage(answer)), body("instance", text)} {
			valid(t, "Explanation", answers(t, 200, "POST", url+"/v1/explain", q, `"why":[`))
		}
	}
}

// A wrong solution is answered with its errors, not with an error.
func TestWrongSolution(t *testing.T) {
	_, url := started(t, usual())
	text := example(t, "six-tasks")
	_, answer, _ := send(t, "POST", url+"/v1/solve", body("instance", text))
	forged := bytes.Replace(answer, []byte(`"status":"optimal"`), []byte(`"status":"feasible"`), 1)
	forged = bytes.Replace(forged, []byte(`"objective":`), []byte(`"objective":1`), 1)
	answers(t, 200, "POST", url+"/v1/verify", body("instance", text, "solution", json.RawMessage(forged)), `"accepted":false`)
	answers(t, 422, "POST", url+"/v1/explain", body("instance", text, "result", json.RawMessage(forged)))
}

// What a solution leaves out may follow in an infeasible way alone. The judge says so.
func TestWrongCompletion(t *testing.T) {
	t.Parallel()
	_, url := started(t, usual())
	for name, solution := range map[string]string{
		"three-jobs":     `{"runs":[{"id":"a","segments":[{"start_s":0}]},{"id":"b","segments":[{"start_s":0}]},{"id":"c","segments":[{"start_s":0}]}]}`,
		"eight-requests": `{"bookings":[{"id":"r1","start_s":20},{"id":"r2","start_s":20},{"id":"r3","start_s":20},{"id":"r4","start_s":15}]}`,
		"six-tasks": `{"tasks":[{"id":"6","machine":"P1"},{"id":"5","machine":"P1"},{"id":"4","machine":"P1"},{"id":"3","machine":"P1"},
			{"id":"2","machine":"P1"},{"id":"1","machine":"P1"}]}`,
	} {
		answer := answers(t, 200, "POST", url+"/v1/verify", body("instance", example(t, name), "solution", json.RawMessage(solution)), `"accepted":false`, `"constraint":`)
		valid(t, "Verdict", answer)
		answers(t, 422, "POST", url+"/v1/explain", body("instance", example(t, name), "result", json.RawMessage(solution)), "the judge refuses the result")
	}
}

// A bare solution is explained with the quick bounds; without any the list of reasons is empty.
func TestExplainBare(t *testing.T) {
	t.Parallel()
	_, url := started(t, usual())
	six := example(t, "six-tasks")
	bare := `{"tasks":[{"id":"1","machine":"P1"},{"id":"2","machine":"P1"},{"id":"3","machine":"P1"},{"id":"4","machine":"P1"},{"id":"5","machine":"P1"},{"id":"6","machine":"P1"}]}`
	valid(t, "Explanation", answers(t, 200, "POST", url+"/v1/explain",
		body("instance", six, "result", json.RawMessage(bare), "options", map[string]any{"time_limit_s": 3, "seed": 2}), `"bound":2`, `"why":[{`, "No solution has less than 2")) // 23, without HiGHS 22
}

// A start may place only some of the instance, in gapwise's own format and as other programs write it.
func TestPartialStart(t *testing.T) {
	t.Parallel()
	_, url := started(t, usual())
	for name, starts := range map[string][]string{
		"vms":            {`{"kind":"vcsched","version":1,"jobs":[{"id":"a","hosts":[0]}]}`, `{"jobs":[{"id":"a","hosts":[0],"cpu":[0.5]}]}`},
		"six-tasks":      {`{"tasks":[{"id":"1","machine":"P1"}]}`, `{"kind":"dag","version":1,"tasks":[{"id":"2","machine":"P1","start_s":0}]}`},
		"three-jobs":     {`{"runs":[{"id":"b","segments":[{"start_s":10}]}]}`},
		"eight-requests": {`{"bookings":[{"id":"r3","start_s":20}]}`},
	} {
		for _, start := range starts {
			answers(t, 200, "POST", url+"/v1/solve", body("instance", example(t, name), "start", json.RawMessage(start)), `"solution":{`)
		}
	}
}

// A proof is replayed; a forged one is refused with the line.
func TestCheck(t *testing.T) {
	_, url := started(t, usual())
	text := example(t, "six-tasks")
	in := require.Value(model.DecodeInstance(text))(t)
	var proof strings.Builder
	require.OK(t, require.Err(gapwise.Solve(context.Background(), in,
		gapwise.Options{Settings: model.Settings{Seed: 1, Proof: &model.ProofWriter{Writer: &proof}}})))
	valid(t, "CheckAnswer", answers(t, 200, "POST", url+"/v1/check", body("instance", text, "proof", proof.String()),
		`"accepted":true,"claim":"no schedule`))
	half := proof.String()[:proof.Len()/2]
	answers(t, 200, "POST", url+"/v1/check", body("instance", text, "proof", half), `"accepted":false`, `"reason":`)
}

// Infeasible is an answer: a proof.
func TestInfeasible(t *testing.T) {
	t.Parallel()
	_, url := started(t, usual())
	text := json.RawMessage(`{"kind":"vcsched","version":1,"name":"full","hosts":1,"jobs":[{"id":"a","tasks":1,"cpu":0.5,"memory":0.6},{"id":"b","tasks":1,"cpu":0.5,"memory":0.6}]}`)
	for path, want := range map[string]string{"solve": `"status":"infeasible"`, "bound": `"infeasible":true`, "explain": `"conflict":`} {
		answers(t, 200, "POST", url+"/v1/"+path, body("instance", text), want)
	}
}

// A request that isn't served is refused with a line that names the error, its place and the fix.
func TestRefused(t *testing.T) {
	t.Parallel()
	_, url := started(t, usual())
	six := example(t, "six-tasks")
	with := func(key string, value any) []byte {
		return body("instance", six, "options", map[string]any{key: value})
	}
	many := json.RawMessage(`{"kind":"vcsched","version":1,"name":"many","hosts":10000000,"jobs":[{"id":"a","tasks":1,"cpu":0.5,"memory":0.6}]}`)
	for _, c := range []struct {
		what, method, path string
		text               []byte
		header             []string
		code               int
		where              string
	}{
		{"no body", "POST", "/v1/solve", nil, nil, 400, "body"},
		{"no JSON", "POST", "/v1/solve", []byte("{"), nil, 400, "body"},
		{"a list", "POST", "/v1/solve", []byte("[]"), nil, 400, "body"},
		{"two objects", "POST", "/v1/solve", []byte(string(body("instance", six)) + "{}"), nil, 400, "body"},
		{"an unknown key", "POST", "/v1/solve", body("instance", six, "file", "/etc/passwd"), nil, 400, "body"},
		{"another case", "POST", "/v1/solve", body("Instance", six), nil, 400, "body"},
		{"a key twice", "POST", "/v1/solve", []byte(`{"options":{},"options":{},"instance":` + string(six) + `}`), nil, 400, "body"},
		{"no instance", "POST", "/v1/solve", []byte(`{}`), nil, 400, "body"},
		{"deep", "POST", "/v1/solve", []byte(`{"instance":` + strings.Repeat("[", 100000)), nil, 400, "body"},
		{"null", "POST", "/v1/solve", []byte(`{"instance":null}`), nil, 400, "instance"},
		{"a path", "POST", "/v1/solve", body("instance", "/etc/passwd"), nil, 400, "instance"},
		{"a wrong instance", "POST", "/v1/bound", []byte(`{"instance":{"kind":"vcsched","version":1,"name":"x","hosts":0,"jobs":[]}}`), nil, 400, "instance"},
		{"too many hosts", "POST", "/v1/solve", body("instance", many), nil, 413, "body"},
		{"a plan", "POST", "/v1/bench", []byte("{}"), nil, 404, "path"},
		{"another method", "GET", "/v1/solve", nil, nil, 405, "method"},
		{"another type", "POST", "/v1/solve", []byte("{}"), []string{"Content-Type", "text/plain"}, 415, "header Content-Type"},
		{"another host", "GET", "/healthz", nil, []string{"Host", "example.org"}, 421, "header Host"},
		{"another stream", "POST", "/v1/solve?stream=x", body("instance", six), nil, 400, "query stream"},
		{"no such job", "GET", "/v1/jobs/x", nil, nil, 404, "path"},
		{"a large body", "POST", "/v1/solve", bytes.Repeat([]byte(" "), 1<<20+1), nil, 413, "body"},
		{"a command", "POST", "/v1/solve", with("algorithm", "cmd:touch /tmp/x"), nil, 400, "options.algorithm"},
		{"a policy", "POST", "/v1/solve", with("algorithm", "online:touch /tmp/x"), nil, 400, "options.algorithm"},
		{"an address", "POST", "/v1/solve", with("algorithm", "batsim:tcp://127.0.0.1:1"), nil, 400, "options.algorithm"},
		{"a program", "POST", "/v1/solve", with("algorithm", "cbc"), nil, 400, "options.algorithm"},
		{"all", "POST", "/v1/solve", with("algorithm", "all"), nil, 400, "options.algorithm"},
		{"a program as engine", "POST", "/v1/jobs", body("instance", six, "options", map[string]any{"algorithm": "exact", "engine": "glpsol"}), nil, 400, "options.engine"},
		{"a command as engine", "POST", "/v1/jobs", body("instance", six, "options", map[string]any{"algorithm": "exact", "engine": "search,mps:touch /tmp/x"}), nil, 400, "options.engine"},
		{"a command explained", "POST", "/v1/explain", with("algorithm", "cmd:touch /tmp/x"), nil, 400, "options.algorithm"},
		{"an engine of another", "POST", "/v1/solve", with("engine", "search"), nil, 400, "options"},
		{"a long time", "POST", "/v1/solve", with("time_limit_s", 61), nil, 400, "options.time_limit_s"},
		{"a negative time", "POST", "/v1/bound", with("time_limit_s", -1), nil, 400, "options.time_limit_s"},
		{"many threads", "POST", "/v1/solve", with("threads", 3), nil, 400, "options.threads"},
		{"a gap of 1", "POST", "/v1/solve", with("gap", 1), nil, 400, "options.gap"},
		{"a parameter", "POST", "/v1/solve", with("parameters", map[string]string{"x": "1"}), nil, 400, "options.parameters"},
		{"a wrong start", "POST", "/v1/solve", body("instance", six, "start", map[string]any{"kind": "dag"}), nil, 400, "start"},
		{"a start of another instance", "POST", "/v1/solve", body("instance", six, "start", json.RawMessage(`{"tasks":[{"id":"z","machine":"P1","start_s":0}],"transfers":[]}`)), nil, 422, "start"},
		{"an unknown option in the query", "POST", "/v1/solve?tasks=3", body("instance", six), nil, 400, "query tasks"},
		{"a job as a stream", "POST", "/v1/jobs?stream=lines", body("instance", six), nil, 400, "query stream"},
		{"bounds by the query", "POST", "/v1/bound?time_limit_s=3", body("instance", six), nil, 400, "query time_limit_s"},
		{"a result solved again", "POST", "/v1/explain", body("instance", six, "result", json.RawMessage(`{}`), "options", map[string]any{"algorithm": "heft"}), nil, 400, "options"},
		{"an empty proof", "POST", "/v1/check", body("instance", six, "proof", ""), nil, 400, "body"},
		{"no solution", "POST", "/v1/verify", body("instance", six), nil, 400, "body"},
		{"a wrong solution", "POST", "/v1/verify", body("instance", six, "solution", 1), nil, 400, "solution"},
		{"a tolerance of 1", "POST", "/v1/verify", body("instance", six, "solution", 1, "tolerance", 1), nil, 400, "tolerance"},
		{"no proof", "POST", "/v1/check", body("instance", six), nil, 400, "body"},
	} {
		code, answer, _ := send(t, c.method, url+c.path, c.text, c.header...)
		var f Failure
		if err := json.Unmarshal(answer, &f); err != nil || code != c.code || f.Status != c.code || f.Where != c.where || f.What == "" || f.Remedy == "" || bytes.Count(answer, []byte("\n")) != 1 {
			t.Errorf("%s: %d, want %d at %s: %s", c.what, code, c.code, c.where, answer)
		}
		valid(t, "Failure", answer)
	}
	// A body of unknown length is read no further than it may go.
	r := require.Value(http.NewRequest("POST", url+"/v1/solve",
		io.MultiReader(strings.NewReader("{"), bytes.NewReader(make([]byte, 3<<20)))))(t)
	r.Header.Set("Content-Type", "application/json")
	if answer, err := http.DefaultClient.Do(r); err == nil { // else the service has closed the connection before
		if answer.Body.Close(); answer.StatusCode != 413 {
			t.Errorf("an endless body: %s", answer.Status)
		}
	}
}

// A small body with a large instance or answer is refused before it is solved, whatever its kind: hosts, tasks,
// processors and the like that are counts, and names that an answer repeats. An instance that weighs as much as its
// text is taken.
func TestWeight(t *testing.T) {
	t.Parallel()
	_, url := started(t, usual())
	text := func(format string, args ...any) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`{"version":1,"name":"x",`+format+"}", args...))
	}
	graph := func(machines, id, tasks int, speed, cost string) json.RawMessage {
		var all [2][]string
		for k := range machines {
			all[0] = append(all[0], fmt.Sprintf(`{"id":"m%s%d"%s}`, strings.Repeat("m", id), k, speed))
		}
		for k := range tasks {
			all[1] = append(all[1], fmt.Sprintf(`{"id":"%d",%s}`, k, cost))
		}
		return text(`"kind":"dag","machines":[%s],"tasks":[%s],"edges":[]`, strings.Join(all[0], ","), strings.Join(all[1], ","))
	}
	cluster := func(host string, tasks int, more string) json.RawMessage {
		return text(`"kind":"consolidation","resources":["c"],"hosts":[{"id":%q,"capacity":[9007199254740991],"price":1}],"jobs":[{"id":"j","tasks":%d,"needs":[1]}]%s`, host, tasks, more)
	}
	for what, x := range map[string]struct {
		in   json.RawMessage
		code int
	}{
		"hosts":      {text(`"kind":"vcsched","hosts":10000000,"jobs":[{"id":"a","tasks":1,"cpu":0.5,"memory":0.6}]`), 413},
		"VMs":        {text(`"kind":"vcsched","hosts":1,"jobs":[{"id":"a","tasks":10000000,"cpu":0,"memory":0}]`), 413},
		"processors": {text(`"kind":"batch","processors":10000000,"tiers":1,"jobs":[{"id":"1","submit_s":0,"runtime_s":1,"estimate_s":1,"processes":1}]`), 413},
		"PEs":        {text(`"kind":"reservation","pes":10000000,"requests":[{"id":"r","arrival_s":0,"ready_s":0,"duration_s":1,"deadline_s":9,"pes":1}]`), 413},
		"slots":      {text(`"kind":"tvc","fat_tree":{"k":40,"slots":60,"link_mbps":1000},"queue":false,"requests":[{"id":"r","arrival_s":0,"vms":1,"bandwidth_mbps":1,"duration_s":1}]`), 413},
		"tasks":      {cluster("h", 10_000_000, ""), 413},
		"host ids":   {cluster(strings.Repeat("h", 100_000), 400, ""), 413},
		"offers": {cluster("h", 6000, `,"offers":[{"id":"a","capacity":[1],"price":1,"count":10000000},{"id":"b","capacity":[1],"price":1,"count":10000000},
			{"id":"c","capacity":[1],"price":1,"count":10000000}]`), 413},
		"offer ids":   {cluster("h", 400, fmt.Sprintf(`,"offers":[{"id":%q,"capacity":[1],"price":1,"count":1}]`, strings.Repeat("o", 100_000))), 413},
		"machine ids": {graph(1, 200_000, 400, "", `"cost_s":[1]`), 413},
		"costs":       {graph(2000, 1, 2000, `,"speed":1`, `"work":1`), 413},
		"a cluster":   {cluster("h", 100, `,"offers":[{"id":"a","capacity":[1],"price":1,"count":10000000}]`), 200},
		"a graph":     {graph(3, 9, 2000, "", `"cost_s":[1,2,3]`), 200},
	} {
		if code, answer, _ := send(t, "POST", url+"/v1/solve", body("instance", x.in, "options", map[string]any{"effort": 1})); code != x.code {
			t.Errorf("%s: %d, want %d: %.300s", what, code, x.code, answer)
		}
	}
}

// No answer is longer than four times the largest body: as a whole, as the last of a stream, and of a job.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	s, url := started(t, usual())
	in := body("instance", example(t, "six-tasks"))
	for _, path := range []string{"/v1/solve", "/v1/explain", "/v1/bound", "/v1/solve?stream=lines"} {
		s.longest = 1 << 20
		code, whole, _ := send(t, "POST", url+path, in)
		require.Is(t, 200, code, path)
		s.longest = int64(len(whole)) / 3
		code, answer, _ := send(t, "POST", url+path, in)
		last := answer[bytes.LastIndexByte(bytes.TrimSpace(answer), '\n')+1:]
		if strings.Contains(path, "stream") {
			if code != 200 || !strings.HasPrefix(string(last), `{"error":{"status":422,`) {
				t.Errorf("%s: %d %.300s", path, code, answer)
			}
			continue
		}
		if code != 422 || !strings.Contains(string(answer), `"where":"answer"`) {
			t.Errorf("%s: %d %.300s", path, code, answer)
		}
		valid(t, "Failure", answer)
	}
	s.longest = 200 // the job itself has more, and not its first state alone
	code, answer, header := send(t, "POST", url+"/v1/jobs", in)
	if code != 202 {
		t.Fatalf("%d %s", code, answer)
	}
	eventually(t, "the job fails", func() bool {
		_, answer, _ = send(t, "GET", url+header.Get("Location"), nil)
		return strings.Contains(string(answer), `"where":"answer"`)
	})
}

// If there is a token everything but health and description demands it, and any host will do.
func TestToken(t *testing.T) {
	t.Parallel()
	c := usual()
	if c.Token = "short"; c.Check() == nil {
		t.Error("a token of five characters is taken")
	}
	c.Token = "0123456789abcdef"
	_, url := started(t, c)
	q := body("instance", example(t, "six-tasks"))
	for path, want := range map[string]int{"/healthz": 200, "/v1/openapi.json": 200, "/metrics": 401, "/v1/jobs/x": 401, "/nothing": 401} {
		if code, answer, _ := send(t, "GET", url+path, nil, "Host", "example.org"); code != want {
			t.Errorf("%s without a token: %d: %s", path, code, answer)
		}
	}
	for _, given := range []string{"", "Bearer ", "Bearer 0123456789abcdeF", "Basic 0123456789abcdef", "0123456789abcdef"} {
		if code, _, h := send(t, "POST", url+"/v1/solve", q, "Authorization", given); code != 401 || h.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%q: %d", given, code)
		}
	}
	for _, scheme := range []string{"Bearer ", "bearer "} {
		if code, answer, _ := send(t, "POST", url+"/v1/solve", q, "Authorization", scheme+c.Token); code != 200 {
			t.Errorf("with the token: %d: %s", code, answer)
		}
	}
	for address, want := range map[string]bool{"127.0.0.1:80": true, "localhost:1": true, "[::1]:80": true, "127.9.9.9": true,
		":80": false, "0.0.0.0:80": false, "[::]:80": false, "10.0.0.1:80": false, "localhost.example.org:80": false, "": false} {
		require.Same(t, address+" is a loopback", want, Loopback(address))
	}
}

// Progress is streamed, and the result at the end, in both shapes.
func TestStreams(t *testing.T) {
	t.Parallel()
	_, url := started(t, usual())
	q := body("instance", long(), "options", map[string]any{"time_limit_s": 0.5})
	_, answer, h := send(t, "POST", url+"/v1/solve?stream=lines", q)
	var names []string
	for line := range strings.Lines(string(answer)) {
		var one map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &one); err != nil || len(one) != 1 {
			t.Fatalf("%v: %s", err, line)
		}
		for name, x := range one {
			names = append(names, name)
			if name == "progress" {
				valid(t, "Progress", x)
			} else if r, err := model.DecodeResult(x); err != nil || r.Solution == nil {
				t.Errorf("%v: %s", err, x)
			}
		}
	}
	if n := len(names); n < 2 || names[0] != "progress" || names[n-1] != "result" || h.Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("the lines are %v", names)
	}
	for accept, want := range map[string]string{
		"application/json, text/event-stream;q=0.1": "application/json", "text/event-stream;q=0": "application/json", "*/*": "application/json",
		"application/json;q=0.5, application/x-ndjson": "application/x-ndjson", "application/json, text/event-stream": "text/event-stream",
	} {
		_, _, h := send(t, "POST", url+"/v1/solve", body("instance", example(t, "vms")), "Accept", accept)
		require.Same(t, accept, want, h.Get("Content-Type"))
	}
	code, answer, h := send(t, "POST", url+"/v1/solve", q, "Accept", "text/event-stream")
	parts := strings.Split(strings.TrimSuffix(string(answer), "\n\n"), "\n\n")
	if last := parts[len(parts)-1]; code != 200 || len(parts) < 2 || h.Get("Content-Type") != "text/event-stream" ||
		!strings.HasPrefix(parts[0], "event: progress\ndata: {") || !strings.HasPrefix(last, "event: result\ndata: {") {
		t.Errorf("%d: the events are %.300s", code, answer)
	}
	if code, answer, h := send(t, "POST", url+"/v1/solve?stream=events", []byte("{")); code != 400 || h.Get("Content-Type") != "application/json" {
		t.Errorf("a wrong request: %d: %s", code, answer)
	}
}

// A job reports its state, ends by itself or is cancelled with its best so far, and is forgotten.
func TestJobs(t *testing.T) {
	t.Parallel()
	s, url := started(t, usual())
	post := func(q []byte) Job {
		code, answer, h := send(t, "POST", url+"/v1/jobs", q)
		var j Job
		if err := json.Unmarshal(answer, &j); err != nil || code != 202 || h.Get("Location") != "/v1/jobs/"+j.ID || len(j.ID) < 20 {
			t.Fatalf("%d, %v: %s", code, err, answer)
		}
		valid(t, "Job", answer)
		return j
	}
	ask := func(method, id string) (j Job, code int) {
		code, answer, _ := send(t, method, url+"/v1/jobs/"+id, nil)
		if err := json.Unmarshal(answer, &j); code == 200 && err != nil {
			t.Fatal(err)
		} else if code == 200 {
			valid(t, "Job", answer)
		}
		return j, code
	}
	quick := post(body("instance", example(t, "six-tasks")))
	eventually(t, "done", func() bool { j, _ := ask("GET", quick.ID); return j.State == done })
	j, _ := ask("GET", quick.ID)
	if r, err := model.DecodeResult(j.Result); err != nil || r.Status != model.StatusOptimal || j.Progress.Objective == nil || *j.Progress.Objective != r.Objective {
		t.Errorf("%v: %+v", err, j)
	}
	if _, code := ask("DELETE", quick.ID); code != 200 {
		t.Errorf("forgetting: %d", code)
	}
	if _, code := ask("GET", quick.ID); code != 404 {
		t.Errorf("forgotten: %d", code)
	}
	slow := post(body("instance", long(), "options", map[string]any{"time_limit_s": 60, "algorithm": "exact"}))
	eventually(t, "a solution and a bound", func() bool {
		j, _ := ask("GET", slow.ID)
		return j.State == running && j.Progress.Objective != nil && j.Progress.Bound != nil && j.Progress.Gap != nil
	})
	if _, code := ask("DELETE", slow.ID); code != 200 {
		t.Errorf("cancelling: %d", code)
	}
	eventually(t, "cancelled", func() bool { j, _ := ask("GET", slow.ID); return j.State == cancelled })
	j, _ = ask("GET", slow.ID)
	if r, err := model.DecodeResult(j.Result); err != nil || r.Solution == nil || r.Unverified {
		t.Errorf("%v: %s", err, j.Result)
	}
	// The oldest are forgotten when there are too many.
	first := post(body("instance", example(t, "six-tasks")))
	eventually(t, "done", func() bool { j, _ := ask("GET", first.ID); return j.State == done })
	for range s.Jobs {
		next := post(body("instance", example(t, "six-tasks")))
		eventually(t, "done", func() bool { j, _ := ask("GET", next.ID); return j.State == done })
	}
	if _, code := ask("GET", first.ID); code != 404 || len(s.jobs.all) != s.Jobs || s.jobs.size <= 0 {
		t.Errorf("%d, %d jobs are kept", code, len(s.jobs.all))
	}
	s.jobs.keep = 1
	if _, code := ask("GET", first.ID); code != 404 || len(s.jobs.all) != 0 || s.jobs.size != 0 {
		t.Errorf("%d jobs of %d bytes are kept for ever", len(s.jobs.all), s.jobs.size)
	}
}

// Requests beyond the ones that may wait are asked to come again; a client that leaves gives the slot back.
func TestTooMany(t *testing.T) {
	t.Parallel()
	c := usual()
	c.AtOnce, c.Waiting = 1, 1
	s, url := started(t, c)
	q := body("instance", long(), "options", map[string]any{"time_limit_s": 60, "algorithm": "exact"})
	ctx, leave := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			r, err := http.NewRequestWithContext(ctx, "POST", url+"/v1/solve", bytes.NewReader(q))
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("Content-Type", "application/json")
			if answer, err := http.DefaultClient.Do(r); err == nil {
				answer.Body.Close()
			}
		})
	}
	eventually(t, "one runs, one waits", func() bool { return s.gate.inside.Load() == 2 && s.figures.running.Load() == 1 })
	code, answer, h := send(t, "POST", url+"/v1/solve", q)
	if code != 429 || h.Get("Retry-After") != "1" {
		t.Errorf("%d: %s", code, answer)
	}
	answers(t, 200, "GET", url+"/healthz", nil)
	leave()
	all.Wait()
	eventually(t, "both are gone", func() bool { return !s.gate.busy() && s.figures.running.Load() == 0 && s.gate.weight.Load() == 0 })
	s.gate.mostWeight = 10
	if code, answer, _ := send(t, "POST", url+"/v1/solve", q); code != 429 || s.gate.weight.Load() != 0 {
		t.Errorf("too heavy: %d: %s", code, answer)
	}
	s.gate.mostWeight, s.gate.mostLive = 1<<30, 1
	if code, answer, _ := send(t, "POST", url+"/v1/solve", q); code != 429 || s.gate.busy() {
		t.Errorf("too much memory: %d: %s", code, answer)
	}
}

// Of 200 solves at once none is lost.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	s, url := started(t, usual())
	var all sync.WaitGroup
	for k := range 200 {
		all.Go(func() {
			q := body("instance", example(t, examples[k%len(examples)]), "options", map[string]any{"algorithm": "exact", "seed": k})
			code, answer, _ := send(t, "POST", url+"/v1/solve", q)
			if r, err := model.DecodeResult(answer); code != 200 || err != nil || r.Status != model.StatusOptimal || r.Seed != uint64(k) {
				t.Errorf("%d: %d, %v: %s", k, code, err, answer)
			}
		})
	}
	all.Wait()
	if s.gate.busy() || s.gate.weight.Load() != 0 {
		t.Error("places aren't given back")
	}
	text := answers(t, 200, "GET", url+"/metrics", nil, "gapwise_requests_total{route=\"POST /v1/solve\",code=\"200\"} 200\n",
		"gapwise_solve_seconds_count 200\n", "gapwise_running 0\n")
	for line := range strings.Lines(string(text)) {
		var name string
		var value float64
		if !strings.HasPrefix(line, "# ") {
			if _, err := fmt.Sscanf(line[strings.LastIndexByte(line, ' '):], "%g", &value); err != nil || !strings.HasPrefix(line, "gapwise_") {
				t.Errorf("%v, %s: %q", err, name, line)
			}
		}
	}
}

// Memory and goroutines don't grow from request to request.
func TestMemoryIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	s, url := started(t, usual())
	q := body("instance", example(t, "six-tasks"), "options", map[string]any{"algorithm": "heft"})
	alive := func(n int) (uint64, int) {
		for range n {
			answers(t, 200, "POST", url+"/v1/solve", q)
			answers(t, 202, "POST", url+"/v1/jobs", q)
		}
		eventually(t, "all are done", func() bool { return !s.gate.busy() })
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, runtime.NumGoroutine()
	}
	before, goroutines := alive(500)
	after, more := alive(2000)
	if after > before+1<<20 || more > goroutines+5 {
		t.Errorf("%d bytes and %d goroutines become %d and %d", before, goroutines, after, more)
	}
}

// When the service is asked to end it takes nothing new. Running work returns its best so far after the grace, and a
// job's result can be fetched.
func TestDrain(t *testing.T) {
	t.Parallel()
	c := usual()
	c.Grace = 300 * time.Millisecond
	s := New(c)
	l := require.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	url := "http://" + l.Addr().String()
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	q := body("instance", long(), "options", map[string]any{"time_limit_s": 60, "algorithm": "exact"})
	answered := make(chan []byte, 1)
	go func() {
		_, answer, _ := send(t, "POST", url+"/v1/solve", q)
		answered <- answer
	}()
	_, answer, _ := send(t, "POST", url+"/v1/jobs", q)
	var j Job
	require.OK(t, json.Unmarshal(answer, &j))
	eventually(t, "both run", func() bool { return s.figures.running.Load() == 2 })
	waits := make(chan int, 1) // behind the two
	go func() {
		code, _, _ := send(t, "POST", url+"/v1/solve", q)
		waits <- code
	}()
	eventually(t, "one waits", func() bool { return s.gate.inside.Load() == 3 })
	end()
	eventually(t, "it drains", s.draining.Load)
	if code, answer, h := send(t, "POST", url+"/v1/solve", q); code != 503 || h.Get("Retry-After") == "" {
		t.Errorf("new work: %d: %s", code, answer)
	}
	answers(t, 503, "GET", url+"/healthz", nil)
	if r, err := model.DecodeResult(<-answered); err != nil || r.Solution == nil {
		t.Errorf("the solve: %v", err)
	}
	require.Same(t, "what waits is answered", 503, <-waits)
	eventually(t, "the job's result", func() bool {
		_, answer, _ := send(t, "GET", url+"/v1/jobs/"+j.ID, nil)
		return json.Unmarshal(answer, &j) == nil && j.State == done && len(j.Result) > 0
	})
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A client that leaves in the middle of a stream stops its solve; one that sends half a
// body holds no slot.
func TestClientsThatLeave(t *testing.T) {
	t.Parallel()
	s, url := started(t, usual())
	q := body("instance", long(), "options", map[string]any{"time_limit_s": 60, "algorithm": "exact"})
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	r := require.Value(http.NewRequestWithContext(ctx, "POST", url+"/v1/solve?stream=lines", bytes.NewReader(q)))(t)
	r.Header.Set("Content-Type", "application/json")
	answer := require.Value(http.DefaultClient.Do(r))(t)
	defer answer.Body.Close()
	if line, err := bufio.NewReader(answer.Body).ReadString('\n'); err != nil || !strings.HasPrefix(line, `{"progress":`) {
		t.Errorf("%v: %s", err, line)
	}
	leave()
	eventually(t, "the solve has stopped", func() bool { return !s.gate.busy() && s.figures.running.Load() == 0 })

	half := require.Value(net.Dial("tcp", strings.TrimPrefix(url, "http://")))(t)
	fmt.Fprintf(half, "POST /v1/solve HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	eventually(t, "half a body is read", s.gate.busy)
	require.Same(t, "slots in use", 0, s.figures.running.Load())
	half.Close()
	eventually(t, "it is gone", func() bool { return !s.gate.busy() && s.gate.weight.Load() == 0 })
}

// Any input is decoded or refused, and a decoded one passes every check twice.
func FuzzRequest(f *testing.F) {
	for _, name := range examples {
		f.Add([]byte(body("instance", example(f, name), "options", map[string]any{"algorithm": "auto", "time_limit_s": 1.5, "seed": 7})))
	}
	f.Add([]byte(`{"instance":{"kind":"vcsched","version":1,"name":"x","hosts":10000000,"jobs":[]},"options":{"parameters":{"a":"b"}}}`))
	s := New(usual())
	f.Fuzz(func(t *testing.T, text []byte) {
		r := httptest.NewRequest("POST", "http://localhost/v1/solve", bytes.NewReader(text))
		r.Header.Set("Content-Type", "application/json")
		x, err := s.task(httptest.NewRecorder(), r)
		if err != nil {
			if f := failureOf(err, "body"); f.Status < 400 || f.Status >= 500 || strings.Contains(f.What, "\n") || f.Remedy == "" {
				t.Errorf("%+v", f)
			}
		} else {
			if err := x.in.Validate(); err != nil {
				t.Error(err)
			}
			if x.o.TimeLimit <= 0 || x.o.TimeLimit > s.TimeLimit || strings.ContainsAny(x.o.Algorithm+x.o.Engine, ": /") {
				t.Errorf("%+v", x.o)
			}
			x.leave()
		}
		if s.gate.busy() || s.gate.weight.Load() != 0 {
			t.Error("the request still holds a place")
		}
	})
}

// The playground, where a build has it, is at all paths that are no other's, without a token.
func TestPage(t *testing.T) {
	c := Config{Token: strings.Repeat("t", ShortestToken), Body: 1 << 20, Memory: 1 << 28, TimeLimit: time.Second, AtOnce: 1, Threads: 1, Jobs: 1, Keep: time.Minute,
		Page: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte("page " + r.URL.Path)) })}
	s := New(c)
	for _, x := range []struct {
		method, path, body string
		code               int
	}{{"GET", "/", "page /", 200}, {"GET", "/app.js", "page /app.js", 200}, {"GET", "/healthz", "ok\n", 200}, {"GET", "/v1/none", "", 401}, {"POST", "/", "", 401}, {"GET", "/metrics", "", 401}} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(x.method, x.path, nil))
		if w.Code != x.code || x.body != "" && w.Body.String() != x.body {
			t.Errorf("%s %s: %d %q", x.method, x.path, w.Code, w.Body)
		}
	}
}
