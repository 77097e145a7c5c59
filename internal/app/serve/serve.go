// SPDX-License-Identifier: MIT

// Package serve is gapwise as a service: HTTP and JSON. Every solution comes from
// gapwise.Solve, so the judge has checked it. Requests carry data alone: no path of a
// file, no command, no plan.
package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gapwise/gapwise/internal/app/ask"
	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/model"
)

// Config holds the limits of a service.
type Config struct {
	Token     string        // demanded of each request, if not empty
	Body      int64         // largest body and largest weight of an instance, in bytes
	Memory    int64         // soft limit of the process, in bytes; a sixteenth is for bodies
	TimeLimit time.Duration // longest time of one solve
	AtOnce    int           // solves that run at once
	Waiting   int           // requests that wait for one of them to end
	Threads   int           // most threads of a solve
	Jobs      int           // finished jobs that are kept
	Keep      time.Duration // for how long
	Grace     time.Duration // for running work when the service is asked to end
	// Generate and Convert make instances as the commands of these names do, by their flags; nil: the service doesn't. The
	// first one refuses those that take more than some bytes.
	Generate func(options map[string]string, most int64) (model.Instance, error)
	Convert  func(name string, data []byte, options map[string]string) (model.Instance, error)
	// Draw writes a picture of a judged result, as gapwise gantt does by its flags; nil: the service draws nothing. A PNG has
	// at most some pixels.
	Draw func(ctx context.Context, w io.Writer, in model.Instance, r model.Result, format string, pixels int64, options map[string]string) error
	// Plan makes a plan for a cluster, as gapwise kubernetes plan does by its flags; nil: the service makes none. The
	// texts of files have the names that options give.
	Plan func(ctx context.Context, c *kubernetes.Cluster, files, options map[string]string) (*kubernetes.Plan, error)
	Page http.Handler // serves all other paths, outside /v1/; nil: nothing
}

// ShortestToken is the least length of a token.
const ShortestToken = 16

// Check reports limits that can't be.
func (c Config) Check() error {
	switch {
	case c.Token != "" && len(c.Token) < ShortestToken:
		return fmt.Errorf("the token has %d characters, must have %d at least: openssl rand -hex 16 makes one", len(c.Token), ShortestToken)
	case c.Body < 1:
		return fmt.Errorf("the largest body is %d bytes, must be at least 1", c.Body)
	case c.Memory < 16*c.Body:
		return fmt.Errorf("the memory is %d bytes, must be 16 times the largest body at least, %d", c.Memory, 16*c.Body)
	case c.TimeLimit <= 0 || c.Keep <= 0 || c.Grace < 0:
		return errors.New("times must be above 0")
	case c.AtOnce < 1 || c.Waiting < 0 || c.Threads < 1 || c.Jobs < 1:
		return errors.New("numbers of solves, threads and jobs must be at least 1")
	}
	return nil
}

// Server answers requests.
type Server struct {
	Config
	gate    *gate
	jobs    *jobs
	figures *figures
	mux     *http.ServeMux
	longest int64 // answer, in bytes
	// described returns OpenAPI's description, which is made once.
	described func() any

	draining atomic.Bool
	halted   context.Context // ends when running solves are to return their best so far
	halt     context.CancelFunc
}

// perBody is how many of the largest bodies the longest answer has.
const perBody = 4

// New returns the server of a configuration that has passed Check.
func New(c Config) *Server {
	s := &Server{Config: c, gate: newGate(c), figures: newFigures(), mux: http.NewServeMux(), longest: perBody * c.Body}
	s.described = sync.OnceValue(s.OpenAPI)
	s.jobs = newJobs(c.Jobs, c.Keep, c.Memory/16)
	s.halted, s.halt = context.WithCancel(context.Background())
	for _, r := range s.routes() {
		s.mux.HandleFunc(r.method+" "+r.path, r.handle)
	}
	return s
}

// route is one thing that can be asked for.
type route struct {
	method, path, id, does string // id: operationId, for generators of clients
	open                   bool   // without a token
	request, response      any    // values of their types; nil: none
	handle                 http.HandlerFunc
}

// routes lists the possible requests. The description of the interface is made of it.
func (s *Server) routes() []route {
	return []route{
		{"POST", "/v1/solve", "solve", "Solve an instance: solution, bound and gap, verified", false, SolveRequest{}, result{}, s.solve},
		{"POST", "/v1/verify", "verify", "Judge a solution in exact arithmetic", false, VerifyRequest{}, verdictOf{}, s.verify},
		{"POST", "/v1/bound", "bound", "Compute the bounds that need no search", false, BoundRequest{}, ask.BoundAnswer{}, s.bound},
		{"POST", "/v1/explain", "explain", "Say why no solution beats the bound", false, ExplainRequest{}, explanation{}, s.explain},
		{"POST", "/v1/check", "check", "Replay a proof of a bound", false, CheckRequest{}, ask.CheckAnswer{}, s.check},
		{"POST", "/v1/generate", "generate", "Draw a random instance", false, GenerateRequest{}, Made{}, s.generate},
		{"POST", "/v1/convert", "convert", "Make an instance of a file in a foreign format", false, ConvertRequest{}, Made{}, s.convert},
		{"POST", "/v1/draw", "draw", "Draw a solution as SVG, PNG or PDF", false, DrawRequest{}, picture{}, s.draw},
		{"POST", "/v1/kubernetes/plan", "kubernetesPlan", "Find the least cost and fewest moves for a Kubernetes cluster; nothing is changed in it", false, PlanRequest{}, kubernetes.Plan{}, s.plan},
		{"POST", "/v1/jobs", "postJob", "Solve an instance in the background", false, SolveRequest{}, Job{}, s.postJob},
		{"GET", "/v1/jobs/{id}", "getJob", "Tell how a job stands, and its result at the end", false, nil, Job{}, s.getJob},
		{"DELETE", "/v1/jobs/{id}", "deleteJob", "Cancel a job that isn't done, which ends with its best so far; forget one that is", false, nil, Job{}, s.deleteJob},
		{"GET", "/v1/algorithms", "algorithms", "List the algorithms of each problem, with their classes and papers", false, nil, ask.AlgorithmsAnswer{}, s.algorithms},
		{"GET", "/v1/openapi.json", "openapi", "This description", true, nil, openDocument{}, s.openapi},
		{"GET", "/metrics", "metrics", "Counters and gauges for Prometheus", false, nil, plainText{}, s.metrics},
		{"GET", "/healthz", "health", "Say whether new work is taken", true, nil, plainText{}, s.health},
	}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The deadline of the connection's response before would end this one.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(reading)) // without deadlines, as in a test, there is none
	seen := &observed{ResponseWriter: w}
	_, pattern := s.mux.Handler(r)
	defer func() { s.figures.request(pattern, seen.code) }()
	if s.paged(r, pattern) {
		s.Page.ServeHTTP(seen, r)
		return
	}
	if f := s.refuse(r, pattern); f != nil {
		s.fail(seen, f)
		return
	}
	if pattern == "" {
		s.unknown(seen, r)
		return
	}
	s.mux.ServeHTTP(seen, r)
}

// paged reports whether a request is for the page, which is the same for everybody and needs no
// token.
func (s *Server) paged(r *http.Request, pattern string) bool {
	return s.Page != nil && pattern == "" && (r.Method == http.MethodGet || r.Method == http.MethodHead) && !strings.HasPrefix(r.URL.Path, "/v1/")
}

// unknown answers a path that isn't there, or a method that a path doesn't take.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := s.mux.Handler(other); pattern != "" {
			w.Header().Set("Allow", method)
			s.fail(w, failuref(http.StatusMethodNotAllowed, "method", "send "+method, "%s doesn't take %s", r.URL.Path, r.Method))
			return
		}
	}
	s.fail(w, failuref(http.StatusNotFound, "path", "see /v1/openapi.json", "there is no %s", r.URL.Path))
}

// observed remembers the status code of a response.
type observed struct {
	http.ResponseWriter
	code int
}

// WriteHeader implements http.ResponseWriter.
func (o *observed) WriteHeader(code int) {
	o.code = code
	o.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (o *observed) Write(data []byte) (int, error) {
	if o.code == 0 {
		o.code = http.StatusOK
	}
	return o.ResponseWriter.Write(data)
}

// Unwrap lets http.ResponseController find its ResponseWriter.
func (o *observed) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// tail is how long responses have to be fetched when running solves have been halted.
const tail = 5 * time.Second

// Serve answers requests on a listener until ctx ends. Then it takes no new work. Running work has Config.Grace to end,
// after which it returns its best so far.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(s.Memory))
	web := &http.Server{Handler: s, MaxHeaderBytes: 16 << 10,
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	s.drain()
	late, cancel := context.WithTimeout(context.Background(), tail)
	defer cancel()
	err := web.Shutdown(late)
	if errors.Is(err, context.DeadlineExceeded) { // clients that don't read
		err = web.Close()
	}
	<-ended
	return err
}

// drain ends the work: new work is refused from now on. Results of jobs can be fetched
// until it returns.
func (s *Server) drain() {
	s.draining.Store(true)
	s.jobs.expect()
	s.await(s.Grace)
	s.halt()
	s.await(tail)
}

// await waits until there is neither work nor the result of a job to be fetched.
func (s *Server) await(most time.Duration) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(most); s.gate.busy() || s.jobs.expected(); {
		select {
		case <-tick.C:
		case <-end:
			return
		}
	}
}
