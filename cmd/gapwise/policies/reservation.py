# First fit: gapwise solve -a 'online:python3 first-fit.py' requests.json
import json, sys

booked = {}  # request: its start and end in ticks, its PEs
for line in sys.stdin:
    asked, decided = json.loads(line), []
    now = asked["now"]
    for event in asked["events"]:
        what, data = event["type"], event["data"]
        if what == "SIMULATION_BEGINS":
            pes, ticks = data["pes"], data["ticks_per_second"]
        elif what in ("REQUEST_COMPLETED", "REQUEST_WITHDRAWN"):  # before its time: its PEs are free
            del booked[data["request_id"]]
        elif what == "REQUEST_SUBMITTED":
            new, request = data["request"], data["request_id"]
            ready, length, due = (round(new[key] * ticks) for key in ("ready_s", "duration_s", "deadline_s"))
            booked = {r: b for r, b in booked.items() if b[1] > round(now * ticks)}
            answer = {"timestamp": now, "type": "REJECT_REQUEST", "data": {"request_id": request}}
            for start in sorted({ready} | {end for _, end, _ in booked.values() if end > ready}):
                if start + length > due:
                    break
                taken = set().union(*(p for begin, end, p in booked.values() if begin < start + length and end > start))
                free = [pe for pe in range(pes) if pe not in taken]
                if len(free) >= new["pes"]:
                    mine = free[:new["pes"]]
                    booked[request] = start, start + length, mine
                    answer["type"] = "ACCEPT_REQUEST"
                    answer["data"].update(start_s=start / ticks, pes=",".join(map(str, mine)))
                    break
            decided.append(answer)
    print(json.dumps({"now": now, "events": decided}), flush=True)
