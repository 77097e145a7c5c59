#!/usr/bin/env python3
"""Check a proof of gapwise. Written from docs/reference/proofs.md alone; needs Python 3.10, shares no code with gapwise.

    python3 scripts/check.py [--hash SHA] INSTANCE PROOF
    python3 scripts/check.py --list FILE      FILE has a line of HASH, INSTANCE and PROOF, with tabs, for each case
prints `proved BOUND` (exit code 0), `refused: line N: why` (7), or why a file can't be read (3).

A bound of a variable v is a tuple (v, True, b) for v >= b or (v, False, b) for v <= b. A choice is a bound of a
Boolean variable, or None if it is made for sure."""

import json, math, re, sys, zlib
from collections import namedtuple
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, reduce
from graphlib import TopologicalSorter
from pathlib import Path

LIMIT, MUCH, SLACK, TAU = 2**60, 2**28, 1 + Fraction(1, 2**50), Fraction(1e-9)
NUMBER = re.compile(r"0|-?[1-9][0-9]*")
BOUND = re.compile(r"([^<>=]+)([<>]=)([^<>=]+)")
UNIT_OF_TIME = re.compile(r"[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?")

class Refused(Exception):
    """The proof doesn't hold, or isn't one."""

def require(condition, why):
    """Refuse the proof unless a condition is true."""
    if not condition:
        raise Refused(why)
    return True

def number(word, least=1 - LIMIT):
    """Read a number, less than 2^60 from 0."""
    require(NUMBER.fullmatch(word) and len(word) <= 20 and least <= int(word) < LIMIT, f"wrong number {word[:40]!r}")
    return int(word)

def rounded(value, up):
    """Give the nearest float that isn't below a fraction (up), or isn't above it."""
    try:
        near = float(Fraction(value))
    except OverflowError:
        near = math.inf
    wrong = near < value if up else near > value
    return math.nextafter(near, math.inf if up else -math.inf) if wrong else near

def millionths(x):
    """Give the nearest whole number to x 10^6."""
    return round(Fraction(x) * 10**6)

# ---- the state
def opposite(bound):
    """Give what holds if and only if the bound doesn't."""
    v, at_least, b = bound
    return (v, False, b - 1) if at_least else (v, True, b + 1)

class State:
    """The lower and upper bound of each variable, and whether they contradict each other. there is the Boolean of an
    optional variable or None, speaks_of the numbers of the activities that a bound of the variable speaks of."""
    def __init__(self):
        self.lower, self.upper, self.there, self.speaks_of = [], [], [], []
        self.numbers, self.trail, self.contradiction = {}, [], False
    def variable(self, name, lower=0, upper=1, there=None, speaks_of=()):
        """Give the variable of a name; the first time it gets its range."""
        v = self.numbers.setdefault(name, len(self.lower))
        if v == len(self.lower):
            require(abs(lower) < LIMIT and abs(upper) < LIMIT, f"the range of {name} isn't below 2^60")
            columns = self.lower, self.upper, self.there, self.speaks_of
            for column, x in zip(columns, (lower, upper, there, speaks_of)):
                column.append(x)
            self.look(v)
        return v
    def look(self, v):
        """Conclude that a variable isn't there if its bounds cross."""
        if self.lower[v] > self.upper[v] and self.there[v] is None:
            self.contradiction = True
        elif self.lower[v] > self.upper[v]:
            self.add((self.there[v], False, 0))
    def add(self, bound):
        """Add a bound."""
        v, at_least, b = bound
        if not self.follows(bound):
            side = self.lower if at_least else self.upper
            self.trail.append((side, v, side[v]))
            side[v] = b
            self.look(v)
    def back(self, length, contradiction):
        """Take back bounds until the trail has a length, and set whether there is a contradiction."""
        self.contradiction = contradiction
        while len(self.trail) > length:
            side, v, b = self.trail.pop()
            side[v] = b
    def follows(self, bound):
        """Tell whether a bound follows from those of its variable."""
        v, at_least, b = bound
        return self.lower[v] >= b if at_least else self.upper[v] <= b
    def holds(self, bound):
        """Tell whether a bound holds, or a choice is sure."""
        there = bound and self.there[bound[0]]
        return bound is None or self.follows(bound) or there is not None and self.upper[there] <= 0
    def fails(self, bound):
        """Tell whether a bound fails, or a choice isn't possible."""
        return bound is not None and self.follows(opposite(bound))
    def certain(self, alternatives, test):
        """Tell whether a test of an alternative, which begins with its choice, is true whichever is chosen."""
        sure = [a for a in alternatives if self.holds(a[0])]
        return any(map(test, sure)) if sure else all(test(a) for a in alternatives if not self.fails(a[0]))

# ---- the rules: each gives a function violated(state, subjects, window)
def exactly_one(choices):
    """Exactly one is chosen."""
    return lambda state, *_: sum(map(state.holds, choices)) >= 2 or all(map(state.fails, choices))
def nogood(bounds):
    """The bounds aren't all true."""
    return lambda state, *_: all(map(state.holds, bounds))
def several(rules):
    """None of some constraints is violated."""
    return lambda *at: any(violated(*at) for violated in rules)

def linear(terms, groups, limit):
    """The sum of a x of the terms (a, x), and of a value of each group, a list of (choice, value), is <= limit."""
    def least(state, group):
        sure = [value for choice, value in group if state.holds(choice)]
        return max(sure) if sure else min((x for choice, x in group if not state.fails(choice)), default=math.inf)
    return lambda state, *_: limit < sum(least(state, group) for group in groups) + sum(
        a * (state.lower[x] if a > 0 else state.upper[x]) for a, x in terms)

def delay(first, then, d):
    """start_l >= start_k + d(k, l), for the alternatives (choice, start, number) of k and l that are chosen."""
    return lambda state, *_: state.certain(then, lambda l: state.certain(
        first, lambda k: state.lower[k[1]] + d(k[2], l[2]) > state.upper[l[1]]))

Activity = namedtuple("Activity", "number e l p demand")  # its window [e, l) and length p
def sure_activities(state, activities):
    """Give those of a list of (number, choice, start, length, demand) that are sure."""
    return [Activity(i, state.lower[start], state.upper[start] + p, p, demand)
            for i, choice, start, p, demand in activities if state.holds(choice)]

def windows(activities):
    """Give (t0, T, the sum of p, the activities) of each window [t0, T) from an e to an l, and what must run in it."""
    falling = sorted(activities, key=lambda a: -a.e)
    for T in {a.l for a in activities}:
        within, work = [a for a in falling if a.l <= T], 0
        for n, a in enumerate(within, 1):
            work += a.p
            if n == len(within) or within[n].e < a.e:
                yield a.e, T, work, within[:n]

def overloaded(activities):
    """Tell whether a window is too short for the activities that must run in it."""
    return any(t0 + work > T for t0, T, work, _ in windows(activities))

def no_overlap(activities, first):
    """Activities don't overlap; first(state, i, j) tells whether the order says that i is before j."""
    def violated(state, subjects, window):
        sure = sure_activities(state, activities)
        return overloaded(sure) or any(
            no_place(state, q, [i for i in sure if i != q], first) for q in sure if q.number in subjects)
    return violated

def no_place(state, q, others, first):
    """Tell whether the other activities don't go with what must be before q and after it."""
    before = {i.number for i in others if first(state, i.number, q.number) or q.e + q.p > i.l - i.p}
    after = {i.number for i in others if first(state, q.number, i.number) or i.e + i.p > q.l - q.p}
    for t0, T, work, within in windows(others):
        if min(t0, q.e) + work + q.p > T:
            before.update(i.number for i in within)
        if t0 + work + q.p > max(T, q.l):
            after.update(i.number for i in within)
    return bool(before & after) or overloaded([
        i._replace(e=max(i.e, q.e + q.p) if i.number in after else i.e,
                   l=min(i.l, q.l - q.p) if i.number in before else i.l) for i in others])

def cumulative(activities, capacity):
    """The demands of the activities that run at a time sum to at most the capacity."""
    def violated(state, subjects, window):
        sure = sure_activities(state, activities)
        a, b = window or (0, 0)
        energy = sum(i.demand * max(0, min(b - a, i.p, i.e + i.p - a, b - (i.l - i.p))) for i in sure)
        return a < b and energy > capacity * (b - a) or any(full(sure, capacity)) or any(
            no_start(q, full([i for i in sure if i != q], capacity - q.demand)) for q in sure if q.number in subjects)
    return violated

def full(activities, capacity):
    """Give the intervals [a, b), by rising a, in which what must run demands more than the capacity."""
    change = {}
    for i in activities:
        if i.l - i.p < i.e + i.p:
            change[i.l - i.p] = change.get(i.l - i.p, 0) + i.demand
            change[i.e + i.p] = change.get(i.e + i.p, 0) - i.demand
    used, since = 0, None
    for t in sorted(change):
        if used > capacity:
            yield since, t
        used, since = used + change[t], t

def no_start(q, too_full):
    """Tell whether each start of q has it run within one of the intervals."""
    start = q.e
    for a, b in too_full:
        start = max(start, b) if q.p > 0 and start + q.p > a else start
    return start > q.l - q.p

# ---- the kinds: each gives a Model, and makes all variables whose range may be empty. bound(b) gives what `claim b`
# says; the tables go from a name, as in `on T M`, to a function of its arguments, and ranges says what these may be.
Model = namedtuple("Model", "objective bound ranges variables constraints")
def meaning(names, ranges, words):
    """Give what a name means, by a table of names."""
    for name, give in names.items():
        first, *arguments = name.split()
        if first != words[0]:
            continue
        if first == "area" and arguments:  # of a dag: `area R W,W,...: T T ...`
            require(len(words) > 3 and words[2][-1] == ":", "an area has a resource, weights and tasks")
            weights = [number(w, 0) for w in words[2][:-1].split(",")]
            return give(number(words[1], 0), weights, [number(w, 0) for w in words[3:]])
        if first == "load" and arguments:  # of a dag: `load W,W,...: T T ...`
            require(len(words) > 2 and words[1][-1] == ":", "a load has weights and tasks")
            return give([number(w, 0) for w in words[1][:-1].split(",")], [number(w, 0) for w in words[2:]])
        if arguments[-1:] == ["..."]:  # as many numbers as there are
            return give(*(number(w, 0) for w in words[1:]))
        require(len(arguments) == len(words) - 1, f"{name} is asked for")
        values = [w if a == "PART" else -1 if a == "LANE" and w == "-1" else number(w, 0) for a, w in zip(arguments, words[1:])]
        require(all(x in ranges.get(a, (x,)) for a, x in zip(arguments, values)), f"no {name}: {values}")
        return give(*values)
    raise Refused(f"no name {words[0][:40]}")

def startups(instance):
    """Give the seconds before a transfer from a machine of a dag to each other one sends, as float64 sums."""
    machines = instance["machines"]
    ids = {machine["id"]: a for a, machine in enumerate(machines)}
    startup = [[machine.get("startup_s", 0) for _ in machines] for machine in machines]
    for route in instance.get("network", {}).get("routes", []):
        a, b = ids[route["from"]], ids[route["to"]]
        for x, y in ((a, b),) if route.get("one_way") else ((a, b), (b, a)):
            startup[x][y] += float(route.get("latency_s", 0))
    return startup

def rates(instance):
    """Give the rate from each machine of a dag to each, to itself 0 if that takes no time."""
    machines, network = instance["machines"], instance.get("network", {})
    bandwidth, matrix = network.get("bandwidth", 0), network.get("path_capacity")
    M = range(len(machines))
    rate = [[Fraction(matrix[a][b] if matrix else bandwidth) for b in M] for a in M]
    ids = {machine["id"]: a for a, machine in enumerate(machines)}
    capacity = {link["id"]: Fraction(link.get("capacity", 0) or bandwidth) for link in network.get("links", [])}
    for route in network.get("routes", []):
        a, b = ids[route["from"]], ids[route["to"]]
        for x, y in ((a, b),) if route.get("one_way") else ((a, b), (b, a)):
            rate[x][y] = min([rate[x][y]] + [capacity[link] for link in route.get("links", [])])
    part = Fraction(3, 4) if instance.get("transfer_model") == "tcp-all" else 1
    return [[rate[a][b] * part if a != b else Fraction(machines[a].get("local_rate", 0)) for b in M] for a in M]

def dag(instance, unit, upper, state):
    """Tasks with precedence on machines; the objective is the makespan."""
    require(UNIT_OF_TIME.fullmatch(unit) and 0 < float(unit) < math.inf and upper < MUCH, "wrong unit or upper")
    u, machines, tasks, slack = Fraction(float(unit)), instance["machines"], instance.get("tasks", []), 1
    M, T = range(len(machines)), range(len(tasks))
    def units(d):
        """Give how many units a duration (None: without end) counts as, and note if that is rounded up."""
        nonlocal slack
        if d is None:
            return MUCH
        n = math.floor(d * SLACK / u)
        slack = SLACK if min(n, upper + 1) * u > d else slack
        return n if n <= upper else MUCH
    capacity, needs, several = rooms(instance)
    def seconds(t, a):
        """Give how long a task takes on a machine."""
        if any(n > c for n, c in zip(needs(t, a), capacity[a])):
            return None
        if "work" in t:
            return Fraction(t["work"] / machines[a]["speed"])
        return None if t["cost_s"][a] is None else Fraction(t["cost_s"][a])
    cost = [[units(seconds(t, a)) for a in M] for t in tasks]
    rate, startup, ids = rates(instance), startups(instance), {task["id"]: t for t, task in enumerate(tasks)}
    transfer, successors, predecessors = {}, {t: [] for t in T}, {t: [] for t in T}
    for edge in instance.get("edges", []):
        t, s = ids[edge["from"]], ids[edge["to"]]
        data = Fraction(max(edge.get("files", {}).values(), default=edge["data"]))  # files are sent side by side
        successors[t].append(s)
        predecessors[s].append(t)
        def way(a, b):
            """Give how long the data take from a to b."""
            if a != b and not rate[a][b]:
                return None
            sent = data / rate[a][b] if data and rate[a][b] else 0
            return sent + Fraction(startup[a][b] if a != b else 0)
        transfer[t, s] = [[units(way(a, b)) for b in M] for a in M]
    head, tail, reached = {}, {}, {}  # the least time before a task and after it; the tasks to which it has paths
    order = list(TopologicalSorter(predecessors).static_order())
    for t in order:
        head[t] = [max((min(head[s][b] + cost[s][b] + transfer[s, t][b][a] for b in M) for s in predecessors[t]),
                       default=0) for a in M]
    for t in reversed(order):
        tail[t] = [max((min(transfer[t, s][a][b] + cost[s][b] + tail[s][b] for b in M) for s in successors[t]),
                       default=0) for a in M]
        reached[t] = set(successors[t]).union(*(reached[s] for s in successors[t]))
    makespan, orders = state.variable("makespan", 0, upper), {}
    on = [[state.variable(("on", t, a), speaks_of=(t,)) if len(M) > 1 else None for a in M] for t in T]
    chosen = [[(v, True, 1) if len(M) > 1 else None for v in row] for row in on]
    start = [[state.variable(("start", t, a), 0, upper - cost[t][a] - tail[t][a], on[t][a], (t, (t, a))) for a in M]
             for t in T]
    machines_of = [[(chosen[t][a], start[t][a], a) for a in M] for t in T]  # alternatives
    def before(t, s):
        require(t != s and s not in reached[t] and t not in reached[s] and (s, t) not in orders, "no order to choose")
        return orders.setdefault((t, s), state.variable(("before", t, s), speaks_of=(t, s)))
    def first(state, t, s):
        return (s in reached[t] or (t, s) in orders and state.follows((orders[t, s], True, 1))
                or (s, t) in orders and state.follows((orders[s, t], False, 0)))
    def row(w, S, value, wide):
        """Give the row of what tasks take of machines that are so wide."""
        require(len(w) == len(M) and sum(w) < 2**31 and len(set(S)) == len(S) and max(S) < len(T), "wrong load")
        lower = max(min(head[t][a] + cost[t][a] + tail[t][a] for a in M) for t in T)
        idle = [min(min(head[t][a] for t in S) + min(tail[t][a] for t in S), lower, upper) for a in M]
        groups = [[(chosen[t][a], w[a] * value(t, a)) for a in M] for t in S]
        total = [x * wide(a) for a, x in enumerate(w)]
        require(sum(total) < 2**31, "the weights are too large")
        return linear([(-sum(total), makespan)], groups, -sum(total[a] * idle[a] for a in M))
    def load(w, S):
        return row(w, S, lambda t, a: cost[t][a], lambda a: 1)
    def area(r, w, S):
        require(r in resources and max(S) < len(T), "no such resource, or no such task")
        unit = math.gcd(*(needs(tasks[t], a)[r] for t in S for a in M))
        require(unit > 0, "nothing is needed")
        def value(t, a):
            n = needs(tasks[t], a)[r]
            return n // unit * cost[t][a] if n <= capacity[a][r] and cost[t][a] < MUCH else 0
        return row(w, S, value, lambda a: capacity[a][r] // unit)
    def room(a, r):
        need = {t: needs(tasks[t], a)[r] for t in T}
        return cumulative([((t, a), chosen[t][a], start[t][a], cost[t][a], need[t]) for t in T
                           if 0 < need[t] <= capacity[a][r] and 0 < cost[t][a] < MUCH], capacity[a][r])
    def at(t):
        return state.variable(("at", t), 0, upper, speaks_of=(("at", t),))
    def together(r):
        all = []
        for t in T:
            here = [a for a in M if cost[t][a] < MUCH]
            need = min((needs(tasks[t], a)[r] for a in here), default=0)
            length = min((cost[t][a] for a in here), default=0)
            if need > 0 and length > 0:
                all.append((("at", t), None, at(t), length, need))
        require(all, "nothing is needed")
        unit = math.gcd(*(x[4] for x in all))
        total = sum(c[r] // unit for c in capacity)
        require(max(x[4] for x in all) // unit <= total, "a task needs more than there is")
        return cumulative([(*x[:4], x[4] // unit) for x in all], total)
    resources = range(len(instance.get("resources", [])))
    orders_of = {"before T U": before}, {
        "machine M": lambda a: no_overlap([(t, chosen[t][a], start[t][a], cost[t][a], 0) for t in T], first),
        "load WEIGHTS: TASKS": load}
    if several(seconds):
        orders_of = {"at T": at}, {"room M R": room, "area R WEIGHTS: TASKS": area, "together R": together,
            "till T": lambda t: delay(machines_of[t], [(None, at(t), 0)], lambda *_: 0),
            "from T": lambda t: delay([(None, at(t), 0)], machines_of[t], lambda *_: 0)}
    return Model(makespan, lambda b: rounded(b * u / slack, up=False), {"T": T, "U": T, "M": M, "R": resources}, {
        "makespan": lambda: makespan, "start T M": lambda t, a: start[t][a], **orders_of[0],
        "on T M": lambda t, a: require(len(M) > 1, "there is one machine") and on[t][a]}, {
        "one T": lambda t: exactly_one(chosen[t]),
        "delay T U": lambda t, s: require((t, s) in transfer, "no such edge") and delay(
            machines_of[t], machines_of[s], lambda a, b: cost[t][a] + transfer[t, s][a][b]),
        "end T": lambda t: delay(machines_of[t], [(None, makespan, 0)], lambda a, _: cost[t][a] + tail[t][a]),
        **orders_of[1]})

def rooms(instance):
    """Give the capacities of each machine, what a task needs on one, and whether, by the seconds of tasks, some machine
    may run several at once."""
    machines, resources = instance["machines"], range(len(instance.get("resources", [])))
    capacity = [[int(x) for x in machine.get("capacity", [])] for machine in machines]
    def needs(t, a):
        return [int(x) for x in t.get("needs_on", {}).get(machines[a]["id"], t.get("needs", []))]
    def several(seconds):
        def small(t, a, r):
            d = seconds(t, a)
            return d is not None and (d == 0 or 2 * needs(t, a)[r] <= capacity[a][r])
        return len(resources) > 0 and any(all(any(small(t, a, r) for t in instance.get("tasks", [])) for r in resources)
                                          for a in range(len(machines)))
    return capacity, needs, several

def vcsched(instance, unit, upper, state):
    """Tasks of virtual machines on hosts; the objective is the largest CPU load of a host."""
    U = number(unit, 1)
    require(U <= 10**14 and not instance.get("resources") and not instance.get("host_sizes"), "not a case for proofs")
    jobs = [job for job in instance["jobs"] for _ in range(int(job["tasks"]))]
    cpu, mem = ([math.floor(Fraction(job[key]) * U * SLACK) for job in jobs] for key in ("cpu", "memory"))
    current = [h for job in instance["jobs"] for h in job.get("current_hosts") or [None] * int(job["tasks"])]
    now = {t: int(h) for t, h in enumerate(current) if h is not None}
    T, count, budget = range(len(jobs)), int(instance["hosts"]), instance.get("migration_budget")
    require(len(jobs) < LIMIT // U, "too many tasks for the unit")
    hosts = set() if budget is None else set(now.values())
    hosts |= set([h for h in range(min(count, len(T) + len(hosts))) if h not in hosts][:len(T)])
    load = state.variable("load", U, upper)
    def on(t, h):
        return state.variable(("on", t, h))
    def units(shares):
        return math.floor((shares + TAU) * U * SLACK)
    def bound(b):
        return 0.0 if b > U and b > sum(cpu) else rounded(min(1, U * SLACK / max(b, 1)), up=True)
    return Model(load, bound, {"T": T, "H": hosts}, {"on T H": on, "load": lambda: load}, {
        "one T": lambda t: exactly_one([(on(t, h), True, 1) for h in hosts]),
        "memory H": lambda h: linear([(mem[t], on(t, h)) for t in T], [], units(1)),
        "need H": lambda h: linear([(cpu[t], on(t, h)) for t in T] + [(-1, load)], [], 0),
        "area": lambda: linear([(-count, load)], [], -sum(cpu)),
        "budget": lambda: require(budget is not None, "there is no budget") and linear(
            [(-mem[t], on(t, h)) for t, h in now.items()], [],
            units(min(Fraction(budget), len(T))) - sum(mem[t] for t in now))})

def batch(instance, unit, upper, state):
    """Rigid parallel jobs on processors; the objective is the weighted sum of responses."""
    units = [number(word, 1) for word in unit.split(",")]
    require(len(units) == 2 and instance["tiers"] == 1, "a unit of two numbers and one tier are asked for")
    jobs, (time, weight) = instance.get("jobs", []), units
    def divided(value, by):
        return require(value % by == 0, f"{value} isn't in units of {by}") and value // by
    def seconds(job):
        return min(job["runtime_s"], instance.get("kill_at_estimate") and job.get("estimate_s") or math.inf)
    submit = [divided(millionths(job["submit_s"]) - millionths(jobs[0]["submit_s"]), time) for job in jobs]
    length = [divided(millionths(seconds(job)), time) for job in jobs]
    weights = [divided(int(job.get("weight") or 1), weight) for job in jobs]
    K, response = range(len(jobs)), state.variable("response", 0, upper)
    start = [state.variable(("start", k), submit[k], min(
        submit[k] - length[k] + upper // weights[k], submit[-1] + sum(length) - length[k]), speaks_of=(k,)) for k in K]
    def running(demands, capacity):
        return cumulative(list(zip(K, [None] * len(jobs), start, length, demands)), capacity)
    one = Fraction(time, 10**6 * sum(weights)) if jobs else 0  # of the objective, in seconds of the mean
    variables, constraints = (on_nodes(instance, jobs, length, start, running, state) if instance.get("nodes") else (
        {}, {"processors": lambda: running([int(job["processes"]) for job in jobs], int(instance["processors"]))}))
    return Model(response, lambda b: rounded(b * one, up=False), {"I": K, "K": K}, {
        "response": lambda: response, "start K": lambda k: start[k], **variables}, {
        "responses": lambda: linear([(weights[k], start[k]) for k in K] + [(-1, response)], [],
                                    sum(weights[k] * (submit[k] - length[k]) for k in K)), **constraints})

def on_nodes(instance, jobs, length, start, running, state):
    """Give the variables and the constraints of a machine of nodes."""
    groups, G = instance["nodes"], range(len(instance["nodes"]))
    capacity = [[int(x) for x in group["capacity"]] for group in groups]
    needs = [[int(x) for x in job["needs"]["each"]] for job in jobs]
    processes = [int(job["processes"]) for job in jobs]
    def ways(k):
        """Give sets of groups: the nodes of job k are all of groups of one of them."""
        n = jobs[k]["needs"]
        right = {g for g in G if set(n.get("features", [])) <= set(groups[g].get("features", []))}
        return [{g for g in right if p in groups[g].get("partitions", [])} for p in n.get("partitions", [])] or [right]
    def room(k, g, used):
        """Give how many processes of job k a node of group g takes if so much of it is used."""
        n = min([processes[k]] + [(c - u) // x for c, u, x in zip(capacity[g], used, needs[k]) if x])
        return min(n, 1) if jobs[k]["needs"].get("spread") else n
    def before(i, k):
        require(i != k and max(i, k) < len(jobs), "no two jobs")
        return state.variable(("before", i, k))
    def order(i, k):
        goes, much = (before(i, k), True, 1), 4 * LIMIT
        def row(x, y, if_, most):
            return linear([(1, x), (-1, y)], [[(if_, much), (opposite(if_), 0)]], much + most)
        return several([row(start[i], start[k], goes, -length[i]),
                        row(start[k], start[i], opposite(goes), length[i] - 1)])
    def pool(r, e, *some):
        require(r < len(instance["resources"]) and e > 0 and all(g in G for g in some), "no such pool")
        some, slots = set(some or G), [c[r] // e for c in capacity]
        total = sum(int(groups[g]["count"]) * slots[g] for g in some)
        require(total > 0, "there are no slots")
        parts = min(total, 2**20)
        def demand(k):
            usable = set().union(*ways(k))
            if not usable <= some:
                return 0
            x = [processes[k] * (needs[k][r] // e)]
            if jobs[k]["needs"].get("exclusive"):
                fit = {g: f for g in usable if (f := room(k, g, [0] * len(needs[k])))}
                x += [min(-(-processes[k] * slots[g] // f) for g, f in fit.items()), min(slots[g] for g in fit)]
            return max(x) * parts // total
        return running([demand(k) for k in range(len(jobs))], parts)
    def crowd(*numbers):
        pairs = list(zip(numbers[::2], numbers[1::2]))
        require(pairs and len(numbers) % 2 == 0, "no pairs")
        bounds = [(before(*pair), False, 0) for i, k in pairs for pair in ((i, k), (k, i))]
        order, meets = list(dict.fromkeys(numbers)), set(pairs) | {(k, i) for i, k in pairs}
        require(len(order) <= 64 and all(length[k] > 0 for k in order), "too many jobs, or one takes no time")
        require(not placed(order, meets), "there are nodes for them")
        return nogood(bounds)
    def placed(order, meets):
        """Tell whether jobs, in some order, have nodes such that any that meet pairwise fit each together."""
        @lru_cache(maxsize=None)
        def most(g, held, k):
            """Give how many processes of job k a node of a group takes beside (job, count)s that it holds."""
            met = [(i, n) for i, n in held if (i, k) in meets]
            if any(jobs[i]["needs"].get("exclusive") or jobs[k]["needs"].get("exclusive") for i, n in met):
                return 0
            def used(r, met):
                return max((n * needs[i][r] + used(r, [x for x in met[at + 1:] if (i, x[0]) in meets])
                            for at, (i, n) in enumerate(met)), default=0)
            return room(k, g, [used(r, met) for r in range(len(needs[k]))])
        def choices(k, nodes, left):
            """Give all ways to put processes on nodes, ((group, held), count)s."""
            if not nodes:
                if not left:
                    yield ()
                return
            (node, count), *others = nodes
            def some(each, count, left):
                for n in range(min(count, left // each) + 1) if each else (0,):
                    for used in some(each - 1, count - n, left - n * each) if each else [()]:
                        yield used + ((each, n),) if n else used
            for used in some(min(most(*node, k), left), count, left):
                rest = left - sum(each * n for each, n in used)
                mine = (((node[0], node[1] + ((k, each),)), n) for each, n in used)
                mine = (*mine, (node, count - sum(n for _, n in used)))
                for more in choices(k, others, rest):
                    yield mine + more
        @lru_cache(maxsize=None)
        def place(at, nodes):
            if at == len(order):
                return True
            k = order[at]
            for way in ways(k):
                here, there = (tuple(x for x in nodes if (x[0][0] in way) == inside) for inside in (True, False))
                for new in choices(k, here, processes[k]):
                    merged = {}
                    for (g, held), n in new + there:  # without those that meet no later job
                        node = g, tuple(x for x in held if any((x[0], i) in meets for i in order[at + 1:]))
                        merged[node] = merged.get(node, 0) + n
                    if place(at + 1, tuple(sorted(x for x in merged.items() if x[1]))):
                        return True
            return False
        return place(0, tuple(((g, ()), int(groups[g]["count"])) for g in G))
    return {"before I K": before}, {"order I K": order, "crowd ...": crowd,
        "pool ...": lambda *at: require(len(at) > 1, "no resource and slots") and pool(*at)}

def reservation(instance, unit, upper, state):
    """Requests for processing elements (PEs) in windows of time; the objective is what isn't accepted."""
    requests, goal, W = instance.get("requests", []), instance.get("goal") or "accepted", number(unit, 1)
    requests = [{"runtime_s": q["duration_s"], "cancel_s": math.inf, **q} for q in requests]
    times = [q[key] for q in requests for key in ("arrival_s", "ready_s", "duration_s", "deadline_s", "runtime_s")]
    times += [q["cancel_s"] for q in requests if q["cancel_s"] <= q["deadline_s"]]
    exact = D = max([-Decimal(repr(x)).normalize().as_tuple().exponent for x in times] + [0])  # the most decimals
    last = max((q["deadline_s"] for q in requests), default=0)
    while D > 0 and (D > 22 or last * float(10**D) > 2**52):
        D -= 1
    require(goal == "accepted" or goal in ("pe_seconds", "reserved_pe_seconds") and D == exact, f"no proofs of {goal}")
    free, activities, weight = [], [], {}
    for r, q in enumerate(requests):
        ready, duration, deadline, runtime, cancel = (Fraction(repr(q[key])) * 10**D
            if key != "cancel_s" or q[key] <= q["deadline_s"] else math.inf  # math.inf: never
            for key in ("ready_s", "duration_s", "deadline_s", "runtime_s", "cancel_s"))
        first, p = math.floor(ready), math.floor(duration)
        latest, cancelled = max(math.ceil(deadline) - p, first), math.inf if cancel == math.inf else math.floor(cancel)
        if D < exact and latest - cancelled in (1, 2) and ready <= cancel and deadline - duration <= cancel:
            cancelled = latest
        if goal == "pe_seconds":
            latest = min(latest, cancelled)
        if cancelled < latest:
            free.append(q)
        elif first <= latest:
            pes, runs = int(q["pes"]), math.floor(runtime)
            value = W if goal == "accepted" else pes * (runs if goal == "pe_seconds" else p)
            require(value % W == 0, f"the weight of request {r} isn't in whole units")
            weight[r], taken = value // W, state.variable(("in", r), speaks_of=(r,))
            start = state.variable(("start", r), first, latest, taken, (r,))
            activities.append((r, (taken, True, 1), start, runs, pes))
    S, choice, start = sum(weight.values()), {a[0]: a[1] for a in activities}, {a[0]: a[2] for a in activities}
    require(S < LIMIT, "the weights sum to 2^60 or more")
    lost, g = state.variable("lost", 0, min(upper, S)), math.gcd(*(a[4] for a in activities)) or 1
    def bound(b):
        if goal == "accepted":
            return rounded(len(free) + S - min(b, S), up=True)
        worth = reduce(lambda sum, q: sum + q["pes"] * q["duration_s"], free, 0.0)
        return rounded(Fraction(worth) + (S - min(b, S)) * Fraction(W, 10**D), up=True)
    return Model(lost, bound, {"R": weight}, {
        "in R": lambda r: choice[r][0], "start R": start.get, "lost": lambda: lost}, {
        "lost": lambda: linear([(-1, lost)], [[(choice[r], 0), (opposite(choice[r]), weight[r])] for r in weight], 0),
        "capacity": lambda: cumulative([(*a[:4], a[4] // g) for a in activities], int(instance["pes"]) // g)})

def tvc(instance, unit, upper, state):
    """Virtual clusters in a fat tree; the objective is what isn't accepted."""
    require(unit == "1" and not instance.get("queue"), "a unit of 1 and loss mode are asked for")
    tree, requests, per_path = instance["fat_tree"], instance.get("requests", []), instance.get("hose") == "per-path"
    h, slots, layers = int(tree["k"]) // 2, int(tree["slots"]), tree.get("layers_mbps", {})
    top, R = 0 if tree.get("fabric") == "non-blocking" else 2, range(len(requests))
    nodes, lanes = [2 * h**3, 2 * h * h, 2 * h], [1, h, h * h]
    children = [0, h, h][:top + 1] + [nodes[top]]  # the root's are last
    rate = [millionths(layers.get(layer) or tree["link_mbps"]) for layer in ("server", "edge", "aggregation")]
    N, (B, arrival, duration) = [int(q["vms"]) for q in requests], (
        [millionths(q[key]) for q in requests] for key in ("bandwidth_mbps", "arrival_s", "duration_s"))
    def parts_of(r):
        """Give the parts (VMs, load) that a request may have at a node of each level, and of the root."""
        levels, sums = [], {(m, 0) for m in range(1, min(slots, N[r]) + 1)}
        for level, n in enumerate(children):
            if level:
                sums, last = set(), {(0, 0)}
                for _ in range(n):
                    last = {(m + i, a + b) for m, a in last for i, b in levels[-1] if m + i <= N[r]} - sums
                    sums |= last
            parts = {(m, 0 if m == N[r] else load if per_path and level else min(m, N[r] - m)) for m, load in sums}
            levels.append({(m, load) for m, load in parts if level > top or load * B[r] <= rate[level]})
        return levels
    parts = {r: found for r in R if (N[r], 0) in (found := parts_of(r))[-1]}
    revenue = {r: N[r] * B[r] * duration[r] if instance.get("goal") == "revenue" else 1 for r in parts}
    g = math.gcd(*revenue.values()) or 1
    weight = {r: value // g for r, value in revenue.items()}
    S = sum(weight.values())
    require(S < LIMIT, "the weights sum to 2^60 or more")
    rejected = state.variable("rejected", 0, min(upper, S))
    def boolean(*name):
        return state.variable(name), True, 1
    def accept(r):
        return boolean("accept", r)[0]
    def at(level, node, least=0):
        return require(least <= level <= top and 0 <= node < nodes[level], "no node of the tree, or of a wrong level")
    def part(r, level, node, m, load, lane):
        right = at(level, node) and (lane == -1 if m == N[r] else 0 <= lane < lanes[level])
        require(right and (m, load) in parts[r][level], "no such part")
        return boolean("part", r, level, node, m, load, lane)[0]
    def choices(r, level, node, value=lambda m, load, lane: m):
        """Give (choice, value(VMs, load, lane)) of each part of a request at a node, and of none."""
        return at(level, node) and [(boolean("none", r, level, node), value(0, 0, -1))] + [
            (boolean("part", r, level, node, m, load, lane), value(m, load, lane))
            for m, load in parts[r][level] for lane in ((-1,) if m == N[r] else range(lanes[level]))]
    def below(r, level, node, value=lambda m, load, lane: m):
        n = at(level, node, least=1) and children[level]
        return [choices(r, level - 1, child, value) for child in range(node * n, (node + 1) * n)]
    def equation(terms, groups):  # their sum is 0: two rows
        return several([linear(terms, groups, 0), linear([(-a, x) for a, x in terms], [
            [(choice, -value) for choice, value in group] for group in groups], 0)])
    def one_lane(r, level, node):
        s = at(level, node) and lanes[top] // lanes[level]
        return several([nogood([choice] + [opposite(boolean("route", r, lane * s + i)) for i in range(s)])
                        for choice, lane in choices(r, level, node, lambda m, load, lane: lane) if lane >= 0])
    def running(q):  # when it starts
        return [r for r in parts if arrival[r] <= arrival[q] < arrival[r] + duration[r]]
    def link(level, node, lane, q):
        require(at(level, node) and 0 <= lane < lanes[level], "no such lane")
        return linear([], [choices(r, level, node, lambda m, load, by: load * B[r] if by == lane else 0)
                           for r in running(q)], rate[level])
    def bound(b):
        return rounded((S - min(b, S)) * (Fraction(g, 10**12) if instance.get("goal") == "revenue" else 1), up=True)
    return Model(rejected, bound, {"R": parts, "Q": R, "SERVER": range(nodes[0]), "ROUTE": range(lanes[top])}, {
        "accept R": accept, "rejected": lambda: rejected, "part R LEVEL NODE M LOAD LANE": part,
        "route R ROUTE": lambda r, lane: boolean("route", r, lane)[0],
        "none R LEVEL NODE": lambda r, *node: at(*node) and boolean("none", r, *node)[0]}, {
        "rejected": lambda: linear([(-w, accept(r)) for r, w in weight.items()] + [(-1, rejected)], [], -S),
        "route R": lambda r: exactly_one([boolean("route", r, lane) for lane in range(lanes[top])]),
        "one R LEVEL NODE": lambda *at: exactly_one([choice for choice, _ in choices(*at)]),
        "divide R LEVEL NODE": lambda *at: equation([], below(*at) + [choices(*at, lambda m, load, lane: -m)]),
        "whole R": lambda r: equation([(-N[r], accept(r))], [choices(r, top, node) for node in range(nodes[top])]),
        "loads R LEVEL NODE": lambda r, *at: require(per_path, "loads aren't summed with this hose") and linear(
            [], below(r, *at, lambda m, load, lane: load) + [
                choices(r, *at, lambda m, load, lane: -N[r] if m == N[r] else -load)], 0),
        "slots SERVER Q": lambda server, q: linear([], [choices(r, 0, server) for r in running(q)], slots),
        "total Q": lambda q: linear([(N[r], accept(r)) for r in running(q)], [], nodes[0] * slots),
        "lane R LEVEL NODE": one_lane, "link LEVEL NODE LANE Q": link})

def consolidation(instance, unit, upper, state):
    """Tasks on the cheapest hosts; the objective is what the goal counts."""
    require(unit == "1", "a unit of 1 is asked for")
    jobs, rules, limits = (instance.get(key, []) for key in ("jobs", "rules", "limits"))
    offers, resources, by_moves = instance.get("offers", []), instance["resources"], instance.get("goal") == "moves"
    hosts = [("host", x["id"], x) for x in instance.get("hosts", [])]
    E, tasks, cost_limit = len(hosts), sum(int(job["tasks"]) for job in jobs), instance.get("cost_limit")
    most = cost_limit if cost_limit is not None else math.inf if by_moves else upper
    worth = [min(tasks, int(o["count"])) for o in offers]
    slots = max([min(n, most // o["price"] if o.get("price") else n) for o, n in zip(offers, worth)] + [0])
    for o in offers:
        hosts += [("offer", o["id"], o)] * int(min(o["count"], slots))
    number_of = {x[1]: h for h, x in enumerate(hosts[:E])}
    job_of = {job["id"]: j for j, job in enumerate(jobs)}
    J, H, R = range(len(jobs)), range(len(hosts)), range(len(resources))
    sets = {s["id"]: {("host", x) for x in s.get("hosts", [])} | {("offer", x) for x in s.get("offers", [])}
            for s in instance.get("host_sets", [])}
    now = [[number_of[x] for x in job.get("current_hosts", []) if x] for job in jobs]
    need = [[int(x) for x in job["needs"]] for job in jobs]
    has = [[int(x) for x in host[2]["capacity"]] for host in hosts]
    mend = bool(instance.get("mend"))
    held = [[0] * len(R) for _ in H]
    for j in J:
        for h in now[j]:
            held[h] = [a + b for a, b in zip(held[h], need[j])]
    pinned = [bool(job.get("pinned")) for job in jobs]
    kept = {h for h in H if hosts[h][2].get("kept")} | {h for j in J if pinned[j] for h in now[j]}
    def domain(key, h):
        return h if not key else hosts[h][2].get("labels", {}).get(key) or None
    keys = [[r["domain"] for r in rules if r["type"] != "apart" and r.get("domain") and job["id"] in r["jobs"]]
            for job in jobs]
    stays = {(j, h): now[j].count(h) for j in J for h in now[j]}
    anews = {}
    for j in J:
        for h in H:
            kind, name, host = hosts[h]
            room = min([int(jobs[j]["tasks"])] + [a // b for a, b in zip(has[h], need[j]) if b])
            allowed = not jobs[j].get("allowed") or (kind, name) in sets[jobs[j]["allowed"]]
            if room and allowed and not pinned[j] and not host.get("closed"):
                anews[j, h] = 0 if any(domain(key, h) is None for key in keys[j]) else room
    leave_cost = {j: int(job["leave_out_cost"]) for j, job in enumerate(jobs)
                  if job.get("leave_out_cost") is not None and not pinned[j]}
    move_cost = [int(job.get("move_cost") or 1) for job in jobs]
    def price(h):
        return int(hosts[h][2].get("price", 0))
    objective = state.variable("objective", 0, upper)
    def use(h):
        return state.variable(("use", h), int(h in kept))
    def stay(j, h):
        require((j, h) in stays, "none runs there")
        return state.variable(("stay", j, h), stays[j, h] if pinned[j] else 0, stays[j, h])
    def anew(j, h):
        require((j, h) in anews, "none may be placed there")
        return state.variable(("anew", j, h), 0, anews[j, h])
    def leave(j):
        require(j in leave_cost, "none may be left out")
        return state.variable(("leave", j), 0, int(jobs[j]["tasks"]))
    def on(some, at):
        """Give (variable, its greatest value, whether it is of tasks placed anew) of some jobs on some hosts."""
        return [(stay(j, h), stays[j, h], mend) for j in some for h in at if (j, h) in stays] + [
            (anew(j, h), anews[j, h], True) for j in some for h in at if (j, h) in anews]
    def terms(a, list):
        return [(a, x[0]) for x in list]
    def cost():
        return [(price(h), use(h)) for h in H] + [(c, leave(j)) for j, c in leave_cost.items()]
    def moves():
        return [(-move_cost[j], stay(j, h)) for j, h in stays], -sum(move_cost[j] * n for (j, _), n in stays.items())
    def goal():
        if by_moves:
            return linear(moves()[0] + [(-1, objective)], [], moves()[1])
        return linear(cost() + [(-1, objective)], [], 0)
    def all_tasks(j):
        row = terms(1, on([j], H)) + ([(1, leave(j))] if j in leave_cost else [])
        n = int(jobs[j]["tasks"])
        return several([linear(row, [], n), linear([(-a, x) for a, x in row], [], -n)])
    def capacity(r, h):
        excess = 0 if mend else held[h][r] - has[h][r]
        return linear([(need[j][r], x) for j in J for x, *_ in on([j], [h])] + [(-has[h][r], use(h))] + (
            [(-excess, over(r, h))] if excess > 0 else []), [], 0)
    def over(r, h):
        require(held[h][r] > has[h][r] and not mend, "it has what it holds, or is mended")
        return state.variable(("over", r, h))
    def over_row(r, h):
        new = [(anew(j, h), anews[j, h]) for j in J if (j, h) in anews and need[j][r]]
        most = sum(n for _, n in new)
        return linear(terms(1, new) + [(most, over(r, h))], [], most)
    def home(j, h):
        away = jobs[j].get("allowed") and hosts[h][:2] not in sets[jobs[j]["allowed"]]
        require(mend and (away or any(domain(key, h) is None for key in keys[j])), "they may stay")
        return linear([(1, stay(j, h))], [], 0)
    def order(h):
        require(h > E and hosts[h][:2] == hosts[h - 1][:2], "no host of the offer before it")
        return linear([(1, use(h)), (-1, use(h - 1))], [], 0)
    def filled(h):
        require(h >= E, "a host that is there")
        return linear([(1, use(h))] + terms(-1, on(J, [h])), [], 0)
    def limit(k):
        counts = {(key, c[key]): int(c["count"]) for c in limits[k].get("counts", []) for key in ("host", "offer") if c.get(key)}
        return linear([(counts.get(hosts[h][:2], 0) if counts else 1, use(h)) for h in H], [], int(limits[k]["most"]))
    # the rules
    def part(q, name):
        bound = {job_of[x] for x in rules[q]["jobs"]}
        other = {job_of[x] for x in rules[q].get("others") or rules[q]["jobs"]}
        parts = {"jobs": bound, "others": other, "both": bound & other, "bound": bound - other, "free": other - bound}
        require(name in parts, "no such part")
        return sorted(parts[name])
    @lru_cache(None)
    def domains(key):
        found = {}
        for h in H:
            if domain(key, h) is not None:
                found.setdefault(domain(key, h), []).append(h)
        return list(found.values())
    def within(q, d):
        at = domains(rules[q].get("domain", ""))
        require(d < len(at), "no such domain")
        return at[d]
    def of(q, type):
        require(rules[q]["type"] == type, "a rule of another type")
        return True
    def flag(q, d, name):
        return within(q, d) and part(q, name) is not None and state.variable(("flag", q, d, name))
    def sums(q, d, name):
        all = on(part(q, name), within(q, d))
        return all, sum(x[1] for x in all), sum(x[1] for x in all if x[2])
    def flag_row(q, d, name):
        all, _, most = sums(q, d, name)
        return linear([(1, v) for v, _, new in all if new] + [(-most, flag(q, d, name))], [], 0)
    def apart(q, d, x, y):
        of(q, "apart")
        all, most, most_anew = sums(q, d, y)
        if (x, y) == ("both", "both"):
            if most - most_anew <= 1:
                return linear(terms(1, all), [], 1)
            return linear(terms(1, all) + [(most - 1, flag(q, d, x))], [], most)
        require({x, y} in ({"bound", "others"}, {"free", "both"}), "no such parts")
        return linear(terms(1, all) + [(most, flag(q, d, x))], [], most)
    def count(q):
        return sum(int(jobs[j]["tasks"]) for j in part(q, "others"))
    def alone(q):
        of(q, "together")
        return state.variable(("alone", q), 0, int(not any(stands(q, h) for h in range(E))))
    def stands(q, h):
        return sum(int(c["count"]) for c in rules[q].get("standing", []) if hosts[h][:2] in (
            ("host", c.get("host")), ("offer", c.get("offer"))))
    def beside(q, h):
        require(of(q, "together") and h >= E and stands(q, h), "none stands there")
        return linear([(1, alone(q)), (1, use(h))], [], 1)
    def alone_row(q):
        row = terms(1, on(part(q, "others"), H)) + [(max(count(q) - 1, 0), alone(q))]
        return linear(row, [], max(count(q), 1))
    def together(q, d, name):
        of(q, "together")
        row = terms(-1, sums(q, d, "others")[0]) + [(-stands(q, h), use(h)) for h in within(q, d) if h >= E and stands(q, h)]
        require(name in ("bound", "both"), "no such part")
        return linear(row + ([(1, flag(q, d, name))] if name == "bound" else [(2, flag(q, d, name)), (-1, alone(q))]), [],
                      sum(stands(q, h) for h in within(q, d) if h < E))
    @lru_cache(None)
    def spreads(q):
        """Give what stands on each host, the hosts that count, domains there and open to offers, most, and asked."""
        of(q, "spread")
        standing = {}
        for c in rules[q].get("standing", []):
            at = ("host", c["host"]) if c.get("host") else ("offer", c["offer"])
            standing[at] = standing.get(at, 0) + int(c["count"])
        stands = [standing.get(hosts[h][:2], 0) for h in H]
        among, key = rules[q].get("among"), rules[q].get("domain", "")
        counts = {h for h in H if domain(key, h) is not None and (not among or hosts[h][:2] in sets[among])}
        D = domains(key)
        there = {d for d, at in enumerate(D) if any(h in counts and h < E for h in at)}
        opened = {d for d, at in enumerate(D) if d not in there and any(h in counts for h in at)}
        return stands, counts, there, opened, count(q) + sum(stands), max(1, int(rules[q].get("min_domains", 0)))
    def least(q):
        _, _, there, opened, most, asked = spreads(q)
        return state.variable(("least", q), 0, 0 if len(there) + len(opened) < asked else most)
    def enough(q):
        return of(q, "spread") and state.variable(("enough", q))
    def opens(q, d):
        require(within(q, d) and of(q, "spread") and d not in spreads(q)[2], "it is there")
        return state.variable(("open", q, d))
    def what(q, d):
        """Give the variables and the number of what a domain has that counts, and what both are at most."""
        stands, counts, *_ = spreads(q)
        at = [h for h in within(q, d) if h in counts]
        tasks = on(part(q, "others"), at)
        row = terms(1, tasks) + [(stands[h], use(h)) for h in at if h >= E]
        return row, sum(stands[h] for h in at if h < E), sum(stands[h] for h in at) + sum(x[1] for x in tasks)
    def spread_row(q, d):
        row, n, most = what(q, d)
        skew = int(rules[q]["max_skew"])
        slack = max(0, most - skew)
        return linear(row + [(-1, least(q)), (slack, flag(q, d, "jobs"))], [], skew + slack - n)
    def crowd_row(q, d):
        of(q, "spread")
        skew, today = int(rules[q]["max_skew"]), [h for j in part(q, "others") for h in now[j] if h in within(q, d)]
        require(not rules[q].get("among") and not rules[q].get("standing") and count(q) <= skew + 1 and
                len(today) <= skew and not part(q, "free") and spreads(q)[2] - {d}, "fewer than all may be too many")
        return linear(terms(1, on(part(q, "others"), within(q, d))), [], skew)
    def least_row(q, d):
        row, n, _ = what(q, d)
        require(d in spreads(q)[2], "it isn't there")
        return linear([(-a, x) for a, x in row] + [(1, least(q))], [], n)
    def offer_row(q, d, h):
        row, n, _ = what(q, d)
        most = spreads(q)[4]
        require(h >= E and h in spreads(q)[1] and h in within(q, d), "no such host")
        return linear([(-a, x) for a, x in row] + [(1, least(q)), (most, use(h))], [], n + most)
    def open_row(q, d):
        at = [h for h in within(q, d) if h in spreads(q)[1]]
        first = [h for i, h in enumerate(at) if i == 0 or hosts[h][:2] != hosts[at[i - 1]][:2]]
        return linear([(1, opens(q, d))] + [(-1, use(h)) for h in first], [], 0)
    def domains_row(q):
        _, _, there, opened, _, asked = spreads(q)
        return linear([(asked - len(there), enough(q))] + [(-1, opens(q, d)) for d in opened], [], 0)
    def wanted(key):
        require(instance.get(key) is not None, f"there is no {key}")
        return int(instance[key])
    return Model(objective, lambda b: float(b), {"J": J, "H": H, "R": R, "K": range(len(limits)), "Q": range(len(rules))}, {
        "objective": lambda: objective, "use H": use, "stay J H": stay, "anew J H": anew, "leave J": leave, "over R H": over,
        "flag Q D PART": flag, "alone Q": alone, "least Q": least, "enough Q": enough, "open Q D": opens}, {
        "objective": goal, "cost": lambda: linear(cost(), [], wanted("cost_limit")),
        "moves": lambda: linear(moves()[0], [], wanted("move_budget") + moves()[1]),
        "tasks J": all_tasks, "has R H": capacity, "over R H": over_row, "home J H": home, "order H": order, "filled H": filled, "limit K": limit,
        "stay J H": lambda j, h: linear([(1, stay(j, h)), (-stays[j, h], use(h))], [], 0),
        "anew J H": lambda j, h: linear([(1, anew(j, h)), (-anews[j, h], use(h))], [], 0),
        "flag Q D PART": flag_row, "apart Q D PART PART": apart, "together Q D PART": together, "alone Q": alone_row, "beside Q H": beside,
        "spread Q D": spread_row, "crowd Q D": crowd_row, "least Q D": least_row, "offer Q D H": offer_row, "open Q D": open_row,
        "enough Q": lambda q: linear([(1, least(q)), (-spreads(q)[4], enough(q))], [], 0), "domains Q": domains_row})

KINDS = {"dag": dag, "vcsched": vcsched, "batch": batch, "reservation": reservation, "tvc": tvc,
         "consolidation": consolidation}

# ---- the proof
class Checker:
    """Replay a proof line by line. line is the number of the one at hand, from 1."""
    def __init__(self, instance, sha):
        self.instance, self.sha, self.state, self.line, self.head = instance, sha, State(), 1, []
        self.variables, self.constraints, self.nogoods, self.open, self.claimed = {}, {}, {}, None, None
    def check(self, text):
        """Give the bound that a proof proves, or refuse it."""
        for self.line, line in enumerate(text.removesuffix("\n").split("\n"), 1):
            words = [word for word in line.removesuffix("\r").split(" ") if word]
            require(words and self.claimed is None, "a line without a word, or after the claim")
            self.header(words, self.instance["kind"]) if self.line <= 4 else self.rest(words)
        require(self.claimed is not None, "no claim")
        return self.model.bound(self.claimed)
    def header(self, words, kind):
        """Check one of the first four lines; after them the instance has its meaning."""
        self.head.append(last := words[-1])
        right = ["gapwise-proof", "1", kind], ["instance", self.sha or last], ["unit", last], ["upper", last]
        require(words == right[self.line - 1], f"not line {self.line} of a proof of this instance")
        if self.line == 4:
            self.last_cut = number(words[1], 0)
            self.model = KINDS[kind](self.instance, self.head[2], self.last_cut, self.state)
    def rest(self, words):
        """Check a line after the first four."""
        state, model = self.state, self.model
        match words:
            case ("var" | "con") as what, i, _, *_:
                known = self.variables if what == "var" else self.constraints
                names = model.variables if what == "var" else model.constraints
                known[identifier(i, known, False)] = meaning(names, model.ranges, words[2:])
            case "nogood", i, *premises if not self.open:
                bounds = [self.bound(word) for word in premises]
                self.open = identifier(i, self.nogoods, False), bounds, len(state.trail), state.contradiction
                for bound in bounds:
                    state.add(bound)
            case ["end"] if self.open and state.contradiction:
                i, bounds, length, contradiction = self.open
                state.back(length, contradiction)
                self.nogoods[i], self.open = nogood(bounds), None
            case "delete", i if not self.open:
                self.nogoods.pop(identifier(i, self.nogoods, True))
            case "cut", value if not self.open and number(value) < self.last_cut:
                if not state.contradiction:
                    self.last_cut = int(value)
                    state.add((model.objective, False, self.last_cut))
            case "claim", value if not self.open:
                self.claimed = number(value, 0)
                most = self.last_cut + 1 if state.contradiction else state.lower[model.objective]
                require(self.claimed <= most, f"at most {most} is proved")
            case (i, what) | (i, what, _, _):
                constraints = self.nogoods if i[0] == "n" else self.constraints
                violated = constraints[identifier(i.removeprefix("n"), constraints, True)]
                self.step(violated, None if what == "!" else self.bound(what), [number(word) for word in words[2:]])
            case _:
                raise Refused(f"not a line of a proof, or not here: {' '.join(words)[:60]}")
    def bound(self, word):
        """Read a bound."""
        require(parts := BOUND.fullmatch(word), f"{word[:40]} isn't a bound")
        return self.variables[identifier(parts[1], self.variables, True)], parts[2] == ">=", number(parts[3])
    def step(self, violated, bound, window):
        """Check that a bound, or for None a contradiction, follows from a constraint, and add it."""
        state, length, subjects = self.state, len(self.state.trail), ()
        if state.contradiction:
            return
        if bound:
            subjects = state.speaks_of[bound[0]]
            state.add(opposite(bound))
            if state.there[bound[0]] is not None:
                state.add((state.there[bound[0]], True, 1))
        require(state.contradiction or violated(state, subjects, window), "this doesn't follow")
        state.back(length, contradiction=bound is None)
        if bound:
            state.add(bound)

def identifier(word, meanings, known):
    """Read an id that has a meaning (known), or has none yet."""
    require((number(word, 0) in meanings) == known, f"{word} has {'no' if known else 'a'} meaning")
    return int(word)

# ---- files
def unzipped(data):
    """Give the content of a file, gzip or not; zlib.error says that it is damaged."""
    zipped = data[:2] == b"\x1f\x8b"
    text = b"" if zipped else data
    while zipped and data:
        member = zlib.decompressobj(wbits=31)
        text, data = text + member.decompress(data), member.unused_data
        if not member.eof:
            raise zlib.error("the gzip ends early")
    return text

@lru_cache(maxsize=1)
def read_instance(path):
    """Read an instance of one of the kinds. Whole numbers are floats, too; what is null isn't there."""
    instance = json.loads(unzipped(Path(path).read_bytes()), parse_int=float, object_pairs_hook=lambda pairs: {
        key: value for key, value in pairs if value is not None})
    if not isinstance(instance, dict) or instance.get("kind") not in KINDS:
        raise ValueError(f"{path} is no instance of {', '.join(KINDS)}")
    return instance

def verdict(sha, instance, proof):
    """Give what is printed of a proof, and the exit code."""
    try:
        checker, data = Checker(read_instance(instance), sha), Path(proof).read_bytes()
    except (OSError, ValueError, zlib.error) as e:
        return f"error: {e}", 3
    try:
        return f"proved {checker.check(unzipped(data).decode('latin-1'))!r}", 0
    except (Refused, zlib.error) as e:
        return f"refused: line {checker.line}: {e}", 7

def main(arguments):
    """Do what the command line asks for, and give the exit code."""
    match arguments:
        case "--list", path:
            for case in Path(path).read_text(encoding="utf-8").splitlines():
                print(verdict(*case.split("\t"))[0], flush=True)
            return 0
        case ("--hash", _, instance, proof) | (instance, proof) if not instance.startswith("-"):
            line, code = verdict(arguments[1] if len(arguments) == 4 else None, instance, proof)
            print(line, file=sys.stderr if code == 3 else sys.stdout)
            return code
    print("usage: check.py [--hash SHA] INSTANCE PROOF, or check.py --list FILE", file=sys.stderr)
    return 2

if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
