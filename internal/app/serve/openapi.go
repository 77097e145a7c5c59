// SPDX-License-Identifier: MIT

package serve

import (
	"cmp"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	gapwise "github.com/gapwise/gapwise"
	"github.com/gapwise/gapwise/docs/reference/schema"
	"github.com/gapwise/gapwise/internal/app/ask"
	"github.com/gapwise/gapwise/internal/app/kubernetes"
	"github.com/gapwise/gapwise/model"
)

// openDocument is an OpenAPI description.
type openDocument struct{}

// object is one of JSON, its keys in alphabetical order.
type object = map[string]any

// OpenAPI returns the description of the interface, OpenAPI 3.1. It is made of the routes and of the types that
// requests are decoded into and answers encoded from. Instances, solutions and results have the published schemas, which
// are parts of it: a generator of clients reads it without a network.
func (s *Server) OpenAPI() any {
	d := &describer{made: object{}}
	paths := object{}
	for _, r := range s.routes() {
		path, ok := paths[r.path].(object)
		if !ok {
			path = object{}
			paths[r.path] = path
		}
		path[strings.ToLower(r.method)] = d.operation(r)
	}
	return object{
		"openapi": "3.1.0",
		"info": object{"title": "gapwise", "version": gapwise.Version,
			"description": "An instance goes in; a solution, a bound that no solution can beat and the gap between them come out, verified by an independent judge."},
		"paths": paths,
		"components": object{"schemas": d.made,
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer", "description": "demanded if the service was started with a token"}}},
	}
}

// describer makes schemas of types, each once.
type describer struct {
	made   object
	strict bool // unknown keys are refused
	nils   bool // arrays may be null
}

// failures lists the status codes of failures, with the routes that have them.
var failures = []struct {
	code    int
	meaning string
	waits   bool // Retry-After says how long
	of      func(r route) bool
}{
	{400, "the body, the instance or an option is wrong", false, route.posts},
	{401, "the token is missing or wrong", false, func(r route) bool { return !r.open }},
	{404, "there is no such job", false, func(r route) bool { return strings.Contains(r.path, "{id}") }},
	{404, "this service doesn't do that", false, route.byFlags},
	{408, "the body didn't arrive in time", false, route.posts},
	{413, "the request is too large", false, route.posts},
	{415, "the type isn't application/json", false, route.posts},
	{421, "without a token: the request is for another host", false, func(route) bool { return true }},
	{422, "the algorithm doesn't support the instance, a start can't be completed, a result is refused, no plan has what is asked, the time was too short, or the answer is too long", false, route.posts},
	{429, "too much work", true, route.posts},
	{500, "a defect", false, route.posts},
	{503, "the service is ending", true, route.posts},
}

// posts reports whether a route takes a body.
func (r route) posts() bool { return r.request != nil }

// byFlags reports whether a route takes the flags of a command.
func (r route) byFlags() bool {
	switch r.response.(type) {
	case Made, picture, kubernetes.Plan:
		return true
	}
	return false
}

func (d *describer) operation(r route) object {
	failure := object{"description": "what is wrong, where, and what to do", "content": object{"application/json": object{"schema": d.schemaOf(reflect.TypeFor[Failure]())}}}
	good := object{"description": "OK"}
	status, answers := "200", object{"default": failure}
	for _, f := range failures {
		if f.of(r) {
			one := object{"description": f.meaning, "content": failure["content"]}
			if f.waits {
				one["headers"] = object{"Retry-After": object{"description": "seconds until the next try", "schema": object{"type": "integer"}}}
			}
			answers[strconv.Itoa(f.code)] = one
		}
	}
	switch r.response.(type) {
	case plainText:
		good["content"] = object{"text/plain": object{"schema": object{"type": "string"}}}
	case picture:
		content := object{}
		for _, contentType := range pictures {
			content[contentType] = object{}
		}
		good["content"] = content
	case openDocument:
		good["content"] = object{"application/json": object{"schema": object{"type": "object"}}}
	case result:
		events := object{"schema": object{"type": "string", "description": "progress, and at the end result or error"}}
		good["content"] = object{"application/json": object{"schema": d.foreign("result")}, "text/event-stream": events, "application/x-ndjson": events}
	default:
		_, d.nils = r.response.(kubernetes.Plan)
		good["content"] = object{"application/json": object{"schema": d.schemaOf(reflect.TypeOf(r.response))}}
		d.nils = false
	}
	if r.path == "/v1/jobs" {
		status = "202"
		good["headers"] = object{"Location": object{"description": "path of the job", "schema": object{"type": "string"}}}
	}
	answers[status] = good
	o := object{"operationId": r.id, "summary": r.does, "responses": answers}
	if !r.open {
		o["security"] = []object{{}, {"token": []string{}}}
	}
	var parameters []object
	if strings.Contains(r.path, "{id}") {
		parameters = append(parameters, object{"name": "id", "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	if _, streams := r.response.(result); streams {
		parameters = append(parameters, object{"name": "stream", "in": "query", "description": "progress as server-sent events or JSON lines; the header Accept says it, too",
			"schema": object{"enum": []string{"events", "lines"}}})
		d.schemaOf(reflect.TypeFor[ask.Progress]())
	}
	if r.byFlags() {
		parameters = append(parameters, object{"name": "options", "in": "query", "style": "form", "explode": true,
			"description": "the options of the body, each as a parameter of its own: ?seed=3&dark=true", "schema": d.schemaOf(reflect.TypeFor[map[string]Value]())})
	}
	if parameters != nil {
		o["parameters"] = parameters
	}
	if r.request != nil {
		d.strict = true // an answer may get further keys in a later version
		o["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": d.schemaOf(reflect.TypeOf(r.request))}}}
		d.strict = false
	}
	return o
}

// foreign returns the schema of files of some sorts, with "or" between them.
func (d *describer) foreign(sorts string) object {
	var any []object
	for sort := range strings.SplitSeq(sorts, " or ") {
		switch sort {
		case "evidence":
			any = append(any, object{"$ref": d.published("result.json", "#/$defs/evidence")})
		case "account":
			any = append(any, object{"$ref": d.published("", "account.json")})
		case "kubectl":
			any = append(any, object{"type": []string{"object", "array"}})
		default:
			for _, kind := range model.Kinds() {
				name := string(kind)
				if sort != "instance" {
					name += "-" + sort
				}
				any = append(any, object{"$ref": d.published("", name+".json")})
			}
			if sort == "solution" { // as other programs write them
				any = append(any, object{"type": "object"})
			}
		}
	}
	if len(any) == 1 {
		return any[0]
	}
	return object{"anyOf": any}
}

// published returns a reference to a published schema, or to a part of it, as the file from writes it: NAME.json,
// NAME.json#/PART, or #/PART of the file itself. The schema becomes a component.
func (d *describer) published(from, ref string) string {
	file, part, _ := strings.Cut(ref, "#")
	file = cmp.Or(file, from)
	name := strings.TrimSuffix(file, ".json")
	if d.made[name] == nil {
		d.made[name] = object{} // it may refer to itself
		text, err := schema.Files.ReadFile(file)
		var s object
		if err == nil {
			err = json.Unmarshal(text, &s)
		}
		if err != nil {
			panic("no schema " + file + ": " + err.Error())
		}
		delete(s, "$schema")
		delete(s, "$id")
		d.made[name] = d.joined(file, s)
	}
	return "#/components/schemas/" + name + part
}

// joined returns a value of a published schema with its references changed to components.
func (d *describer) joined(file string, x any) any {
	switch x := x.(type) {
	case object:
		for key, y := range x {
			if ref, ok := y.(string); ok && key == "$ref" {
				x[key] = d.published(file, ref)
			} else {
				x[key] = d.joined(file, y)
			}
		}
	case []any:
		for k, y := range x {
			x[k] = d.joined(file, y)
		}
	}
	return x
}

// schemaOf returns the schema of a type's values: for structs a reference to a schema that is made once.
func (d *describer) schemaOf(t reflect.Type) object {
	if t == reflect.TypeFor[Value]() {
		return object{"type": []string{"string", "number", "boolean"}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.schemaOf(t.Elem())
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Uint64:
		return object{"type": "integer", "minimum": 0}
	case reflect.Slice:
		return object{"type": "array", "items": d.schemaOf(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": d.schemaOf(t.Elem())}
	case reflect.Struct:
		switch t {
		case reflect.TypeFor[model.Evidence]():
			return d.foreign("evidence")
		case reflect.TypeFor[model.Account]():
			return d.foreign("account")
		}
		if t.Name() == "" {
			return d.structure(t)
		}
		if t.NumField() == 1 && t.Field(0).Anonymous {
			t = t.Field(0).Type
		}
		ref := object{"$ref": "#/components/schemas/" + t.Name()}
		if d.made[t.Name()] == nil {
			d.made[t.Name()] = object{} // it may hold itself
			d.made[t.Name()] = d.structure(t)
		}
		return ref
	}
	panic("no schema of " + t.String())
}

// structure returns the schema of a struct by the tags of its fields.
func (d *describer) structure(t reflect.Type) object {
	properties, required := object{}, []string{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, more, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || !f.IsExported() {
			continue
		}
		var one object
		if sorts := f.Tag.Get("schema"); sorts != "" {
			one = d.foreign(sorts)
		} else {
			one = d.schemaOf(f.Type)
		}
		optional := strings.Contains(more, "omit")
		if k := f.Type.Kind(); (k == reflect.Pointer || k == reflect.Slice && d.nils) && !optional {
			one["type"] = []any{one["type"], "null"}
		}
		if about := f.Tag.Get("about"); about != "" {
			one["description"] = about
		}
		properties[name] = one
		if !optional {
			required = append(required, name)
		}
	}
	s := object{"type": "object", "properties": properties}
	if d.strict {
		s["additionalProperties"] = false
	}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// openapi answers GET /v1/openapi.json.
func (s *Server) openapi(w http.ResponseWriter, _ *http.Request) {
	s.write(w, http.StatusOK, s.described())
}

// Describe returns the description as a file, with indents.
func Describe() ([]byte, error) {
	text, err := json.MarshalIndent((&Server{}).OpenAPI(), "", "  ")
	return append(text, '\n'), err
}
