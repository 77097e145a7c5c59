# heft.py: HEFT (Topcuoglu, Hariri, Wu 2002), without insertion.
import json, sys

graph = json.load(open(sys.argv[1]))
machines, tasks = graph["machines"], {t["id"]: t for t in graph["tasks"]}
rate = graph.get("network", {}).get("bandwidth") or 1.0

def cost(t, m):  # seconds
    x = tasks[t]
    return x["cost_s"][m] if "cost_s" in x else x["work"] / machines[m]["speed"]

def comm(data, m, n):  # seconds, without contention
    return 0.0 if m == n else machines[m].get("startup_s", 0.0) + data / rate

after, before = {t: [] for t in tasks}, {t: [] for t in tasks}
for e in graph["edges"]:
    after[e["from"]].append((e["to"], e["data"]))
    before[e["to"]].append((e["from"], e["data"]))

ranks = {}
def rank(t):
    if t not in ranks:
        mean = sum(cost(t, m) for m in range(len(machines))) / len(machines)
        ranks[t] = mean + max((d / rate + rank(s) for s, d in after[t]), default=0.0)
    return ranks[t]

plan, end, free = [], {}, [0.0] * len(machines)
for t in sorted(tasks, key=rank, reverse=True):
    def finish(m):
        ready = max((end[p][0] + comm(d, end[p][1], m) for p, d in before[t]), default=0.0)
        return max(ready, free[m]) + cost(t, m)
    best = min(range(len(machines)), key=finish)
    free[best] = finish(best)
    end[t] = free[best], best
    plan.append({"id": t, "machine": machines[best]["id"]})

json.dump({"tasks": plan}, open(sys.argv[2], "w"))
