// SPDX-License-Identifier: MIT

package slurm

import (
	"bytes"
	"strings"

	"github.com/gapwise/gapwise/instances/internal/jobs"
)

// asleep removes the states of nodes that are off to save power, and start when a job needs them.
var asleep = strings.NewReplacer("POWERED_DOWN", "~", "POWERING_DOWN", "~", "POWER_DOWN", "~")

// sleeps reports whether a node is off to save power.
func sleeps(state string) bool { return strings.Contains(asleep.Replace(state), "~") }

// isUp reports whether jobs may run today on a node in a state.
func isUp(state string) bool {
	state = asleep.Replace(state)
	for _, word := range []string{"DOWN", "DRAIN", "FAIL", "FUT", "UNK", "DRNG", "MAINT", "INVAL"} {
		if strings.Contains(state, word) {
			return false
		}
	}
	return true
}

// NodesAdvice names the commands with output that ReadNodes takes.
const NodesAdvice = "scontrol show node, or sinfo -N -o '%N|%P|%c|%m|%G|%f|%T'"

// ReadNodes reads the nodes that scontrol show node prints, or sinfo -N with the columns NODELIST, PARTITION and CPUS, or
// either as JSON. Errors wrap model.ErrInvalid.
func ReadNodes(text []byte) ([]jobs.Node, error) {
	var all []jobs.Node
	var err error
	switch {
	case bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")):
		all, err = readNodesJSON(text)
	case bytes.Contains(text, []byte("NodeName=")):
		all, err = readScontrol(string(text))
	default:
		all, err = readSinfo(string(text))
	}
	all = merged(all)
	for k := range all {
		all[k].Up = isUp(all[k].State)
	}
	if err == nil && len(all) == 0 {
		err = invalid(0, "it tells no nodes; give the output of %s", NodesAdvice)
	}
	return all, err
}

// merged makes one node of those with a name: sinfo lists a node for each of its partitions.
func merged(all []jobs.Node) (nodes []jobs.Node) {
	known := map[string]int{}
	for _, n := range all {
		if first, ok := known[n.Name]; ok {
			nodes[first].Partitions = append(nodes[first].Partitions, n.Partitions...)
			continue
		}
		known[n.Name] = len(nodes)
		nodes = append(nodes, n)
	}
	return nodes
}

// readScontrol reads blocks of KEY=VALUE, which begin with NodeName.
func readScontrol(text string) (all []jobs.Node, err error) {
	type kept struct{ effective, cores, threads int64 }
	var keeps []kept
	for k, line := range strings.Split(text, "\n") {
		for _, word := range strings.Fields(line) {
			key, value, ok := strings.Cut(word, "=")
			if key == "NodeName" {
				all = append(all, jobs.Node{Name: value, CPUs: jobs.Unknown, MemoryMB: jobs.Unknown})
				keeps = append(keeps, kept{effective: jobs.Unknown})
				continue
			}
			if !ok || len(all) == 0 {
				continue
			}
			n := &all[len(all)-1]
			switch key {
			case "CPUTot":
				ok = digits(&n.CPUs, value)
			case "CPUEfctv": // without the cores that the system keeps
				ok = digits(&keeps[len(all)-1].effective, value)
			case "CoreSpecCount":
				ok = digits(&keeps[len(all)-1].cores, value)
			case "ThreadsPerCore":
				ok = digits(&keeps[len(all)-1].threads, value)
			case "RealMemory":
				ok = digits(&n.MemoryMB, value)
			case "Gres":
				n.GPUs = gpus(value)
			case "ActiveFeatures":
				n.Features = listed(value)
			case "Partitions":
				n.Partitions = strings.Split(value, ",")
			case "State":
				n.State = strings.ToUpper(value)
			}
			if !ok {
				return nil, invalid(k+1, "%s is %s, must be a number", key, jobs.Quote(value))
			}
		}
	}
	for k, x := range keeps {
		n := &all[k]
		if n.CPUs < 0 {
			return nil, invalid(0, "node %s has no CPUTot; give the output of %s", jobs.Quote(n.Name), NodesAdvice)
		}
		if n.CPUs = max(0, n.CPUs-x.cores*max(1, x.threads)); x.effective >= 0 {
			n.CPUs = x.effective
		}
	}
	return all, nil
}

// readSinfo reads a table with a line for each node and partition, with columns separated by | or blanks.
func readSinfo(text string) (all []jobs.Node, err error) {
	at := map[string]int{}
	var header []string
	for k, line := range strings.Split(text, "\n") {
		fields := strings.Fields(line)
		if strings.Contains(line, "|") {
			fields = strings.Split(strings.TrimSuffix(strings.TrimSpace(line), "|"), "|")
		}
		if header == nil {
			for c, name := range fields {
				name, _, _ = strings.Cut(strings.ToUpper(name), "(") // CPUS(A/I/O/T)
				at[name] = c
			}
			if _, ok := at["NODELIST"]; ok {
				header = fields
			}
			continue
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		cpus, ok := at["CPUS"]
		partition, ok2 := at["PARTITION"]
		if !ok || !ok2 {
			return nil, invalid(0, "there is no column CPUS or PARTITION; give the output of %s", NodesAdvice)
		}
		if len(fields) < max(cpus, partition, at["NODELIST"])+1 {
			return nil, invalid(k+1, "it has %d of %d fields; is the file cut off?", len(fields), len(header))
		}
		n := jobs.Node{Name: fields[at["NODELIST"]], MemoryMB: jobs.Unknown, Partitions: []string{strings.TrimSuffix(fields[partition], "*")}}
		if strings.ContainsAny(n.Name, "[,") {
			return nil, invalid(k+1, "%s is several nodes; give the output of %s", jobs.Quote(n.Name), NodesAdvice)
		}
		if total := fields[cpus][strings.LastIndex(fields[cpus], "/")+1:]; !digits(&n.CPUs, total) {
			return nil, invalid(k+1, "CPUS is %s, must be a number", jobs.Quote(total))
		}
		if c, ok := at["MEMORY"]; ok && c < len(fields) {
			digits(&n.MemoryMB, fields[c])
		}
		if c, ok := at["GRES"]; ok && c < len(fields) {
			n.GPUs = gpus(fields[c])
		}
		for _, name := range []string{"AVAIL_FEATURES", "FEATURES", "ACTIVE_FEATURES"} { // the last one that is told
			if c, ok := at[name]; ok && c < len(fields) {
				n.Features = listed(fields[c])
			}
		}
		if c, ok := at["STATE"]; ok && c < len(fields) {
			n.State = strings.ToUpper(fields[c])
		}
		all = append(all, n)
	}
	return all, nil
}

// gpus returns the number of GPUs of gpu:a100:4(S:0-1),nvme:1.
func gpus(gres string) (sum int64) {
	depth := 0 // a comma may stand in parentheses
	for _, part := range strings.FieldsFunc(gres, func(c rune) bool {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		return c == ',' && depth <= 0
	}) {
		name, _, _ := strings.Cut(part, "(")
		if words := strings.Split(name, ":"); words[0] == "gpu" {
			var x int64
			if digits(&x, words[len(words)-1]) {
				sum += min(x, 1<<20)
			}
		}
	}
	return sum
}
