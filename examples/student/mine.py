# mine.py GRAPH PLAN: of the tasks whose predecessors are placed, takes one and puts it where it ends first.
import json, sys

graph = json.load(open(sys.argv[1]))
machines = range(len(graph["machines"]))
cost = {t["id"]: t["cost_s"] for t in graph["tasks"]}
rate = graph.get("network", {}).get("bandwidth") or 1.0
before = {t: [] for t in cost}
for e in graph["edges"]:
    before[e["to"]].append((e["from"], e["data"]))

end, free, plan = {}, [0.0 for m in machines], []

def finish(t, m):
    """When t would end on m: its data arrive, the machine is free, it runs."""
    ready = max((end[p][0] + (0 if end[p][1] == m else d / rate) for p, d in before[t]), default=0.0)
    return max(ready, free[m]) + cost[t][m]

while len(plan) < len(cost):
    ready = [t for t in cost if t not in end and all(p in end for p, _ in before[t])]
    ends = {t: min((finish(t, m), m) for m in machines) for t in ready}
    task = min(ready, key=lambda t: ends[t][0])  # the choice to play with: here the task that ends first
    end[task] = ends[task]
    free[ends[task][1]] = ends[task][0]
    plan.append({"id": task, "machine": graph["machines"][ends[task][1]]["id"]})

json.dump({"tasks": plan}, open(sys.argv[2], "w"))
