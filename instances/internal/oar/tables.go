// SPDX-License-Identifier: MIT

package oar

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/instances/internal/jobs"
)

// BeginsTable reports whether a text is a table of OAR's database with the names of its columns.
func BeginsTable(text []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimLeft(text, "\r\n"), []byte("\n"))
	return bytes.Contains(line, []byte("moldable_")) || bytes.Contains(line, []byte("assigned_moldable_job"))
}

// columns returns the rows of a table with the columns of these names. Those that end with ? may be missing.
func columns(table string, text []byte, names ...string) ([][]string, error) {
	in := csv.NewReader(bytes.NewReader(text))
	header, err := in.Read()
	if err != nil {
		return nil, invalid("%s: %w", table, err)
	}
	at := make([]int, len(names))
	for k, name := range names {
		column, optional := strings.CutSuffix(name, "?")
		if at[k] = slices.Index(header, column); at[k] < 0 && !optional {
			return nil, invalid("%s: there is no column %s; write the tables by psql's \\copy NAME to NAME.csv csv header, and give jobs.csv", table, column)
		}
	}
	all, err := in.ReadAll()
	if err != nil {
		return nil, invalid("%s: %w; is the file cut off?", table, err)
	}
	for k, row := range all {
		some := make([]string, len(at))
		for i, c := range at {
			if c >= 0 {
				some[i] = row[c]
			}
		}
		all[k] = some
	}
	return all, nil
}

// readTables joins the tables of the database. The ids of moldable descriptions aren't those of jobs.
func readTables(text []byte, beside func(string) ([]byte, error)) (*Records, error) {
	table := func(name string, needed bool, names ...string) ([][]string, error) {
		data, err := beside(name)
		switch {
		case err == nil:
			return columns(name, data, names...)
		case !needed && errors.Is(err, fs.ErrNotExist):
			return nil, nil
		}
		return nil, invalid("jobs.csv needs %s beside it: %w", name, err)
	}
	list, err := columns("jobs.csv", text, "job_id", "assigned_moldable_job", "submission_time", "start_time", "stop_time", "resubmit_job_id?", "exit_code?",
		"state", "job_user", "queue_name", "project?", "job_name?", "reservation?", "message?", "properties?")
	if err != nil {
		return nil, err
	}
	molds, err1 := table("moldable_job_descriptions.csv", true, "moldable_id", "moldable_job_id", "moldable_walltime")
	assigned, err2 := table("assigned_resources.csv", true, "moldable_job_id", "resource_id")
	machine, err3 := table("resources.csv", false, "resource_id", "type", "network_address", "state")
	types, err4 := table("job_types.csv", false, "job_id", "type")
	events, err5 := table("event_logs.csv", false, "job_id", "type")
	after, err6 := table("job_dependencies.csv", false, "job_id", "job_id_required")
	if err := cmp.Or(err1, err2, err3, err4, err5, err6); err != nil {
		return nil, err
	}
	r := &Records{format: "tables of the database"}
	host := map[string]string{} // of resources
	var all []resource
	for _, x := range machine {
		host[x[0]] = x[2]
		all = append(all, resource{x[1], x[2], x[3]})
	}
	if machine != nil {
		r.nodes = nodes(all)
	}
	walltime, first, alternatives := map[string]string{}, map[string]string{}, map[string]int{}
	for _, x := range molds {
		walltime[x[0]] = x[2]
		if alternatives[x[1]]++; alternatives[x[1]] == 1 {
			first[x[1]] = x[0]
		}
	}
	group := func(rows [][]string) map[string][]string {
		of := map[string][]string{}
		for _, x := range rows {
			of[x[0]] = append(of[x[0]], x[1])
		}
		return of
	}
	resources, typesOf, eventsOf, afterOf := group(assigned), group(types), group(events), group(after)
	for k, row := range list {
		x := record{State: row[7], Owner: row[8], Queue: row[9], Project: row[10], Name: row[11], Reservation: row[12], Message: row[13], Properties: row[14],
			Types: typesOf[row[0]], alternatives: alternatives[row[0]], line: k + 2}
		mold := row[1]
		if mold == "0" || mold == "" {
			mold = first[row[0]]
		}
		for i, into := range []*int64{&x.Number, nil, &x.Submit, &x.Start, &x.Stop, &x.Resubmitted, &x.Exit} {
			if into == nil || row[i] == "" {
				continue
			}
			if *into, err = strconv.ParseInt(row[i], 10, 64); err != nil {
				return nil, invalid("jobs.csv: row %d: %s is no whole number", k+1, jobs.Quote(row[i]))
			}
		}
		if w := walltime[mold]; w != "" {
			if x.Walltime, err = strconv.ParseInt(w, 10, 64); err != nil {
				return nil, invalid("moldable_job_descriptions.csv: the walltime %s is no whole number", jobs.Quote(w))
			}
		}
		for _, id := range resources[mold] {
			x.Resources = append(x.Resources, json.RawMessage(id))
			if h := host[id]; h != "" {
				x.Hosts = append(x.Hosts, h)
			}
		}
		for _, id := range afterOf[row[0]] {
			x.Dependencies = append(x.Dependencies, json.RawMessage(id))
		}
		for _, e := range eventsOf[row[0]] {
			x.Events = append(x.Events, event{Type: e})
		}
		r.jobs = append(r.jobs, x)
	}
	return r, nil
}

// ReadNodes reads the table of resources as nodes.
func ReadNodes(text []byte) ([]jobs.Node, error) {
	rows, err := columns("resources.csv", text, "type", "network_address", "state")
	if err != nil {
		return nil, err
	}
	var all []resource
	for _, x := range rows {
		all = append(all, resource{x[0], x[1], x[2]})
	}
	return nodes(all), nil
}
