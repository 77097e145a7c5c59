// SPDX-License-Identifier: MIT

package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/model"
)

// GenerateRequest asks for a random instance.
type GenerateRequest struct {
	Options map[string]Value `json:"options,omitzero" about:"the flags of gapwise generate by name, with _ for -: kind, seed, tasks, ...; those that name a file are refused. The query takes them, too"`
}

// ConvertRequest asks for the instance that a file holds or is made into.
type ConvertRequest struct {
	Name    string           `json:"name,omitempty" about:"name of the file, such as log.swf: the instance is named after it"`
	Text    string           `json:"text" about:"content of the file, in any format that gapwise reads"`
	Options map[string]Value `json:"options,omitzero" about:"the flags of gapwise convert by name, with _ for -: kind, first, platform (a preset), ...; those that name a file are refused. The query takes them, too"`
}

// Made is an instance that the service has made.
type Made struct {
	Instance model.Instance `json:"instance" schema:"instance" about:"one of a foreign file has an account: what was taken, left out and assumed, and what isn't modelled"`
}

// DrawRequest asks for a picture.
type DrawRequest struct {
	Instance jsontext.Value   `json:"instance" schema:"instance"`
	Solution jsontext.Value   `json:"solution" schema:"solution or result" about:"a result, or a bare solution; the judge has to accept it"`
	Options  map[string]Value `json:"options,omitzero" about:"format (svg, png or pdf; left out: by the header Accept, else svg) and the flags of gapwise gantt by name: from, to, pes, usage, only, no_links, at, width, height, font_size, dpi, dark. The query takes them, too"`
}

// PlanRequest asks for a plan for a Kubernetes cluster.
type PlanRequest struct {
	Cluster jsontext.Value    `json:"cluster" schema:"kubectl" about:"what kubectl get -A -o json prints: a List, or an array of several"`
	Files   map[string]string `json:"files,omitempty" about:"texts of files, by the names that the options price, use and offers give"`
	Options map[string]Value  `json:"options,omitzero" about:"the flags of gapwise kubernetes plan by name: price, slack, max_nodes, without, time_limit, ...; commas part several values. The query takes them, too"`
}

// picture is a picture in one of the formats.
type picture struct {
	contentType string
	data        []byte
}

// pictures maps formats of pictures to their media types.
var pictures = map[string]string{"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf"}

// Value is the value of a flag: a text, a number or a boolean.
type Value string

// UnmarshalJSON implements json.Unmarshaler.
func (v *Value) UnmarshalJSON(data []byte) error {
	var x any
	if err := json.Unmarshal(data, &x); err != nil {
		return err
	}
	switch x := x.(type) {
	case string:
		*v = Value(x)
	case float64, bool:
		*v = Value(data)
	default:
		return failuref(http.StatusBadRequest, "options", "give a text, a number or a boolean", "an option is %s", data)
	}
	return nil
}

// flags returns options of a body and of a query.
func flags(r *http.Request, options map[string]Value) (map[string]string, error) {
	all := map[string]string{}
	for key, v := range options {
		all[strings.ReplaceAll(key, "_", "-")] = string(v)
	}
	for key, values := range r.URL.Query() {
		key = strings.ReplaceAll(key, "_", "-")
		if _, twice := all[key]; twice || len(values) > 1 {
			return nil, failuref(http.StatusBadRequest, "query "+key, "give it once", "the option %s is there twice", key)
		}
		all[key] = values[0]
	}
	return all, nil
}

// unmade is the failure of a service that lacks a command.
func unmade() *Failure {
	return failuref(http.StatusNotFound, "path", "see /v1/openapi.json", "this service doesn't do that")
}

// generate answers POST /v1/generate.
func (s *Server) generate(w http.ResponseWriter, r *http.Request) {
	var q GenerateRequest
	s.ask(w, r, &q, func(_ context.Context, p *pass) (any, error) {
		options, err := flags(r, q.Options)
		if err != nil {
			return nil, err
		}
		if s.Generate == nil {
			return nil, unmade()
		}
		return p.made("generate")(s.Generate(options, s.Body))
	})
}

// convert answers POST /v1/convert.
func (s *Server) convert(w http.ResponseWriter, r *http.Request) {
	var q ConvertRequest
	s.ask(w, r, &q, func(_ context.Context, p *pass) (any, error) {
		options, err := flags(r, q.Options)
		switch {
		case err != nil:
			return nil, err
		case q.Text == "":
			return nil, failuref(http.StatusBadRequest, "body", "see /v1/openapi.json", "the key text is missing or empty")
		case strings.ContainsAny(q.Name, `/\`):
			return nil, failuref(http.StatusBadRequest, "name", "give the name without folders", "the name is %q", q.Name)
		case s.Convert == nil:
			return nil, unmade()
		}
		if q.Name == "" {
			q.Name = "file"
		}
		return p.made("convert")(s.Convert(q.Name, []byte(q.Text), options))
	})
}

// formatFor returns the format of a picture that a request's Accept prefers.
func formatFor(r *http.Request) string {
	asked := accepts(r)
	best, most, any := "svg", asked[pictures["svg"]], max(asked["image/*"], asked["*/*"])
	for _, format := range []string{"png", "pdf"} {
		if q := asked[pictures[format]]; q > most && q >= any {
			best, most = format, q
		}
	}
	return best
}

// draw answers POST /v1/draw.
func (s *Server) draw(w http.ResponseWriter, r *http.Request) {
	var q DrawRequest
	s.ask(w, r, &q, func(ctx context.Context, p *pass) (any, error) {
		options, err := flags(r, q.Options)
		if err != nil {
			return nil, err
		}
		if s.Draw == nil {
			return nil, unmade()
		}
		format := cmp.Or(options["format"], formatFor(r))
		if delete(options, "format"); pictures[format] == "" {
			return nil, failuref(http.StatusBadRequest, "options", "give svg, png or pdf", "there is no format %q", format)
		}
		ctx, cancel := context.WithTimeout(ctx, s.TimeLimit)
		defer cancel()
		in, err := p.instance(ctx, q.Instance)
		if err != nil {
			return nil, err
		}
		_, in, res, err := accepted(ctx, in, q.Solution, "solution")
		if err != nil {
			return nil, err
		}
		b := bounded{most: s.longest}
		if err := s.Draw(ctx, &b, in, res, format, s.longest/4, options); err != nil {
			return nil, ofFlags(err, "gantt")
		}
		return picture{pictures[format], b.Bytes()}, nil
	})
}

// plan answers POST /v1/kubernetes/plan.
func (s *Server) plan(w http.ResponseWriter, r *http.Request) {
	var q PlanRequest
	s.ask(w, r, &q, func(ctx context.Context, p *pass) (any, error) {
		options, err := flags(r, q.Options)
		if err != nil {
			return nil, err
		}
		if s.Plan == nil {
			return nil, unmade()
		}
		lists := []jsontext.Value{q.Cluster}
		if q.Cluster.Kind() == '[' {
			if err := json.Unmarshal(q.Cluster, &lists); err != nil {
				return nil, err
			}
		}
		texts := map[string][]byte{}
		for k, list := range lists {
			texts[fmt.Sprintf("list %d", k+1)] = list
		}
		cluster, err := kubernetes.Read(texts)
		if err != nil {
			f := failureOf(err, "cluster")
			f.Remedy = "send what kubectl get -A -o json " + kubernetes.Kinds + " prints"
			return nil, f
		}
		plan, err := s.Plan(ctx, cluster, q.Files, options)
		switch {
		case errors.Is(err, kubernetes.ErrNone):
			return nil, failuref(http.StatusUnprocessableEntity, "options", "ask for less", "%v", err)
		case errors.Is(err, model.ErrNoSolution):
			return nil, failuref(http.StatusUnprocessableEntity, "options.time_limit", "give it more time", "%v", err)
		case err != nil:
			return nil, ofFlags(err, "kubernetes plan")
		}
		return plan, nil
	})
}

// ofFlags returns the failure of a command that was given options.
func ofFlags(err error, command string) *Failure {
	f := failureOf(err, "options")
	if errors.Is(err, model.ErrInvalid) {
		f.Remedy = "gapwise " + command + " --help lists the options"
	}
	return f
}

// made returns a function that has an instance of a command weighed, and answers with it.
func (p *pass) made(command string) func(model.Instance, error) (any, error) {
	return func(in model.Instance, err error) (any, error) {
		if err != nil {
			return nil, ofFlags(err, command)
		}
		return Made{in}, p.hold(weight(in))
	}
}
