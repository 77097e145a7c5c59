// SPDX-License-Identifier: MIT

package instances

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gapwise/gapwise/instances/internal/jobs"
	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/internal/text/words"
	"github.com/gapwise/gapwise/model"
)

// Options say how a file becomes an instance. The zero value leaves everything to the file.
type Options struct {
	// Platform is the machines of a task graph (see ParsePlatform), "hosts=N" of vector packing or "bins", which has it
	// become consolidation with a bin for each item, and of a batch system's
	// records a file that tells its nodes.
	Platform string
	// DOT names the attributes of a DOT graph's nodes with their work and of its edges with their data, as
	// "size=Weight,data=Size"; both are size by default.
	DOT string
	// Files says how often a file of a workflow goes to a machine: "kept", once, as the machine keeps it (see
	// model.DAGEdge), or "each", to each task that reads it, as part of one transfer. The empty one is each, but leaves
	// instances in the own format as they are. Kept is for formats that name files.
	Files string
	// Network, if it is "lv08", makes the network of a task graph one of SimGrid's default model. The empty one leaves it.
	Network string
	// WorkUnit says what the numbers of a task graph's works are: "work" of the unit that the machines' speeds count, or
	// "seconds" on the fastest machine, "seconds=1Gf" on one of this speed. The empty one is work, but if works are seconds
	// by their format and all speeds are at least 1e6, it is an error.
	WorkUnit string
	// IfNeeded leaves the platform and the names of attributes out where the file needs none; else that is an error.
	IfNeeded bool
	// Strict refuses a file that says things for which the model has no place.
	Strict bool
	// Capacity is how many hosts, processors, PEs or slots of a server there are for the rows of a table; 0: enough.
	Capacity int
	// Kind is the problem that items and bins become one of: vcsched (""), or consolidation.
	Kind model.Kind
	// Spec is the problem that a log becomes one of, with its parameters; nil: batch on one tier, the log itself.
	Spec Spec
	// Jobs and Log choose the jobs of a log.
	Jobs SWFJobs
	Log  LogOptions
}

// LogOptions select the part of a batch system's records that becomes a log.
type LogOptions struct {
	// Partition, if not empty, is the only partition or queue with jobs and nodes to take.
	Partition string
	// ByNodes has a node as a processor, instead of a CPU.
	ByNodes bool
	// Placed makes the machine of the nodes of the file Nodes: jobs are placed on them by their CPUs, memory and GPUs,
	// in their partitions.
	Placed bool
	// Merged makes one machine of all partitions. Without it, records of Slurm are Placed if they show that partitions
	// share no node: each job ran on nodes that the file Nodes lists for its partition alone.
	Merged bool
	// Pending takes the jobs that run and wait at the time of the records, in their order, for the rest of their time
	// limits, instead of jobs that have run.
	Pending bool
	// Zone is the time zone of times that are written without one; nil means UTC.
	Zone *time.Location
	// Nodes, if not empty, is a file that tells the nodes. Without it the machine has as many processors as the jobs used
	// at once.
	Nodes string
}

// File is a file that holds an instance, or what one is made of.
type File struct {
	label     string // as messages show it
	name      string // without extensions: the name of the instance
	extension string
	folder    string // of a file that was opened; "": unknown
	data      []byte
	start     string // the beginning in lower case
	keys      func() map[string]json.RawMessage
	format    *format
	dot       string         // Options.DOT
	kept      bool           // Options.Files is kept
	account   *model.Account // of a foreign format
}

// Open reads a file, or standard input ("-"), gzipped or not, and finds its format. A log's name without a folder that
// isn't in the working folder is looked for in the folder swf of the data sets (see DataFolder), too, also with .swf.gz
// appended. Errors name the file; those about its content wrap model.ErrInvalid.
func Open(path string) (*File, error) {
	found := findSWF(path)
	data, err := ReadFile(found)
	if _, extension := nameOf(path); err != nil && found == path && extension == ".swf" {
		err = fmt.Errorf("%w%s", err, whereToGet("swf", path))
	}
	if err != nil {
		return nil, err
	}
	f, err := OpenData(found, data)
	if err == nil && found != "-" {
		f.folder = filepath.Dir(found)
	}
	return f, err
}

// OpenData is Open for the data of a file of this name, gzipped or not.
func OpenData(name string, data []byte) (*File, error) {
	data, err := unzip(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", Label(name), model.ErrInvalid, err)
	}
	f := newFile(name, data)
	f.format = formatOf(f)
	if f.format != nil {
		f.account = model.NewAccount(shownName(name), f.format.name)
	}
	return f, nil
}

// IsLog reports whether the file is a log of jobs: in the Standard Workload Format, or a batch system's records.
func (f *File) IsLog() bool { return f.format != nil && f.format.log != nil }

// IsLog reports whether a file is a log of jobs. Files that can't be opened are none.
func IsLog(path string) bool {
	_, extension := nameOf(path)
	if path == "-" || extension == ".json" && KindOf(path) != "" { // large ones aren't looked into
		return false
	}
	f, err := Open(path)
	return err == nil && f.IsLog()
}

// IsWorkload reports whether the file is a workload of a simulator.
func (f *File) IsWorkload() bool { return f.format != nil && f.format.name == formatBatsim }

// IsPacking reports whether the file is about items and bins.
func (f *File) IsPacking() bool {
	return f.format != nil && (f.format.name == formatVBP || f.format.name == formatMVP)
}

// IsRecords reports whether the file is a batch system's records.
func (f *File) IsRecords() bool { return f.IsLog() && f.format.name != formatSWF }

// Instance returns the instance that the file holds or is made of, with the account of the reading unless the file is in
// the own format. Task graphs need a platform, unless they come with one. A foreign instance is named after its file,
// without extensions, unless it has a name. Errors name the file and wrap model.ErrInvalid.
func (f *File) Instance(o Options) (model.Instance, error) {
	in, _, err := f.WithRan(o)
	return in, err
}

// Unread returns the error of a file of which the format is known and isn't read, nil for other files.
func (f *File) Unread() error {
	if f.format == nil || f.format.remedy == "" {
		return nil
	}
	if f.format.ours {
		return fmt.Errorf("%s: %w instance: it holds %s; %s", f.label, model.ErrInvalid, f.format.name, f.format.remedy)
	}
	return fmt.Errorf("%s: %w instance: it looks like %s, which isn't read; %s", f.label, model.ErrInvalid, f.format.name, f.format.remedy)
}

// WithRan is Instance, and returns how a log's jobs ran if Options.Jobs asks for it.
func (f *File) WithRan(o Options) (in model.Instance, ran *model.Execution, err error) {
	switch {
	case o.WorkUnit != "" && !o.IfNeeded && (f.format == nil || f.format.graph == nil):
		err = fmt.Errorf("%w option: --work-unit is for task graphs without machines, the file is none", model.ErrInvalid)
	case o.DOT != "" && !o.IfNeeded && (f.format == nil || f.format.name != formatDOT):
		err = fmt.Errorf("%w option: --dot names attributes of DOT graphs, the file is none", model.ErrInvalid)
	case f.format == nil && len(f.start) > 0:
		err = fmt.Errorf("%w instance: its format is none that is known; gapwise help convert names them", model.ErrInvalid)
	case f.format == nil:
		in, err = readOwn(f, o)
	case f.format.log != nil:
		in, ran, err = f.ofLog(o)
	case f.format.graph != nil:
		in, err = f.placed(o)
	case f.format.instance != nil:
		in, err = f.format.instance(f, o)
	default:
		return nil, nil, f.Unread()
	}
	if err == nil {
		err = f.chooseFiles(in, o)
	}
	if err == nil && o.Network != "" {
		err = asNetwork(in, f.label, o.Network)
	}
	if err == nil && o.Strict {
		err = model.AccountOf(in).Strict()
	}
	if err != nil && !errors.Is(err, errPlatform) {
		err = fmt.Errorf("%s: %w", f.label, err)
	}
	if err != nil {
		return nil, nil, err
	}
	return in, ran, nil
}

// The values of Options.Files.
const (
	filesKept = "kept"
	filesEach = "each"
)

// chooseFiles takes the files from an instance in the own format if each is chosen, and refuses what can't be chosen.
func (f *File) chooseFiles(in model.Instance, o Options) error {
	d, graph := in.(*model.DAG)
	named := f.format != nil && f.format.files || graph && slices.ContainsFunc(d.Edges, func(x model.DAGEdge) bool { return len(x.Files) > 0 })
	switch {
	case o.Files != "" && o.Files != filesKept && o.Files != filesEach:
		return fmt.Errorf("%w option: --files is %q, give kept or each", model.ErrInvalid, o.Files)
	case o.Files == filesKept && !named && !o.IfNeeded:
		return fmt.Errorf("%w option: --files kept is for workflows that name their files (WfFormat, DAX), the file does not", model.ErrInvalid)
	case o.Files == filesEach && graph:
		for e := range d.Edges {
			d.Edges[e].Files = nil
		}
	}
	return nil
}

// Account reads the file as Instance does and returns the account alone; it is nil for a file in the own format that has
// none. A task graph needs no platform.
func (f *File) Account(o Options) (*model.Account, error) {
	if f.format == nil || f.format.graph == nil {
		in, err := f.Instance(o)
		return model.AccountOf(in), err
	}
	w, err := f.tasks(o)
	if err == nil {
		w.tell(f.account, nil)
		err = f.chooseFiles(nil, o)
		if err == nil && o.Strict {
			err = f.account.Strict()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.label, err)
	}
	return f.account, nil
}

// errPlatform marks errors about a platform, which don't name the file.
var errPlatform = errors.New("platform")

// Read returns the instance of a file, or of standard input ("-"); see Open and File.Instance.
func Read(path string, o Options) (model.Instance, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	return f.Instance(o)
}

// Text returns the data of the file, unfolded and in UTF-8.
func (f *File) Text() []byte { return f.data }

// jobs returns the jobs of a log.
func (f *File) jobs(o LogOptions) (*swf.Log, error) {
	log, err := f.format.log(f, o)
	if err == nil && log.Account == nil {
		log.Account = f.account
	}
	return log, err
}

// ofLog makes an instance of a log's jobs.
func (f *File) ofLog(o Options) (model.Instance, *model.Execution, error) {
	if err := f.checkName(); err != nil {
		return nil, nil, err
	}
	if o.Platform != "" && !f.IsRecords() && !o.Log.Placed && !o.IfNeeded {
		return nil, nil, fmt.Errorf("%w: it is a log in the %s, leave the platform out, or give --unit resources", model.ErrInvalid, formatSWF)
	}
	if (f.IsRecords() || o.Log.Placed) && o.Log.Nodes == "" && !o.IfNeeded {
		o.Log.Nodes = o.Platform
	}
	spec := o.Spec
	if spec == nil {
		one := NewBatchSpec()
		one.Tiers = 1
		spec = &one
	}
	if b, ok := spec.(*BatchSpec); !ok || !b.onNodes() {
		o.Log.Merged = true
	}
	log, err := f.jobs(o.Log)
	if err != nil {
		return nil, nil, err
	}
	return FromSWF(spec, f.name, log, o.Jobs)
}

// tasks returns the task graph of the file.
func (f *File) tasks(o Options) (workflow, error) {
	if err := cmp.Or(f.checkName(), model.CheckText(f.data)); err != nil {
		return workflow{}, err
	}
	f.dot, f.kept = o.DOT, o.Files == filesKept
	return f.format.graph(f)
}

// placed makes an instance of a task graph on the platform.
func (f *File) placed(o Options) (model.Instance, error) {
	w, err := f.tasks(o)
	if err != nil {
		return nil, err
	}
	name := f.name
	if w.Name != "" {
		name = w.Name
	}
	var p Platform
	switch {
	case o.Platform != "":
		if p, err = ParsePlatform(o.Platform); err != nil {
			return nil, platformError{err}
		}
	case w.Platform != nil:
		p = *w.Platform
	default:
		return nil, fmt.Errorf("%w: the file tells tasks and no machines, give a platform (such as uniform,machines=4)", model.ErrInvalid)
	}
	w, err = p.inWork(w, o.WorkUnit)
	if err != nil {
		return nil, err
	}
	d, err := p.place(name, w)
	if err != nil {
		return nil, err
	}
	w.tell(f.account, p.Resources)
	p.assume(w, f.account)
	d.Account = f.account
	return d, nil
}

// platformError is an error about a platform; it says all itself.
type platformError struct{ error }

func (e platformError) Is(target error) bool { return target == errPlatform }
func (e platformError) Unwrap() error        { return e.error }

// tell adds the size of a task graph to an account, and its needs beside the resources of its machines.
func (w workflow) tell(a *model.Account, resources []string) {
	w.tellNeeds(a, resources)
	a.Took(float64(len(w.Tasks)), "tasks")
	a.Took(float64(len(w.Edges)), "edges")
	sum := 0.0
	for _, e := range w.Edges {
		sum += e.Data
	}
	if w.Measured {
		a.Took(sum, "bytes on edges")
	} else if sum > 0 {
		a.Took(sum, "units of data on edges")
	}
	if len(w.Edges) == 0 && len(w.Tasks) > 1 {
		a.Remarks.Say("none of the %s tasks depends on another", words.Thousands(int64(len(w.Tasks))))
	}
}

// readOwn reads a file in the own format, and reports what is wrong with files of no format that is known.
func readOwn(f *File, o Options) (model.Instance, error) {
	in, err := model.DecodeInstance(f.data)
	if err != nil {
		return nil, err
	}
	f.data = nil // instances may be large
	return in, f.noPlatform(o, "an instance")
}

// noPlatform reports a platform that the file doesn't need.
func (f *File) noPlatform(o Options, what string) error {
	if o.Platform != "" && !o.IfNeeded {
		return fmt.Errorf("%w: it is %s with all that it needs, leave the platform out", model.ErrInvalid, what)
	}
	return nil
}

// readBatsimFile reads a workload of Batsim.
func readBatsimFile(f *File, o Options) (model.Instance, error) {
	if err := errors.Join(f.checkName(), f.noPlatform(o, "a workload")); err != nil {
		return nil, err
	}
	return readBatsim(f, o.Jobs.RefuseLarge)
}

// readVBPFile reads an instance of vector packing, for the hosts of the platform "hosts=N" or as many as VBP.FirstFit
// needs, so that there is a placement.
func readVBPFile(f *File, o Options) (model.Instance, error) {
	if err := f.checkName(); err != nil {
		return nil, err
	}
	if o.IfNeeded && !strings.HasPrefix(o.Platform, "hosts=") && o.Platform != platformBins {
		o.Platform = "" // of task graphs
	}
	return loadVBP(f, o)
}

// checkName reports a name that can't be an instance's.
func (f *File) checkName() error {
	if !utf8.ValidString(f.name) {
		return fmt.Errorf("%w: the file's name isn't UTF-8, and the instance would be called by it; rename it", model.ErrInvalid)
	}
	return nil
}

// options returns the part of the records to take, with the nodes of the file that tells them.
func (o LogOptions) options(a *model.Account, read func([]byte) ([]jobs.Node, error)) (*jobs.Options, error) {
	made := &jobs.Options{Partition: o.Partition, ByNodes: o.ByNodes, Placed: o.Placed, Merged: o.Merged, Pending: o.Pending, Zone: o.Zone}
	if o.Nodes == "" {
		return made, nil
	}
	data, err := ReadFile(o.Nodes)
	if err != nil {
		return nil, platformError{err}
	}
	if made.Nodes, err = read(data); err != nil {
		return nil, platformError{fmt.Errorf("%s: %w", Label(o.Nodes), err)}
	}
	nodes := model.Telling{Count: float64(len(made.Nodes)), Text: "nodes"}
	a.Files = append(a.Files, model.ReadFile{File: shownName(o.Nodes), Format: "nodes of a cluster", Taken: model.Tellings{nodes}})
	return made, nil
}

// nameOf returns a file's base name without its extensions (.gz and the one
// before), and that extension in lower case.
func nameOf(path string) (name, extension string) {
	if path == "-" {
		return "stdin", ""
	}
	name = filepath.Base(path)
	if e := filepath.Ext(name); strings.EqualFold(e, ".gz") {
		name = strings.TrimSuffix(name, e)
	}
	extension = filepath.Ext(name)
	return strings.TrimSuffix(name, extension), strings.ToLower(extension)
}
