# Two tiers: first come, first served in the foreground, and in the background while that is full.
# gapwise solve -a 'online:python3 tiers.py' jobs.json
import json, sys

waiting, jobs, fore, back, below = [], {}, {}, {}, []  # fore and back: the processors of jobs

def idle(tier):
    taken = {p for processors in tier.values() for p in processors}
    return [p for p in range(count) if p not in taken]

for line in sys.stdin:
    asked, decided = json.loads(line), []
    now = asked["now"]
    def decide(what, job, tier, processors):
        data = {"job_id": job, "tier": tier, "alloc": " ".join(map(str, processors))}
        decided.append({"timestamp": now, "type": what, "data": data})
    for event in asked["events"]:
        what, data = event["type"], event["data"]
        if what == "SIMULATION_BEGINS":
            count, threshold = data["nb_resources"], data.get("threshold", 0)
        elif what == "JOB_SUBMITTED":
            jobs[data["job_id"]] = data["job"]
            waiting.append(data["job_id"])
        elif what == "JOB_COMPLETED":
            fore.pop(data["job_id"], None)
            back.pop(data["job_id"], None)
    for job in list(back):  # jobs of the background have come first
        free = idle(fore)
        if jobs[job]["res"] <= len(free):
            del back[job]
            fore[job] = free[:jobs[job]["res"]]
            decide("MOVE_JOB", job, "foreground", fore[job])
    while waiting and not back and jobs[waiting[0]]["res"] <= len(idle(fore)):
        job = waiting.pop(0)
        fore[job] = idle(fore)[:jobs[job]["res"]]
        decide("EXECUTE_JOB", job, "foreground", fore[job])
    use = {p: (jobs[job].get("use", [1]) * len(processors))[k] for job, processors in fore.items() for k, p in enumerate(processors)}
    free = sorted((p for p in idle(back) if use.get(p, 0) < threshold), key=lambda p: use.get(p, 0))
    while waiting and jobs[waiting[0]]["res"] <= len(free):
        job = waiting.pop(0)
        back[job], free = free[:jobs[job]["res"]], free[jobs[job]["res"]:]
        decide("EXECUTE_JOB", job, "background", back[job])
    print(json.dumps({"now": now, "events": decided}), flush=True)
