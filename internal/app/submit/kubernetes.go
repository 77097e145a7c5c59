// SPDX-License-Identifier: MIT

package submit

import (
	_ "embed"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/gapwise/gapwise/internal/run/process"
	"github.com/gapwise/gapwise/model"
)

// Kubernetes is a Job for Kubernetes. Program is called by the shell of the image,
// Folder is below Mount.
type Kubernetes struct {
	Job
	Image  string
	Memory string // of a task: 2Gi
	Claim  string // the PersistentVolumeClaim for results
	// PlanText is the text of the plan's file, which the tasks find as PlanFile; "" for a plan that they have.
	PlanText string
}

// Mount is where the volume for results is in the tasks.
const Mount = "/results"

// PlanFile is where PlanText is in the tasks.
const PlanFile = "/plan/plan.yaml"

//go:embed job.yaml.tmpl
var jobText string

var (
	notInName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-z0-9]+`) })
	quantity  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[1-9][0-9]*(\.[0-9]+)?(k|M|G|T|Ki|Mi|Gi|Ti)?$`)
	})
	label = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`) })
)

// maxObject leaves room for "-merge" and for Kubernetes' additions to pods' names.
const maxObject = 50

// Object returns the name of the Job: the plan's as Kubernetes writes names.
func (k *Kubernetes) Object() string {
	name := strings.Trim(notInName().ReplaceAllString(strings.ToLower(k.Name), "-"), "-")
	return strings.TrimRight("gapwise-"+name[:min(len(name), maxObject)], "-")
}

// Manifest returns the manifest: an Indexed Job of the shards, a Job that merges,
// which is suspended at first, and with PlanText a ConfigMap that holds it.
func (k *Kubernetes) Manifest() ([]byte, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	switch {
	case k.Image == "" || strings.ContainsAny(k.Image, " \t\n\r"):
		return nil, fmt.Errorf("%w job: the image is %q, give one that has gapwise and sh", model.ErrInvalid, k.Image)
	case !quantity().MatchString(k.Memory):
		return nil, fmt.Errorf("%w job: the memory is %q, give a quantity of Kubernetes like 2Gi", model.ErrInvalid, k.Memory)
	case !label().MatchString(k.Claim) || len(k.Claim) > 253:
		return nil, fmt.Errorf("%w job: the claim is %q, must be the name of a PersistentVolumeClaim", model.ErrInvalid, k.Claim)
	case len(k.PlanText) > 1<<20:
		return nil, fmt.Errorf("%w job: the plan has %d bytes, a ConfigMap holds 1 MiB", model.ErrInvalid, len(k.PlanText))
	}
	object, text := k.Object(), strconv.Quote // Go's escapes are the same as YAML's
	plan, planMount, planVolume := "", "", ""
	if k.PlanText != "" {
		plan = fmt.Sprintf("\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\ndata:\n  %s: %s", object, path.Base(PlanFile), text(k.PlanText))
		planMount = fmt.Sprintf("\n        - {name: plan, mountPath: %s, readOnly: true}", path.Dir(PlanFile))
		planVolume = fmt.Sprintf("\n      - name: plan\n        configMap: {name: %s}", object)
	}
	return fill(jobText, "name", strconv.QuoteToASCII(k.Name), "merged", strconv.QuoteToASCII(path.Join(k.Folder, k.Name+".jsonl")),
		"object", object, "shards", strconv.Itoa(k.Shards), "parallelism", strconv.Itoa(k.Parallelism()), "workers", strconv.Itoa(k.Workers),
		"image", text(k.Image), "memory", text(k.Memory), "claim", k.Claim, "claim quoted", text(k.Claim), "mount", Mount,
		"task", text(k.Task()), "merge", text(k.Merge()), "plan", plan, "plan mount", planMount, "plan volume", planVolume), nil
}

// Task returns the command line of a task's shell. Kubernetes counts from 0.
func (k *Kubernetes) Task() string {
	return fmt.Sprintf("exec %s %s --workers %d --shard $((JOB_COMPLETION_INDEX + 1))/%d -o %s/",
		process.Quote(k.Program, "bench"), process.Quote(k.Arguments...), k.Workers, k.Shards, process.Quote(path.Join(k.Folder, "parts")))
}

// Merge returns the command line of the shell that merges.
func (k *Kubernetes) Merge() string {
	words := []string{k.Program, "bench", "merge", path.Join(k.Folder, "parts")}
	if k.Plan != "" {
		words = append(words, "--plan", k.Plan)
	}
	return "exec " + process.Quote(append(words, "-o", path.Join(k.Folder, k.Name+".jsonl"))...)
}

// Parallelism returns the number of pods at the same time.
func (k *Kubernetes) Parallelism() int {
	if k.AtOnce == 0 {
		return k.Shards
	}
	return min(k.AtOnce, k.Shards)
}
