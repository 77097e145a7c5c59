#!/usr/bin/env bash
# Slurm's sched/builtin starts jobs in the order of submission, whatever their priorities, unless priorities have factors.
# Slurm 22.05.8 (Debian 12: slurmctld, slurmd, slurm-client, slurm-wlm-basic-plugins).
# Expected: slurm.conf(5) says that sched/builtin "initiates jobs in priority order". So of two waiting jobs the one with
#   sbatch --priority=1000 (or scontrol update Priority=, or a job_submit plugin) starts before the one with 10.
# Seen: squeue and scontrol show the priorities 10 and 1000, and the job with 10 starts first, as it came first. With
#   sched/backfill, or with sched/builtin and PriorityType=priority/multifactor (no weight is needed), 1000 starts first.
# Matters: priority/basic is the default, so a site that sets an order of its own under sched/builtin, shortest limit
#   first for example, gets first come, first served, and no daemon says that priorities are left out.
set -euo pipefail
T=$(mktemp -d)
export SLURM_CONF=$T/slurm.conf
down() { for pid in $(cat "$T"/*.pids 2>/dev/null); do kill "$pid" 2>/dev/null && wait "$pid" || true; done; rm -f "$T"/*.pids; }
trap 'down; rm -rf "$T"' EXIT
mkdir -p "$T/debs/partial" "$T/root"
apt-cache show slurmctld >/dev/null 2>&1 || apt-get -qq update
v=22.05.8-4+deb12u3
apt-get -qq -y -d --reinstall --no-install-recommends -o Debug::NoLocking=1 -o APT::Sandbox::User=root \
  -o Dir::Cache::archives="$T/debs" \
  install slurmctld=$v slurmd=$v slurm-client=$v slurm-wlm-basic-plugins=$v >/dev/null
for deb in "$T"/debs/*.deb; do dpkg -x "$deb" "$T/root"; done
lib=$T/root/usr/lib/x86_64-linux-gnu
export LD_LIBRARY_PATH="$lib:$lib/slurm-wlm" PATH="$T/bin:$PATH"
mkdir "$T/bin"
for p in "$T"/root/usr/{bin,sbin}/*; do name=${p##*/}; ln -sf "$p" "$T/bin/${name%-wlm}"; done # as Debian's alternatives have it
touch "$T/cgroup.conf"
first() { # lines of slurm.conf: the priority of the job that starts first
  local port=$((20000 + RANDOM % 10000))
  rm -rf "$T/state" "$T/spool"
  { cat <<END
ClusterName=lab
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/none
CredType=cred/none
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
StateSaveLocation=$T/state
SlurmdSpoolDir=$T/spool
SlurmctldPidFile=$T/slurmctld.pid
SlurmdPidFile=$T/slurmd.pid
PluginDir=$lib/slurm-wlm
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MailProg=/bin/true
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname=$(hostname) NodeAddr=127.0.0.1 CPUs=1
PartitionName=p Nodes=n1 Default=YES State=DOWN
END
    printf '%s\n' "$@"; } >"$SLURM_CONF"
  "$T/bin/slurmctld" -D -i >"$T/ctld.log" 2>&1 & echo $! >"$T/ctld.pids"
  "$T/bin/slurmd" -D -N n1 >"$T/d.log" 2>&1 & echo $! >"$T/d.pids"
  for _ in {1..150}; do [ "$(sinfo -h -N -o %T 2>/dev/null)" = idle ] && break || sleep 0.2; done
  for priority in 10 1000; do sbatch -Q -n1 -t1 --priority=$priority -o /dev/null --wrap 'sleep 20' >/dev/null; done
  squeue -h -o %Q | sort -n | paste -sd, >>"$T/shown"
  scontrol update PartitionName=p State=UP
  for _ in {1..150}; do squeue -h -t running -o %Q | grep . && break || sleep 0.2; done
  scancel -Q -u "$(id -un)"
  sleep 2
  down
}
{
  echo "sched/builtin: $(first SchedulerType=sched/builtin)"
  echo "sched/builtin, priority/multifactor: $(first SchedulerType=sched/builtin PriorityType=priority/multifactor)"
  echo "sched/backfill: $(first SchedulerType=sched/backfill)"
} >"$T/out"
echo 'expected: the job of priority 1000 starts first in each line; seen:'
cat "$T/out"
[ "$(sort -u "$T/shown")" = '10,1000' ] || { echo 'priorities changed'; exit 1; }
[ "$(sed 's/.*: //' "$T/out" | paste -sd,)" = '10,1000,1000' ] || { echo 'changed'; exit 1; }
