// SPDX-License-Identifier: MIT

package serve

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

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

// unmade is the failure of a service that makes no instances.
func unmade() *Failure {
	return failuref(http.StatusNotFound, "path", "see /v1/openapi.json", "this service makes no instances")
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

// made returns a function that has an instance of a command weighed, and answers with it.
func (p *pass) made(command string) func(model.Instance, error) (any, error) {
	return func(in model.Instance, err error) (any, error) {
		if err != nil {
			f := failureOf(err, "options")
			if errors.Is(err, model.ErrInvalid) {
				f.Remedy = "gapwise " + command + " --help lists the options"
			}
			return nil, f
		}
		return Made{in}, p.hold(weight(in))
	}
}
