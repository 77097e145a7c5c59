"""gapwise from Python: schedules for clusters and clouds, each with a bound and a gap, verified.

    import gapwise
    result = gapwise.solve({"kind": "dag", ...}, time_limit=5)
    print(result.objective, result.bound, result.gap)

docs/how-to/python.md shows what there is.
"""

from importlib.metadata import PackageNotFoundError as _Missing
from importlib.metadata import version as _version

from . import instances
from .api import Instance, bench, bound, convert, explain, generate, kubernetes, load, picture, report, solve, verify, version
from .command import BadInput, GapwiseError, NotFound, Refused, Stopped, UsageError, find
from .instances import *  # the classes of instances
from .policy import Decision, Policy
from .results import Bounds, Explanation, Result, Runs, Verdict
from .session import Session

try:
    __version__ = _version("gapwise")
except _Missing:  # a checkout
    __version__ = "0+checkout"

__all__ = [
    "BadInput",
    "Bounds",
    "Decision",
    "Explanation",
    "GapwiseError",
    "Instance",
    "NotFound",
    "Policy",
    "Refused",
    "Result",
    "Runs",
    "Session",
    "Stopped",
    "UsageError",
    "Verdict",
    "bench",
    "bound",
    "convert",
    "explain",
    "find",
    "generate",
    "kubernetes",
    "load",
    "picture",
    "report",
    "solve",
    "verify",
    "version",
]
__all__ += instances.__all__
