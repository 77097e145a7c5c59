"""The commands as functions."""

from __future__ import annotations

import json
import os
import re
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from . import command
from .instances import KINDS
from .policy import Policy, served
from .record import Record
from .results import Bounds, Explanation, Result, Runs, Verdict

#: An instance: a dict, a dataclass of gapwise.instances, or the path of a file in any format that gapwise reads.
Instance = Union[Dict[str, Any], Record, str, "os.PathLike[str]"]

# Options that say how a file is read: drawing and judging need them, too.
_reading = ("platform", "files", "tiers", "transfers", "goal", "fabric", "hose")


def _plain(x: Any) -> Any:
    if isinstance(x, Record):
        return x.to_dict()
    if hasattr(x, "item"):  # a number of numpy
        return x.item()
    raise TypeError("an instance holds text, numbers, lists and dicts, not %r" % x)


def encode(x: Any) -> bytes:
    """Returns a value as one line of JSON."""
    try:
        return json.dumps(x, default=_plain, allow_nan=False).encode() + b"\n"
    except ValueError as error:
        raise command.BadInput("no JSON: %s" % error) from error


def _given(instance: Instance) -> Tuple[str, Optional[bytes]]:
    """Returns the argument that stands for an instance, and what it reads."""
    if isinstance(instance, (str, os.PathLike)):
        return os.fspath(instance), None
    return "-", encode(instance)


def _file(stack: ExitStack, value: Any) -> str:
    """Returns the path of a value, or of a scratch file that holds it."""
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gapwise-"))) / "value.json"
    path.write_bytes(encode(value))
    return str(path)


def solve(
    instance: Instance,
    algorithm: Union[str, Policy] = "auto",
    *,
    time_limit: Optional[float] = None,
    effort: Optional[int] = None,
    gap: Optional[float] = None,
    seed: Optional[int] = None,
    threads: Optional[int] = None,
    start: Union[Dict[str, Any], str, "os.PathLike[str]", None] = None,
    progress: Optional[Callable[[Dict[str, Any]], Any]] = None,
    **options: Any,
) -> Result:
    """Solves an instance: a solution, a bound and a gap, verified.

    algorithm is auto, exact, the name of one, cmd:COMMAND, online:COMMAND, or a Policy. time_limit is in
    seconds, effort in counted work (the same result on every machine), gap what counts as optimal. start
    is a solution or a result to start from. progress is called with how it stands, at most ten times a
    second: algorithm, objective, bound, gap, nodes, elapsed_s. Further options are the flags of
    gapwise solve, with _ for -: engine="kernel", proof="file", tiers=1.

    A proof that there is no solution is a result, with the status infeasible; a limit that was
    reached without a solution is one with the status unknown. Ctrl-C gives the best so far, and the
    result is marked as interrupted.
    """
    source, given = _given(instance)
    given_flags = command.flags(
        dict(options, time_limit=time_limit, effort=effort, gap=gap, seed=seed, threads=threads, progress=progress is not None)
    )
    with ExitStack() as stack:
        name, environment, failure = algorithm, None, None
        if isinstance(algorithm, Policy):
            name, environment, failure = stack.enter_context(served(algorithm))
        if start is not None:
            given_flags.append("--start=" + _file(stack, start))
        ended = command.run(["solve", "--json", "--algorithm", _named(name), *given_flags, "--", source], given, progress, environment)
    if failure:
        raise failure[0]
    lines = ended.out.splitlines()
    if not lines:
        raise ended.fail()
    result = Result(json.loads(lines[-1]))
    result.interrupted = ended.interrupted
    if isinstance(algorithm, Policy):
        result["algorithm"] = "online:" + type(algorithm).__name__
    reading = {k: options[k] for k in _reading if k in options}
    result._of = (instance, reading)
    return result


def _named(algorithm: Any) -> str:
    """Returns the name of an algorithm; a function has none."""
    if callable(algorithm) and not isinstance(algorithm, str):
        name = getattr(algorithm, "__name__", type(algorithm).__name__)
        raise TypeError("%s is a function: an algorithm is a name, cmd:COMMAND, online:COMMAND, or a Policy with it as a method" % name)
    return str(algorithm)


def verify(instance: Instance, solution: Any, **options: Any) -> Verdict:
    """Judges a result or a bare solution in exact arithmetic.

    solution is a Result, a dict or the path of a file with one. Options are the flags of gapwise verify:
    tolerance=0. A refused solution is no exception, but a Verdict that is false.
    """
    source, given = _given(instance)
    with ExitStack() as stack:
        path = _file(stack, solution)
        ended = command.run(["verify", "--json", *command.flags(options), "--", source, path], given)
    if not ended.out:
        raise ended.fail()
    return Verdict(json.loads(ended.out.splitlines()[0]))


def bound(instance: Instance, **options: Any) -> Bounds:
    """Returns bounds that no solution can beat, without search. time_limit is in seconds."""
    source, given = _given(instance)
    ended = command.run(["bound", "--json", *command.flags(options), "--", source], given)
    if not ended.out:
        raise ended.fail()
    return Bounds(json.loads(ended.out))


def explain(instance: Instance, result: Any = None, **options: Any) -> Explanation:
    """Says why no solution is better, and what keeps this one from it.

    Without a result, or the path of one, the instance is solved first. Options are the flags of
    gapwise explain: time_limit=5.
    """
    source, given = _given(instance)
    with ExitStack() as stack:
        paths = [source] if result is None else [source, _file(stack, result)]
        ended = command.run(["explain", "--json", *command.flags(options), "--", *paths], given)
    if not ended.out:
        raise ended.fail()
    return Explanation(json.loads(ended.out))


def picture(instance: Instance, result: Any = None, **options: Any) -> str:
    """Returns a solution drawn, as SVG. Options are the flags of gapwise gantt: width=170, from_="1h"."""
    source, given = _given(instance)
    with ExitStack() as stack:
        paths = [source] if result is None else [source, _file(stack, result)]
        out = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gapwise-"))) / "picture.svg"
        ended = command.run(["gantt", "--output", str(out), *command.flags(options), "--", *paths], given)
        if ended.code != 0:
            raise ended.fail()
        drawn = out.read_text(encoding="utf-8")
    return drawn


def bench(
    what: Union[Instance, Sequence[Instance]],
    algorithm: Union[str, Sequence[str], None] = None,
    *,
    output: Union[str, "os.PathLike[str]", None] = None,
    **options: Any,
) -> Runs:
    """Runs an experiment.

    With algorithm, a name or several, what is an instance or a list of instances; without it, a plan:
    its file, the name of a built-in one, or a dict (docs/reference/plans.md). output is the file that the
    lines are kept in: the same call goes on where it was. Options are the flags of gapwise bench:
    time_limit=10, seeds="1,2,3", workers=2.
    """
    many = list(what) if isinstance(what, (list, tuple)) else [what]
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gapwise-")))
        output = Path(output or scratch / "runs.jsonl").absolute()
        files: List[str] = []
        for x in many:
            if isinstance(x, (str, os.PathLike)):
                files.append(os.fspath(x))
                continue
            data = x.to_dict() if isinstance(x, Record) else x
            path = scratch / (re.sub(r"[^A-Za-z0-9._-]", "_", str(data.get("name", ""))) + ".json")
            if path.exists():
                path = scratch / ("%d-%s" % (len(files), path.name))
            path.write_bytes(encode(data))
            files.append(str(path))
        # A run's instance is its path: those that have no file are named by a path within the scratch folder,
        # unless commands or files of the caller are looked for from where he is.
        folder = None
        names = [algorithm] if isinstance(algorithm, str) or callable(algorithm) else list(algorithm or ())
        commands = any(":" in _named(name) for name in names)
        if algorithm is not None and not commands and all(Path(f).parent == scratch for f in files):
            folder, files = str(scratch), [Path(f).name for f in files]
        args = ["bench", "--output", str(output), *command.flags(dict(options, algorithm=algorithm))]
        ended = command.run([*args, "--", *files], folder=folder)
        if ended.code not in (0, 4, 5, 6):
            raise ended.fail()
        lines = Path(output).read_text(encoding="utf-8").splitlines()
    runs = Runs(json.loads(line) for line in lines)
    runs.interrupted = ended.interrupted
    return runs


def table(runs: Sequence[Dict[str, Any]], **options: Any) -> str:
    """Returns what gapwise bench table says of runs."""
    with ExitStack() as stack:
        path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gapwise-"))) / "runs.jsonl"
        path.write_bytes(b"".join(encode(run) for run in runs))
        ended = command.run(["bench", "table", *command.flags(options), "--", str(path)])
    if ended.code != 0:
        raise ended.fail()
    return ended.out


def _record(ended: command.Ended) -> Any:
    if ended.code != 0:
        raise ended.fail()
    data = json.loads(ended.out)
    return KINDS[data["kind"]].from_dict(data)


def load(path: Union[str, "os.PathLike[str]"], **options: Any) -> Any:
    """Reads an instance from a file in any format that gapwise reads, as a dataclass.

    Options are the flags of gapwise convert: kind="batch", first=50.
    """
    return _record(command.run(["convert", "--output", "-", *command.flags(options), "--", os.fspath(path)]))


def generate(kind: str = "vcsched", **options: Any) -> Any:
    """Draws a random instance, as a dataclass. Options are the flags of gapwise generate: tasks=20, seed=7."""
    return _record(command.run(["generate", "--output", "-", "--kind", kind, *command.flags(options)]))


def version() -> Dict[str, str]:
    """Returns what the program was built from, as gapwise version --json prints it."""
    ended = command.run(["version", "--json"])
    if ended.code != 0:
        raise ended.fail()
    return dict(json.loads(ended.out))
