"""Functions of Python as heuristics: they run in this process, and one program judges all their solutions."""

from __future__ import annotations

import atexit
import functools
import hashlib
import inspect
import json
import os
import tempfile
import threading
import time
import traceback
from typing import Any, Callable, Dict, List, Optional

from . import command
from .results import Result


class _Judge:
    """A running gapwise session --judge; it keeps the last instance with its bounds."""

    def __init__(self) -> None:
        self._said = tempfile.TemporaryFile()
        self._process = command.start(["session", "--judge"], self._said)
        assert self._process.stdin and self._process.stdout  # they are pipes
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._known: Optional[bytes] = None

    def ask(self, instance: bytes, rest: Dict[str, Any]) -> Dict[str, Any]:
        """Sends a solution; instance is a line of JSON, which is sent if it isn't the last one."""
        from .api import encode

        line = encode(rest)
        if instance != self._known:
            line = b'{"instance":' + instance.strip() + b"," + line[1:]
        self._known = None  # unless this is answered
        self._stdin.write(line)
        self._stdin.flush()
        answer = self._stdout.readline()
        if not answer:
            raise command.GapwiseError("the judge has ended")
        self._known = instance
        said: Dict[str, Any] = json.loads(answer)
        if "error" in said:
            if said["code"] == command.BadInput.code:
                self._known = None  # it may be the instance's error
            raise command.error_of(said["code"], said["error"])
        return said

    def close(self) -> None:
        for pipe in (self._stdin, self._stdout):
            try:
                pipe.close()
            except OSError:
                pass
        self._process.wait()
        self._said.close()


_lock = threading.Lock()
_judge: Optional[_Judge] = None


@atexit.register
def _close() -> None:
    global _judge
    if _judge is not None:
        _judge.close()
        _judge = None


def named(function: Callable[..., Any]) -> str:
    """Returns the name of a function in results."""
    return str(getattr(function, "__name__", type(function).__name__))


_plain = (bool, int, float, str, bytes, type(None))


def digest(function: Any) -> str:
    """Returns a digest of a function's source, "" where that can't be had.

    Numbers and texts that the function was made with count, too: defaults, those of a function around it, and arguments of
    functools.partial. Other functions that it calls, and global names, don't.
    """
    parts: List[str] = []
    while isinstance(function, functools.partial):
        parts += [repr(x) for x in (*function.args, *sorted(function.keywords.items())) if isinstance(x, (*_plain, tuple))]
        function = function.func
    try:
        source = inspect.getsource(function if hasattr(function, "__code__") or inspect.ismethod(function) else type(function))
    except (OSError, TypeError):
        return ""
    cells = [cell for cell in getattr(function, "__closure__", None) or ()]
    for value in [*(getattr(function, "__defaults__", None) or ()), *(_content(cell) for cell in cells)]:
        if isinstance(value, _plain):
            parts.append(repr(value))
    return hashlib.sha256("\0".join([source, *parts]).encode()).hexdigest()[:16]


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return None


def _called(function: Callable[..., Any], instance: Any, seed: Optional[int], times: List[float]) -> Any:
    """Returns a function's solution; its time in seconds goes to times, however it ends."""
    takes_seed = seed is not None and "seed" in inspect.signature(function).parameters
    began = time.perf_counter()
    try:
        found = function(instance, seed=seed) if takes_seed else function(instance)
    finally:
        times.append(time.perf_counter() - began)
    return found.solution if isinstance(found, Result) else found


def solved(instance: Any, line: bytes, function: Callable[..., Any], seed: Optional[int] = None) -> Dict[str, Any]:
    """Calls a function with an instance, and returns its result, judged.

    line is the instance as JSON. What the function raises is raised; a solution that doesn't fit is command.Refused.
    """
    times: List[float] = []
    rest: Dict[str, Any] = {"algorithm": named(function), "solution": _called(function, instance, seed, times), "elapsed_s": times[0]}
    if seed is not None:
        rest["seed"] = seed
    result: Dict[str, Any] = _ask(line, rest)["result"]
    return result


def ran(instance: Any, line: bytes, function: Callable[..., Any], head: Dict[str, Any]) -> Dict[str, Any]:
    """Calls a function with an instance, and returns the line of its run in an experiment.

    head has algorithm, seed, run (the instance's name), files and program, as gapwise session --judge takes them. A
    function that raises an exception, or whose solution doesn't fit, has a run without a solution, and its reason.
    """
    from .api import encode

    times: List[float] = []
    try:
        rest = dict(head, solution=_called(function, instance, head["seed"], times), elapsed_s=times[0])
        encode(rest)
    except Exception as error:
        return _failed(line, head, times, _reason(error))
    try:
        run: Dict[str, Any] = _ask(line, rest)["run"]
        return run
    except command.Refused as error:
        return _failed(line, head, times, str(error))


def _failed(line: bytes, head: Dict[str, Any], times: List[float], reason: str) -> Dict[str, Any]:
    run: Dict[str, Any] = _ask(line, dict(head, solution=None, elapsed_s=sum(times), reason=reason))["run"]
    return run


def _reason(error: Exception) -> str:
    """Returns an exception in one line, with the place where it was raised."""
    text = " ".join(str(error).split())[:400]
    place = traceback.extract_tb(error.__traceback__)[-1:]
    at = " (%s:%s)" % (os.path.basename(place[0].filename), place[0].lineno) if place else ""
    return type(error).__name__ + (": " + text if text else "") + at


def hash_of(line: bytes) -> str:
    """Returns the hash of an instance; line is the instance as JSON."""
    return str(_ask(line, {"hash": True})["hash"])


def _ask(line: bytes, rest: Dict[str, Any]) -> Dict[str, Any]:
    """Asks the judge, which is started if need be."""
    global _judge
    with _lock:
        if _judge is None:
            _judge = _Judge()
        try:
            return _judge.ask(line, rest)
        except command.GapwiseError as error:
            if str(error) == "the judge has ended":
                _judge.close()
                _judge = None
            raise
        except BaseException:  # such as Ctrl-C between a line and its answer: the next one begins anew
            _judge.close()
            _judge = None
            raise
