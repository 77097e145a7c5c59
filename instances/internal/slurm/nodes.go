// SPDX-License-Identifier: MIT

package slurm

import (
	"bytes"
	"slices"
	"strings"
)

// Node is a node of a cluster.
type Node struct {
	Name       string
	CPUs       int64
	MemoryMB   int64
	GPUs       int64
	Partitions []string
	State      string
}

// Up reports whether jobs may run on the node today.
func (n *Node) Up() bool {
	for _, word := range []string{"DOWN", "DRAIN", "FAIL", "FUTURE", "UNKNOWN", "DRNG", "MAINT"} {
		if strings.Contains(n.State, word) {
			return false
		}
	}
	return true
}

// in reports whether the node is of a partition; "": of any.
func (n *Node) in(partition string) bool {
	return partition == "" || slices.Contains(n.Partitions, partition)
}

// NodesAdvice names the commands with output that ReadNodes takes.
const NodesAdvice = "scontrol show node, or sinfo -N -o '%N|%P|%c|%m|%G|%T'"

// ReadNodes reads the nodes that scontrol show node prints, or sinfo -N with the columns
// NODELIST, PARTITION and CPUS. Errors wrap model.ErrInvalid.
func ReadNodes(text []byte) ([]Node, error) {
	var all []Node
	var err error
	if bytes.Contains(text, []byte("NodeName=")) {
		all, err = readScontrol(string(text))
	} else {
		all, err = readSinfo(string(text))
	}
	if err == nil && len(all) == 0 {
		err = invalid(0, "it tells no nodes; give the output of %s", NodesAdvice)
	}
	return all, err
}

// readScontrol reads blocks of KEY=VALUE, which begin with NodeName.
func readScontrol(text string) (all []Node, err error) {
	for k, line := range strings.Split(text, "\n") {
		for _, word := range strings.Fields(line) {
			key, value, ok := strings.Cut(word, "=")
			if key == "NodeName" {
				all = append(all, Node{Name: value, CPUs: Unknown, MemoryMB: Unknown})
				continue
			}
			if !ok || len(all) == 0 {
				continue
			}
			n := &all[len(all)-1]
			switch key {
			case "CPUTot":
				ok = digits(&n.CPUs, value)
			case "RealMemory":
				ok = digits(&n.MemoryMB, value)
			case "Gres":
				n.GPUs = gpus(value)
			case "Partitions":
				n.Partitions = strings.Split(value, ",")
			case "State":
				n.State = strings.ToUpper(value)
			}
			if !ok {
				return nil, invalid(k+1, "%s is %s, must be a number", key, quote(value))
			}
		}
	}
	for k := range all {
		if all[k].CPUs < 0 {
			return nil, invalid(0, "node %s has no CPUTot; give the output of %s", quote(all[k].Name), NodesAdvice)
		}
	}
	return all, nil
}

// readSinfo reads a table with a line for each node and partition, with columns separated by | or blanks.
func readSinfo(text string) (all []Node, err error) {
	at := map[string]int{}
	var header []string
	known := map[string]int{}
	for k, line := range strings.Split(text, "\n") {
		fields := strings.Fields(line)
		if strings.Contains(line, "|") {
			fields = fieldsOf(line)
		}
		if header == nil {
			for c, name := range fields {
				at[strings.ToUpper(name)] = c
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
		n := Node{Name: fields[at["NODELIST"]], MemoryMB: Unknown, Partitions: []string{strings.TrimSuffix(fields[partition], "*")}}
		if strings.ContainsAny(n.Name, "[,") {
			return nil, invalid(k+1, "%s is several nodes; give the output of %s", quote(n.Name), NodesAdvice)
		}
		if !digits(&n.CPUs, fields[cpus]) {
			return nil, invalid(k+1, "CPUS is %s, must be a number", quote(fields[cpus]))
		}
		if c, ok := at["MEMORY"]; ok && c < len(fields) {
			digits(&n.MemoryMB, fields[c])
		}
		if c, ok := at["GRES"]; ok && c < len(fields) {
			n.GPUs = gpus(fields[c])
		}
		if c, ok := at["STATE"]; ok && c < len(fields) {
			n.State = strings.ToUpper(fields[c])
		}
		if first, ok := known[n.Name]; ok {
			all[first].Partitions = append(all[first].Partitions, n.Partitions...)
			continue
		}
		known[n.Name] = len(all)
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
