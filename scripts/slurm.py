#!/usr/bin/env python3
"""Runs one workload on a real Slurm under each setting of docs/how-to/slurm.md, and says which policy its starts are
like.

    scripts/slurm.py GAPWISE     GAPWISE is the program

scripts/daemons calls it, as root, where Slurm, slurmdbd and MariaDB are installed and nothing has to be left. Each
setting is a cluster of its own of 8 nodes of a CPU, all at the same time: it takes ten minutes and little CPU. gapwise
reads the records of sacct, as the how-to does. A figure is the mean difference of the starts from those of a policy on
the same jobs, in seconds, with the number of seconds between jobs (0 to 2) that fits best. It ends with 1 if another
policy is nearer to a setting's starts than the expected one.
"""
import json
import os
import random
import socket
import subprocess
import sys
import threading
import time

GAPWISE, NODES, HOST, ROOT = sys.argv[1], 8, socket.gethostname(), "/tmp/slurm-settings"
COLUMNS = ("JobID,User,Account,Partition,QOS,JobName,Submit,Eligible,Start,End,Elapsed,Suspended,Timelimit,"
           "AllocCPUS,ReqCPUS,NNodes,ReqTRES,AllocTRES,State,NodeList")
POLICIES = ["fcfs", "sjf", "conservative", "easy", "easy-sjbf", "easy-saf"]


def area(j):
    return j["estimate_s"] * j["processes"]


# The rules of plans(): the order of the queue, and how many jobs keep their planned starts.
RULES = {
    "plans, each job": (lambda j: 0, NODES * 1000),
    "plans, first job": (lambda j: 0, 1),
    "by limit": (lambda j: j["estimate_s"], 1),
    "by area": (area, 1),
    "by size/limit, small first": (lambda j: j["processes"] / j["estimate_s"], 1),
    "by size/limit, large first": (lambda j: -j["processes"] / j["estimate_s"], 1),
}

PASSES = "bf_interval=1,bf_resolution=1,sched_interval=2,batch_sched_delay=0"
BUILTIN = f"SchedulerType=sched/builtin\nSchedulerParameters={PASSES}\n"
BACKFILL = f"SchedulerType=sched/backfill\nSchedulerParameters={PASSES}\n"
FIRST = f"SchedulerType=sched/backfill\nSchedulerParameters={PASSES},bf_job_part_count_reserve=1\n"
FACTORS = "PriorityType=priority/multifactor\n"
SIZE = FACTORS + "PriorityWeightJobSize=100000\nPriorityFlags=SMALL_RELATIVE_TO_TIME\nPriorityFavorSmall="
# Each setting: lines of slurm.conf, a job's number in the queue in job_submit.lua, and what its starts are nearest to.
SETTINGS = {
    "builtin": (BUILTIN, "", "fcfs"),
    "builtin, priority by limit": (BUILTIN + FACTORS, "job.time_limit", "sjf"),
    "builtin, priority/basic by limit": (BUILTIN, "job.time_limit", "fcfs"),  # which ignores priorities
    "backfill": (BACKFILL, "", "plans, each job"),
    "backfill, default passes": ("SchedulerType=sched/backfill\n", "", ""),
    "reserve=1": (FIRST, "", "easy"),
    "reserve=1, priority by limit": (FIRST, "job.time_limit", "by limit"),
    "reserve=1, priority by area": (FIRST, "job.time_limit * job.min_nodes", "by area"),
    "reserve=1, JobSize, FavorSmall=YES": (FIRST + SIZE + "YES\n", "", "by size/limit, small first"),
    "reserve=1, JobSize, FavorSmall=NO": (FIRST + SIZE + "NO\n", "", "by size/limit, large first"),
}
SUBMIT = """function slurm_job_submit(job, part, uid)
	if job.time_limit ~= slurm.NO_VAL then
		job.priority = 1000000000 - %s
	end
	return slurm.SUCCESS
end
function slurm_job_modify(job, record, part, uid) return slurm.SUCCESS end
"""


def workload():
    """Submission (s), nodes, runtime (s) and limit (min) of each job; of those drawn, one in which policies differ by
    more than a second here and there does."""
    r, at, jobs = random.Random(81), 0, []
    for _ in range(22):
        limit, share = r.choice([1, 1, 1, 2, 2, 3]), r.choice([0.15, 0.3, 0.5, 0.85])
        jobs.append((at, r.choice([1, 1, 2, 2, 3, 4, 5, 7]), max(6, int(60 * limit * share)), limit))
        at += r.choice([2, 4, 4, 8])
    return jobs


def plans(jobs, key, keep):
    """The starts if, at each submission and end, all waiting jobs are planned anew in the order of key, on particular
    nodes. Of those that can't start now the first few (keep) hold theirs against later ones, as in Slurm's backfill."""
    ahead, waiting, running, starts, now = sorted(jobs, key=lambda j: j["submit_s"]), [], [], {}, 0
    while ahead or waiting:
        while ahead and ahead[0]["submit_s"] <= now:
            waiting.append(ahead.pop(0))
        waiting.sort(key=key)
        running = [x for x in running if x[0] > now]
        busy, kept = [(now, max(end, now + 1), nodes) for _, end, nodes in running], 0
        for j in list(waiting):
            for t in sorted({now} | {end for _, end, _ in busy}):
                end = t + j["estimate_s"]
                free = set(range(NODES)).difference(*(nodes for a, b, nodes in busy if a < end and t < b))
                if len(free) >= j["processes"]:
                    break
            nodes = adjacent(free, j["processes"])
            if t == now:
                waiting.remove(j)
                starts[j["id"]] = now
                running.append((now + j["runtime_s"], end, nodes))
            if t == now or kept < keep:
                busy.append((t, end, nodes))
                kept += t > now
        now = min([x[0] for x in running] + [j["submit_s"] for j in ahead[:1]])
    return starts


def adjacent(free, n):
    """The n nodes that select/linear takes: of the shortest row of neighbours that has them, or of the longest rows."""
    rows = []
    for x in sorted(free):
        if rows and rows[-1][-1] == x - 1:
            rows[-1].append(x)
        else:
            rows.append([x])
    fit = [row for row in rows if len(row) >= n]
    rows = [min(fit, key=len)] if fit else sorted(rows, key=len, reverse=True)
    return set(sum(rows, [])[:n])


def environment(conf):
    return dict(os.environ, SLURM_TIME_FORMAT="%s", **({"SLURM_CONF": conf} if conf else {}))


def sh(command, conf="", check=True):
    r = subprocess.run(command, shell=True, env=environment(conf), capture_output=True, text=True)
    if check and r.returncode:
        raise RuntimeError(f"{command}: {r.stdout}{r.stderr}")
    return r.stdout


def daemon(command, conf=""):
    subprocess.Popen("exec " + command, shell=True, env=environment(conf), stdin=subprocess.DEVNULL,
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


def until(what, so):
    for _ in range(600):
        if so():
            return
        time.sleep(0.2)
    raise RuntimeError("waited in vain for " + what)


def write(file, text):
    with open(file, "w") as f:
        f.write(text)


def accounting():
    """Starts the database and slurmdbd."""
    os.makedirs("/run/mysqld", exist_ok=True)
    os.makedirs("/etc/slurm", exist_ok=True)
    sh("chown mysql /run/mysqld")
    daemon("mariadbd --user=mysql --skip-networking --innodb-buffer-pool-size=64M")
    until("MariaDB", lambda: sh("mysql -e 'select 1'", check=False))
    sh("mysql -e \"create database slurm_acct_db; create user slurm@localhost identified by 'x'; "
       "grant all on slurm_acct_db.* to slurm@localhost\"")
    conf = "/etc/slurm/slurmdbd.conf"
    write(conf, f"""AuthType=auth/none
DbdHost=localhost
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurm
StoragePass=x
StorageLoc=slurm_acct_db
LogFile={ROOT}/dbd.log
PidFile={ROOT}/dbd.pid
""")
    os.chmod(conf, 0o600)
    daemon("slurmdbd -D")


def cluster(k, lines, by):
    """Starts a cluster, and returns its slurm.conf once its nodes are idle."""
    folder, port = f"{ROOT}/c{k}", 21000 + 100 * k
    os.makedirs(folder)
    conf = f"{folder}/slurm.conf"
    write(f"{folder}/cgroup.conf", "")
    write(f"{folder}/job_submit.lua", SUBMIT % by)
    write(conf, f"""ClusterName=c{k}
SlurmctldHost={HOST}(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/ctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/ctld.log
SlurmdLogFile={folder}/%n.log
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
SelectType=select/linear
SlurmdParameters=config_overrides
ReturnToService=2
{"JobSubmitPlugins=lua" if by else ""}
NodeName=n[1-{NODES}] NodeHostname={HOST} NodeAddr=127.0.0.1 Port=[{port + 1}-{port + NODES}] CPUs=1 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
{lines}""")
    add = f"sacctmgr -i add cluster c{k}; sacctmgr -n list cluster format=cluster"
    until("slurmdbd", lambda: f"c{k}" in sh(add, conf, False))
    daemon("slurmctld -D -i", conf)
    for n in range(NODES):
        daemon(f"slurmd -D -N n{n + 1}", conf)
    until("nodes", lambda: sh("sinfo -h -o '%T %D'", conf, False).split() == ["idle", str(NODES)])
    return conf


def run(conf):
    """Has a cluster run the workload, and writes its records."""
    begin, folder = time.time(), os.path.dirname(conf)
    for at, nodes, seconds, limit in workload():
        time.sleep(max(0, begin + at - time.time()))
        sh(f"sbatch --chdir=/tmp -o /dev/null -N{nodes} -t{limit} --wrap='sleep {seconds}'", conf)
    while sh("squeue -h", conf):
        time.sleep(2)
    states = "sacct -a -X -n -P --format=State"
    until("the records", lambda: sh(states, conf).split().count("COMPLETED") == len(workload()))
    write(f"{folder}/sacct.txt", sh(f"sacct -a -X -P -S 2020-01-01 --format={COLUMNS}", conf))
    write(f"{folder}/sinfo.txt", sh("sinfo -N -o '%N|%P|%c|%m|%G|%f|%T'", conf))


def measured(folder):
    """Mean wait of Slurm's jobs (s), and how far the starts of each policy and rule are from its own, in seconds."""
    def starts(result):
        return {r["id"]: r["segments"][0]["start_s"] for r in result["solution"]["runs"]}
    sh(f"cd {folder} && {GAPWISE} convert sacct.txt --platform sinfo.txt -o jobs.json --ran ran.json")
    with open(f"{folder}/jobs.json") as jobs, open(f"{folder}/ran.json") as ran:
        instance, slurm, off = json.load(jobs), starts(json.load(ran)), {}
    wait = sum(slurm[j["id"]] - j["submit_s"] for j in instance["jobs"]) / len(slurm)
    for _ in range(3):
        write(f"{folder}/longer.json", json.dumps(instance))
        out = sh(f"{GAPWISE} solve --json -a {','.join(POLICIES)} {folder}/longer.json")
        of = {r["algorithm"]: starts(r) for r in map(json.loads, out.splitlines())}
        of |= {rule: plans(instance["jobs"], key, keep) for rule, (key, keep) in RULES.items()}
        for name, s in of.items():
            d = sum(abs(s[k] - slurm[k]) for k in slurm) / len(slurm)
            off[name] = min(off.get(name, d), d)
        for j in instance["jobs"]:  # a second more between jobs
            j["runtime_s"] += 1
            j["estimate_s"] = max(j["estimate_s"] + 1, j["runtime_s"])
    return wait, off


def main():
    os.makedirs(ROOT)
    accounting()
    confs = [cluster(k, lines, by) for k, (lines, by, _) in enumerate(SETTINGS.values())]
    threads = [threading.Thread(target=run, args=(conf,)) for conf in confs]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    wrong = []
    for conf, (name, (_, _, want)) in zip(confs, SETTINGS.items()):
        wait, off = measured(os.path.dirname(conf))
        near = sorted(off, key=off.get)
        print(f"{name}: mean wait {wait:.1f} s, starts off by " + ", ".join(f"{p} {off[p]:.1f} s" for p in near))
        if want and off[want] > off[near[0]]:
            wrong.append(f"{name} is nearest to {near[0]}, not to {want}")
    sys.exit("; ".join(wrong) or 0)


if __name__ == "__main__":
    main()
