# Smallest area first, with age: gapwise solve -a 'online:python3 area.py' jobs.json
#
# The queue is in the order of areas, walltime times processors, each divided by the hours
# that the job has waited: so nobody waits for ever. As in EASY its head gets a reservation,
# and others start before it if they don't delay it by the walltimes.
import json, sys

queue, running, free = [], {}, 0

def key(job):
    return job["walltime"] * job["res"] / (1 + (now - job["subtime"]) / 3600)

def start(job):
    global free
    free -= job["res"]
    running[job["id"]] = now + job["walltime"], job["res"]
    decided.append({"timestamp": now, "type": "EXECUTE_JOB", "data": {"job_id": job["id"]}})

for line in sys.stdin:
    request, decided = json.loads(line), []
    now = request["now"]
    for event in request["events"]:
        what, data = event["type"], event["data"]
        if what == "SIMULATION_BEGINS":
            free = data["nb_resources"]
        elif what == "JOB_SUBMITTED":
            queue.append(data["job"])
        elif what == "JOB_COMPLETED":
            free += running.pop(data["job_id"])[1]
    queue.sort(key=key)
    while queue and queue[0]["res"] <= free:
        start(queue.pop(0))
    if queue and free > 0:
        soon, extra = sorted(running.values()), free - queue[0]["res"]
        shadow = now
        while extra < 0:
            end, width = soon.pop(0)
            shadow, extra = max(now, end), extra + width
        for job in queue[1:]:
            ends = now + job["walltime"] <= shadow
            if job["res"] <= free and (ends or job["res"] <= extra):
                extra -= 0 if ends else job["res"]
                start(job)
        queue = [job for job in queue if job["id"] not in running]
    print(json.dumps({"now": now, "events": decided}), flush=True)
