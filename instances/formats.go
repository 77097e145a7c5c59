// SPDX-License-Identifier: MIT

package instances

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"

	"github.com/gapwise/gapwise/instances/internal/gridengine"
	"github.com/gapwise/gapwise/instances/internal/oar"
	"github.com/gapwise/gapwise/instances/internal/slurm"
	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/model"
)

const formatDOT, formatVBP, formatMVP = "DOT", "VBP", "MVP"

// format is a format of files: how it is known, and the reader or, of one that isn't read, the remedy.
type format struct {
	name string // in accounts and in the page of formats
	// ends lists extensions that decide, whatever the content is.
	ends []string
	// begins reports whether a file has the format, by its beginning or its keys.
	begins func(f *File) bool
	// One of these reads it; without any it isn't read.
	graph    func(f *File) (workflow, error)
	files    bool // a graph names the files that its tasks exchange (Options.Files)
	log      func(f *File, o LogOptions) (*swf.Log, error)
	instance func(f *File, o Options) (model.Instance, error)
	// about says in the page of formats what is read, and becomes the kind of instance; remedy names the command that
	// would do for a format that isn't read.
	about, becomes, remedy string
	ours                   bool // gapwise writes it, and the remedy names the commands that read it
}

const (
	ofALog     = "batch; with `convert --kind` also reservation or tvc"
	onPlatform = "dag, with `--platform`"
	inSWF      = "write its jobs as a log in the " + formatSWF
)

// formats lists the formats. The first one that a file has counts: extensions first, then JSON, XML, tables and texts.
func formats() []format {
	return []format{
		{name: "runs of gapwise bench", ours: true, begins: func(f *File) bool { return f.starts(`{"plan":"`) && strings.Contains(f.start, `"instance_hash":"`) },
			remedy: "gapwise bench table, compare and plot read them, and gapwise report"},
		{name: "a result of gapwise solve", ours: true, begins: func(f *File) bool { return f.starts(`{"instance":"`) && strings.Contains(f.start, `"instance_hash":"`) },
			remedy: "gapwise report reads it alone, and gapwise verify, explain, gantt and solve --start after its instance"},
		{name: "a plan of gapwise bench", ours: true, begins: func(f *File) bool {
			named := f.starts("name:") || strings.Contains(f.start, "\nname:")
			return strings.Contains(f.start, `"algorithms"`) && f.has("name", "algorithms") || named && strings.Contains(f.start, "\nalgorithms:")
		}, remedy: "gapwise bench runs it"},
		{name: "a proof of gapwise solve --proof", ours: true, begins: func(f *File) bool { return f.starts("gapwise-proof ") },
			remedy: "gapwise check replays it after its instance"},

		// The own format is the first of instances: its files may be large, and others are looked through.
		{name: "gapwise", begins: func(f *File) bool {
			return kindAtStart(bytes.NewReader(f.data)) != "" || f.has("kind", "version") && !f.has("apiVersion")
		},
			instance: readOwn, becomes: "its kind", about: "gapwise's JSON, described on this page"},
		{name: formatSWF, ends: []string{".swf"}, begins: beginsSWF, log: readSWF,
			becomes: ofALog, about: "version 2.2, the logs of the Parallel Workloads Archive"},
		{name: formatDOT, ends: []string{".dot", ".gv"}, begins: beginsDOT, graph: readDOT,
			becomes: onPlatform, about: "one directed graph, as in daggen and SimGrid; `--dot` names other attributes"},
		{name: formatVBP, ends: []string{".vbp"}, begins: func(f *File) bool { return isVBP(f.data) || ofList(f.data) != nil }, instance: readVBPFile,
			becomes: "vcsched; with `convert --kind` also consolidation", about: "vector bin packing, as VPSolver reads it, and plain lists of bin packing and cutting stock"},
		{name: formatMVP, ends: []string{".mvp"}, begins: isMVP, instance: readMVPFile, becomes: "consolidation",
			about: "vector bin packing with several types of bins, as VPSolver reads it; one choice for each item"},
		{name: "several problems of bin packing (OR-Library's binpack)", begins: isBinpack,
			remedy: "write one a file: lines with the number of items, the capacity, and the size of each item"},
		{name: "Standard Task Graph", ends: []string{".stg"}, begins: beginsSTG, graph: readSTG, becomes: onPlatform, about: "graphs of the STG set"},

		{name: "Kubernetes", begins: func(f *File) bool { return f.has("apiVersion") },
			remedy: "gapwise kubernetes convert makes an instance of it, gapwise kubernetes plan a plan"},
		{name: formatBatsim, begins: func(f *File) bool { return f.has("jobs", "profiles") }, instance: readBatsimFile,
			becomes: "batch", about: "JSON of Batsim 3 to 5: jobs with delays and sequences of them"},
		{name: "WfFormat", begins: func(f *File) bool { return f.has("workflow") }, graph: readWfFormat, files: true, becomes: onPlatform,
			about: "versions 1.3 to 1.6 of WfCommons; `--files kept` sends a file to a machine only once"},
		{name: "SAGA", begins: func(f *File) bool { return isSAGA(f.keys()) }, graph: readSAGA, becomes: "dag", about: "problem instances of SAGA and DAGBench, and task graphs with a platform"},
		{name: "Slurm's JSON of jobs", begins: func(f *File) bool { return f.has("meta", "jobs") }, log: records(slurm.Read, slurm.ReadNodes),
			becomes: ofALog, about: "`sacct --json` and `squeue --json` of Slurm 22.05 and later"},
		{name: "Slurm's nodes", begins: func(f *File) bool {
			return f.has("meta", "nodes") || f.has("meta", "sinfo") || f.starts("nodelist") || f.starts("nodename=")
		},
			remedy: "give it beside the jobs of sacct or squeue: gapwise convert JOBS --platform FILE"},
		{name: "Slurm's YAML", begins: func(f *File) bool {
			return strings.Contains("\n"+f.start, "\njobs:") && bytes.Contains(f.data, []byte("\nmeta:"))
		}, remedy: "write it as JSON: --json in place of --yaml"},
		{name: "scontrol's list of jobs", begins: func(f *File) bool { return f.starts("jobid=") }, remedy: "write the queue as a table: " + slurm.QueueAdvice},
		{name: "OAR", begins: func(f *File) bool { return f.starts("{") && oar.BeginsJSON(f.keys()) || oar.BeginsTable(f.data) }, log: readOAR,
			becomes: ofALog, about: "`oarstat -f -J`, `-J` and `-g -J`, and the table `jobs.csv` with the others next to it"},
		{name: "JSON", begins: func(f *File) bool { return f.starts("{") || f.starts("[") }, instance: readOwn},

		{name: "Slurm's table of jobs", begins: func(f *File) bool { return slurm.Begins(f.data) }, log: records(slurm.Read, slurm.ReadNodes),
			becomes: ofALog, about: "`sacct -P` and `squeue` with a format"},
		{name: "Grid Engine", begins: func(f *File) bool { return gridengine.Begins(f.data) }, log: records(gridengine.Read, gridengine.ReadNodes),
			becomes: ofALog, about: "accounting, `qacct -j`, and `qstat` as text and XML"},
		{name: "a table of oarstat", begins: func(f *File) bool { return f.starts("job id ") && strings.Contains(f.line(), "system message") },
			remedy: oar.Advice},
		{name: "details or reservations of Grid Engine", begins: func(f *File) bool {
			return strings.Contains(f.start, "\njob_number: ") || strings.Contains(f.start, "<qrstat") || f.starts("-----") && strings.Contains(f.start, "\nid  ")
		}, remedy: gridengine.Advice},
		{name: "YAML of Kubernetes", begins: func(f *File) bool {
			return f.starts("apiversion:") || strings.Contains(f.start, "\napiversion:") && strings.Contains(f.start, "\nkind:")
		}, remedy: "write it as JSON: kubectl get ... -o json in place of -o yaml"},
		{name: "SimGrid's platform", begins: func(f *File) bool { return f.starts("<") && strings.Contains(f.start, "<platform") },
			remedy: "a graph gets it as its machines by --platform FILE.xml"},
		{name: "DAX", ends: []string{".dax"}, begins: func(f *File) bool { return f.starts("<") && strings.Contains(f.start, "<adag") },
			graph: readDAX, files: true, becomes: onPlatform, about: "versions 2 and 3, XML of Pegasus before version 5 and of its workflow generator; `--files` as for WfFormat"},
		{name: "XML", begins: func(f *File) bool { return f.starts("<") }, remedy: "see gapwise help convert for the formats that are"},
		{name: "accounting of PBS", begins: func(f *File) bool {
			parts := strings.Split(f.line(), ";")
			return len(parts) >= 4 && len(parts[1]) == 1 && strings.Count(parts[0], "/") == 2
		}, remedy: inSWF},
		{name: "accounting of LSF (lsb.acct)", begins: func(f *File) bool { return f.starts(`"job_`) }, remedy: inSWF},
		{name: "accounting of a Grid Engine that counts milliseconds", begins: func(f *File) bool {
			parts := strings.Split(f.line(), ":")
			return len(parts) > 45 && len(parts[8]) == 13 && len(parts[9]) == 13
		}, remedy: inSWF},
		{name: "table", begins: isKnownTable, instance: readTable,
			becomes: "vcsched, batch, reservation or tvc", about: "CSV with a line of names: of virtual machines, jobs, reservations or virtual clusters"},
		{name: "rows of sacct or squeue without their header", begins: func(f *File) bool {
			bars, blanks := IsTable(f.data) && strings.Contains(f.line(), "|"), strings.Fields(f.line())
			return f.start != "" && isDigit(f.start[0]) && (bars || len(blanks) > 6 && strings.ContainsAny(blanks[1], "abcdefghijklmnopqrstuvwxyz"))
		}, remedy: "leave out --noheader, or write it as a table: " + slurm.Advice + " or, of the queue, " + slurm.QueueAdvice},
		{name: "a table of sacct without names of its columns", begins: func(f *File) bool {
			return IsTable(f.data) && strings.Contains(f.line(), "|")
		}, remedy: "write it as a table: " + slurm.Advice},
		{name: "numbers in no form that is known", begins: func(f *File) bool { return f.start != "" && isDigit(f.start[0]) && !IsTable(f.data) },
			remedy: "task graphs of the STG set are named .stg, vector packing .vbp, logs of jobs .swf"},
		{name: "table of unknown columns", begins: func(f *File) bool { return IsTable(f.data) }, instance: readTable},
	}
}

// formatOf returns the format of a file, nil if it looks like none.
func formatOf(f *File) *format {
	all := formats()
	for k := range all {
		for _, end := range all[k].ends {
			if f.extension == end {
				return &all[k]
			}
		}
	}
	for k := range all {
		if all[k].begins(f) {
			return &all[k]
		}
	}
	return nil
}

// newFile returns a file of which the format isn't known yet.
func newFile(path string, data []byte) *File {
	f := &File{label: Label(path), data: data}
	f.name, f.extension = nameOf(path)
	text := bytes.TrimSpace(data[:min(len(data), 8192)])
	f.start = strings.ToLower(string(text[:min(len(text), 4096)]))
	f.keys = sync.OnceValue(func() map[string]json.RawMessage {
		var keys map[string]json.RawMessage
		if f.starts("{") && json.Unmarshal(finite(data), &keys) != nil {
			return nil
		}
		return keys
	})
	return f
}

// starts reports whether the text begins with a word in lower case.
func (f *File) starts(word string) bool { return strings.HasPrefix(f.start, word) }

// line returns the first line of the text in lower case.
func (f *File) line() string {
	line, _, _ := strings.Cut(f.start, "\n")
	return line
}

// has reports whether the file is a JSON object with all of some keys.
func (f *File) has(keys ...string) bool {
	if !f.starts("{") {
		return false
	}
	all := f.keys()
	for _, k := range keys {
		if all[k] == nil {
			return false
		}
	}
	return true
}

// IsTable reports whether the first two lines of a text, without comments (#) between them, are rows of a table: of cells
// that are separated by commas, semicolons, bars or tabs, as many in both.
func IsTable(data []byte) bool {
	first, rest, _ := bytes.Cut(bytes.TrimSpace(data), []byte("\n"))
	second, rest, _ := bytes.Cut(rest, []byte("\n"))
	for bytes.HasPrefix(second, []byte("#")) {
		second, rest, _ = bytes.Cut(rest, []byte("\n"))
	}
	bars := len(first) > 0 && isDigit(first[0]) && bytes.Contains(first, []byte("|")) // rows of Slurm, with lists of nodes
	if bytes.ContainsAny(first, "{[") && !bars {                                      // meant to be JSON
		return false
	}
	for _, separator := range []string{",", ";", "|", "\t"} {
		n := bytes.Count(first, []byte(separator))
		if n > 0 && (len(second) == 0 || bytes.Count(second, []byte(separator)) == n) {
			return true
		}
	}
	return false
}

// beginsSWF reports whether a text begins as a log does.
func beginsSWF(f *File) bool {
	fields := strings.Fields(f.line())
	return f.starts(";") || len(fields) == swfFields && (isDigit(fields[0][0]) || fields[0][0] == '-')
}

// swfFields is the number of fields of a line of an SWF log.
const swfFields = 18

func beginsDOT(f *File) bool {
	text := withoutComments(f.data)
	word := strings.ToLower(string(text[:min(len(text), len("digraph"))]))
	return strings.HasPrefix(word, "digraph") || strings.HasPrefix(word, "strict") || strings.HasPrefix(word, "graph")
}

func beginsSTG(f *File) bool {
	text := withoutComments(f.data)
	if len(text) == 0 || !isDigit(text[0]) {
		return false
	}
	first, rest, more := bytes.Cut(text, []byte("\n"))
	first, _, _ = bytes.Cut(first, []byte("#"))
	second, _, _ := bytes.Cut(withoutComments(rest), []byte("\n"))
	return !IsTable(text) && len(bytes.Fields(first)) == 1 && len(bytes.Trim(first, "0123456789 \t\r")) == 0 && (!more || len(bytes.Fields(second)) > 2)
}

// isBinpack reports whether a text is a number of problems, and the first one's name and line: capacity, items, known bins.
func isBinpack(f *File) bool {
	lines := strings.SplitN(f.start, "\n", 4)
	if len(lines) < 3 || len(strings.Fields(lines[0])) != 1 || len(strings.Fields(lines[1])) != 1 || len(strings.Fields(lines[2])) != 3 {
		return false
	}
	return isDigit(lines[0][0]) && !isDigit(strings.TrimSpace(lines[1])[0])
}

// withoutComments returns the text after its leading white space and comments
// (of DOT and STG).
func withoutComments(data []byte) []byte {
	for {
		data = bytes.TrimSpace(data)
		end := "\n"
		switch {
		case bytes.HasPrefix(data, []byte("/*")):
			end = "*/"
		case !bytes.HasPrefix(data, []byte("//")) && !bytes.HasPrefix(data, []byte("#")):
			return data
		}
		_, data, _ = bytes.Cut(data, []byte(end))
	}
}
