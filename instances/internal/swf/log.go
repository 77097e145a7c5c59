// SPDX-License-Identifier: MIT

package swf

import (
	"cmp"
	"io"
	"slices"

	"github.com/gapwise/gapwise/model"
)

// Log is a whole log.
type Log struct {
	Header Header
	Jobs   []Job
	Lines  []int // of each job, from 1; see Line
	// Names are the names of the numbers of jobs, users, ...; nil: a log in the Standard Workload Format has none.
	Names *Names
	// Account tells what the reading of a log in another format made of it.
	Account *model.Account
	// Placed is the machine of a log whose jobs are placed on nodes; nil: it has processors. The processors of a job are
	// its nodes then.
	Placed *Placed
	// Assumed says that the header's machine is an assumption, and why; empty: the log tells it.
	Assumed string
}

// Placed are the nodes of a machine, and the needs of each job.
type Placed struct {
	Resources []string
	Nodes     []model.NodeGroup
	Needs     []*model.NodeNeeds
	// Hosts holds the nodes of the machine on which each job ran, -1 for one that it doesn't have; nil: not told.
	Hosts [][]int32
}

// Names are the names in a log in another format.
type Names struct {
	Jobs                                           []string // of each job
	Users, Groups, Executables, Queues, Partitions []string // of each number
}

// Peak returns the most processors that jobs held at once, those that ended without delay
// for 1 s. It is at least the size of the largest job.
func (l *Log) Peak() (most int64) {
	type change struct {
		at float64
		by int64
	}
	var all []change
	for k := range l.Jobs {
		j := &l.Jobs[k]
		start := j.Submit + max(0, j.Wait)
		all = append(all, change{start, j.Size()}, change{start + max(1, j.Runtime), -j.Size()})
	}
	slices.SortFunc(all, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	now := int64(0)
	for _, c := range all {
		now += c.by
		most = max(most, now)
	}
	return most
}

// Line returns the line of a job, 0 if the log wasn't read from a text.
func (l *Log) Line(job int) int {
	if job >= len(l.Lines) {
		return 0
	}
	return l.Lines[job]
}

// mostPart bounds the jobs that are collected in one piece of memory: appending to a
// single slice would copy a long log many times.
const mostPart = 1 << 15

// ReadAll reads a whole log; see Reader for what it accepts and for the errors.
func ReadAll(r io.Reader) (*Log, error) {
	in := NewReader(r)
	l := &Log{}
	var parts [][]Job // read before part
	var part []Job
	for {
		j, err := in.Next()
		switch {
		case err == io.EOF:
			l.Header, l.Jobs = in.header, slices.Concat(append(parts, part)...)
			return l, nil
		case err != nil:
			return nil, err
		}
		if len(part) == cap(part) {
			parts, part = append(parts, part), make([]Job, 0, min(2*cap(part)+64, mostPart))
		}
		part, l.Lines = append(part, j), append(l.Lines, in.line)
	}
}
