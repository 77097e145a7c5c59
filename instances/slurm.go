// SPDX-License-Identifier: MIT

package instances

import (
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/gapwise/gapwise/instances/internal/slurm"
	"github.com/gapwise/gapwise/instances/internal/swf"
	"github.com/gapwise/gapwise/model"
)

// SlurmOptions select the part of a table of Slurm that becomes a log.
type SlurmOptions struct {
	// Partition, if not empty, is the only partition with jobs and nodes to take.
	Partition string
	// ByNodes has a node as a processor, instead of a CPU.
	ByNodes bool
	// Pending takes the jobs that run and wait at the time of the table, in its order, for the rest of their time
	// limits, instead of jobs that have run.
	Pending bool
	// Zone is the time zone of the table's times, which Slurm writes without one; nil means UTC.
	Zone *time.Location
	// Nodes, if not empty, is a file with the output of scontrol show node or sinfo -N. Without it the machine has as
	// many processors as the jobs used at once.
	Nodes string
}

// loadSlurm is LoadLog of a table of sacct -P or of squeue with a format.
func loadSlurm(path string, o SlurmOptions) (*swf.Log, error) {
	data, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	log, err := decodeSlurm(data, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Label(path), err)
	}
	return log, nil
}

// decodeSlurm is loadSlurm of a text.
func decodeSlurm(data []byte, o SlurmOptions) (*swf.Log, error) {
	data, err := unzip(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", model.ErrInvalid, err)
	}
	if err := model.CheckText(data); err != nil {
		return nil, err
	}
	zone := time.UTC
	if o.Zone != nil {
		zone = o.Zone
	}
	t, err := slurm.Read(data, zone)
	if err != nil {
		return nil, err
	}
	made := slurm.Options{Partition: o.Partition, ByNodes: o.ByNodes, Pending: o.Pending, Zone: o.Zone}
	if o.Nodes != "" {
		if made.Nodes, err = loadNodes(o.Nodes); err != nil {
			return nil, err
		}
	}
	return t.Log(made)
}

// loadNodes reads the nodes of a file.
func loadNodes(path string) ([]slurm.Node, error) {
	data, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	all, err := slurm.ReadNodes(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Label(path), err)
	}
	return all, nil
}

// IsSlurm reports whether a file, or standard input ("-"), begins with the header of a table of sacct or squeue. The
// bytes that it looks at aren't used up.
func IsSlurm(path string) bool {
	if path == "-" {
		begins, _ := stdin().Peek(peeked)
		return slurm.Begins(unfolded(begins))
	}
	if _, extension := nameOf(path); slices.Contains(folderExtensions, extension) {
		return false // large ones aren't looked into
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	begins := make([]byte, 4096)
	n, _ := io.ReadFull(f, begins)
	return slurm.Begins(unfolded(begins[:n]))
}
