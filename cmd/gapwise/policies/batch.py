# First come, first served: gapwise solve -a 'online:python3 fcfs.py' jobs.json
import json, sys

queue, width, free = [], {}, 0
for line in sys.stdin:
    request, decided = json.loads(line), []
    now = request["now"]
    for event in request["events"]:
        what, data = event["type"], event["data"]
        if what == "SIMULATION_BEGINS":
            free = data["nb_resources"]
        elif what == "JOB_SUBMITTED":
            queue.append(data["job_id"])
            width[data["job_id"]] = data["job"]["res"]
        elif what == "JOB_COMPLETED":
            free += width[data["job_id"]]
    while queue and width[queue[0]] <= free:
        job = queue.pop(0)
        free -= width[job]
        decided.append({"timestamp": now, "type": "EXECUTE_JOB", "data": {"job_id": job}})
    print(json.dumps({"now": now, "events": decided}), flush=True)
