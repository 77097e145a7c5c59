// SPDX-License-Identifier: MIT

// Package params describes parameters by the tags of a struct's fields. They give the command-line flags, the keys of
// an experiment's plan, the parameters that results are grouped by, and their documentation:
//
//	type Spec struct {
//		Hosts int     `key:"hosts" default:"4" small:"2" hard:"12" min:"1" usage:"identical hosts"`
//		Slack float64 `key:"slack" default:"0.5" usage:"share of the memory that is free"`
//		Log   string  `key:"log" file:"yes" usage:"SWF log to take the jobs of"`
//	}
//
// Fields without a key are no parameters. A parameter is an int, a float64 or of
// a string type.
package params

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Param describes one parameter.
type Param struct {
	Key     string // snake_case, as in a plan
	Default string // as text; empty: the zero value
	Shown   string // the default as the help shows it; empty: Default
	Usage   string
	File    bool // the value names a file
	Text    bool // the value is a string, no number
	// Required means that a plan must give values; flags have the default.
	Required bool
	// Small lists values that together make instances which every exact engine
	// solves at once, Hard one that makes an instance which none solves in
	// seconds: a test of all problems draws them. Empty: the default.
	Small      []string
	Hard       string
	min, above string // bounds, included and excluded; empty: none
	field      int    // index in the struct
}

// Flag returns the name of the parameter's flag: max-tasks for max_tasks.
func (p Param) Flag() string { return strings.ReplaceAll(p.Key, "_", "-") }

// Of returns the parameters of a struct, or of the struct that a pointer points
// to, in the order of its fields.
func Of(spec any) []Param {
	t := reflect.TypeOf(spec)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var all []Param
	for k := range t.NumField() {
		f := t.Field(k)
		key, ok := f.Tag.Lookup("key")
		if !ok {
			continue
		}
		p := Param{Key: key, Default: f.Tag.Get("default"), Shown: f.Tag.Get("shown"), Usage: f.Tag.Get("usage"),
			File: f.Tag.Get("file") != "", Text: f.Type.Kind() == reflect.String, Required: f.Tag.Get("required") != "",
			Hard: f.Tag.Get("hard"), min: f.Tag.Get("min"), above: f.Tag.Get("above"), field: k}
		if small := f.Tag.Get("small"); small != "" {
			p.Small = strings.Split(small, ",")
		}
		all = append(all, p)
	}
	return all
}

// SetDefaults sets every parameter of the struct that spec points to to its
// default and returns spec. It panics if a default can't be read, or if the
// field of one is of an unknown type: that is a mistake in the program.
func SetDefaults[T any](spec *T) *T {
	for _, p := range Of(spec) {
		if p.Default == "" {
			continue
		}
		if err := p.put(spec, p.Default); err != nil {
			panic(err)
		}
	}
	return spec
}

// Set sets a parameter of the struct that spec points to to the value of a text.
// The error states the valid values.
func (p Param) Set(spec any, text string) error {
	if err := p.put(spec, text); err != nil {
		return err
	}
	if p.Text {
		return nil
	}
	x, _ := strconv.ParseFloat(text, 64)
	if least, err := strconv.ParseFloat(p.min, 64); err == nil && !(x >= least) {
		return fmt.Errorf("is %s, must be at least %s", text, p.min)
	}
	if least, err := strconv.ParseFloat(p.above, 64); err == nil && !(x > least) {
		return fmt.Errorf("is %s, must be above %s", text, p.above)
	}
	return nil
}

func (p Param) put(spec any, text string) error {
	v := reflect.ValueOf(spec).Elem().Field(p.field)
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("is %q, must be a whole number", text)
		}
		v.SetInt(int64(n))
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("is %q, must be a number", text)
		}
		v.SetFloat(x)
	default:
		return fmt.Errorf("is of type %v, must be int, float64 or a string type", v.Type())
	}
	return nil
}

// Numbers returns the values of the numeric parameters, by key.
func Numbers(spec any) map[string]float64 {
	v := reflect.ValueOf(spec)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	all := map[string]float64{}
	for _, p := range Of(spec) {
		switch f := v.Field(p.field); f.Kind() {
		case reflect.Int:
			all[p.Key] = float64(f.Int())
		case reflect.Float64:
			all[p.Key] = f.Float()
		}
	}
	return all
}
