#!/usr/bin/env bash
# A node whose gres.conf counts a resource and names no device files: a GPU, a tape drive.
# Slurm 22.05.8 (Debian 12: slurmd, slurm-wlm-basic-plugins).
# Expected: "Name=gpu Count=4" gives a node four GPUs to be counted, as it gives four of any other resource; devices are
#   only named to bind jobs to them, and Flags=CountOnly exists to do without.
# Seen (slurmd -G, the node's own account): four tape drives by Count, and even without a line in gres.conf. Of the GPU
#   none, with Count, with CountOnly, with neither, and without a word of warning. Four of them only with File, for which
#   any four devices serve.
# Matters: a simulated or a virtual cluster with GPUs looks right in slurm.conf, and its nodes are set to INVAL as they
#   register ("count reported lower than configured (0 < 4)"); sinfo goes on to list gpu:4 on them.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
mkdir -p "$T/debs/partial" "$T/root"
apt-cache show slurmd >/dev/null 2>&1 || apt-get -qq update
apt-get -qq -y -d --reinstall --no-install-recommends -o Debug::NoLocking=1 -o APT::Sandbox::User=root \
  -o Dir::Cache::archives="$T/debs" \
  install slurmd=22.05.8-4+deb12u3 slurm-wlm-basic-plugins=22.05.8-4+deb12u3 >/dev/null
for deb in "$T"/debs/*.deb; do dpkg -x "$deb" "$T/root"; done
ln -s slurmd-wlm "$T/root/usr/sbin/slurmd" # as Debian's alternatives have it; by another name it counts nothing
lib=$T/root/usr/lib/x86_64-linux-gnu
export LD_LIBRARY_PATH="$lib:$lib/slurm-wlm"
touch "$T/cgroup.conf"
cat >"$T/slurm.conf" <<END
ClusterName=lab
SlurmctldHost=$(hostname)
AuthType=auth/none
CredType=cred/none
SelectType=select/cons_tres
PluginDir=$lib/slurm-wlm
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
GresTypes=gpu,tape
SlurmdParameters=config_overrides
NodeName=g1 NodeHostname=$(hostname) CPUs=2 Gres=gpu:4,tape:4
PartitionName=p Nodes=g1
END
counts() { # lines of gres.conf
  printf '%s\n' "$@" >"$T/gres.conf"
  timeout 20 "$T/root/usr/sbin/slurmd" -f "$T/slurm.conf" -N g1 -G >"$T/said" 2>&1
  for name in gpu tape; do sed -n "s/.*Gres Name=$name .* Count=\([0-9]*\) .*/$name \1/p" "$T/said"; done | paste -sd, | sed 's/^$/none/'
}
{
  echo "no gres.conf lines: $(counts)"
  echo "Count: $(counts 'Name=gpu Count=4' 'Name=tape Count=4')"
  echo "Count and CountOnly: $(counts 'Name=gpu Count=4 Flags=CountOnly' 'Name=tape Count=4 Flags=CountOnly')"
  echo "File: $(counts 'Name=gpu File=/dev/null,/dev/zero,/dev/full,/dev/random' 'Name=tape Count=4')"
} >"$T/out"
echo 'expected: gpu 4,tape 4 from the second line on; seen:'
cat "$T/out"
[ "$(sed 's/.*: //' "$T/out" | tr '\n' ' ')" = 'tape 4 tape 4 tape 4 gpu 4,tape 4 ' ] || { echo 'changed'; exit 1; }
