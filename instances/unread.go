// SPDX-License-Identifier: MIT

package instances

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/gapwise/gapwise/instances/internal/slurm"
)

// formatsRead are the formats that every command reads as an instance, or makes one of.
const formatsRead = "gapwise reads JSON (its own, WfFormat, SAGA, Batsim), DOT, STG and VBP, " +
	"makes instances of SWF logs and of the tables of sacct and squeue (gapwise convert), and of kubectl's JSON (gapwise kubernetes convert)"

// Unread describes the apparent format of a file that can't be read, and a remedy: "" if it looks like no known format.
func Unread(data []byte) string {
	text := bytes.TrimSpace(data)
	if len(text) == 0 {
		return ""
	}
	start := strings.ToLower(string(text[:min(len(text), 4096)]))
	const asTable = "; write it as a table: "
	switch {
	case text[0] == '{' || text[0] == '[':
		var of struct {
			APIVersion json.RawMessage `json:"apiVersion"`
			Meta       json.RawMessage `json:"meta"`
			Jobs       json.RawMessage `json:"jobs"`
			Nodes      json.RawMessage `json:"nodes"`
			Sinfo      json.RawMessage `json:"sinfo"`
		}
		if json.Unmarshal(text, &of) != nil {
			return ""
		}
		switch {
		case of.APIVersion != nil:
			return "an export of Kubernetes; gapwise kubernetes convert makes an instance of it, gapwise kubernetes plan a plan"
		case of.Meta != nil && of.Jobs != nil:
			return "what sacct --json or squeue --json prints" + asTable + slurm.Advice
		case of.Meta != nil && (of.Nodes != nil || of.Sinfo != nil):
			return "what sinfo --json or scontrol --json prints; its nodes are read from scontrol show node, beside a table of jobs (gapwise convert --platform FILE)"
		}
		return ""
	case strings.HasPrefix(start, "apiversion:"), strings.Contains(start, "\napiversion:") && strings.Contains(start, "\nkind:"):
		return "YAML of Kubernetes; write it as JSON: kubectl get nodes,pods -A -o json"
	case text[0] == '<' && strings.Contains(start, "<platform"):
		return "a platform of SimGrid, which isn't read; machines are named by --platform (gapwise solve --help)"
	case text[0] == '<' && strings.Contains(start, "<adag"):
		return "DAX, Pegasus' XML, which isn't read; WfCommons converts it to WfFormat"
	case text[0] == '<':
		return "XML, which isn't read; " + formatsRead
	}
	line, _, _ := strings.Cut(start, "\n")
	switch {
	case !IsTable(text):
		return ""
	case strings.Contains(line, "|") && isDigit(text[0]):
		return "rows of sacct or squeue without their header; leave out --noheader" + asTable + slurm.Advice
	case strings.Contains(line, "|"):
		return "the output of sacct, but its header doesn't name its columns" + asTable + slurm.Advice
	case strings.Contains(line, "cpu") && strings.Contains(line, "mem"):
		return "a table of virtual machines, which the playground reads (its button Open or paste); the command reads the instance that it saves"
	}
	return "a table (CSV); " + formatsRead
}

// IsTable reports whether the first two lines of a text are rows of a table: of cells that are
// separated by commas, semicolons, bars or tabs, as many in both.
func IsTable(data []byte) bool {
	first, rest, _ := bytes.Cut(bytes.TrimSpace(data), []byte("\n"))
	second, _, _ := bytes.Cut(rest, []byte("\n"))
	if bytes.ContainsAny(first, "{[") { // meant to be JSON
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
