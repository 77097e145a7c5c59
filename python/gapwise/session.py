"""Solving again after each change."""

from __future__ import annotations

import json
import tempfile
from typing import Any, Dict, Optional, Union

from . import command
from .api import encode
from .record import Record
from .results import Result


class Session:
    """Solves an instance again after each small change, each time from the solution before.

    Of virtual machines without a migration budget few move: the yield counts first, up to a hundredth, then
    the moves. With a budget the current hosts are those of the last placement. Options are the flags of
    gapwise session: time_limit=1 (of each step; without it 15 ms of search), seed, effort, gap.
    A session is a context manager; docs/reference/session.md says what a step does.
    """

    def __init__(self, algorithm: str = "auto", **options: Any) -> None:
        #: The last result that has a solution.
        self.last: Optional[Result] = None
        self._said = tempfile.TemporaryFile()
        args = ["session", "--algorithm", algorithm, *command.flags(options)]
        try:
            self._process = command.start(args, self._said)
        except BaseException:
            self._said.close()
            raise
        assert self._process.stdin and self._process.stdout  # they are pipes
        self._stdin, self._stdout = self._process.stdin, self._process.stdout

    def step(self, instance: Union[Dict[str, Any], Record]) -> Result:
        """Solves the instance as it is now: a dict or a dataclass.

        What fails leaves the session as it was. Ctrl-C gives the best so far, and ends the session.
        """
        if not isinstance(instance, (dict, Record)):
            raise TypeError("a step takes a dict or a dataclass, not %r; gapwise.load reads a file" % (instance,))
        if self._stdin.closed:
            raise ValueError("the session has ended")
        interrupted = False
        line = b""
        try:
            self._stdin.write(encode(instance))
            self._stdin.flush()
        except OSError:
            pass  # it has ended, and says why
        while True:
            try:
                line = self._stdout.readline()
                break
            except KeyboardInterrupt:
                if interrupted:
                    self._process.kill()
                    raise
                interrupted = True
                command.interrupt(self._process)
        if not line:
            code = self.close()
            if interrupted:
                raise KeyboardInterrupt
            raise command.error_of(code, self._line or "the session has ended with exit code %d" % code)
        if interrupted:
            self.close()
        answer = json.loads(line)
        if "error" in answer:
            raise command.error_of(answer["code"], answer["error"])
        result = Result(answer["result"])
        result.interrupted = interrupted
        result._of = (answer.get("instance", instance), {})
        if result.solution:
            self.last = result
        return result

    def close(self) -> int:
        """Ends the session and returns its exit code."""
        if not self._said.closed:
            try:
                self._stdin.close()
            except OSError:
                pass
            self._stdout.read()
            self._stdout.close()
            self._process.wait()
            self._said.seek(0)
            said = [x for x in self._said.read().decode("utf-8", "replace").splitlines() if x.startswith("gapwise: ")]
            self._line = said[-1][len("gapwise: ") :] if said else ""
            self._said.close()
        return int(self._process.returncode)

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_stdout"):
            self.close()
