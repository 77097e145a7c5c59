// SPDX-License-Identifier: MIT

package gridengine

import (
	"encoding/xml"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gapwise/gapwise/instances/internal/jobs"
)

// row is a line of qstat: a job, a running task, or the tasks of an array that wait.
type row struct {
	Number   string    `xml:"JB_job_number"`
	Priority string    `xml:"JAT_prio"`
	Name     string    `xml:"JB_name"`
	Owner    string    `xml:"JB_owner"`
	State    string    `xml:"state"`
	Start    string    `xml:"JAT_start_time"`
	Submit   string    `xml:"JB_submission_time"`
	Queue    string    `xml:"queue_name"`
	Slots    string    `xml:"slots"`
	Tasks    string    `xml:"tasks"`
	Hard     []request `xml:"hard_request"`
	Soft     []request `xml:"soft_request"`
	line     int
}

type request struct {
	Name  string `xml:"name,attr"`
	Value string `xml:",chardata"`
}

// mostTasks bounds the tasks of a file's arrays.
const mostTasks = 1 << 20

// take adds the jobs of rows: those that run, then those that wait by their priorities, equal ones in the file's order.
func (r *Records) take(rows []row, zone *time.Location) error {
	r.local = true
	priority := map[*row]float64{}
	order := make([]*row, len(rows))
	for k := range rows {
		order[k] = &rows[k]
		priority[order[k]], _ = strconv.ParseFloat(rows[k].Priority, 64)
	}
	slices.SortStableFunc(order, func(a, b *row) int {
		switch x, y := priority[a], priority[b]; {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	for _, x := range order {
		j := jobs.New(x.line)
		j.Limit, j.Name, j.User, j.State = jobs.NoLimit, x.Name, x.Owner, x.State
		j.Partition, _, _ = strings.Cut(x.Queue, "@")
		var number int64
		if !whole(&number, x.Number) || !whole(&j.CPUs, x.Slots) || !moment(&j.Start, x.Start, zone) || !moment(&j.Submit, x.Submit, zone) {
			return invalid(x.line, "job %s has a number, slots or a time that isn't one", jobs.Quote(x.Number))
		}
		for _, h := range x.Hard {
			if !resource(&j, h.Name, strings.TrimSpace(h.Value)) {
				return invalid(x.line, "job %d: %s is %s, must be a time", number, jobs.Quote(h.Name), jobs.Quote(h.Value))
			}
		}
		if len(x.Soft) > 0 {
			j.Ask("jobs with soft requests")
		}
		switch has := func(c string) bool { return strings.ContainsAny(x.State, c) }; {
		case has("E"):
			j.Phase, j.Left = jobs.Waits, "jobs that failed to start (state E)"
		case has("q") && has("h"):
			j.Phase, j.Left = jobs.Waits, "jobs on hold (state h)"
		case has("q") && has("d"):
			j.Phase, j.Left = jobs.Waits, "jobs being deleted"
		case has("q"):
			j.Phase = jobs.Waits
		case has("rtsSTR"):
			j.Phase = jobs.Runs
		default:
			return invalid(x.line, "job %d: its state %s isn't known", number, jobs.Quote(x.State))
		}
		tasks, ok := []int64{0}, true // no array
		if list := strings.TrimSpace(x.Tasks); list != "" {
			tasks, ok = jobs.Tasks(list, mostTasks)
		}
		if !ok || len(tasks)+len(r.Jobs) > mostTasks {
			return invalid(x.line, "job %d: its tasks %s are no list such as 1,3,5-9:2, or more than %d", number, jobs.Quote(x.Tasks), mostTasks)
		}
		if len(tasks) > 1 {
			j.Ask("tasks of arrays, of which -tc may let only some run at once")
		}
		for _, task := range tasks {
			j.ID = named(number, task)
			r.Jobs = append(r.Jobs, j)
		}
	}
	return nil
}

// readXML reads qstat -xml, with -f, -r and without.
func (r *Records) readXML(text string, zone *time.Location) error {
	r.Format = "qstat -xml"
	var rows []row
	queue := ""
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		t, err := d.Token()
		if err == io.EOF {
			return r.take(rows, zone)
		}
		line, _ := d.InputPos()
		if start, ok := t.(xml.StartElement); ok && err == nil {
			switch start.Name.Local {
			case "name": // of a queue, above its jobs
				err = d.DecodeElement(&queue, &start)
			case "job_list":
				x := row{line: line}
				err = d.DecodeElement(&x, &start)
				if x.Queue == "" && !strings.Contains(x.State, "q") {
					x.Queue = queue
				}
				rows = append(rows, x)
			}
		}
		if err != nil {
			return invalid(line, "%v; is the file cut off?", err)
		}
	}
}

// The lines of qstat: jobs have a date, queues a triple of slots.
var (
	dated  = jobs.Pattern(`^\s*(\d+) +(\S+) +(.+?) +(\S+) +(\S+) +(\d\d/\d\d/\d{4} \d\d:\d\d:\d\d)(.*)$`)
	queued = jobs.Pattern(`^(\S+) +[BICPN]+ +(\d+)/(\d+)/(\d+) +\S+ +\S+ *(\S*)$`)
	told   = jobs.Pattern(`^ {7,}(?:([A-Z][A-Za-z ]*): *)?(.*)$`)
)

// readQstat reads the text of qstat, with -f, -r and without.
func (r *Records) readQstat(text string, zone *time.Location) error {
	r.Format = "qstat"
	var rows []row
	queue, label := "", ""
	for k, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, " \t\r")
		if x := queued().FindStringSubmatch(line); x != nil {
			n := jobs.Node{Name: x[1], State: x[5], Up: !strings.ContainsAny(x[5], "udEsSDCo"), MemoryMB: jobs.Unknown}
			queue, _, _ = strings.Cut(x[1], "@")
			n.Partitions = []string{queue}
			var booked int64
			if !whole(&booked, x[2]) || !whole(&n.CPUs, x[4]) {
				return invalid(k+1, "the slots of %s are no numbers", jobs.Quote(x[1]))
			}
			r.Nodes, r.booked = append(r.Nodes, n), r.booked+booked
			continue
		}
		if x := dated().FindStringSubmatch(line); x != nil {
			one := row{line: k + 1, Number: x[1], Priority: x[2], Name: x[3], Owner: x[4], State: x[5], Queue: queue}
			if strings.Contains(one.State, "q") {
				one.Submit, one.Queue = x[6], ""
			} else {
				one.Start = x[6]
			}
			rest := strings.Fields(x[7]) // [queue] slots [tasks]
			if len(rest) > 0 && !isNumber(rest[0]) {
				one.Queue, rest = rest[0], rest[1:]
			}
			if len(rest) > 1 {
				one.Tasks = rest[1]
			}
			if len(rest) > 0 {
				one.Slots = rest[0]
			}
			rows = append(rows, one)
			continue
		}
		x := told().FindStringSubmatch(line)
		if x == nil || len(rows) == 0 {
			if f := strings.Fields(line); len(f) > 0 && isNumber(f[0]) {
				return invalid(k+1, "it is no line of qstat; %s", Advice)
			}
			continue
		}
		if x[1] != "" {
			label = x[1]
		}
		last := &rows[len(rows)-1]
		word, _, _ := strings.Cut(x[2], " ") // h_rt=60 (0.000000)
		switch name, value, ok := strings.Cut(word, "="); {
		case ok && label == "Hard Resources":
			last.Hard = append(last.Hard, request{name, value})
		case ok && label == "Soft Resources":
			last.Soft = append(last.Soft, request{name, value})
		}
	}
	return r.take(rows, zone)
}

// ReadNodes reads the queues of qstat -f, with their slots, as nodes.
func ReadNodes(text []byte) ([]jobs.Node, error) {
	r, err := Read(text, time.UTC)
	if err == nil && len(r.Nodes) == 0 {
		err = invalid(0, "it tells no queues with their slots; give the output of qstat -f")
	}
	if err != nil {
		return nil, err
	}
	return r.Nodes, nil
}
