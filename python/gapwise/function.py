"""Functions of Python as heuristics: they run in this process, and one program judges all their solutions."""

from __future__ import annotations

import atexit
import inspect
import json
import tempfile
import threading
import time
from typing import Any, Callable, Dict, Optional

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


def solved(instance: Any, line: bytes, function: Callable[..., Any], seed: Optional[int] = None, run: str = "") -> Dict[str, Any]:
    """Calls a function with an instance, and has its solution judged.

    line is the instance as JSON. The answer has a result and, with run, the instance's name, a line of gapwise bench. What the
    function raises is raised; a solution that doesn't fit is command.Refused.
    """
    global _judge
    takes_seed = seed is not None and "seed" in inspect.signature(function).parameters
    began = time.perf_counter()
    found = function(instance, seed=seed) if takes_seed else function(instance)
    elapsed = time.perf_counter() - began
    if isinstance(found, Result):
        found = found.solution
    rest = {"algorithm": named(function), "solution": found, "elapsed_s": elapsed, "run": run}
    if seed is not None:
        rest["seed"] = seed
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
