#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts what public files hold, as a second opinion on gapwise's readers.

It follows the definitions of the formats and shares nothing with the Go readers. A count has the name of a quantity of
the instance (tasks, work, ...), or begins as the fact does that gapwise must tell in its account of the file.

  count.py FOLDER...    writes the counts of the files below the folders that files.tsv lists into files.tsv
"""
import collections
import csv
import datetime
import glob
import gzip
import hashlib
import io
import json
import os
import re
import sys
import tarfile
import urllib.parse
import xml.etree.ElementTree as xml

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "files.tsv")
STAGED, SEVERAL = "bytes of inputs that no task writes", "files that several tasks write, which relate no tasks"


class Refused(Exception):
    """A file of which nothing can be taken, or that says what can't be, such as a cycle; gapwise must refuse it."""


def told(pairs):
    """Leaves out facts of which there is nothing to tell."""
    return {text: n for text, n in pairs.items() if n}


# Task graphs.


def by_files(reads, writes):
    """Relates tasks by files: name of a file to its size, for each task. Returns edges, bytes, and what is told."""
    writers, ends = collections.defaultdict(list), collections.defaultdict(list)
    for task, files in writes.items():
        for name in files:
            writers[name].append(task)
            ends[os.path.basename(name)].append((task, name))
    edges, staged, several = set(), {}, set()
    for task, files in reads.items():
        for name in list(files):
            ways, last = writers.get(name, []), os.path.basename(name)
            end = ends[last] if last == name else [(task, last) for task in writers.get(last, [])]
            if not ways and len(end) == 1 and end[0][0] != task:  # one of the two has no folder
                ways = [end[0][0]]
                files[end[0][1]] = files[name]
            if len(ways) > 1:
                several.add(name)
            elif not ways:
                staged.setdefault(name, files[name] or 0)
            elif ways[0] != task:
                edges.add((ways[0], task))
    return edges, sum(staged.values()), len(several)


def check(tasks, edges):
    """Refuses negative work and cycles."""
    if min(tasks.values()) < 0:
        raise Refused("a negative run time")
    left, waits = collections.Counter(b for _, b in edges), collections.defaultdict(list)
    for a, b in edges:
        waits[a].append(b)
    ready = [t for t in tasks if not left[t]]
    for t in ready:
        for b in waits[t]:
            left[b] -= 1
            if not left[b]:
                ready.append(b)
    if len(ready) < len(tasks):
        raise Refused("a cycle")


def graph(tasks, edges, reads, writes):
    """Counts a graph with lists of edges and with files. Tasks are by their names, with their run times."""
    linked, staged, several = by_files(reads, writes)
    edges = set(edges) | linked
    check(tasks, edges)
    data = 0
    for a, b in edges:
        for name in writes[a].keys() & reads[b].keys():
            data += (writes[a][name] if writes[a][name] is not None else reads[b][name]) or 0
    counts = {"tasks": len(tasks), "edges": len(edges), "data": data, "work": sum(tasks.values())}
    return counts | told({STAGED: staged, SEVERAL: several})


def wfformat(text, options):
    """WfFormat 1.3 to 1.6: https://github.com/wfcommons/WfFormat"""
    w = json.loads(text)["workflow"]
    late = "specification" in w
    listed = w["specification"]["tasks"] if late else w.get("tasks", w.get("jobs"))
    sizes = {f["id"]: f.get("sizeInBytes") for f in w["specification"].get("files", [])} if late else {}
    ran = {t["id"]: t for t in w["execution"]["tasks"]} if late else {t.get("id") or t["name"]: t for t in listed}
    id_of = {}
    for t in listed:
        for name in (t.get("name"), t.get("id")):
            if name:
                id_of[name] = t.get("id") or t["name"]
    edges, reads, writes, lists = set(), {}, {}, (set(), set())
    for t in listed:
        me = t.get("id") or t["name"]
        lists[0].update((me, id_of[c]) for c in t.get("children") or [])
        lists[1].update((id_of[p], me) for p in t.get("parents") or [])
        reads[me] = {f: sizes[f] for f in t.get("inputFiles") or []}
        writes[me] = {f: sizes[f] for f in t.get("outputFiles") or []}
        for f in t.get("files") or []:
            name, size = f.get("path", "") + f["name"], f.get("sizeInBytes", f.get("size"))
            if f["link"] in ("input", "inout"):
                reads[me][name] = size
            if f["link"] in ("output", "inout"):
                writes[me][name] = size
    edges = lists[0] | lists[1]
    counts = graph({k: t.get("runtimeInSeconds", t.get("runtime")) for k, t in ran.items()}, edges, reads, writes)
    one = len(lists[0] ^ lists[1]) if lists[0] and lists[1] else 0
    machines = (w["execution"] if late else w).get("machines") or []

    def number(t, *keys):
        return max(float(t.get(k) or 0) for k in keys)

    return counts | told({
        "tasks on several cores": sum(number(t, "cores", "coreCount") > 1 for t in ran.values()),
        "tasks with a need of memory": sum(number(t, "memory", "memoryInBytes") > 0 for t in ran.values()),
        "tasks with a priority": sum(number(t, "priority") != 0 for t in ran.values()),
        "executions of tasks before their last": len(w["execution"]["tasks"]) - len(ran) if late else 0,
        "edges by the list of parents or of children alone": one,
        "edges by files alone": counts["edges"] - len(edges),
        "machines of the run": len(machines)})


def dax(text, options):
    """DAX of Pegasus: jobs use files; a child names its parents."""
    tasks, edges, reads, writes, first = {}, set(), {}, {}, {"cores": 0, "memory": 0, "priority": 0}
    for x in xml.fromstring(text):
        tag = x.tag.split("}")[-1]
        if tag in ("job", "dax", "dag"):
            me = x.get("id")
            profiles = {p.get("key"): p.text for p in x if p.tag.endswith("profile")}
            if not (x.get("runtime") or profiles.get("runtime")):
                raise Refused("a job without a run time")
            tasks[me] = float(x.get("runtime") or profiles["runtime"])
            reads[me], writes[me] = {}, {}
            for u in x:
                if u.tag.endswith("uses"):
                    link, name, size = u.get("link"), u.get("file") or u.get("name"), u.get("size")
                    size = float(size) if size else None
                    if link in ("input", "inout"):
                        reads[me][name] = size
                    if link in ("output", "inout"):
                        writes[me][name] = size
        elif tag == "child":
            edges.update((p.get("ref"), x.get("ref")) for p in x)
    counts = graph(tasks, edges, reads, writes)
    return counts | told({"edges by files alone": counts["edges"] - len(edges)})


def saga(text, options):
    """Problem instances of SAGA and DAGBench: a graph with costs and sizes, a network with speeds."""
    d = json.loads(text)
    g, n = d["task_graph"], d["network"]
    links = n["edges"]
    apart = {frozenset((e["source"], e["target"])): e["speed"] for e in links if e["source"] != e["target"]}
    within = [e["speed"] for e in links if e["source"] == e["target"] and e["speed"] not in (None, float("inf"))]
    return {"tasks": len(g["tasks"]), "work": sum(t["cost"] for t in g["tasks"]),
            "edges": len(g["dependencies"]), "data": sum(e["size"] for e in g["dependencies"]),
            "machines": len(n["nodes"]), "speed": sum(x["speed"] for x in n["nodes"]),
            "rate": 2 * sum(apart.values()), "local rate": sum(within)}


def stg(text, options):
    """Standard Task Graphs: the number of tasks, then a line for each and for two dummies; # begins a comment."""
    lines = [line.split("#")[0].split() for line in text.decode().splitlines()]
    n, *rows = [[int(x) for x in line] for line in lines if line]
    assert len(rows) == n[0] + 2
    return {"tasks": len(rows), "edges": sum(r[2] for r in rows), "data": 0, "work": sum(r[1] for r in rows)}


def dot(text, options):
    """DOT of daggen and SimGrid: statements with the amount in the attribute size, or in those that an option names."""
    body = re.sub(r"/\*.*?\*/|//[^\n]*|#[^\n]*", "", text.decode(), flags=re.S)
    body = body[body.index("{") + 1:body.rindex("}")]
    tasks, edges, bare, named = {}, {}, 0, set()
    for s in re.findall(r'((?:"[^"]*"|[\w.]+)(?:\s*->\s*(?:"[^"]*"|[\w.]+))*)\s*(\[[^\]]*\])?\s*;?', body):
        ends = [x.strip().strip('"') for x in s[0].split("->")]
        size = re.search(rf'\b{options.get("dot", "size")}\s*=\s*"?([-+.\deE]+)', s[1])
        size = float(size.group(1)) if size else None
        if len(ends) == 1:
            tasks[ends[0]] = size
        for a, b in zip(ends, ends[1:]):
            named |= {a, b}
            if (a, b) not in edges and (size is None or size < 0):
                bare += 1
            edges[a, b] = max(size or 0, 0)
    hubs = named - tasks.keys()  # SimGrid's loader knows root and end
    check(tasks | dict.fromkeys(hubs, 0), edges)
    first = {b for a, b in edges}
    added = sum(t not in first and t != "root" for t in tasks) if tasks.get("root") else 0
    last = {a for a, b in edges}
    added += sum(t not in last and t != "end" for t in tasks) if tasks.get("end") else 0
    counts = {"tasks": len(tasks) + len(hubs), "edges": len(edges) + added, "data": sum(edges.values()), "work": sum(tasks.values())}
    return counts | told({
        "tasks of SimGrid that edges alone name, without work": len(hubs),
        "edges of size -1 or none: dependencies without data": bare,
        "dependencies on root, or of end, that SimGrid adds": added,
        "tasks with an alpha": len(re.findall(r"\balpha\s*=", body))})


def daggen(text, options):
    """A graph of daggen as a line of JSON; main.go makes DOT of it."""
    d = json.loads(text)
    return {"tasks": d["n"], "edges": len(d["edges"]), "data": sum(e[2] for e in d["edges"]), "work": sum(d["flops"]),
            "tasks with an alpha": d["n"]}


# Packing.


def vbp(text, options):
    """VPSolver's vector packing: dimensions, capacities, lines; each line has sizes and a number of items."""
    x = [int(w) for w in text.split()]
    d, n = x[0], x[x[0] + 1]
    rows = [x[d + 2 + k * (d + 1):][:d + 1] for k in range(n)]
    assert len(x) == d + 2 + n * (d + 1)
    if min(x) < 0:
        raise Refused("a negative size")
    return {"items": sum(r[d] for r in rows), "dimensions": d, "size": sum(sum(r[:d]) * r[d] for r in rows)}


# Logs of jobs. A job of no length counts for a second.


def run(jobs):
    """Counts runs: processors and seconds of each."""
    return {"jobs": len(jobs), "work": sum(p * (s or 1) for p, s in jobs)}


def swf(text, options):
    """Standard Workload Format 2.2: 18 fields a line, -1 for what isn't known."""
    machine, rows = int(options.get("processors", 0)), []
    header = {}
    for line in text.decode("latin-1").splitlines():
        if line.startswith(";"):
            key, _, value = line.strip("; \t").partition(":")
            header.setdefault(key.strip(), value.strip())
        elif line.strip():
            rows.append([float(x) for x in line.split()])
            if len(rows[-1]) != 18:
                raise Refused("not 18 fields")
    machine = machine or max(int(header.get("MaxProcs", 0)), 0) or int(header["MaxNodes"])
    whole = {r[0] for r in rows if not 2 <= r[10] <= 4}
    facts, jobs, limit = collections.Counter(), [], 0
    partitions = set()
    for r in rows:
        size = r[4] if r[4] > 0 else r[7]
        if 2 <= r[10] <= 4 and r[0] in whole:
            facts["lines of parts of jobs, beside one of the whole"] += 1
            continue
        facts["jobs behind a preceding job and a think time"] += r[16] > 0
        facts["jobs with a request for memory"] += r[9] > 0
        why = "jobs without a submit time" if r[1] < 0 else "jobs without processors" if size < 1 else \
            "jobs without a runtime" if r[3] < 0 else "jobs larger than the machine" if size > machine else ""
        facts[why] += 1
        if not why:
            jobs.append((size, r[3]))
            limit += max(r[8], 0)
            facts["jobs with a runtime of 0"] += r[3] == 0
    del facts[""]
    return run(jobs) | {"processors": machine, "limits": limit} | told(facts)


def batsim(text, options):
    """Workloads of Batsim 3 to 5: jobs with profiles, of which delays and sequences of them tell a runtime."""
    d = json.loads(text)
    facts, jobs, limits = collections.Counter(), [], 0

    def runtime(name):
        p = d["profiles"].get(str(name)) or d["profiles"][str(name).split("!")[-1]]
        if p["type"] in ("delay", "DelayProfile"):
            return p["delay"], None
        if p["type"] in ("composed", "SequentialCompositionProfile"):
            parts = [runtime(x) for x in p.get("seq", p.get("sequence"))]
            other = next((o for _, o in parts if o), None)
            return sum(s for s, _ in parts) * (p.get("repeat", p.get("nb", p.get("repetition_count"))) or 1), other
        return 0, p["type"]

    for j in d["jobs"]:
        seconds, other = runtime(j["profile"])
        if other or j["res"] > d["nb_res"]:
            facts[f'jobs with a profile of the type "{other}"' if other else "jobs larger than the machine"] += 1
            continue
        wall = j.get("walltime", -1)
        if wall is None or wall <= 0:
            wall = d["profiles"].get(str(j["profile"]), {}).get("walltime", 0)
        facts["jobs without a walltime"] += wall <= 0
        facts["jobs with dependencies"] += bool(j.get("dependencies"))
        facts["jobs with extra_data for their scheduler"] += j.get("extra_data") is not None
        jobs.append((j["res"], seconds))
        limits += max(wall, 0)
    if not jobs:
        raise Refused("no job with a runtime")
    counts = {"jobs": len(jobs), "work": sum(p * s for p, s in jobs), "processors": d["nb_res"], "limits": limits}
    return counts | told(facts)


def seconds(text):
    """Reads a duration of Slurm: [days-][hours:]minutes:seconds."""
    if not re.fullmatch(r"(\d+-)?[\d:]+(\.\d+)?", text):
        return None
    days, _, rest = text.rpartition("-")
    parts = [int(x.split(".")[0]) for x in rest.split(":")]
    if days:
        parts += [0] * (3 - len(parts))
    return int(days or 0) * 86400 + sum(x * 60**k for k, x in enumerate(reversed(parts)))


ALIVE = ("RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED", "RESIZING", "STOPPED", "SIGNALING", "STAGE_OUT")
NEVER = ("CANCELLED", "DEADLINE", "BOOT_FAIL", "REVOKED")
Record = collections.namedtuple("Record", "id state start length cpus reason asks")  # start and length: None if unknown


def slurm(records, options):
    """Counts records of Slurm, one a run: jobs with components are one, and so are records of one run."""
    facts, kept, asks = collections.Counter(), {}, collections.defaultdict(set)
    for r in records:
        base, state, why = r.id.split("+")[0], r.state.split()[0], r.reason.lower()
        if "pending" in options:
            if state in ("RUNNING", "CONFIGURING", "COMPLETING"):
                fact = "jobs running"
            elif state in ("PENDING", "SUSPENDED"):
                fact = "jobs suspended" if state == "SUSPENDED" else "jobs on hold" if "held" in why else \
                    "jobs with unmet dependencies" if why.startswith("dependency") else "jobs waiting"
            else:
                fact = "jobs ended already"
            taken = fact in ("jobs running", "jobs waiting")
            facts[fact] += not taken or base not in kept
            facts["components of heterogeneous jobs"] += taken and base in kept
            if taken:
                kept.setdefault(base, []).append((r.cpus, 0))
                asks[base] |= r.asks
        elif state == "PENDING":
            facts["jobs still pending"] += 1
        elif r.start is None or state in NEVER and not r.length:
            facts["jobs never started"] += 1
        else:
            facts["runs ended by a requeue"] += state in ("REQUEUED", "NODE_FAIL", "PREEMPTED")
            same = (k for k in kept if k[0] == base and k[1] <= r.start < k[1] + max(1, kept[k][0][1]))
            other = next(same, None) if "+" not in r.id else None
            if other:  # the same run again, perhaps of another size
                cpus, length = kept[other][0]
                facts["records of a job that has another record" if cpus == r.cpus else "jobs resized as they ran"] += 1
                kept[other][0] = max(cpus, r.cpus), max(length, r.start + r.length - other[1])
                continue
            facts["components of heterogeneous jobs"] += (base, r.start) in kept
            facts["jobs still running"] += state in ALIVE and state != "RESIZING"
            kept.setdefault((base, r.start), []).append((r.cpus, r.length))
            asks[base, r.start] |= r.asks
    for wishes in asks.values():
        facts.update(wishes)
    jobs = [(sum(c for c, _ in parts), max(s for _, s in parts)) for parts in kept.values()]
    counts = {"jobs": len(jobs), "width": sum(p for p, _ in jobs)} if "pending" in options else run(jobs)
    return counts | told(facts)


def tasks_of(text):
    """The tasks in a list as 1,3-5,10-20:2%4 has them."""
    spans = re.findall(r"(\d+)(?:-(\d+)(?::(\d+))?)?", text.split("%")[0])
    return [k for a, b, step in spans for k in range(int(a), int(b or a) + 1, int(step or 1))]


def slurm_table(text, options):
    """Tables of sacct -P and of squeue: a line of names, bars between the columns."""
    lines = [line.rstrip("|") if line.endswith("|") else line for line in text.decode().splitlines()]
    names = [x.lower() for x in lines[0].split("|")]
    records, steps, share = [], 0, float("inf")
    if options.get("nodes"):
        with open(os.path.join(options["beside"], options["nodes"])) as f:
            nodes = {r["NODELIST"]: r for r in csv.DictReader(f, delimiter="|")}.values()
        share = sum(int(n["MEMORY"]) for n in nodes) / sum(int(n["CPUS"]) for n in nodes)
    for line in lines[1:]:
        cells = line.split("|")
        if line == lines[0]:
            continue
        if len(cells) > len(names):  # a name with a bar of its own
            k, more = names.index("jobname"), len(cells) - len(names)
            cells[k:k + more + 1] = ["|".join(cells[k:k + more + 1])]
        r = dict(zip(names, cells))

        def get(*keys):
            return next((r[k] for k in keys if r.get(k)), "")

        def moment(text):
            try:
                at = datetime.datetime.fromisoformat(text)
            except ValueError:
                return int(text) if text.isdigit() else None
            return at.replace(tzinfo=at.tzinfo or datetime.timezone.utc).timestamp()

        if "." in get("jobid"):
            steps += 1
            continue
        start, finish, length = moment(get("start", "start_time")), moment(get("end")), seconds(get("elapsed", "time"))
        memory = re.fullmatch(r"(\d+)([MG])", get("min_memory"))
        cpus = int(get("alloccpus", "cpus", "ncpus") or 0)
        array = re.fullmatch(r"(\d+)_\[(.*)\]", get("jobid"))
        paused = seconds(get("suspended") or "0")
        if not paused and start and finish and length:  # an hour apart is a change of the clocks
            paused = finish - start - length not in (0, 3600, -3600)
        asks = told({
            "jobs with GPUs": "gpu" in get("alloctres", "reqtres", "tres_per_node"),
            "jobs of several partitions": "," in get("partition"),
            "tasks of arrays with a limit of tasks at once": array and "%" in array.group(2),
            "jobs with more memory than their CPUs' share": memory and int(memory[1]) * (1024 if memory[2] == "G" else 1) > share * cpus,
            "suspensions of jobs": paused})
        for id in [f"{array.group(1)}_{k}" for k in tasks_of(array.group(2))] if array else [get("jobid")]:
            records.append(Record(id, get("state"), start, length, cpus, get("reason"), asks.keys()))
    return slurm(records, options) | told({"steps of jobs": steps})


def slurm_json(text, options):
    """The JSON of sacct and squeue: numbers may be objects with set, infinite and number."""
    d = json.loads(text)

    def number(x):
        return (x["number"] if x.get("set", True) and not x.get("infinite") else None) if isinstance(x, dict) else x

    def get(j, path):
        for key in path.split("/"):
            j = j.get(key) if isinstance(j, dict) else None
        return j

    records = []
    now = max([number(j.get(k)) or 0 for j in d["jobs"] for k in ("submit_time", "last_sched_evaluation")] + [0])
    now = number(d.get("last_update")) or now
    for j in d["jobs"]:
        state = get(j, "state/current") or j.get("job_state")
        state = state[0] if isinstance(state, list) else state
        start = number(get(j, "time/start") or j.get("start_time"))
        length = number(get(j, "time/elapsed"))
        if length is None and start:
            since = number(j.get("suspend_time"))
            length = number(j["pre_sus_time"]) + now - since if since else max(0, now - start)
        wants = get(j, "tres/allocated") or get(j, "tres/requested") or []
        cpus = {t["type"]: t["count"] for t in wants}.get("cpu", number(j.get("cpus")) or 0)
        gpus = any(t["type"] == "gres" and t["name"].startswith("gpu") and t["count"] for t in wants)
        asks = told({"jobs with GPUs": gpus,
                     "jobs with a need for features of nodes": bool(j.get("constraints") or j.get("features"))})
        tasks = get(j, "array/task") or j.get("array_task_string")
        for id in [f"{j['job_id']}_{k}" for k in tasks_of(tasks)] if tasks else [str(j["job_id"])]:
            records.append(Record(id, state, start or None, length, cpus, j.get("state_reason") or "", asks.keys()))
    return slurm(records, options)


def runs(rows, facts):
    return run([(p, e - s) for p, s, e in rows]) | told(facts)


def accounting(text, options):
    """Grid Engine's accounting(5): fields between colons; a category, the 40th, may hold some of its own."""
    rows, facts = [], collections.Counter()
    for line in text.decode().splitlines():
        f = line.split(":")
        if line.startswith("#") or len(f) < 45:
            continue
        start, end, failed, slots = int(f[9]), int(f[10]), int(f[11].split()[0]), int(f[34])
        if f[-4] != "NONE":
            facts["records of tasks of parallel jobs"] += 1
        elif not start or not end:
            facts["runs that never started"] += 1
        else:
            rows.append((slots, start, end))
            facts["runs ended by a re-queue"] += failed == 25
            hard = re.split(r"-soft\b.*?(?=-hard|$)", ":".join(f[39:-5]))
            wants = ",".join(re.findall(r"-l (\S+)", " ".join(hard)))
            facts["jobs with a soft limit (s_rt)"] += "s_rt=" in wants
            names = {w.split("=")[0] for w in wants.split(",") if w}
            facts["jobs asking for further resources"] += bool(names - {"h_rt", "s_rt"})
            facts["jobs asking for certain queues or hosts"] += bool(re.search(r"-q |-masterq ", ":".join(f[39:-5])))
            facts["jobs in an advance reservation, which may hold its slots for longer"] += "-ar " in ":".join(f[39:-5])
            facts["jobs with soft requests"] += "-soft" in ":".join(f[39:-5])
    return runs(rows, facts)


def qacct(text, options):
    """qacct -j: a block of keys and values for each record; tasks of a parallel job run within its own record."""
    rows = []
    for block in re.split(r"^=+$", text.decode(), flags=re.M):
        r = dict(line.split(None, 1) for line in block.splitlines() if len(line.split(None, 1)) > 1)
        if r.get("jobnumber"):
            span = [datetime.datetime.strptime(r[k].strip(), "%c") for k in ("start_time", "end_time")]
            rows.append((r["jobnumber"], int(r["slots"]), *(at.replace(tzinfo=datetime.timezone.utc).timestamp() for at in span)))

    def within(k, i):
        (n, _, s, e), (m, _, a, b) = rows[k], rows[i]
        return n == m and s >= a and e <= b and (s > a or e < b or k < i)

    own = [rows[k][1:] for k in range(len(rows)) if not any(within(k, i) for i in range(len(rows)))]
    return runs(own, {"records of tasks of parallel jobs": len(rows) - len(own)})


def qstat_xml(text, options):
    """qstat -xml: a job_list for each job, running task, or the rest of an array."""
    jobs = xml.fromstring(text).iter("job_list")
    return queued((x.findtext("state"), x.findtext("slots"), x.findtext("tasks") or "") for x in jobs)


def qstat(text, options):
    """qstat: a line with a date for each job; the queue is there if it runs, and above it with -f."""
    line = r"^ *\d+ +[\d.]+ +\S+ +\S+ +(\w+) +[\d/]+ [\d:]+ +(?:\S+@\S+)? *(\d+) *([\d,:-]*) *$"
    return queued(re.findall(line, text.decode(), flags=re.M))


def queued(lines):
    facts, width, jobs = collections.Counter(), 0, 0
    for state, slots, tasks in lines:
        n = len(tasks_of(tasks)) or 1
        fact = "jobs that failed to start" if "E" in state else "jobs on hold" if "h" in state and "q" in state else \
            "jobs being deleted" if "d" in state and "q" in state else "jobs waiting" if "q" in state else "jobs running"
        facts[fact] += n
        facts["tasks of arrays"] += n if n > 1 else 0
        if fact.startswith("jobs running") or fact.startswith("jobs waiting"):
            jobs, width = jobs + n, width + n * int(slots)
    return {"jobs": jobs, "width": width} | told(facts)


def oar(text, options):
    """oarstat -f -J, and -g -J: jobs by their numbers, each with its cores, which have three names by release."""
    d = json.loads(text)
    rows, facts = [], collections.Counter()
    for j in d.get("jobs", d).values():
        cores = len(set(j.get("assigned_resources") or j.get("resource_id") or j.get("resources") or []))
        start, stop = (j.get(k) or j.get(o) or 0 for k, o in (("startTime", "start_time"), ("stopTime", "stop_time")))
        advance = j.get("reservation") not in (None, "None")
        if "pending" in options:
            fact = {"Hold": "jobs on hold", "Waiting": "jobs waiting"}.get(j["state"], "jobs running")
            if advance and fact == "jobs waiting":
                fact = "jobs of advance reservations, waiting for their time"
            facts[fact] += 1
            if fact in ("jobs waiting", "jobs running"):
                asks = re.search(r"\bR=(\d+)", j.get("message") or "")
                rows.append((cores or int(asks[1]), 0, 0))
                facts["jobs of the type besteffort"] += (j.get("queue") or j.get("queue_name")) == "besteffort"
                facts["jobs that are moldable"] += (" " + (j.get("wanted_resources") or "")).count(" -l ") > 1
            continue
        if j["state"] not in ("Terminated", "Error"):
            facts["jobs still running or waiting"] += 1
        elif not cores or not start:
            facts["reservations that were refused" if advance else "jobs that never started"] += 1
        else:
            rows.append((cores, start, stop))
            facts["jobs of the type besteffort"] += (j.get("queue") or j.get("queue_name")) == "besteffort"
            facts["jobs of advance reservations, taken as jobs of the queue"] += advance
            facts["jobs that are moldable"] += (" " + (j.get("wanted_resources") or "")).count(" -l ") > 1
            facts["jobs with dependencies"] += bool(j.get("dependencies"))
    if "pending" in options:
        return {"jobs": len(rows), "width": sum(p for p, _, _ in rows)} | told(facts)
    return runs(rows, facts)


def oar_tables(text, options):
    """OAR's table jobs.csv, with the cores of a job's moldable description in assigned_resources.csv beside it."""
    def beside(name):
        with open(os.path.join(options["beside"], name), newline="") as f:
            return list(csv.DictReader(f))

    cores = collections.Counter(r["moldable_job_id"] for r in beside("assigned_resources.csv"))
    moldable = collections.Counter(r["moldable_job_id"] for r in beside("moldable_job_descriptions.csv"))
    rows, facts = [], collections.Counter()
    for j in csv.DictReader(io.StringIO(text.decode())):
        n, advance = cores[j["assigned_moldable_job"]], j["reservation"] != "None"
        start, stop = int(j["start_time"]), int(j["stop_time"])
        if not n or not start:
            facts["reservations that were refused" if advance else "jobs that never started"] += 1
        else:
            rows.append((n, start, stop))
            facts["jobs of the type besteffort"] += j["queue_name"] == "besteffort"
            facts["jobs of advance reservations, taken as jobs of the queue"] += advance
            facts["jobs that are moldable"] += moldable[j["job_id"]] > 1
    return runs(rows, facts)


def plain(text, options):
    """Bin packing and cutting stock: the number of lines, the capacity, sizes, each with how many there are."""
    n, capacity, *rows = [[int(x) for x in line.split()] for line in text.splitlines() if line.strip()]
    assert n == [len(rows)]
    counts = [r[1] if len(r) > 1 else 1 for r in rows]
    return {"items": sum(counts), "dimensions": 1, "size": sum(r[0] * n for r, n in zip(rows, counts))}


READERS = {  # by how their formats begin
    "WfFormat": wfformat, "DAX": dax, "SAGA": saga, "Standard Task Graph": stg, "DOT": dot,
    "VBP": vbp, "bin packing": plain,
    "Standard Workload Format": swf, "Batsim workload": batsim,
    "Slurm's table of jobs": slurm_table, "Slurm's JSON of jobs": slurm_json,
    "Grid Engine, accounting": accounting, "Grid Engine, qstat -xml": qstat_xml, "Grid Engine, qacct": qacct,
    "Grid Engine, qstat": qstat,
    "OAR, oarstat": oar, "OAR, tables": oar_tables}


def unfolded(data):
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def parts(path, data):
    """The files of an archive, the lines of a list, or the file itself."""
    if path.endswith((".tar", ".tar.gz")):
        archive = tarfile.open(fileobj=io.BytesIO(data))
        return [archive.extractfile(m).read() for m in archive.getmembers() if m.isfile()]
    return data.splitlines() if ".jsonl" in path else [data]


def count(row, data, beside):
    """Counts a row's file, or the sum over those in it; beside is its folder."""
    reader = next(f for name, f in READERS.items() if row["format"].startswith(name))
    if ".jsonl" in row["path"]:
        reader = daggen
    options = dict(urllib.parse.parse_qsl(row["options"], keep_blank_values=True))
    options["beside"] = beside
    total = collections.Counter()
    each = parts(row["path"], data)
    for text in each:
        try:
            total.update(reader(text, options) | {"files": 1})
        except Refused:
            total["files refused"] += 1
    return {name: int(x) if x == int(x) else x for name, x in sorted(total.items())}


def main(folders):
    with open(LIST, newline="") as f:
        rows = list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))
    found = {}
    for folder in folders:
        for path in glob.glob(folder + "/**", recursive=True):
            if os.path.isfile(path):
                data = unfolded(open(path, "rb").read())
                found[hashlib.sha256(data).hexdigest()] = data, os.path.dirname(path)
    for row in rows:
        if row["sha256"] in found:
            row["counts"] = json.dumps(count(row, *found[row["sha256"]]), sort_keys=True)
    with open(LIST, "w") as f:
        f.writelines("\t".join(cells) + "\n" for cells in [rows[0].keys(), *(r.values() for r in rows)])


if __name__ == "__main__":
    main(sys.argv[1:])
