#!/usr/bin/env python3
"""Check a proof of gapwise, written from docs/proofs.md alone and with none of gapwise's code.

    python3 scripts/check.py [--hash SHA] INSTANCE PROOF
    python3 scripts/check.py --list FILE

A line `proved BOUND` and exit code 0, `refused: line N: why` and 7, or on stderr why a file can't be
read, and 3. FILE has a line of hash, instance and proof with tabs between for each case; one line is
printed for each.

A bound of a variable, v >= b or v <= b, is a tuple (v, True, b) or (v, False, b). An alternative is chosen by
a bound of a Boolean variable, or by None if it is sure.
"""

import json
import math
import os
import re
import sys
import zlib
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from graphlib import TopologicalSorter

LIMIT = 2**60
MUCH = 2**28
SLACK = 1 + Fraction(1, 2**50)
TAU = Fraction(1e-9)
MILLION = 10**6
NUMBER = re.compile(r"0|-?[1-9][0-9]*")
BOUND = re.compile(r"([^<>=]+)([<>]=)([^<>=]+)")
UNIT_OF_TIME = re.compile(r"[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?")


class Refused(Exception):
    """The proof doesn't hold, or isn't one."""


class Unreadable(Exception):
    """A file can't be read, or is no instance."""


# ---- numbers ----


def number(word):
    """Read a number, less than 2^60 from 0."""
    if NUMBER.fullmatch(word) and len(word) <= 20:
        value = int(word)
        if abs(value) < LIMIT:
            return value
    raise Refused(f"{word[:40]!r} isn't a number")


def identifier(word):
    """Read a number of at least 0."""
    value = number(word)
    if value < 0:
        raise Refused(f"{word} is below 0")
    return value


def rounded(value, up):
    """Give the nearest float that isn't below the fraction (up), or isn't above it."""
    value = Fraction(value)
    try:
        near = value.numerator / value.denominator
    except OverflowError:
        return math.inf if up else sys.float_info.max
    if up and near < value:
        return math.nextafter(near, math.inf)
    if not up and near > value:
        return math.nextafter(near, -math.inf)
    return near


def millionths(x):
    """Give the nearest whole number to x 10^6."""
    return round(Fraction(x) * MILLION)


def get(record, key, default=0):
    """Give what an instance has at a key, or the default if it is missing or null."""
    value = record.get(key)
    return default if value is None else value


# ---- the state ----


def opposite(bound):
    """Give what holds if and only if the bound doesn't."""
    v, at_least, b = bound
    return (v, False, b - 1) if at_least else (v, True, b + 1)


class State:
    """The lower and upper bound of each variable, and whether they contradict each other."""

    def __init__(self):
        self.names = {}
        self.lower, self.upper = [], []
        self.there = []  # the Boolean of an optional variable, or None
        self.speaks_of = []  # numbers of the activities that a bound of the variable speaks of
        self.contradiction = False
        self.trail = []

    def variable(self, name, lower=0, upper=1, there=None, speaks_of=()):
        """Give the variable of a name. Its range is looked at when it is first asked for."""
        v = self.names.get(name)
        if v is None:
            if max(abs(lower), abs(upper)) >= LIMIT:
                raise Refused(f"the range of {name} isn't below 2^60")
            v = self.names[name] = len(self.lower)
            self.lower.append(lower)
            self.upper.append(upper)
            self.there.append(there)
            self.speaks_of.append(speaks_of)
            if lower > upper:
                self.crossed(v)
        return v

    def crossed(self, v):
        """Conclude that a variable is not there, since its bounds cross."""
        if self.there[v] is None:
            self.contradiction = True
        else:
            self.add((self.there[v], False, 0))

    def add(self, bound):
        """Add a bound to the state."""
        v, at_least, b = bound
        if self.follows(bound):
            return
        side = self.lower if at_least else self.upper
        self.trail.append((side, v, side[v]))
        side[v] = b
        if self.lower[v] > self.upper[v]:
            self.crossed(v)

    def mark(self):
        """Give the state of now, for back."""
        return len(self.trail), self.contradiction

    def back(self, mark):
        """Take back all bounds since the mark."""
        length, self.contradiction = mark
        while len(self.trail) > length:
            side, v, b = self.trail.pop()
            side[v] = b

    def follows(self, bound):
        """Tell whether a bound follows from those of its variable."""
        v, at_least, b = bound
        return self.lower[v] >= b if at_least else self.upper[v] <= b

    def absent(self, v):
        """Tell whether a variable is known not to be there."""
        there = self.there[v]
        return there is not None and self.upper[there] <= 0

    def holds(self, bound):
        """Tell whether a bound holds; any of a variable that isn't there does."""
        return self.follows(bound) or self.absent(bound[0])

    def fails(self, bound):
        """Tell whether the opposite follows."""
        return self.follows(opposite(bound))

    def sure(self, choice):
        """Tell whether an alternative is chosen for sure."""
        return choice is None or self.holds(choice)

    def possible(self, choice):
        """Tell whether an alternative may be chosen."""
        return choice is None or not self.fails(choice)

    def certain(self, alternatives, test):
        """Tell whether a test (of alternatives, choice first) is true whichever is chosen."""
        sure = [a for a in alternatives if self.sure(a[0])]
        if sure:
            return any(map(test, sure))
        return all(test(a) for a in alternatives if self.possible(a[0]))


# ---- the rules: violated(state, subjects, window) ----


class ExactlyOne:
    """Exactly one of the bounds is true."""

    def __init__(self, bounds):
        self.bounds = bounds

    def violated(self, state, subjects, window):
        if sum(map(state.holds, self.bounds)) >= 2:
            return True
        return all(map(state.fails, self.bounds))


class Nogood:
    """The bounds aren't all true."""

    def __init__(self, bounds):
        self.bounds = bounds

    def violated(self, state, subjects, window):
        return all(map(state.holds, self.bounds))


class Linear:
    """Sum of a x + sum of groups <= limit; terms are (a, x), a group is choices (choice, value)."""

    def __init__(self, terms, groups, limit):
        self.terms, self.groups, self.limit = terms, groups, limit

    def violated(self, state, subjects, window):
        least = 0
        for a, x in self.terms:
            least += a * (state.lower[x] if a > 0 else state.upper[x])
        for group in self.groups:
            sure = [value for choice, value in group if state.sure(choice)]
            possible = [value for choice, value in group if state.possible(choice)]
            if not possible:
                return True
            least += max(sure) if sure else min(possible)
        return least > self.limit


class Several:
    """All of some constraints."""

    def __init__(self, parts):
        self.parts = parts

    def violated(self, state, subjects, window):
        return any(part.violated(state, subjects, window) for part in self.parts)


class Delay:
    """start_l >= start_k + d_kl, for the alternatives (choice, start, number) k and l that are chosen."""

    def __init__(self, first, then, d):
        self.first, self.then, self.d = first, then, d

    def violated(self, state, subjects, window):
        lower, upper = state.lower, state.upper

        def late(l):
            return state.certain(self.first, lambda k: lower[k[1]] + self.d(k[2], l[2]) > upper[l[1]])

        return state.certain(self.then, late)


def sure_activities(state, activities):
    """Give [number, e, l, length, size] of those of {number: (choice, start, length, size)} that are sure."""
    return [[i, state.lower[start], state.upper[start] + length, length, size]
            for i, (choice, start, length, size) in activities.items() if state.sure(choice)]


def windows(activities):
    """For each latest end T and earliest start t0 give T, the activities with l <= T by falling e, how
    many of them have t0 <= e, t0, and the sum of these ones' lengths."""
    falling = sorted(activities, key=lambda a: -a[1])
    for T in {a[2] for a in activities}:
        within = [a for a in falling if a[2] <= T]
        total = 0
        for n, a in enumerate(within, 1):
            total += a[3]
            if n == len(within) or within[n][1] < a[1]:
                yield T, within, n, a[1], total


def overloaded(activities):
    """Tell whether a window hasn't room for the activities that must run in it."""
    return any(t0 + total > T for T, _, _, t0, total in windows(activities))


class NoOverlap:
    """Activities don't overlap. first(state, i, j) tells whether the order says that i is before j."""

    def __init__(self, activities, first):
        self.activities, self.first = activities, first

    def violated(self, state, subjects, window):
        sure = sure_activities(state, self.activities)
        if overloaded(sure):
            return True
        return any(self.squeezed(state, q, [a for a in sure if a is not q]) for q in sure if q[0] in subjects)

    def squeezed(self, state, subject, others):
        """Tell whether the others can't all run, with what must go before the subject and after it."""
        q, e_q, l_q, p_q, _ = subject
        before = {i for i, _, l, p, _ in others if self.first(state, i, q) or e_q + p_q > l - p}
        after = {i for i, e, _, p, _ in others if self.first(state, q, i) or e + p > l_q - p_q}
        for T, within, n, t0, total in windows(others):
            if min(t0, e_q) + total + p_q > T:
                before.update(a[0] for a in within[:n])
            if t0 + total + p_q > max(T, l_q):
                after.update(a[0] for a in within[:n])
        if before & after:
            return True
        return overloaded([[i, max(e, e_q + p_q) if i in after else e, min(l, l_q - p_q) if i in before else l, p, 0]
                           for i, e, l, p, _ in others])


class Cumulative:
    """The demands of the activities that run at a time sum to at most the capacity."""

    def __init__(self, activities, capacity):
        self.activities, self.capacity = activities, capacity

    def violated(self, state, subjects, window):
        sure = sure_activities(state, self.activities)
        if next(full(sure, self.capacity), None):
            return True
        for q in sure:
            if q[0] in subjects and self.no_start(q, [a for a in sure if a is not q]):
                return True
        return window is not None and window[0] < window[1] and self.energy(sure, *window) > (
            self.capacity * (window[1] - window[0]))

    def no_start(self, subject, others):
        """Tell whether the subject has no start at which the others leave room for it."""
        _, e, l, p, demand = subject
        start = e
        if p > 0:
            for a, b in full(others, self.capacity - demand):
                if start + p <= a:
                    break
                start = max(start, b)  # [a, b) is too full, and [start, start + p) goes on after a
        return start > l - p

    def energy(self, sure, a, b):
        """Give the least that the activities use within [a, b)."""
        return sum(demand * max(0, min(b - a, p, e + p - a, b - (l - p))) for _, e, l, p, demand in sure)


def full(activities, capacity):
    """Give the intervals [a, b), by rising a, in which what must run demands more than the capacity."""
    change = {}
    for _, e, l, p, demand in activities:
        if l - p < e + p:
            change[l - p] = change.get(l - p, 0) + demand
            change[e + p] = change.get(e + p, 0) - demand
    used, since = 0, None
    for t in sorted(change):
        if used > capacity:
            yield since, t
        used += change[t]
        since = t


# ---- the kinds ----


class Kind:
    """What the names in a proof mean. A kind has variables and constraints, {word: (arguments, method)}:
    the methods give a variable of the state, or a constraint; and bound, what a claim says."""

    def __init__(self, instance, unit, upper):
        self.instance, self.upper = instance, upper
        self.state = State()
        self.set_unit(unit)
        self.build()

    def set_unit(self, unit):
        self.unit = number(unit)
        if self.unit < 1:
            raise Refused("the unit is below 1")

    def meaning(self, names, words):
        """Give what a name means, by a table of names."""
        arguments, method = names.get(words[0], (-1, None))
        if len(words) != arguments + 1:
            raise Refused(f"no name: {' '.join(words)[:60]}")
        return method(*map(self.argument, words[1:]))

    def argument(self, word):
        return identifier(word)

    def variable(self, words):
        return self.meaning(self.variables, words)

    def constraint(self, words):
        return self.meaning(self.constraints, words)


def below(value, count, what):
    """Refuse a number that names nothing."""
    if not 0 <= value < count:
        raise Refused(f"there is no {what} {value}")
    return value


class Dag(Kind):
    """A graph of tasks on machines, and the makespan."""

    def set_unit(self, unit):
        if not UNIT_OF_TIME.fullmatch(unit) or not 0 < float(unit) < math.inf:
            raise Refused(f"{unit[:40]} isn't a unit of time")
        self.unit = Fraction(float(unit))
        if self.upper >= MUCH:
            raise Refused("upper isn't below 2^28")

    def build(self):
        g = self.instance
        self.machines, tasks = get(g, "machines", []), get(g, "tasks", [])
        self.M, self.T, self.rounded_up = range(len(self.machines)), range(len(tasks)), False
        self.cost = [[self.units(self.seconds(task, a)) for a in self.M] for task in tasks]
        self.read_edges(tasks, get(g, "edges", []))
        for t in self.T:
            for a in self.M:
                self.start(t, a)
        self.variables = {"makespan": (0, self.makespan), "on": (2, self.named_on), "start": (2, self.start),
                          "before": (2, self.before)}
        self.constraints = {"one": (1, self.one), "delay": (2, self.delay), "end": (1, self.end),
                            "machine": (1, self.machine)}
        self.objective = self.makespan()
        self.orders = {}

    def seconds(self, task, a):
        """Give a task's cost on a machine in seconds."""
        if task.get("work") is not None:
            return Fraction(task["work"] / self.machines[a]["speed"])
        return Fraction(task["cost_s"][a])

    def units(self, d):
        """Give how many units a duration counts as."""
        n = math.floor(d * SLACK / self.unit)
        if min(n, self.upper + 1) * self.unit > d:
            self.rounded_up = True
        return n if n <= self.upper else MUCH

    def read_edges(self, tasks, edges):
        """Set the transfer times of the edges, what is from each task to the end (tail) and before it (head),
        and the paths."""
        ids = {task["id"]: t for t, task in enumerate(tasks)}
        rates = self.rates()
        self.transfer, successors, predecessors = {}, {t: [] for t in self.T}, {t: [] for t in self.T}
        for edge in edges:
            t, s = ids[edge["from"]], ids[edge["to"]]
            successors[t].append(s)
            predecessors[s].append(t)
            self.transfer[t, s] = [[self.units(self.latency(edge, a, b, rates)) if a != b else 0 for b in self.M]
                                   for a in self.M]
        order = list(TopologicalSorter(predecessors).static_order())
        cost, transfer = self.cost, self.transfer
        self.tail, self.head, self.reach = {}, {}, {}
        for t in reversed(order):
            self.reach[t] = set(successors[t]).union(*(self.reach[s] for s in successors[t]))
            self.tail[t] = [max((min(transfer[t, s][a][b] + cost[s][b] + self.tail[s][b] for b in self.M)
                                 for s in successors[t]), default=0) for a in self.M]
        for t in order:
            self.head[t] = [max((min(self.head[s][b] + cost[s][b] + transfer[s, t][b][a] for b in self.M)
                                 for s in predecessors[t]), default=0) for a in self.M]

    def latency(self, edge, a, b, rates):
        """Give the seconds of an edge's transfer from machine a to another one b."""
        wait = Fraction(get(self.machines[a], "startup_s"))
        return wait + Fraction(edge["data"]) / rates[a][b] if edge["data"] > 0 else wait

    def rates(self):
        """Give the rate from each machine to each."""
        network = get(self.instance, "network", {})
        bandwidth, matrix = get(network, "bandwidth"), get(network, "path_capacity", [])
        rate = [[Fraction(matrix[a][b] if matrix else bandwidth) for b in self.M] for a in self.M]
        ids = {machine["id"]: a for a, machine in enumerate(self.machines)}
        capacity = {link["id"]: get(link, "capacity") or bandwidth for link in get(network, "links", [])}
        for route in get(network, "routes", []):
            a, b = ids[route["from"]], ids[route["to"]]
            for x, y in [(a, b)] if get(route, "one_way") else [(a, b), (b, a)]:
                rate[x][y] = min([rate[x][y]] + [Fraction(capacity[link]) for link in get(route, "links", [])])
        share = Fraction(3, 4) if get(self.instance, "transfer_model") == "tcp-all" else 1
        return [[share * r for r in row] for row in rate]

    def task(self, t):
        return below(t, len(self.T), "task")

    def makespan(self):
        return self.state.variable("makespan", 0, self.upper)

    def on(self, t, a):
        """Give the variable that task t is on machine a, or None if there is one machine."""
        return self.state.variable(("on", t, a), speaks_of=(t,)) if len(self.M) > 1 else None

    def is_on(self, t, a):
        """Give the choice of machine a for task t."""
        return (self.on(t, a), True, 1) if len(self.M) > 1 else None

    def named_on(self, t, a):
        if len(self.M) == 1:
            raise Refused("with one machine nothing says which one a task is on")
        return self.on(self.task(t), below(a, len(self.M), "machine"))

    def start(self, t, a):
        latest = self.upper - self.cost[self.task(t)][below(a, len(self.M), "machine")] - self.tail[t][a]
        return self.state.variable(("start", t, a), 0, latest, self.on(t, a), speaks_of=(t,))

    def path(self, t, u):
        return u in self.reach[t]

    def before(self, t, u):
        if self.task(t) == self.task(u) or self.path(t, u) or self.path(u, t) or (u, t) in self.orders:
            raise Refused(f"nothing to order: before {t} {u}")
        self.orders[t, u] = v = self.state.variable(("before", t, u), speaks_of=(t, u))
        return v

    def first(self, state, t, u):
        """Tell whether task t goes before task u if both are on one machine."""
        if self.path(t, u):
            return True
        if (t, u) in self.orders:
            return state.follows((self.orders[t, u], True, 1))
        return (u, t) in self.orders and state.follows((self.orders[u, t], False, 0))

    def alternatives(self, t):
        return [(self.is_on(t, a), self.start(t, a), a) for a in self.M]

    def one(self, t):
        if len(self.M) == 1:
            raise Refused("with one machine there is no choice")
        return ExactlyOne([self.is_on(self.task(t), a) for a in self.M])

    def delay(self, t, u):
        transfer = self.transfer.get((t, u))
        if transfer is None:
            raise Refused(f"there is no edge {t} {u}")
        return Delay(self.alternatives(t), self.alternatives(u), lambda a, b: self.cost[t][a] + transfer[a][b])

    def end(self, t):
        return Delay(self.alternatives(self.task(t)), [(None, self.objective, 0)],
                     lambda a, _: self.cost[t][a] + self.tail[t][a])

    def machine(self, a):
        below(a, len(self.M), "machine")
        return NoOverlap({t: (self.is_on(t, a), self.start(t, a), self.cost[t][a], 0) for t in self.T}, self.first)

    def constraint(self, words):
        if words[0] == "load":
            return self.load(words[1:])
        return super().constraint(words)

    def load(self, words):
        """Give the row of the weighted load of some tasks: `W,W,...:` and the tasks."""
        if len(words) < 2 or not words[0].endswith(":"):
            raise Refused("load without weights or tasks")
        weights = [identifier(w) for w in words[0][:-1].split(",")]
        tasks = [self.task(identifier(t)) for t in words[1:]]
        if len(weights) != len(self.M) or sum(weights) >= 2**31 or len(set(tasks)) < len(tasks):
            raise Refused("a load has different tasks and a weight for each machine, below 2^31 in all")
        lower = max(min(self.head[t][a] + self.cost[t][a] + self.tail[t][a] for a in self.M) for t in self.T)
        limit = 0
        for a in self.M:
            idle = min(self.head[t][a] for t in tasks) + min(self.tail[t][a] for t in tasks)
            limit -= weights[a] * min(idle, lower, self.upper)
        groups = [[(self.is_on(t, a), weights[a] * self.cost[t][a]) for a in self.M] for t in tasks]
        return Linear([(-sum(weights), self.objective)], groups, limit)

    def bound(self, b):
        return rounded(b * self.unit / (SLACK if self.rounded_up else 1), up=False)


class Vcsched(Kind):
    """Virtual machines on hosts, and the least yield."""

    def build(self):
        v, U = self.instance, self.unit
        if U > 10**14:
            raise Refused("the unit is above 10^14")
        if get(v, "resources", []) or get(v, "host_sizes", []):
            raise Refused("further resources and sizes of hosts aren't proved")
        self.cpu, self.memory_of, self.now = [], [], {}
        for job in v["jobs"]:
            for k in range(int(job["tasks"])):
                if get(job, "current_hosts", []):
                    self.now[len(self.cpu)] = int(job["current_hosts"][k])
                self.cpu.append(math.floor(Fraction(job["cpu"]) * U * SLACK))
                self.memory_of.append(math.floor(Fraction(job["memory"]) * U * SLACK))
        self.T = range(len(self.cpu))
        if len(self.T) >= LIMIT // U:
            raise Refused("too many tasks for the unit")
        self.budgeted = v.get("migration_budget") is not None
        self.hosts = set(self.now.values()) if self.budgeted else set()
        others = (h for h in range(int(v["hosts"])) if h not in self.hosts)
        self.hosts = sorted(self.hosts.union(h for h, _ in zip(others, self.T)))
        self.variables = {"on": (2, self.on), "load": (0, self.load)}
        self.constraints = {"one": (1, self.one), "memory": (1, self.memory), "need": (1, self.need),
                            "area": (0, self.area), "budget": (0, self.budget)}
        self.objective = self.load()

    def load(self):
        return self.state.variable("load", self.unit, self.upper)

    def host(self, h):
        if h not in self.hosts:
            raise Refused(f"host {h} isn't in the model")
        return h

    def on(self, t, h):
        return self.state.variable(("on", below(t, len(self.T), "task"), self.host(h)))

    def one(self, t):
        return ExactlyOne([(self.on(t, h), True, 1) for h in self.hosts])

    def memory(self, h):
        return Linear([(self.memory_of[t], self.on(t, h)) for t in self.T], [],
                      math.floor((1 + TAU) * self.unit * SLACK))

    def need(self, h):
        return Linear([(self.cpu[t], self.on(t, h)) for t in self.T] + [(-1, self.objective)], [], 0)

    def area(self):
        return Linear([(-int(self.instance["hosts"]), self.objective)], [], -sum(self.cpu))

    def budget(self):
        if not self.budgeted:
            raise Refused("there is no budget")
        budget = min(Fraction(self.instance["migration_budget"]), len(self.T))
        limit = math.floor((budget + TAU) * self.unit * SLACK) - sum(self.memory_of[t] for t in self.now)
        return Linear([(-self.memory_of[t], self.on(t, h)) for t, h in self.now.items()], [], limit)

    def bound(self, b):
        if b > self.unit and b > sum(self.cpu):
            return 0.0
        return rounded(min(1, self.unit * SLACK / max(b, 1)), up=True)


class Batch(Kind):
    """Rigid parallel jobs on processors, and the mean response time."""

    def set_unit(self, unit):
        units = [number(word) for word in unit.split(",")]
        if len(units) != 2 or min(units) < 1:
            raise Refused("a unit of batch is two numbers of at least 1")
        self.time, self.weight = units

    def build(self):
        jobs = get(self.instance, "jobs", [])
        if self.instance["tiers"] != 1:
            raise Refused("two tiers aren't proved")
        submitted = [millionths(job["submit_s"]) for job in jobs]
        self.submit = [self.divided(t - submitted[0], self.time) for t in submitted]
        self.length = [self.divided(millionths(self.runs(job)), self.time) for job in jobs]
        self.weights = [self.divided(int(get(job, "weight")) or 1, self.weight) for job in jobs]
        self.J = range(len(jobs))
        self.variables = {"response": (0, self.response), "start": (1, self.start)}
        self.constraints = {"processors": (0, self.processors), "responses": (0, self.responses)}
        self.objective = self.response()
        self.starts = [self.start(k) for k in self.J]

    def runs(self, job):
        """Give a job's seconds."""
        estimate = get(job, "estimate_s")
        if get(self.instance, "kill_at_estimate") and estimate:
            return min(job["runtime_s"], estimate)
        return job["runtime_s"]

    def divided(self, value, unit):
        if value % unit:
            raise Refused(f"{value} isn't in units of {unit}")
        return value // unit

    def response(self):
        return self.state.variable("response", 0, self.upper)

    def start(self, k):
        submit, length = self.submit[below(k, len(self.J), "job")], self.length[k]
        latest = min(submit - length + self.upper // self.weights[k], self.submit[-1] + sum(self.length) - length)
        return self.state.variable(("start", k), submit, latest, speaks_of=(k,))

    def processors(self):
        jobs = self.instance["jobs"]
        return Cumulative({k: (None, self.starts[k], self.length[k], int(jobs[k]["processes"])) for k in self.J},
                          int(self.instance["processors"]))

    def responses(self):
        limit = sum(self.weights[k] * (self.submit[k] - self.length[k]) for k in self.J)
        return Linear([(self.weights[k], self.starts[k]) for k in self.J] + [(-1, self.objective)], [], limit)

    def bound(self, b):
        if not self.J:
            return 0.0
        return rounded(Fraction(b * self.time, MILLION * sum(self.weights)), up=False)


def decimals(x):
    """Give how many decimals the shortest decimal number has that reads as a float."""
    return max(0, -Decimal(repr(x)).normalize().as_tuple().exponent)


class Reservation(Kind):
    """Requests for processing elements (PEs) within windows of time, and what those that are lost are worth."""

    def build(self):
        self.goal = get(self.instance, "goal", "") or "accepted"
        if self.goal not in ("accepted", "pe_seconds", "reserved_pe_seconds"):
            raise Refused(f"the goal {self.goal} isn't proved")
        self.requests = get(self.instance, "requests", [])
        self.find_ticks()
        self.length, self.window, self.free, self.weight = {}, {}, [], {}
        for r, request in enumerate(self.requests):
            self.place(r, request)
        self.S = sum(self.weight.values())
        if self.S >= LIMIT:
            raise Refused("the weights sum to 2^60 or more")
        self.variables = {"in": (1, self.taken), "start": (1, self.start), "lost": (0, self.lost)}
        self.constraints = {"lost": (0, self.loss), "capacity": (0, self.capacity)}
        self.objective = self.lost()
        for r in self.window:
            self.start(r)

    def find_ticks(self):
        """Set D, the decimals of times, and whether they are rounded."""
        times, latest = [], 0.0
        for request in self.requests:
            times += [request[key] for key in ("arrival_s", "ready_s", "duration_s", "deadline_s")]
            times.append(get(request, "runtime_s", request["duration_s"]))
            if request.get("cancel_s") is not None and request["cancel_s"] <= request["deadline_s"]:
                times.append(request["cancel_s"])
            latest = max(latest, request["deadline_s"])
        self.D, self.rounded = max(map(decimals, times), default=0), False
        while self.D > 0 and (self.D > 22 or latest * float(10**self.D) > 2**52):
            self.D -= 1
            self.rounded = True
        if self.rounded and self.goal != "accepted":
            raise Refused("PE-seconds aren't proved with rounded times")

    def ticks(self, x, up=False):
        exact = Fraction(repr(x)) * 10**self.D
        return math.ceil(exact) if up else math.floor(exact)

    def place(self, r, request):
        """Take a request into the model with its window of starts and its weight, or into the free ones, or neither."""
        ready, duration = self.ticks(request["ready_s"]), self.ticks(request["duration_s"])
        runtime = self.ticks(get(request, "runtime_s", request["duration_s"]))
        latest = max(self.ticks(request["deadline_s"], up=True), ready + duration) - duration
        cancelled = self.cancelled(request, latest)
        if self.goal == "pe_seconds":
            latest = min(latest, cancelled)
            if latest < ready:
                return
        elif cancelled < latest:
            self.free.append(request)
            return
        self.length[r], self.window[r] = runtime, (ready, latest)
        if self.goal == "accepted":
            self.weight[r] = 1
            return
        size = int(request["pes"]) * (runtime if self.goal == "pe_seconds" else duration)
        if size % self.unit:
            raise Refused("a weight isn't in whole units")
        self.weight[r] = size // self.unit

    def cancelled(self, request, latest):
        """Give when a request is cancelled, infinity for never."""
        if request.get("cancel_s") is None or request["cancel_s"] > request["deadline_s"]:
            return math.inf
        tick = self.ticks(request["cancel_s"])
        ready, duration, deadline, cancel = (Fraction(repr(request[key])) for key in (
            "ready_s", "duration_s", "deadline_s", "cancel_s"))
        if self.rounded and tick < latest <= tick + 2 and ready <= cancel and deadline - duration <= cancel:
            return latest
        return tick

    def request(self, r):
        if r not in self.window:
            raise Refused(f"request {r} isn't in the model")
        return r

    def taken(self, r):
        return self.state.variable(("in", self.request(r)), speaks_of=(r,))

    def start(self, r):
        taken = self.taken(r)
        return self.state.variable(("start", r), *self.window[r], there=taken, speaks_of=(r,))

    def lost(self):
        return self.state.variable("lost", 0, min(self.upper, self.S))

    def loss(self):
        groups = [[((self.taken(r), True, 1), 0), ((self.taken(r), False, 0), w)] for r, w in self.weight.items()]
        return Linear([(-1, self.objective)], groups, 0)

    def capacity(self):
        pes = {r: int(self.requests[r]["pes"]) for r in self.window}
        g = reduce(math.gcd, pes.values(), 0) or 1
        return Cumulative({r: ((self.taken(r), True, 1), self.start(r), self.length[r], pes[r] // g)
                           for r in self.window}, int(self.instance["pes"]) // g)

    def bound(self, b):
        kept = self.S - min(b, self.S)
        if self.goal == "accepted":
            return rounded(len(self.free) + kept, up=True)
        free = 0.0
        if self.goal == "reserved_pe_seconds":
            for request in self.free:
                free += request["pes"] * request["duration_s"]
        return rounded(Fraction(free) + Fraction(kept * self.unit, 10**self.D), up=True)


class Tvc(Kind):
    """Virtual clusters in a fat tree, and what those that are rejected are worth."""

    def set_unit(self, unit):
        if unit != "1":
            raise Refused("the unit is 1")

    def build(self):
        if get(self.instance, "queue"):
            raise Refused("queues aren't proved")
        self.read_tree(self.instance["fat_tree"])
        self.requests = get(self.instance, "requests", [])
        self.N = [int(request["vms"]) for request in self.requests]
        self.B = [millionths(request["bandwidth_mbps"]) for request in self.requests]
        self.arrival = [millionths(request["arrival_s"]) for request in self.requests]
        self.duration = [millionths(request["duration_s"]) for request in self.requests]
        self.per_path = get(self.instance, "hose") == "per-path"
        self.parts = {}
        for r in range(len(self.requests)):
            parts = self.parts_of(r)
            if parts:
                self.parts[r] = parts
        self.weigh()
        self.running = {}
        self.variables = {"accept": (1, self.accept), "route": (2, self.route), "part": (6, self.part),
                          "none": (3, self.none), "rejected": (0, self.rejected)}
        self.constraints = {
            "rejected": (0, self.rejection), "route": (1, self.one_route), "one": (3, self.one), "lane": (3, self.lane),
            "divide": (3, self.divide), "whole": (1, self.whole), "loads": (3, self.loads), "slots": (2, self.slots_row),
            "total": (1, self.total), "link": (4, self.link)}
        self.objective = self.rejected()

    def read_tree(self, tree):
        """Set the nodes, the children of a node, the lanes up and the rate of a link of each level below the root."""
        h, self.slots = int(tree["k"]) // 2, int(tree["slots"])
        layers = get(tree, "layers_mbps", {})
        self.nodes, self.children, self.lanes = [2 * h**3, 2 * h * h, 2 * h], [0, h, h], [1, h, h * h]
        if get(tree, "fabric") == "non-blocking":
            self.nodes, self.children, self.lanes = [2 * h**3], [0], [1]
        self.top = len(self.nodes) - 1
        self.rate = [millionths(get(layers, layer) or tree["link_mbps"])
                     for layer, _ in zip(("server", "edge", "aggregation"), self.nodes)]

    def parts_of(self, r):
        """Give the set of parts (VMs, load) that a request may have at a node of each level; none if it never fits."""
        N, B = self.N[r], self.B[r]
        levels = []
        sums = {(m, 0) for m in range(1, min(self.slots, N) + 1)}
        for level in range(self.top + 1):
            if level:
                sums = self.sums(levels[-1], self.children[level], N)
            sure_load = self.per_path and level > 0
            parts = {(m, 0 if m == N else load if sure_load else min(m, N - m)) for m, load in sums}
            levels.append({(m, load) for m, load in parts if load * B <= self.rate[level]})
        whole = self.sums({(m, 0) for m, _ in levels[-1]}, self.nodes[self.top], N)
        return levels if (N, 0) in whole else None

    def sums(self, parts, children, N):
        """Give the sums of one to as many parts as there are children, of N VMs at most."""
        if not self.per_path:
            parts = {(m, 0) for m, _ in parts}
        total, last = set(), {(0, 0)}
        for _ in range(children):
            last = {(m + n, a + b) for m, a in last for n, b in parts if m + n <= N} - total
            if not last:
                break
            total |= last
        return total

    def weigh(self):
        """Set the weights of the requests of the model, and what one of them is."""
        self.g, self.weight = 1, dict.fromkeys(self.parts, 1)
        if get(self.instance, "goal") == "revenue":
            revenue = {r: self.N[r] * self.B[r] * self.duration[r] for r in self.parts}
            self.g = reduce(math.gcd, revenue.values(), 0) or 1
            self.weight = {r: value // self.g for r, value in revenue.items()}
        self.S = sum(self.weight.values())
        if self.S >= LIMIT:
            raise Refused("the weights sum to 2^60 or more")

    def argument(self, word):
        return -1 if word == "-1" else identifier(word)

    def request(self, r):
        if r not in self.parts:
            raise Refused(f"request {r} isn't in the model")
        return r

    def at(self, r, level, node):
        """Refuse what isn't a request of the model at a node of a level."""
        self.request(r)
        below(node, self.nodes[below(level, self.top + 1, "level")], "node")

    def accept(self, r):
        return self.state.variable(("accept", self.request(r)))

    def route(self, r, lane):
        return self.state.variable(("route", self.request(r), below(lane, self.lanes[self.top], "lane")))

    def part(self, r, level, node, m, load, lane):
        self.at(r, level, node)
        right = lane == -1 if m == self.N[r] else 0 <= lane < self.lanes[level]
        if not right or (m, load) not in self.parts[r][level]:
            raise Refused("there is no such part")
        return self.state.variable(("part", r, level, node, m, load, lane))

    def none(self, r, level, node):
        self.at(r, level, node)
        return self.state.variable(("none", r, level, node))

    def rejected(self):
        return self.state.variable("rejected", 0, min(self.upper, self.S))

    def choices(self, r, level, node, value):
        """Give (choice, value(VMs, load, lane)) of each part of a request at a node, and of none."""
        group = [((self.none(r, level, node), True, 1), value(0, 0, -1))]
        for m, load in sorted(self.parts[r][level]):
            for lane in [-1] if m == self.N[r] else range(self.lanes[level]):
                group.append(((self.part(r, level, node, m, load, lane), True, 1), value(m, load, lane)))
        return group

    def below_node(self, level, node):
        """Give the children of a node above the servers."""
        if not 0 < level <= self.top:
            raise Refused("a level above the servers and below the root is asked for")
        return range(node * self.children[level], (node + 1) * self.children[level])

    def rejection(self):
        return Linear([(-w, self.accept(r)) for r, w in self.weight.items()] + [(-1, self.objective)], [], -self.S)

    def one_route(self, r):
        return ExactlyOne([(self.route(r, lane), True, 1) for lane in range(self.lanes[self.top])])

    def one(self, r, level, node):
        self.at(r, level, node)
        return ExactlyOne([choice for choice, _ in self.choices(r, level, node, lambda *_: 0)])

    def lane(self, r, level, node):
        self.at(r, level, node)
        s = self.lanes[self.top] // self.lanes[level]
        return Several([Nogood([choice] + [(self.route(r, lane * s + i), False, 0) for i in range(s)])
                        for choice, lane in self.choices(r, level, node, lambda m, load, lane: lane) if lane >= 0])

    def equation(self, r, level, nodes, term, group):
        """Give the two rows: sum of a request's VMs at the nodes of a level = a x of the term + the VMs of the group."""
        rows = []
        for sign in (1, -1):
            groups = [self.choices(r, level, node, lambda m, load, lane: sign * m) for node in nodes]
            groups += [[(choice, -sign * m) for choice, m in g] for g in group]
            rows.append(Linear([(-sign * a, x) for a, x in term], groups, 0))
        return Several(rows)

    def divide(self, r, level, node):
        self.at(r, level, node)
        children = self.below_node(level, node)
        return self.equation(r, level - 1, children, [], [self.choices(r, level, node, lambda m, load, lane: m)])

    def whole(self, r):
        return self.equation(self.request(r), self.top, range(self.nodes[self.top]), [(self.N[r], self.accept(r))], [])

    def loads(self, r, level, node):
        if not self.per_path:
            raise Refused("loads are summed with the hose per-path alone")
        self.at(r, level, node)
        N = self.N[r]
        groups = [self.choices(r, level - 1, child, lambda m, load, lane: load) for child in self.below_node(level, node)]
        groups.append(self.choices(r, level, node, lambda m, load, lane: -N if m == N else -load))
        return Linear([], groups, 0)

    def runs(self, q):
        """Give the requests of the model that run when request q starts."""
        t = self.arrival[below(q, len(self.requests), "request")]
        return [r for r in self.parts if self.arrival[r] <= t < self.arrival[r] + self.duration[r]]

    def slots_row(self, server, q):
        below(server, self.nodes[0], "server")
        return Linear([], [self.choices(r, 0, server, lambda m, load, lane: m) for r in self.runs(q)], self.slots)

    def total(self, q):
        return Linear([(self.N[r], self.accept(r)) for r in self.runs(q)], [], self.nodes[0] * self.slots)

    def link(self, level, node, lane, q):
        below(node, self.nodes[below(level, self.top + 1, "level")], "node")
        below(lane, self.lanes[level], "lane")
        groups = [self.choices(r, level, node, lambda m, load, by: load * self.B[r] if by == lane else 0)
                  for r in self.runs(q)]
        return Linear([], groups, self.rate[level])

    def bound(self, b):
        kept = self.S - min(b, self.S)
        if get(self.instance, "goal") == "revenue":
            return rounded(Fraction(kept * self.g, 10**12), up=True)
        return rounded(kept, up=True)


KINDS = {"dag": Dag, "vcsched": Vcsched, "batch": Batch, "reservation": Reservation, "tvc": Tvc}


# ---- the proof ----


class Checker:
    """Replay a proof line by line. line is the number of the one at hand, from 1."""

    def __init__(self, instance, sha=None):
        self.instance, self.sha = instance, sha
        self.line = self.steps = self.learned = 0
        self.vars, self.cons, self.nogoods = {}, {}, {}
        self.open = None  # the nogood between its first line and its end: id, premises, mark
        self.last_cut = None
        self.claimed = None
        self.rest = {"var": self.var, "con": self.con, "nogood": self.nogood, "end": self.end, "delete": self.delete,
                     "cut": self.cut, "claim": self.claim}

    def check(self, text):
        """Give the bound that a proof proves, or raise Refused."""
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        for self.line, line in enumerate(lines, 1):
            words = [word for word in line.removesuffix("\r").split(" ") if word]
            if not words:
                raise Refused("an empty line")
            if self.line <= 4:
                self.header(words)
            elif self.claimed is not None:
                raise Refused("a line after the claim")
            elif words[0] in self.rest:
                self.rest[words[0]](words[1:])
            else:
                self.step(words)
        self.line += 1
        if self.claimed is None:
            raise Refused("no claim")
        return self.claimed

    def header(self, words):
        """Check one of the first four lines, and build the model after them."""
        kind = self.instance["kind"]
        if self.line == 1 and words == ["gapwise-proof", "1", kind]:
            return
        if self.line == 2 and len(words) == 2 and words[0] == "instance" and self.sha in (None, words[1]):
            return
        if self.line == 3 and len(words) == 2 and words[0] == "unit":
            self.unit = words[1]
            return
        if self.line == 4 and len(words) == 2 and words[0] == "upper":
            self.last_cut = identifier(words[1])
            self.model = KINDS[kind](self.instance, self.unit, self.last_cut)
            self.state = self.model.state
            return
        raise Refused(f"not line {self.line} of a proof of this instance")

    def one(self, words, what):
        if len(words) != 1:
            raise Refused(f"{what} and one number is asked for")
        return words[0]

    def bound(self, word):
        """Read a bound of a variable that is defined."""
        parts = BOUND.fullmatch(word)
        if not parts:
            raise Refused(f"{word[:40]} isn't a bound")
        v = identifier(parts[1])
        if v not in self.vars:
            raise Refused(f"variable {v} isn't defined")
        return self.vars[v], parts[2] == ">=", number(parts[3])

    def define(self, words, meanings, meaning):
        if len(words) < 2:
            raise Refused("an id and a name are asked for")
        i = identifier(words[0])
        if i in meanings:
            raise Refused(f"{i} has a meaning")
        meanings[i] = meaning(words[1:])

    def var(self, words):
        self.define(words, self.vars, self.model.variable)

    def con(self, words):
        self.define(words, self.cons, self.model.constraint)

    def step(self, words):
        """Check that a bound follows from one constraint, and add it."""
        if len(words) not in (2, 4):
            raise Refused("not a line of a proof")
        table = self.nogoods if words[0][0] == "n" else self.cons
        i = identifier(words[0].removeprefix("n"))
        if i not in table:
            raise Refused(f"{words[0]} isn't defined")
        bound = None if words[1] == "!" else self.bound(words[1])
        window = tuple(map(number, words[2:])) or None
        self.steps += 1
        state = self.state
        if state.contradiction:
            return
        if not self.implied(table[i], bound, window):
            raise Refused(f"{' '.join(words)} doesn't follow")
        if bound is None:
            state.contradiction = True
        else:
            state.add(bound)

    def implied(self, constraint, bound, window):
        """Tell whether the opposite of a bound can't be with a constraint and the state; without a bound whether
        the constraint can't be met."""
        state = self.state
        if bound is None:
            return constraint.violated(state, (), window)
        mark = state.mark()
        v = bound[0]
        state.add(opposite(bound))
        if state.there[v] is not None:
            state.add((state.there[v], True, 1))
        follows = state.contradiction or constraint.violated(state, state.speaks_of[v], window)
        state.back(mark)
        return follows

    def nogood(self, words):
        if self.open or not words:
            raise Refused("no nogood begins here")
        i = identifier(words[0])
        if i in self.nogoods:
            raise Refused(f"nogood {i} has a meaning")
        premises = [self.bound(word) for word in words[1:]]
        self.open = i, premises, self.state.mark()
        for bound in premises:
            self.state.add(bound)

    def end(self, words):
        if not self.open or words:
            raise Refused("no nogood ends here")
        if not self.state.contradiction:
            raise Refused("the nogood's steps lead to no contradiction")
        i, premises, mark = self.open
        self.state.back(mark)
        self.nogoods[i] = Nogood(premises)
        self.open = None
        self.learned += 1

    def delete(self, words):
        i = identifier(self.one(words, "delete"))
        if self.open or i not in self.nogoods:
            raise Refused(f"nogood {i} can't be deleted here")
        del self.nogoods[i]

    def cut(self, words):
        value = number(self.one(words, "cut"))
        if self.open or value >= self.last_cut:
            raise Refused("no cut can be here, or it isn't below the last one")
        if not self.state.contradiction:
            self.last_cut = value
            self.state.add((self.model.objective, False, value))

    def claim(self, words):
        value = identifier(self.one(words, "claim"))
        most = self.last_cut + 1 if self.state.contradiction else self.state.lower[self.model.objective]
        if self.open or value > most:
            raise Refused(f"{value} isn't proved")
        self.claimed = self.model.bound(value)


# ---- files ----


def content(path):
    """Read a file, gzip or not."""
    try:
        with open(path, "rb") as f:
            data = f.read()
    except OSError as e:
        raise Unreadable(f"{path}: {e.strerror}") from None
    if data[:2] != b"\x1f\x8b":
        return data
    out = []
    while data:
        member = zlib.decompressobj(wbits=31)
        try:
            out.append(member.decompress(data))
        except zlib.error as e:
            raise Unreadable(f"{path}: {e}") from None
        if not member.eof:
            raise Unreadable(f"{path}: the gzip ends early")
        data = member.unused_data
    return b"".join(out)


def read_instance(path):
    """Read an instance of one of the kinds; whole numbers are floats, too."""
    try:
        instance = json.loads(content(path), parse_int=float)
    except ValueError as e:
        raise Unreadable(f"{path}: {e}") from None
    if not isinstance(instance, dict) or instance.get("kind") not in KINDS:
        raise Unreadable(f"{path}: not an instance of {', '.join(KINDS)}")
    return instance


def verdict(checker, proof):
    """Give what is printed of a proof, and the exit code."""
    try:
        bound = checker.check(content(proof).decode("latin-1"))
    except Refused as e:
        return f"refused: line {checker.line}: {e}", 7
    return f"proved {bound!r}", 0


def check_list(path):
    """Check each case of a list."""
    last = instance = None
    for case in content(path).decode().splitlines():
        sha, path, proof = case.split("\t")
        try:
            if path != last:
                last, instance = path, None
                instance = read_instance(path)
            elif instance is None:
                raise Unreadable(f"{path}: as before")
            line, _ = verdict(Checker(instance, sha or None), proof)
        except Unreadable as e:
            line = f"error: {e}"
        print(line, flush=True)
    return 0


def main(arguments):
    sha = None
    if len(arguments) == 4 and arguments[0] == "--hash":
        sha, arguments = arguments[1], arguments[2:]
    try:
        if len(arguments) == 2 and arguments[0] == "--list":
            return check_list(arguments[1])
        if len(arguments) != 2 or arguments[0].startswith("-"):
            print("usage: check.py [--hash SHA] INSTANCE PROOF, or check.py --list FILE", file=sys.stderr)
            return 2
        checker = Checker(read_instance(arguments[0]), sha)
        line, code = verdict(checker, arguments[1])
    except Unreadable as e:
        print(e, file=sys.stderr)
        return 3
    print(line)
    if code == 0:
        print(f"{checker.steps} steps and {checker.learned} nogoods")
    return code


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        os._exit(130)
