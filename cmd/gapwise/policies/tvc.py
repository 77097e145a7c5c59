# First fit in the smallest subtree: gapwise solve -a 'online:python3 first-fit.py' clusters.json
import json, sys

queue, clusters, places, left = [], {}, {}, {}  # left: of what isn't all there

def loads(host, servers, vms, bits):
    """What a place takes: slots of servers, bit/s of the links on the way to its switch."""
    (layer, group, number), use, below = host, {}, {}
    for server, m in servers:
        use["slots", server] = m
        path = [("server", server)]
        if layer != "edge" and one_path:
            path.append(("edge", server // h, group if layer == "core" else number))
        if layer == "core" and one_path:
            path.append(("aggregation", server // h // h, group, number))
        for link in path:
            below[link] = below.get(link, 0) + (m if cut else min(m, vms - m))
    return use | {link: bits * (min(m, vms - m) if cut else m) for link, m in below.items()}

def free(x): return left.get(x, all_of[x[0]])

def first_fit(vms, bits):
    """Fills the servers below a switch by number, the lowest switch first."""
    for host, below in hosts:
        servers, missing = [], vms
        for server in below if sum(free(("slots", server)) for server in below) >= vms else []:
            for m in range(min(free(("slots", server)), missing), 0, -1):
                if all(need <= free(x) for x, need in loads(host, servers + [(server, m)], vms, bits).items()):
                    servers.append((server, m))
                    missing -= m
                    break
        if not missing:
            return host, servers, vms, bits

for line in sys.stdin:
    asked, decided = json.loads(line), []
    for event in asked["events"]:
        what, data = event["type"], event["data"]
        if what == "SIMULATION_BEGINS":
            tree, cut, waits = data["fat_tree"], data["hose"] == "cut", data["queue"]
            h, one_path, mbps = tree["k"] // 2, tree["fabric"] == "one-path", tree.get("layers_mbps", {})
            all_of = {layer: round(1e6 * mbps.get(layer, tree["link_mbps"])) for layer in ("server", "edge", "aggregation")}
            all_of["slots"] = tree["slots"]
            hosts = [(("edge", p, e), range((p * h + e) * h, (p * h + e + 1) * h)) for p in range(2 * h) for e in range(h)]
            hosts += [(("aggregation", p, a), range(p * h * h, (p + 1) * h * h)) for p in range(2 * h) for a in range(h if one_path else 1)]
            hosts += [(("core", a, c), range(2 * h ** 3)) for a in range(h if one_path else 1) for c in range(h if one_path else 1)]
        elif what == "REQUEST_COMPLETED":
            for x, amount in loads(*places.pop(data["request_id"])).items():
                left[x] += amount
        elif what == "REQUEST_SUBMITTED":
            clusters[data["request_id"]] = data["request"]
            queue.append(data["request_id"])
    while queue:
        new = clusters[queue[0]]
        place = first_fit(new["vms"], round(1e6 * new["bandwidth_mbps"])) if new["fits"] else None
        if new["fits"] and waits and not place:
            break  # first come, first served
        cluster = queue.pop(0)
        answer = {"timestamp": asked["now"], "type": "EMBED_REQUEST" if place else "REJECT_REQUEST", "data": {"request_id": cluster}}
        if place:
            places[cluster] = place
            left.update({x: free(x) - amount for x, amount in loads(*place).items()})
            answer["data"]["place"] = {"switch": "%s-%d-%d" % place[0], "servers": [{"server": s, "vms": m} for s, m in place[1]]}
        decided.append(answer)
    print(json.dumps({"now": asked["now"], "events": decided}), flush=True)
