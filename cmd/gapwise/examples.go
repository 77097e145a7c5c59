// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"strings"
)

// example is a command line and its effect.
type example struct{ does, command string }

// examples are shown in the help of each command. They can be run one after the
// other in one folder, and a test does so.
var examples = map[string][]example{
	"generate": {
		{"10 virtual machines on 4 hosts", "gapwise generate --hosts 4 --jobs 10 --seed 6 -o vms.json"},
		{"a task graph of 20 tasks for 3 machines", "gapwise generate --kind dag --tasks 20 --machines 3 -o graph.json"},
		{"100 requests for 1,024 PEs", "gapwise generate --kind reservation --requests 100 -o requests.json"},
	},
	"solve": {
		{"the best within 10 s, with its bound and gap", "gapwise solve vms.json"},
		{"all algorithms, for comparison", "gapwise solve --algorithm all graph.json"},
		{"a proof by two engines, and the result in a file", "gapwise solve -a exact --engine search,kernel graph.json -o result.json"},
		{"a proof that anybody can replay", "gapwise solve --proof graph.proof.gz graph.json"},
		{"the number of hosts that these virtual machines need", "gapwise solve --least-hosts vms.json -o packed.json"},
	},
	"kubernetes": {{"which nodes could go, which pods move, and what is proved", "gapwise kubernetes plan --moves docs/examples/cluster.json"},
		{"the cost of each rule", "gapwise kubernetes explain docs/examples/cluster.json"}, {"a cost that no plan can beat, at once", "gapwise kubernetes bound docs/examples/cluster.json"},
		{"all of this on a page", "gapwise kubernetes report docs/examples/cluster.json -o cluster.html"}, {"the cluster as an instance", "gapwise kubernetes convert docs/examples/cluster.json -o cluster.json"}},
	"verify":  {{"check a result with the independent judge", "gapwise verify graph.json result.json"}},
	"check":   {{"check a proof without the solver's code", "gapwise check graph.json graph.proof.gz"}},
	"bound":   {{"bounds that no schedule can beat, without search", "gapwise bound graph.json"}},
	"explain": {{"why no schedule is shorter, and what limits this one", "gapwise explain graph.json result.json"}, {"solve first, and print JSON", "gapwise explain vms.json --json"}},
	"export":  {{"the linear model, for another solver", "gapwise export vms.json -o vms.mps"}},
	"convert": {{"jobs 1 to 50 of a log as requests", "gapwise convert --kind reservation --first 50 log.swf -o log.json"}, {"a log through a pipe, as batch jobs", "cat log.swf | gapwise convert - -o jobs.json"}},
	"gantt": {{"a schedule, by HEFT", "gapwise gantt graph.json -o heft.svg"}, {"the optimal one", "gapwise gantt graph.json result.json -o optimal.png"},
		{"as wide as a page of A4, for a paper", "gapwise gantt --width 170 --font-size 8 graph.json -o heft.pdf"}},
	"bench": {{"a plan, two instances at a time; run again, it continues", "gapwise bench plan.yaml --workers 2 -o runs.jsonl"}, {"another plan, with its results in results/vms.jsonl", "gapwise bench vms.yaml"},
		{"three algorithms on a file or a folder, no plan", "gapwise bench -a heft,peft,search --time-limit 10s graph.json"},
		{"a built-in plan to start from", "gapwise bench --print demo -o mine.yaml"}, {"the second of two shards, here or on another machine", "gapwise bench plan.yaml --shard 2/2 -o parts/"},
		{"the scripts that Slurm gets without --dry-run", "gapwise bench plan.yaml --slurm 8 --sbatch --time=2:00:00 --dry-run"}},
	"bench merge":    {{"merge the results of a plan, and name missing runs", "gapwise bench merge parts -o all.jsonl"}},
	"bench table":    {{"gaps and times of each algorithm", "gapwise bench table runs.jsonl"}, {"for a paper", "gapwise bench table --by tasks --wide --format latex runs.jsonl"}},
	"bench compare":  {{"which algorithm is faster, and is it significant?", "gapwise bench compare --value time --base search runs.jsonl"}},
	"bench plot":     {{"the gap as graphs grow", "gapwise bench plot -x tasks -y 'gap %' runs.jsonl -o gap.svg"}, {"a critical-difference diagram", "gapwise bench plot --kind ranks -y 'gap %' results/vms.jsonl -o ranks.pdf"}},
	"report":         {{"tables, curves and pictures of runs, on one page", "gapwise report runs.jsonl -o runs.html"}, {"an instance, solved by all heuristics and auto", "gapwise report --time-limit 2s graph.json -o graph.html"}, {"the policies on the jobs of a log, with a bound", "gapwise report --time-limit 2s log.swf -o log.html"}, {"the effect of a fifth more processors", "gapwise report --effort 9999 log.swf --what-if processors=1.2x -o log.html"}},
	"bench findings": {{"compare a paper's findings with runs", "gapwise bench findings results/vms.jsonl"}},
	"algorithms": {
		{"the algorithms for task graphs", "gapwise algorithms dag"},
		{"all algorithms, one JSON object per line", "gapwise algorithms --json"},
	},
	"policy":     {{"write a first policy of your own: policy.py", "gapwise policy init --language python"}},
	"audit":      {{"compare all claims with each other, for 2 s", "gapwise audit --time 2s -o audit"}},
	"session":    {{"one instance per line, each solved from the solution before", "tr -d '\\n' < vms.json | gapwise session"}},
	"serve":      {{"on a free port", "gapwise serve --listen 127.0.0.1:0"}, {"the description of the interface", "gapwise serve --openapi > openapi.json"}},
	"web":        {{"the playground, if the build includes it", "gapwise web --listen 127.0.0.1:8381"}},
	"completion": {{"in ~/.bashrc: source <(gapwise completion bash)", "gapwise completion bash"}},
	"version":    {{"", "gapwise version"}},
	"help":       {{"", "gapwise help solve"}},
}

// exampleLines shows the examples of a command below a heading; empty without
// any.
func exampleLines(command, heading, indent string) string {
	var b strings.Builder
	for i, e := range examples[command] {
		if i == 0 {
			fmt.Fprintf(&b, "\n%s\n", heading)
		}
		if e.does != "" {
			fmt.Fprintf(&b, "%s# %s\n", indent, e.does)
		}
		fmt.Fprintf(&b, "%s%s\n", indent, e.command)
	}
	return b.String()
}
