// SPDX-License-Identifier: MIT

package wire

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// These types of events are batch's own.
const (
	jobSubmitted   = "JOB_SUBMITTED"
	jobCompleted   = "JOB_COMPLETED"
	jobKilled      = "JOB_KILLED"
	notify         = "NOTIFY"
	executeJob     = "EXECUTE_JOB"
	rejectJob      = "REJECT_JOB"
	killJob        = "KILL_JOB"
	setJobMetadata = "SET_JOB_METADATA"
)

// beginsData is a scheduler's knowledge of the platform. Schedulers of pybatsim read each of these keys, even if there
// is nothing to report.
type beginsData struct {
	Resources           int                       `json:"nb_resources"`
	ComputeResources    int                       `json:"nb_compute_resources"`
	StorageResources    int                       `json:"nb_storage_resources"`
	AllowComputeSharing bool                      `json:"allow_compute_sharing"`
	AllowStorageSharing bool                      `json:"allow_storage_sharing"`
	Config              beginsConfig              `json:"config"`
	Compute             []resource                `json:"compute_resources"`
	Storage             []resource                `json:"storage_resources"`
	Workloads           map[string]string         `json:"workloads"`
	Profiles            map[string]map[string]any `json:"profiles"` // empty: they would tell the runtimes
}

type beginsConfig struct {
	RedisEnabled            bool   `json:"redis-enabled"`
	RedisHostname           string `json:"redis-hostname"`
	RedisPort               int    `json:"redis-port"`
	RedisPrefix             string `json:"redis-prefix"`
	ProfilesForwarded       bool   `json:"profiles-forwarded-on-submission"`
	DynamicJobs             bool   `json:"dynamic-jobs-enabled"`
	DynamicJobsAcknowledged bool   `json:"dynamic-jobs-acknowledged"`
	ProfileReuse            bool   `json:"profile-reuse-enabled"`
	SchedConfig             string `json:"sched-config"`
	ForwardUnknownEvents    bool   `json:"forward-unknown-events"`
}

type resource struct {
	ID             int      `json:"id"`
	Name           string   `json:"name"`
	State          string   `json:"state"`
	Properties     struct{} `json:"properties"`
	ZoneProperties struct{} `json:"zone_properties"`
}

func begins(processors int) beginsData {
	d := beginsData{Resources: processors, ComputeResources: processors, AllowStorageSharing: true,
		Config:    beginsConfig{RedisHostname: "127.0.0.1", RedisPort: 6379, RedisPrefix: "default", ProfileReuse: true},
		Compute:   make([]resource, processors),
		Storage:   []resource{},
		Workloads: map[string]string{workload: "workload.json"}, Profiles: map[string]map[string]any{workload: {}}}
	for p := range d.Compute {
		d.Compute[p] = resource{ID: p, Name: "host" + strconv.Itoa(p), State: "idle"}
	}
	return d
}

type submittedData struct {
	JobID string  `json:"job_id"`
	Job   jobData `json:"job"`
}

func (d submittedData) name() string { return d.JobID }

type jobData struct {
	ID       string  `json:"id"`
	Submit   float64 `json:"subtime"`
	Walltime float64 `json:"walltime"`
	Res      int32   `json:"res"`
	Profile  string  `json:"profile"`
	// Use isn't Batsim's: on two tiers, the share of a processor that each process uses, or
	// one for all.
	Use []float64 `json:"use,omitempty"`
	// Log isn't Batsim's: it holds a log's fields about the job when it is submitted.
	Log *model.JobLog `json:"log,omitempty"`
}

type completedData struct {
	JobID      string `json:"job_id"`
	State      string `json:"job_state"`
	ReturnCode int    `json:"return_code"`
	Alloc      string `json:"alloc"`
}

func (d completedData) name() string { return d.JobID }

// killedData leaves out how far the jobs had come: that would reveal their runtimes.
type killedData struct {
	JobIDs []string `json:"job_ids"`
}

type notifyData struct {
	Type string `json:"type"`
}

// workload is the name of the only one.
const workload = "w0"

// jobName is the name of the job with a number (from 0): schedulers of pybatsim read what
// follows the workload as a whole number.
func jobName(k int32) string { return workload + "!" + strconv.Itoa(int(k)+1) }

// intervals writes processors as "0-3 5".
func intervals(list []int32) string {
	if !slices.IsSorted(list) {
		list = slices.Sorted(slices.Values(list))
	}
	return strings.ReplaceAll(model.ProcessorList(list).String(), ",", " ")
}

// parseIntervals reads processors such as "0-3 5", in this order, of so many that there are.
func parseIntervals(text string, processors int) ([]int32, error) {
	list := []int32{}
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		low, high, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(low)
		last := first
		if err == nil && isRange {
			last, err = strconv.Atoi(high)
		}
		switch {
		case err != nil || first < 0 || last < first:
			return nil, fmt.Errorf("alloc is %.60q, must be intervals like \"0-3 5\"", text)
		case last >= processors || len(list)+last-first >= processors:
			return nil, fmt.Errorf("alloc is %.60q, there are the processors 0 to %d", text, processors-1)
		}
		for p := first; p <= last; p++ {
			list = append(list, int32(p))
		}
	}
	return list, nil
}
