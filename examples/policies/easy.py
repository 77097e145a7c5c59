# EASY backfilling: gapwise solve -a 'online:python3 easy.py' jobs.json
#
# Jobs start in the order of their arrivals. When the head of the queue doesn't fit, it gets
# the earliest time at which it will, by the walltimes of the running jobs: the shadow time.
# Others may start before it if they end by then, or fit what the head leaves free then.
import bisect, json, sys

queue, jobs, free = [], {}, 0
running = []  # (end by its walltime, job), in this order

def start(job):
    global free
    free -= jobs[job]["res"]
    jobs[job]["end"] = now + jobs[job]["walltime"]
    bisect.insort(running, (jobs[job]["end"], job))
    decided.append({"timestamp": now, "type": "EXECUTE_JOB", "data": {"job_id": job}})

def reserve(need):
    """The shadow time, and the processors that are free then beside those needed."""
    soon = free
    for place, (end, job) in enumerate(running):
        soon += jobs[job]["res"]
        later = running[place + 1][0] if place + 1 < len(running) else None
        if soon >= need and (later is None or max(later, now) > max(end, now)):
            return max(end, now), soon - need

for line in sys.stdin:
    request, decided = json.loads(line), []
    now = request["now"]
    for event in request["events"]:
        what, data = event["type"], event["data"]
        if what == "SIMULATION_BEGINS":
            free = data["nb_resources"]
        elif what == "JOB_SUBMITTED":
            jobs[data["job_id"]] = data["job"]
            queue.append(data["job_id"])
        elif what == "JOB_COMPLETED":
            job = data["job_id"]
            free += jobs[job]["res"]
            del running[bisect.bisect_left(running, (jobs[job]["end"], job))]
    while queue and jobs[queue[0]]["res"] <= free:
        start(queue.pop(0))
    if len(queue) > 1 and free > 0:
        shadow, extra = reserve(jobs[queue[0]]["res"])
        waiting = queue[:1]
        for job in queue[1:]:
            width, ends = jobs[job]["res"], now + jobs[job]["walltime"] <= shadow
            if width <= free and (ends or width <= extra):
                start(job)
                extra -= 0 if ends else width
            else:
                waiting.append(job)
        queue = waiting
    print(json.dumps({"now": now, "events": decided}), flush=True)
