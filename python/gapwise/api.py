"""The commands as functions."""

from __future__ import annotations

import json
import os
import re
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union

from . import command, function
from .instances import KINDS
from .kept import Kept
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


def _file(stack: ExitStack, value: Any, role: str) -> str:
    """Returns the path of a value, or of a scratch file that holds it, which errors call by its role (see command.run)."""
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gapwise-"))) / (role + ".json")
    path.write_bytes(encode(value))
    return str(path)


def solve(
    instance: Instance,
    algorithm: Union[str, Policy, Callable[..., Any]] = "auto",
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

    algorithm is auto, exact, the name of one, cmd:COMMAND, online:COMMAND, a Policy, or a function. A function
    takes the instance, as it was given (a file as a dataclass), and returns a solution as a dict; it is called in
    this process, its time is the result's, and only seed goes with it. time_limit is in
    seconds, effort in counted work (the same result on every machine), gap what counts as optimal. start
    is a solution or a result to start from. progress is called with how it stands, at most ten times a
    second: algorithm, objective, bound, gap, nodes, elapsed_s. Further options are the flags of
    gapwise solve, with _ for -: engine="kernel", proof="file", tiers=1.

    A proof that there is no solution is a result, with the status infeasible; a limit that was
    reached without a solution is one with the status unknown. Ctrl-C gives the best so far, and the
    result is marked as interrupted.
    """
    if isinstance(algorithm, (list, tuple)) or isinstance(algorithm, str) and re.match("[^:]*,", algorithm):
        raise TypeError("solve takes one algorithm; bench takes several")
    if callable(algorithm) and not isinstance(algorithm, (str, Policy)):
        limits = {"time_limit": time_limit, "effort": effort, "gap": gap, "threads": threads, "start": start, "progress": progress}
        unfit = [name for name, value in limits.items() if value is not None] + [name for name in options if name not in _reading]
        if unfit:
            raise TypeError("%s doesn't go with a function, which sets its own limits" % unfit[0])
        known: Any = instance
        if isinstance(instance, (str, os.PathLike)):
            known = load(instance, **options)
        elif options:
            raise TypeError("%s says how a file is read" % next(iter(options)))
        answer = Result(function.solved(known, encode(known), algorithm, seed))
        answer._of = (known, {})
        return answer
    source, given = _given(instance)
    given_flags = command.flags(
        dict(options, time_limit=time_limit, effort=effort, gap=gap, seed=seed, threads=threads, progress=progress is not None)
    )
    with ExitStack() as stack:
        name, environment, failure = algorithm, None, None
        if isinstance(algorithm, Policy):
            name, environment, failure = stack.enter_context(served(algorithm))
        if start is not None:
            given_flags.append("--start=" + _file(stack, start, "start"))
        ended = command.run(["solve", "--json", "--algorithm", _named(name), *given_flags, "--", source], given, progress, environment)
    if failure:
        raise failure[0]
    lines = ended.out.splitlines()
    if not lines:
        raise ended.fail()
    if len(lines) > 1:
        raise TypeError("there are %d results: solve takes one instance and one algorithm; bench takes several" % len(lines))
    result = Result(json.loads(lines[-1]))
    result.interrupted = ended.interrupted
    if isinstance(algorithm, Policy):
        result["algorithm"] = "online:" + type(algorithm).__name__
    reading = {k: options[k] for k in _reading if k in options}
    result._of = (instance, reading)
    return result


def _named(algorithm: Any) -> str:
    """Returns the name of an algorithm."""
    if callable(algorithm) and not isinstance(algorithm, str):
        raise TypeError("%s is a function, which takes no flags of a command" % function.named(algorithm))
    return str(algorithm)


def verify(instance: Instance, solution: Any, **options: Any) -> Verdict:
    """Judges a result or a bare solution in exact arithmetic.

    solution is a Result, a dict or the path of a file with one. Options are the flags of gapwise verify:
    tolerance=0. A refused solution is no exception, but a Verdict that is false.
    """
    source, given = _given(instance)
    with ExitStack() as stack:
        path = _file(stack, solution, "solution")
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
        paths = [source] if result is None else [source, _file(stack, result, "result")]
        ended = command.run(["explain", "--json", *command.flags(options), "--", *paths], given)
    if not ended.out:
        raise ended.fail()
    return Explanation(json.loads(ended.out))


def picture(instance: Instance, result: Any = None, **options: Any) -> str:
    """Returns a solution drawn, as SVG. Options are the flags of gapwise gantt: width=170, from_="1h"."""
    source, given = _given(instance)
    with ExitStack() as stack:
        paths = [source] if result is None else [source, _file(stack, result, "result")]
        out = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gapwise-"))) / "picture.svg"
        ended = command.run(["gantt", "--output", str(out), *command.flags(options), "--", *paths], given)
        if ended.code != 0:
            raise ended.fail()
        drawn = out.read_text(encoding="utf-8")
    return drawn


def report(what: Union[Instance, Sequence[Instance]], *, text: bool = False, **options: Any) -> str:
    """Returns the page of a log, an instance or results, as HTML; with what_if and text the summary of the changes.

    Options are the flags of gapwise report: what_if=["processors=1.2x"], policy="easy", time_limit=2.
    """
    many = list(what) if isinstance(what, (list, tuple)) else [what]
    if text and "what_if" not in options:
        raise TypeError("text goes with what_if, whose changes have a summary")
    if "what_if" in options:  # a change holds commas: each is a flag of its own
        changes = options.pop("what_if")
        flags = ["--what-if=" + x for x in ([changes] if isinstance(changes, str) else changes)]
    else:
        flags = []
    with ExitStack() as stack:
        page = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gapwise-"))) / "page.html"
        paths = [_file(stack, x, "instance") for x in many]
        ended = command.run(["report", "--output", str(page), *flags, *command.flags(options), "--", *paths])
        if ended.code != 0:
            raise ended.fail()
        return ended.out if text else page.read_text(encoding="utf-8")


def convert(what: Union[str, "os.PathLike[str]"], output: Union[str, "os.PathLike[str]"], **options: Any) -> None:
    """Writes a file in any format that gapwise reads as an instance. Options are the flags of gapwise convert."""
    ended = command.run(["convert", "--output", os.fspath(output), *command.flags(options), "--", os.fspath(what)])
    if ended.code != 0:
        raise ended.fail()


def kubernetes(cluster: Union[str, "os.PathLike[str]", Sequence[str]], question: str = "plan", **options: Any) -> Dict[str, Any]:
    """Returns a plan, or the answer to another question: bound or explain, as gapwise kubernetes prints it as JSON.

    cluster is a file or a folder that kubectl wrote, or several. Options are the flags: price="nodes", survive="zone".
    """
    paths = [os.fspath(cluster)] if isinstance(cluster, (str, os.PathLike)) else [os.fspath(x) for x in cluster]
    ended = command.run(["kubernetes", question, "--json", *command.flags(options), "--", *paths])
    if ended.code not in (0, 5):
        raise ended.fail()
    return dict(json.loads(ended.out))


Algorithm = Union[str, Callable[..., Any]]


def bench(
    what: Union[Instance, Sequence[Instance]],
    algorithm: Union[Algorithm, Sequence[Algorithm], Dict[str, Algorithm], None] = None,
    *,
    output: Union[str, "os.PathLike[str]", None] = None,
    **options: Any,
) -> Runs:
    """Runs an experiment.

    With algorithm, a name, a function (see solve), several, or a dict of names in the results and these, what is an
    instance or a list of instances; without it, a plan: its file, the name of a built-in one, or a dict
    (docs/reference/plans.md). output is the file that the lines are kept in: the same call goes on where it was. Options
    are the flags of gapwise bench: time_limit=10, seeds="1,2,3", workers=2.

    A run is known by its instance's name, the algorithm's name, the seed, and a digest of the function's source or of the
    program's files: it runs again when one of these has changed. Another instance of this name is refused. A function that raises an exception has a run without a
    solution, and its reason.
    """
    many = list(what) if isinstance(what, (list, tuple)) else [what]
    names, functions = _algorithms(algorithm)
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
        if functions and any(isinstance(x, dict) and "algorithms" in x or str(x).endswith((".yaml", ".yml")) for x in many):
            raise TypeError("a plan names its algorithms: give a function the instances")
        commands = any(":" in name for name in names)
        if algorithm is not None and not commands and all(Path(f).parent == scratch for f in files):
            folder, files = str(scratch), [Path(f).name for f in files]
        runs = Runs()
        if names or not functions:
            chosen = dict(options, algorithm=names) if algorithm is not None else options
            ended = command.run(["bench", "--output", str(output), *command.flags(chosen), "--", *files], folder=folder)
            if ended.code not in (0, 4, 5, 6):
                raise ended.fail()
            runs.interrupted = ended.interrupted
        kept = Kept(output)
        if functions and not runs.interrupted:
            try:
                _run_functions(many, files, functions, options, kept)
            except KeyboardInterrupt:
                runs.interrupted = True
        runs.extend(kept.runs())
    return runs


def _algorithms(given: Any) -> Tuple[List[str], List[Tuple[str, Callable[..., Any]]]]:
    """Returns the names of algorithms as the command takes them, and the functions with their names."""
    if isinstance(given, dict):
        pairs = list(given.items())
    else:
        pairs = [(None, f) for f in ([given] if isinstance(given, str) or callable(given) else given or ())]
    names: List[str] = []
    functions: List[Tuple[str, Callable[..., Any]]] = []
    called: List[str] = []
    for label, f in pairs:
        if callable(f) and not isinstance(f, str):
            functions.append((label or function.named(f), f))
            called.append(functions[-1][0])
            continue
        name = _named(f)
        if label not in (None, name):
            if not name.startswith(("cmd:", "online:", "batsim:")):
                raise TypeError("%s can't be called %s: functions and commands take names" % (name, label))
            name = "%s=%s" % (label, name)
        names.append(name)
        called.append(label or name)
    twice = [name for k, name in enumerate(called) if name in called[:k]]
    if twice:
        raise TypeError("two algorithms are called %s: name them, as in {'a': f, 'b': g}" % twice[0])
    return names, functions


def _run_functions(many: Sequence[Instance], files: Sequence[str], functions: Any, options: Dict[str, Any], kept: Kept) -> None:
    """Runs functions on instances, and keeps the runs. Those that are kept already, by the same source, aren't repeated."""
    reading = {name: options[name] for name in _reading if name in options}
    for x, path in zip(many, files):
        for name, given in _instances(x, path, reading):
            line, known = encode(given), None
            for label, f in functions:
                for seed in _seeds(options.get("seeds")):
                    head = {"algorithm": label, "seed": seed, "run": name, "files": list(files), "program": function.digest(f)}
                    before = kept.find(head)
                    if before is None:
                        kept.add(function.ran(given, line, f, head))
                        continue
                    known = known or function.hash_of(line)
                    if before["instance_hash"] != known:
                        raise command.BadInput("%s: %s has changed since it was run; give another file" % (kept.path, name))


def _instances(x: Instance, path: str, reading: Dict[str, Any]) -> Iterator[Tuple[str, Any]]:
    """Yields the name and the data of an instance, or of each in a folder."""
    if not isinstance(x, (str, os.PathLike)):
        yield path, x
    elif os.path.isdir(path):
        ended = command.run(["convert", "--account", path, "--output", "-", *command.flags(reading)])
        if ended.code != 0:
            raise ended.fail()
        for line in map(json.loads, ended.out.splitlines()):
            if "error" not in line:
                yield line["file"], load(line["file"], **reading)
    else:
        yield path, load(path, **reading)


def _seeds(given: Any) -> List[int]:
    """Returns the seeds of an experiment's option."""
    if given is None:
        return [1]
    return [int(seed) for seed in (given.split(",") if isinstance(given, str) else given)]


def told(view: str, runs: Sequence[Dict[str, Any]], options: Dict[str, Any]) -> str:
    """Returns what gapwise bench VIEW prints of runs."""
    with ExitStack() as stack:
        path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gapwise-"))) / "runs.jsonl"
        path.write_bytes(b"".join(encode(run) for run in runs))
        ended = command.run(["bench", view, *command.flags(options), "--", str(path)])
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
    if options.get("count", 1) != 1 or "output" in options:
        raise TypeError("generate returns one instance: call it once for each seed")
    return _record(command.run(["generate", "--output", "-", "--kind", kind, *command.flags(options)]))


def version() -> Dict[str, str]:
    """Returns what the program was built from, as gapwise version --json prints it."""
    ended = command.run(["version", "--json"])
    if ended.code != 0:
        raise ended.fail()
    return dict(json.loads(ended.out))
