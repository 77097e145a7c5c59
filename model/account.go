// SPDX-License-Identifier: MIT

package model

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/internal/text/words"
)

// Account tells what the reading of files made of them: what an instance took, what it lacks and what it holds besides.
// It stays beside the instance and its results, so that nobody takes the optimum of the model for that of the files. It
// is no part of the problem: Hash leaves it out.
type Account struct {
	Version int        `json:"version"` // of this object: 1
	Files   []ReadFile `json:"files"`
	// LeftOut counts things of the files that the instance doesn't have, with the reason.
	LeftOut Tellings `json:"left_out,omitempty"`
	// Assumed names facts of the instance that no file tells: units, machines, estimates, draws.
	Assumed Tellings `json:"assumed,omitempty"`
	// NotModelled names facts of the files for which the model has no place, with their weight.
	NotModelled Tellings `json:"not_modelled,omitempty"`
	// Remarks are facts about the files that a reader of the result wants to know.
	Remarks Tellings `json:"remarks,omitempty"`
}

// ReadFile is a file that an instance was made of.
type ReadFile struct {
	File   string   `json:"file"`   // its name, without folders
	Format string   `json:"format"` // with the version: "WfFormat 1.5"
	Taken  Tellings `json:"taken,omitempty"`
}

// Telling is a fact about a file. Count, if not 0, is how many things it is about, and stands before the text, which
// begins with their plural: 3 and "jobs without a runtime". First names the first three of them.
type Telling struct {
	Count float64  `json:"count,omitempty"`
	Text  string   `json:"text"`
	First []string `json:"first,omitempty"`
}

// Tellings are facts in the order in which they were met.
type Tellings []Telling

// namedFirst is how many things a Telling names.
const namedFirst = 3

// Add counts one more thing, with its name, for the telling of this text.
func (t *Tellings) Add(name, text string) {
	k := slices.IndexFunc(*t, func(x Telling) bool { return x.Text == text })
	if k < 0 {
		k, *t = len(*t), append(*t, Telling{Text: text})
	}
	x := &(*t)[k]
	if x.Count++; len(x.First) < namedFirst && name != "" {
		x.First = append(x.First, name)
	}
}

// Count adds a telling about a number of things, none if there are none.
func (t *Tellings) Count(n int, format string, args ...any) {
	if n > 0 {
		*t = append(*t, Telling{Count: float64(n), Text: fmt.Sprintf(format, args...)})
	}
}

// Say adds a telling without a count.
func (t *Tellings) Say(format string, args ...any) {
	*t = append(*t, Telling{Text: fmt.Sprintf(format, args...)})
}

// NewAccount returns the account of a file that is about to be read.
func NewAccount(file, format string) *Account {
	return &Account{Version: accountVersion, Files: []ReadFile{{File: file, Format: format}}}
}

const accountVersion = 1

// Clone returns a copy to which more can be added.
func (a *Account) Clone() *Account {
	if a == nil {
		return nil
	}
	c := *a
	c.Files = slices.Clone(a.Files)
	for k := range c.Files {
		c.Files[k].Taken = slices.Clone(c.Files[k].Taken)
	}
	for _, t := range []*Tellings{&c.LeftOut, &c.Assumed, &c.NotModelled, &c.Remarks} {
		*t = slices.Clone(*t)
	}
	return &c
}

// Took notes how many things of a sort the instance has of the first file. None counts, too.
func (a *Account) Took(n float64, sort string) {
	f := &a.Files[0]
	f.Taken = append(f.Taken, Telling{Count: n, Text: sort})
}

// Strict returns an error about the facts of the files for which the model has no place; it wraps ErrInvalid.
func (a *Account) Strict() error {
	if a == nil || len(a.NotModelled) == 0 {
		return nil
	}
	return fmt.Errorf("%w: it says what isn't modelled (%v); leave --strict out to go on without", ErrInvalid, a.NotModelled)
}

// Lines returns the account as text, a line for each class of facts. An account of nothing has none.
func (a *Account) Lines() (all []string) {
	if a == nil {
		return nil
	}
	for _, f := range a.Files {
		line := fmt.Sprintf("%s: %s", f.File, f.Format)
		if len(f.Taken) > 0 {
			line += ", taken: " + strings.Join(f.Taken.texts(), ", ")
		}
		all = append(all, line)
	}
	for _, x := range []struct {
		class string
		told  Tellings
	}{{"left out", a.LeftOut}, {"assumed", a.Assumed}, {"not modelled", a.NotModelled}} {
		if len(x.told) > 0 {
			all = append(all, x.class+": "+x.told.String())
		}
	}
	for _, x := range a.Remarks {
		all = append(all, "note: "+x.String())
	}
	return all
}

// String returns the facts on one line.
func (t Tellings) String() string { return strings.Join(t.texts(), "; ") }

func (t Tellings) texts() (all []string) {
	for k := range t {
		all = append(all, t[k].String())
	}
	return all
}

// String returns the fact with its count and its names: "3 jobs without a runtime (12, 15, 17)". Names are quoted unless
// they are plain.
func (x Telling) String() string {
	text := x.Text
	switch rest, bytes := strings.CutPrefix(text, "bytes"); {
	case bytes:
		text = sizeOf(x.Count) + rest
	case x.Count == 1:
		noun, rest, _ := strings.Cut(text, " ")
		text = strings.TrimSpace("1 " + strings.TrimSuffix(noun, "s") + " " + rest)
	case x.Count != 0 || !strings.Contains(text, " "): // taken: 0 edges
		_, decimals, _ := strings.Cut(strconv.FormatFloat(x.Count, 'f', -1, 64), ".")
		text = words.Short(x.Count, len(decimals)) + " " + text
	}
	if len(x.First) == 0 {
		return text
	}
	var names []string
	for _, n := range x.First {
		names = append(names, plainName(n))
	}
	if x.Count > float64(len(names)) {
		names = append(names, "...")
	}
	return text + " (" + strings.Join(names, ", ") + ")"
}

// sizeOf returns a number of bytes with a decimal unit.
func sizeOf(n float64) string {
	k := 0
	for ; n >= 1000 && k < 5; k++ {
		n /= 1000
	}
	return strconv.FormatFloat(n, 'g', 4, 64) + " " + [...]string{"bytes", "kB", "MB", "GB", "TB", "PB"}[k]
}

// plainName returns a name as it is if nothing in it could be read as another part of a line, and quoted otherwise.
func plainName(s string) string {
	const most = 60
	if len(s) > most {
		s = s[:most/2] + "..." + s[len(s)-most/2:]
	}
	for _, c := range s {
		if c <= ' ' || c > '~' || strings.ContainsRune(`"'(),;`, c) {
			return strconv.Quote(s)
		}
	}
	return s
}

// accounted is an instance with a place for the account of its files.
type accounted interface{ account() **Account }

func (b *Batch) account() **Account         { return &b.Account }
func (c *Consolidation) account() **Account { return &c.Account }
func (d *DAG) account() **Account           { return &d.Account }
func (r *Reservation) account() **Account   { return &r.Account }
func (v *TVC) account() **Account           { return &v.Account }
func (v *VCSched) account() **Account       { return &v.Account }

// AccountOf returns the account of the files that an instance was made of, nil if none is known.
func AccountOf(in Instance) *Account {
	if a, ok := in.(accounted); ok {
		return *a.account()
	}
	return nil
}

// SetAccount puts an account beside an instance; nil takes it away.
func SetAccount(in Instance, account *Account) {
	if a, ok := in.(accounted); ok {
		*a.account() = account
	}
}

// withoutAccount returns the instance, or a copy that shares all but the account.
func withoutAccount(in Instance) Instance {
	if v := reflect.ValueOf(in); v.Kind() != reflect.Pointer || v.IsNil() || AccountOf(in) == nil {
		return in
	}
	c := reflect.New(reflect.TypeOf(in).Elem())
	c.Elem().Set(reflect.ValueOf(in).Elem())
	in = c.Interface().(Instance)
	SetAccount(in, nil)
	return in
}

// accountKey describes the key of an account in an instance.
var accountKey = key{name: "account", about: "What the files said that the instance was made of.", published: "account.json", of: &object{
	about: "What the reading of files made of them: what an instance took, what it lacks and what it holds besides. It is no part of " +
		"the problem, and instance_hash doesn't count it.",
	keys: []key{
		{name: "version", least: accountVersion, most: accountVersion},
		{name: "files", about: "Files and their formats, and what was taken of each.", of: &object{keys: []key{
			{name: "file", filled: true}, {name: "format", filled: true}, tellingsKey("taken", "Tasks, edges, jobs, processors, bytes.")}}},
		tellingsKey("left_out", "Things of the files that the instance doesn't have, with the reason."),
		tellingsKey("assumed", "Facts of the instance that no file tells."),
		tellingsKey("not_modelled", "Facts of the files for which the model has no place."),
		tellingsKey("remarks", "Other facts about the files."),
	}}}

func tellingsKey(name, about string) key {
	return key{name: name, about: about, of: &object{keys: []key{
		{name: "count", about: "How many things it is about; it stands before the text."}, {name: "text", filled: true},
		{name: "first", about: "Names of the first of them.", many: namedFirst, each: &key{}}}}}
}
