"""The instances as dataclasses: written from docs/reference/schema by go test ./python -update."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Type

from .record import Record


@dataclass
class BatchNode(Record):
    """One of the nodes."""

    #: distinct within its list
    id: str
    #: of the nodes, which are numbered in the order of their groups
    count: int
    #: of each node, by resource
    capacity: List[int]
    #: partitions or queues to which the nodes belong
    partitions: Optional[List[str]] = None
    #: what else jobs may ask of the nodes
    features: Optional[List[str]] = None


@dataclass
class BatchNeeds(Record):
    """Of nodes; there if the machine has any."""

    #: of each process, by resource; not all are 0
    each: List[int]
    #: true: each process runs on a node of its own, beside other jobs
    spread: Optional[bool] = None
    #: true: no other job runs on the job's nodes
    exclusive: Optional[bool] = None
    #: all nodes of the job belong to one of them; without any it runs anywhere
    partitions: Optional[List[str]] = None
    #: of each of its nodes
    features: Optional[List[str]] = None


@dataclass
class BatchLog(Record):
    """What a log tells of the job besides; no schedule is bound by it. Online policies are told
    all but the status.
    """

    user: Optional[str] = None
    group: Optional[str] = None
    executable: Optional[str] = None
    queue: Optional[str] = None
    partition: Optional[str] = None
    #: id of the job that its user waited for, in the instance or not
    preceding: Optional[str] = None
    #: from the end of that job to this one's submission
    think_s: Optional[float] = None
    #: how the job ended in the log
    status: Optional[str] = None


@dataclass
class BatchJob(Record):
    """One of the jobs."""

    _parts = {"needs": BatchNeeds, "log": BatchLog}
    #: distinct within its list
    id: str
    #: no earlier than the one before
    submit_s: float
    #: on dedicated processors; the sum of all runtimes times processes is at most 2·10^9 for each
    #: processor
    runtime_s: float
    #: at most the processors, or what the nodes hold
    processes: int
    #: the user's estimate of the runtime; the runtime if it is 0 or missing
    estimate_s: Optional[float] = None
    #: of nodes; there if the machine has any
    needs: Optional[BatchNeeds] = None
    #: of the response in the objective, the weighted mean response time; 1 if it is 0 or missing
    weight: Optional[int] = None
    #: use of a dedicated processor by each process; one value stands for all processes, none for 1
    cpu: Optional[List[float]] = None
    #: what the foreground of two tiers loses; 0 if it is missing
    fg_loss: Optional[float] = None
    #: share of the idle cycles that the background makes use of; 0 if it is missing: no progress
    #: there
    bg_efficiency: Optional[float] = None
    #: what a log tells of the job besides; no schedule is bound by it. Online policies are told
    #: all but the status
    log: Optional[BatchLog] = None


@dataclass
class Batch(Record):
    """Rigid parallel jobs on identical processors of one or two tiers. A job runs all its
    processes at once, each on a processor of its own. With two tiers a processor also runs a
    process in the background, with the cycles that its foreground leaves idle. A process
    progresses, per second of a dedicated processor, by 1 with one tier, by 1 - fg_loss in the
    foreground of two, and by bg_efficiency·min(1, idle/use) in the background, rounded down to
    ten-thousandths; a job at the pace of its slowest process. Times are seconds since the
    beginning of the instance, in whole microseconds; shares have at most four decimals.
    """

    _head = {"kind": "batch", "version": 1}
    _parts = {"nodes": BatchNode, "jobs": BatchJob}
    name: str
    #: numbered from 0
    processors: int
    #: 1: the foreground alone; 2: foreground and background
    tiers: int
    #: in the order of their submission
    jobs: List[BatchJob]
    #: What the files said that the instance was made of.
    account: Optional[Dict[str, Any]] = None
    #: When second 0 is, of an instance made from a log.
    start_time: Optional[str] = None
    #: foreground use of a processor from which on no process may start in its background; above 1
    #: every processor takes one; 0.96 if it is 0 or missing
    threshold: Optional[float] = None
    #: how long a job does no work after it has moved to other processors; 0 if it is missing
    migration_s: Optional[float] = None
    #: true: a job ends when it has done the work of its estimate; false if it is missing
    kill_at_estimate: Optional[bool] = None
    #: of nodes, with the unit
    resources: Optional[List[str]] = None
    #: the machine, if it has any: processes share a node as long as the sums of their needs are
    #: within its capacity; processors is then their number
    nodes: Optional[List[BatchNode]] = None


@dataclass
class ConsolidationHost(Record):
    """One of the hosts."""

    #: distinct within its list
    id: str
    #: one for each of the instance's resources
    capacity: List[int]
    price: int
    #: the domains that the host lies in, by key
    labels: Optional[Dict[str, str]] = None
    #: nothing is placed on it anew
    closed: Optional[bool] = None
    #: it costs its price in any case
    kept: Optional[bool] = None


@dataclass
class ConsolidationOffer(Record):
    """One of the offers."""

    #: distinct within its list
    id: str
    #: one for each of the instance's resources
    capacity: List[int]
    price: int
    count: int
    #: the domains that the host lies in, by key
    labels: Optional[Dict[str, str]] = None


@dataclass
class ConsolidationHostSet(Record):
    """One of the host sets."""

    #: distinct within its list
    id: str
    hosts: Optional[List[str]] = None
    offers: Optional[List[str]] = None


@dataclass
class ConsolidationJob(Record):
    """One of the jobs."""

    #: distinct within its list
    id: str
    tasks: int
    #: one for each of the instance's resources
    needs: List[int]
    #: the host of each task, empty for one that has none; left out: none has
    current_hosts: Optional[List[str]] = None
    #: the tasks stay where they are
    pinned: Optional[bool] = None
    #: the host set that tasks may be placed on anew; left out: any host
    allowed: Optional[str] = None
    #: left out or 0: 1
    move_cost: Optional[int] = None
    #: for each task without a host; left out: each has one
    leave_out_cost: Optional[int] = None


@dataclass
class ConsolidationStanding(Record):
    """One of the standing."""

    count: int
    host: Optional[str] = None
    offer: Optional[str] = None


@dataclass
class ConsolidationRule(Record):
    """One of the rules."""

    _parts = {"standing": ConsolidationStanding}
    #: distinct within its list
    id: str
    type: str
    #: whose tasks are bound
    jobs: List[str]
    #: the key of labels whose values are the domains; left out: each host is one
    domain: Optional[str] = None
    #: whose tasks they are held against; left out: jobs
    others: Optional[List[str]] = None
    #: of spread, at least 1
    max_skew: Optional[int] = None
    #: of spread: the host set whose hosts count, with their tasks and domains; left out: all hosts
    among: Optional[str] = None
    #: of spread: below so many domains the one that has fewest counts as empty
    min_domains: Optional[int] = None
    #: of spread and together: tasks of no job that count, on a host or on each one bought of an
    #: offer
    standing: Optional[List[ConsolidationStanding]] = None


@dataclass
class ConsolidationCount(Record):
    """One of the counts."""

    count: int
    host: Optional[str] = None
    offer: Optional[str] = None


@dataclass
class ConsolidationLimit(Record):
    """One of the limits."""

    _parts = {"counts": ConsolidationCount}
    #: distinct within its list
    id: str
    #: the most that the hosts in use count together
    most: int
    #: what hosts count, or each one bought of an offer; others nothing; left out: each host counts
    #: 1
    counts: Optional[List[ConsolidationCount]] = None


@dataclass
class Consolidation(Record):
    """Tasks to place on the cheapest set of hosts, some of which run on hosts now. Rules and
    allowed hosts bind what is placed anew.
    """

    _head = {"kind": "consolidation", "version": 1}
    _parts = {"hosts": ConsolidationHost, "offers": ConsolidationOffer, "host_sets": ConsolidationHostSet, "jobs": ConsolidationJob, "rules": ConsolidationRule, "limits": ConsolidationLimit}
    name: str
    #: what hosts have and tasks need, with the unit: cpu_m, memory_bytes
    resources: List[str]
    hosts: List[ConsolidationHost]
    jobs: List[ConsolidationJob]
    #: What the files said that the instance was made of.
    account: Optional[Dict[str, Any]] = None
    #: what is minimised; left out: cost
    goal: Optional[str] = None
    #: in what prices are, such as vCPU
    price_unit: Optional[str] = None
    #: types of hosts that can be bought
    offers: Optional[List[ConsolidationOffer]] = None
    host_sets: Optional[List[ConsolidationHostSet]] = None
    rules: Optional[List[ConsolidationRule]] = None
    limits: Optional[List[ConsolidationLimit]] = None
    #: rules, allowed hosts and capacities bind tasks that stay, too
    mend: Optional[bool] = None
    move_budget: Optional[int] = None
    cost_limit: Optional[int] = None


@dataclass
class DAGMachine(Record):
    """One of the machines."""

    #: distinct within its list
    id: str
    #: seconds before a transfer from here begins to send
    startup_s: Optional[float] = None
    #: work per second, for tasks that state their work; 0 is none
    speed: Optional[float] = None
    #: data units per second between two tasks here; missing or 0: their data take no time
    local_rate: Optional[float] = None
    #: one for each of the instance's resources
    capacity: Optional[List[int]] = None


@dataclass
class DAGTask(Record):
    """One of the tasks."""

    #: distinct within its list
    id: str
    #: seconds, one for each machine in their order; null: it can't run there, but somewhere it
    #: must
    cost_s: Optional[List[Optional[float]]] = None
    #: seconds are work over the machine's speed
    work: Optional[float] = None
    #: while it runs, one for each of the instance's resources
    needs: Optional[List[int]] = None
    #: the needs on machines where they differ, by the machine's id
    needs_on: Optional[Dict[str, List[int]]] = None


@dataclass
class DAGEdge(Record):
    """One of the edges."""

    #: a task; no two edges have the same ends, and edges make no cycle
    from_: str
    #: another task
    to: str
    #: data units
    data: float
    #: the sizes, in data units, of the files that the data are, by name; edges from one task share
    #: files of one name. A machine gets a file once, as a transfer of its own, and keeps it
    files: Optional[Dict[str, float]] = None


@dataclass
class DAGLink(Record):
    """One of the links."""

    #: distinct within its list
    id: str
    #: data units per second; missing or 0: the bandwidth
    capacity: Optional[float] = None


@dataclass
class DAGRoute(Record):
    """One of the routes."""

    #: a machine
    from_: str
    #: another machine
    to: str
    links: List[str]
    #: seconds before a transfer on this route begins to send, beside the start-up of the machine
    #: that sends
    latency_s: Optional[float] = None
    #: where transfers share a link, their rates are in proportion to it; missing or 0: 1; not with
    #: tcp or tcp-all
    weight: Optional[int] = None
    #: the route isn't that of the other direction
    one_way: Optional[bool] = None


@dataclass
class DAGNetwork(Record):
    """The network."""

    _parts = {"links": DAGLink, "routes": DAGRoute}
    #: data units per second, of paths and links that state none; 0 is none
    bandwidth: Optional[float] = None
    #: row m, column n: data units per second from machine m to n, 0 (nothing can be transferred)
    #: or from 1e-30 to 1e30; the diagonal isn't looked at
    path_capacity: Optional[List[List[float]]] = None
    #: a transfer that uses links takes so much of its rate on the links of the route back, too;
    #: not with tcp or tcp-all
    acks_percent: Optional[int] = None
    #: bottlenecks: transfers whose routes name one share its capacity
    links: Optional[List[DAGLink]] = None
    #: a pair of machines has one at most in each direction; pairs without one share nothing
    routes: Optional[List[DAGRoute]] = None


@dataclass
class DAG(Record):
    """A task graph to run on heterogeneous machines so that it ends as early as possible. An edge
    between tasks on different machines is a transfer, which may share links of the network with
    others.
    """

    _head = {"kind": "dag", "version": 1}
    _parts = {"machines": DAGMachine, "tasks": DAGTask, "edges": DAGEdge, "network": DAGNetwork}
    name: str
    machines: List[DAGMachine]
    tasks: List[DAGTask]
    edges: List[DAGEdge]
    #: What the files said that the instance was made of.
    account: Optional[Dict[str, Any]] = None
    #: how transfers share links: not at all (ideal, the default), max-min fair (fair), or so that
    #: n of them get the share 1 - 1/(1+3n) of a link together (tcp; tcp-all: plans count on 3/4 of
    #: every path, with links or without)
    transfer_model: Optional[str] = None
    #: of machines, with the unit; without any a machine runs one task at a time
    resources: Optional[List[str]] = None
    network: Optional[DAGNetwork] = None


@dataclass
class ReservationRequest(Record):
    """One of the requests."""

    #: distinct within its list
    id: str
    #: when the request is accepted or declined; no earlier than the one before
    arrival_s: float
    #: the earliest start, no earlier than the arrival
    ready_s: float
    #: what is reserved
    duration_s: float
    #: the latest end of what is reserved, no earlier than ready_s plus duration_s
    deadline_s: float
    #: how many PEs, at most the cluster's
    pes: int
    #: how long the job really takes, at most duration_s, which is the default; known once it has
    #: ended
    runtime_s: Optional[float] = None
    #: when the request is withdrawn unless its job has started by then, no earlier than the
    #: arrival; known from then on
    cancel_s: Optional[float] = None


@dataclass
class Reservation(Record):
    """Requests that reserve some of a cluster's identical processing elements (PEs), numbered from
    0, within a window of time. Each is accepted or declined when it arrives. Times are seconds
    since the beginning of the instance.
    """

    _head = {"kind": "reservation", "version": 1}
    _parts = {"requests": ReservationRequest}
    name: str
    pes: int
    #: in the order of their arrival; those at the same time in the order in which they are decided
    #: upon
    requests: List[ReservationRequest]
    #: What the files said that the instance was made of.
    account: Optional[Dict[str, Any]] = None
    #: When second 0 is, of an instance made from a log.
    start_time: Optional[str] = None
    #: what is maximised: the number of accepted requests (accepted, the default; one that is
    #: withdrawn later counts), the PE-seconds that are used (pe_seconds: PEs times runtime of
    #: those that run) or promised (reserved_pe_seconds: PEs times duration of the accepted,
    #: withdrawn ones included); all asks whether every request can be accepted
    goal: Optional[str] = None


@dataclass
class TVCLayersMbps(Record):
    """Rates of some layers of links, where they differ from link_mbps; 0 or missing means
    link_mbps.
    """

    #: from a server to its edge switch
    server: Optional[float] = None
    #: from an edge switch to an aggregation switch
    edge: Optional[float] = None
    #: from an aggregation switch to a core switch
    aggregation: Optional[float] = None


@dataclass
class TVCFatTree(Record):
    """The fat tree."""

    _parts = {"layers_mbps": TVCLayersMbps}
    #: pods; a pod has k/2 edge and k/2 aggregation switches, an edge switch k/2 servers; there are
    #: (k/2)² core switches
    k: int
    #: VMs that a server holds; the data centre holds at most 1,000,000
    slots: int
    #: rate of every link
    link_mbps: float
    #: rates of some layers of links, where they differ from link_mbps; 0 or missing means
    #: link_mbps
    layers_mbps: Optional[TVCLayersMbps] = None
    #: one-path (the default): a cluster's traffic takes the one path to the switch that hosts its
    #: virtual switch; non-blocking: only the links of servers bind
    fabric: Optional[str] = None


@dataclass
class TVCRequest(Record):
    """One of the requests."""

    #: distinct within its list
    id: str
    #: no earlier than the one before
    arrival_s: float
    #: N, at most the slots of the data centre
    vms: int
    #: B, of the link from each VM to the virtual switch
    bandwidth_mbps: float
    duration_s: float


@dataclass
class TVC(Record):
    """Requests for virtual clusters in a fat-tree data centre: N virtual machines (VMs), each with
    a link of B Mbps to a virtual switch, for a duration. In loss mode each is embedded at its
    arrival or rejected; with a queue requests wait and may be suspended. Times are seconds since
    the beginning of the instance, in whole microseconds; rates are Mbps, in whole bits per second.
    """

    _head = {"kind": "tvc", "version": 1}
    _parts = {"fat_tree": TVCFatTree, "requests": TVCRequest}
    name: str
    fat_tree: TVCFatTree
    #: true: requests wait, and the mean response time is minimised; false: each runs from its
    #: arrival on or is rejected
    queue: bool
    #: in the order of their arrival; those at the same time in the order in which they arrive
    requests: List[TVCRequest]
    #: What the files said that the instance was made of.
    account: Optional[Dict[str, Any]] = None
    #: When second 0 is, of an instance made from a log.
    start_time: Optional[str] = None
    #: what is maximised without a queue: the number of accepted requests (requests, the default)
    #: or the sum of N·B·duration over them (revenue); none with a queue
    goal: Optional[str] = None
    #: what a link with m of a cluster's N VMs below it reserves: min(m, N-m)·B (cut, the
    #: default), or the sum of that over the servers below it, with m the VMs on each (per-path)
    hose: Optional[str] = None
    #: how long a request does no work after it has moved to other servers; 0 if it is missing
    migration_s: Optional[float] = None


@dataclass
class VCSchedHostSize(Record):
    """One of the host sizes."""

    count: int
    cpu: float
    memory: float
    #: one for each of the instance's resources
    resources: Optional[List[float]] = None


@dataclass
class VCSchedJob(Record):
    """One of the jobs."""

    #: distinct within its list
    id: str
    #: 1 for a sequential job
    tasks: int
    #: 0: the job needs none, and its yield is 1
    cpu: float
    memory: float
    #: one for each of the instance's resources
    resources: Optional[List[float]] = None
    #: where each task runs now: one host for each task, or none for a new arrival
    current_hosts: Optional[List[int]] = None


@dataclass
class VCSched(Record):
    """Virtual machines to place on hosts, numbered from 0, so that the minimum yield is as high as
    possible. Needs are shares of a reference host, per task. CPU is shared; memory and the further
    resources a task has in full or doesn't run.
    """

    _head = {"kind": "vcsched", "version": 1}
    _parts = {"host_sizes": VCSchedHostSize, "jobs": VCSchedJob}
    name: str
    hosts: int
    jobs: List[VCSchedJob]
    #: What the files said that the instance was made of.
    account: Optional[Dict[str, Any]] = None
    #: names of further resources beside cpu and memory, such as disk; they are rigid as memory is
    resources: Optional[List[str]] = None
    #: what the hosts have, in units of a reference host, runs of equal ones in the order of their
    #: numbers; the counts sum to hosts. Left out: all are reference hosts, of 1 of everything
    host_sizes: Optional[List[VCSchedHostSize]] = None
    #: bound on the memory, in hosts' memories, of tasks placed elsewhere than on their current
    #: host
    migration_budget: Optional[float] = None
    #: needs of memory and of further resources may be above the largest host; such an instance has
    #: no placement
    oversized: Optional[bool] = None


__all__ = [
    "Batch",
    "BatchJob",
    "BatchLog",
    "BatchNeeds",
    "BatchNode",
    "Consolidation",
    "ConsolidationCount",
    "ConsolidationHost",
    "ConsolidationHostSet",
    "ConsolidationJob",
    "ConsolidationLimit",
    "ConsolidationOffer",
    "ConsolidationRule",
    "ConsolidationStanding",
    "DAG",
    "DAGEdge",
    "DAGLink",
    "DAGMachine",
    "DAGNetwork",
    "DAGRoute",
    "DAGTask",
    "Reservation",
    "ReservationRequest",
    "TVC",
    "TVCFatTree",
    "TVCLayersMbps",
    "TVCRequest",
    "VCSched",
    "VCSchedHostSize",
    "VCSchedJob",
]

#: The class of each kind.
KINDS: Dict[str, Type[Record]] = {"batch": Batch, "consolidation": Consolidation, "dag": DAG, "reservation": Reservation, "tvc": TVC, "vcsched": VCSched}
