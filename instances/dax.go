// SPDX-License-Identifier: MIT

package instances

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// daxReader walks through the elements of a DAX file.
type daxReader struct {
	dec     *xml.Decoder
	tasks   []wfTask
	needs   map[string][]string // the tasks that a child names as its parents
	job     bool                // within a job, the last task
	child   string              // within a child, the task that it is about
	account *model.Account
	unknown []string // elements
}

// readDAX reads a workflow of Pegasus before version 5 (DAX 2 and 3, XML), as its workflow generator writes it, too. A
// task's work is the run time of its job, in seconds: the attribute runtime, or the profile of that name. Its files are
// those that the job uses, reads as standard input or writes. Edges and the account are WfFormat's (see linkWf). Errors
// wrap model.ErrInvalid. O(length of the file + edges × files of a task).
func readDAX(f *File) (workflow, error) {
	r := daxReader{dec: xml.NewDecoder(bytes.NewReader(f.data)), needs: map[string][]string{}, account: f.account}
	// The text is UTF-8 by now, whatever it declares.
	r.dec.CharsetReader = func(_ string, text io.Reader) (io.Reader, error) { return text, nil }
	for {
		token, err := r.dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = r.take(token)
		}
		if err != nil {
			var syntax *xml.SyntaxError
			if errors.As(err, &syntax) {
				err = errors.New(syntax.Msg)
			}
			line, _ := r.dec.InputPos()
			return workflow{}, badWf("line %d: %s", line, oneLine(err.Error()))
		}
	}
	index, err := indexWf(r.tasks)
	switch {
	case err != nil:
		return workflow{}, err
	case len(r.tasks) == 0:
		return workflow{}, badWf("there is no job in an adag")
	}
	for _, child := range slices.Sorted(maps.Keys(r.needs)) {
		i, ok := index[child]
		if !ok {
			return workflow{}, badWf("there is a child %q, and no such job", child)
		}
		r.tasks[i].Parents = r.needs[child]
	}
	if slices.Sort(r.unknown); len(r.unknown) > 0 {
		f.account.NotModelled.Say("elements of unknown meaning: %s", strings.Join(slices.Compact(r.unknown), ", "))
	}
	return linkWf(f, r.tasks, index, nil)
}

// take takes a token of the file.
func (r *daxReader) take(token xml.Token) error {
	if end, ok := token.(xml.EndElement); ok {
		switch end.Name.Local {
		case "job", "dax", "dag":
			r.job = false
		case "child":
			r.child = ""
		}
	}
	x, ok := token.(xml.StartElement)
	if !ok {
		return nil
	}
	has := func(names ...string) string {
		for _, a := range x.Attr {
			if slices.Contains(names, a.Name.Local) && a.Name.Space == "" {
				return a.Value
			}
		}
		return ""
	}
	switch name := x.Name.Local; name {
	case "adag":
		r.account.Files[0].Format = strings.TrimSpace("DAX " + has("version"))
	case "job", "dax", "dag":
		runtime, err := daxNumber("runtime", has("runtime"))
		if err != nil {
			return err
		}
		r.tasks = append(r.tasks, wfTask{ID: has("id"), Name: has("name"), Runtime: runtime, reads: map[string]*float64{}, writes: map[string]*float64{}})
		r.job = true
	case "child":
		r.child = has("ref")
	case "parent":
		if r.child == "" {
			return errors.New("there is a parent outside a child with a ref")
		}
		r.needs[r.child] = append(r.needs[r.child], has("ref"))
	case "uses", "stdin", "stdout", "stderr":
		if !r.job {
			return fmt.Errorf("the element %s stands outside a job", name)
		}
		t, link := &r.tasks[len(r.tasks)-1], cmp.Or(map[string]string{"stdin": "input", "stdout": "output", "stderr": "output"}[name], has("link"))
		switch size, err := daxNumber("size", has("size", "sizeInBytes")); {
		case err != nil:
			return err
		case link == "checkpoint":
			r.account.NotModelled.Add(t.ID, "tasks with a checkpoint")
		case link != "none":
			return t.uses(link, has("file", "name"), size)
		}
	case "profile":
		if r.job {
			return r.profile(has("key"), x)
		}
		return r.dec.Skip()
	case "argument", "metadata", "filename", "file", "executable", "transformation", "invoke":
		return r.dec.Skip()
	default:
		r.unknown = append(r.unknown, name)
		return r.dec.Skip()
	}
	return nil
}

// profile takes what a profile says of the last job; that of the runtime counts if the job has no attribute for it.
func (r *daxReader) profile(key string, x xml.StartElement) error {
	var text string
	if err := r.dec.DecodeElement(&text, &x); err != nil {
		return err
	}
	number, err := daxNumber(key, text)
	t := &r.tasks[len(r.tasks)-1]
	switch key {
	case "runtime":
		if t.Runtime == nil {
			t.Runtime = number
		}
		return err
	case "cores", "request_cpus":
		if number != nil {
			t.Cores = *number
		}
	case "memory", "request_memory", "maxmemory":
		t.Memory = math.NaN() // an expression of HTCondor
		if x, unit, err := quantity(strings.ReplaceAll(strings.TrimSpace(text), " ", ""), bytesOf); err == nil && unit {
			t.Memory = x
		} else if err == nil {
			t.Memory = 1e6 * x // MB, as Pegasus and HTCondor have them
		}
	case "priority":
		t.Priority = 1
	}
	return nil
}

// daxNumber reads a number, nil if there is none.
func daxNumber(what, text string) (*float64, error) {
	if text = strings.TrimSpace(text); text == "" {
		return nil, nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("%s is %q, must be a number", what, oneLine(text))
	}
	return &x, nil
}
