// SPDX-License-Identifier: MIT

package slurm

import (
	"slices"
	"strings"
	"sync"
)

// ofNoWeight are the keys of a job in the JSON of sacct and squeue that say nothing about its size, its time or its nodes,
// or say it again (Slurm's REST API, v0.0.37 to v0.0.44).
const ofNoWeight = `accrue_time admin_comment allocating_node array array_job_id array_max_tasks array_task_id
array_task_string association association_id batch_features batch_flag batch_host billable_tres block burst_buffer_state
cluster command comment container container_id core_spec cores_per_socket cpu_frequency_governor cpu_frequency_maximum
cpu_frequency_minimum cpus_per_task cpus_per_tres cron current_working_directory deadline delay_boot derived_exit_code
exit_code extra failed_node federation_origin federation_siblings_active federation_siblings_viable flags gres_detail
group group_id het het_job_id het_job_id_set het_job_offset hold job_id job_resources job_size_str kill_request_user
last_sched_evaluation licenses_allocated lineage mail_type mail_user max_cpus max_nodes maximum_switch_wait_time mcs
mcs_label memory_per_cpu memory_per_node memory_per_tres minimum_cpus_per_node minimum_tmp_disk_per_node network nice
nodes power pre_sus_time preempt_time preemptable_time preemptible_time prefer priority_by_partition profile qosreq
reboot requeue required required_switches required_tres resize_time restart_cnt scheduled_nodes script segment_size
selinux_context shared show_flags sockets_per_board sockets_per_node standard_error standard_input standard_output state
state_description stderr stderr_expanded stdin stdin_expanded stdout stdout_expanded step_id steps submit_line
suspend_time system_comment tasks tasks_per_board tasks_per_core tasks_per_node tasks_per_socket tasks_per_tres
thread_spec threads threads_per_core time time_minimum tres tres_bind tres_freq tres_per_job tres_per_socket
tres_per_task used_gres user_id wckey working_directory`

// knownKeys are these keys and those of columns.
var knownKeys = sync.OnceValue(func() map[string]bool {
	known := map[string]bool{}
	for _, key := range strings.Fields(ofNoWeight) {
		known[key] = true
	}
	for _, c := range columns {
		for _, path := range c.paths {
			key, _, _ := strings.Cut(path, "/")
			known[key] = true
		}
	}
	return known
})

// unknown adds the keys of a job that Slurm's JSON isn't known to have.
func (t *Table) unknown(o object) {
	for key := range o {
		if !knownKeys()[key] {
			if k, there := slices.BinarySearch(t.Unknown, key); !there {
				t.Unknown = slices.Insert(t.Unknown, k, key)
			}
		}
	}
}
