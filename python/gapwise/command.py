"""The program: where it is, how it is run, and what its exit codes mean."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any, Callable, Dict, Iterable, List, NamedTuple, Optional


class GapwiseError(Exception):
    """What gapwise said in one line, and the exit code that it ended with."""

    code = 1


class UsageError(GapwiseError, ValueError):
    """An option or an algorithm isn't known, or options don't go together."""

    code = 2


class BadInput(GapwiseError, ValueError):
    """An instance, a solution or a file is wrong; the line says where, and what to do."""

    code = 3


class Stopped(GapwiseError):
    """It was stopped before there was anything to hand back."""

    code = 6


class Refused(GapwiseError):
    """The judge has refused a solution: if it is a function's or a program's, that is its author's mistake; else report it."""

    code = 7


class NotFound(GapwiseError, FileNotFoundError):
    """The program isn't there."""


_errors = {kind.code: kind for kind in (GapwiseError, UsageError, BadInput, Stopped, Refused)}


def error_of(code: int, line: str) -> GapwiseError:
    """Returns the exception of an exit code."""
    kind = _errors.get(code, GapwiseError)
    error = kind(line)
    error.code = code
    return error


def find() -> str:
    """Returns the path of the program: $GAPWISE, the one shipped in the wheel, or the one on PATH."""
    named = os.environ.get("GAPWISE")
    if named:
        path = shutil.which(named)
        if path is None:
            raise NotFound("$GAPWISE names no program: " + named)
        return os.path.abspath(path)  # it is started from other folders, too
    shipped = Path(__file__).parent / "bin" / ("gapwise.exe" if os.name == "nt" else "gapwise")
    if shipped.is_file():
        return str(shipped)
    # A script of this package on PATH would start itself for ever, so what runs Python is passed by.
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = shutil.which("gapwise", path=folder) if folder else None
        if path is not None and not _is_script(path):
            return os.path.abspath(path)
    raise NotFound("there is no program gapwise: install its wheel, put it on PATH, or name it in $GAPWISE")


def _is_script(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(2) == b"#!" or os.path.exists(os.path.splitext(path)[0] + "-script.py")


# A scratch file that api._file has made. Its path means nothing to whoever gave the value.
_scratch = re.compile(r"[^\s'\"]*gapwise-\w+[/\\](solution|start|result|instance)\.json")


class Ended(NamedTuple):
    """How a command has ended."""

    code: int
    out: str
    line: str  # of an error, without "gapwise: "
    interrupted: bool  # by Ctrl-C

    def fail(self) -> BaseException:
        """Returns the exception for it."""
        if self.interrupted:
            return KeyboardInterrupt()
        return error_of(self.code, self.line or "gapwise ended with exit code %d" % self.code)


def run(
    args: Iterable[str],
    given: Optional[bytes] = None,
    hear: Optional[Callable[[Dict[str, Any]], Any]] = None,
    environment: Optional[Dict[str, str]] = None,
    folder: Optional[str] = None,
) -> Ended:
    """Runs a command and returns how it has ended.

    given is its standard input, folder where it runs. hear is called, in this thread, with the progress that it tells. The
    first Ctrl-C asks the command for its best so far; the second one ends it.
    """
    process = start(args, subprocess.PIPE, environment, folder)
    stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
    assert stdin and stdout and stderr  # they are pipes
    out: List[bytes] = []
    ends = [threading.Thread(target=_feed, args=(stdin, given)), threading.Thread(target=_drain, args=(stdout, out))]
    line, interrupted = "", False
    try:
        for end in ends:
            end.start()
        while True:
            try:
                for said in stderr:
                    text = said.decode("utf-8", "replace").strip()
                    if hear is not None and text.startswith('{"progress":'):
                        hear(json.loads(text)["progress"])
                    elif text.startswith("gapwise: "):
                        line = _scratch.sub(r"the \1", text[len("gapwise: ") :])
                for end in ends:
                    end.join()
                code = process.wait()
                break
            except KeyboardInterrupt:
                if interrupted:
                    raise
                interrupted = True
                interrupt(process)
    except BaseException:
        process.kill()
        process.wait()
        raise
    finally:
        stderr.close()
        stdout.close()
    return Ended(code, b"".join(out).decode("utf-8"), line, interrupted)


def start(
    args: Iterable[str], err: Any, environment: Optional[Dict[str, str]] = None, folder: Optional[str] = None
) -> "subprocess.Popen[bytes]":
    """Starts a command that Ctrl-C doesn't reach but by interrupt."""
    apart: Dict[str, Any] = {"start_new_session": True}
    if os.name == "nt":
        apart = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}  # type: ignore[attr-defined]
    env = None if environment is None else {**os.environ, **environment}
    return subprocess.Popen([find(), *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err, env=env, cwd=folder, **apart)


def interrupt(process: "subprocess.Popen[bytes]") -> None:
    """Presses Ctrl-C for a command."""
    try:
        process.send_signal(signal.CTRL_BREAK_EVENT if os.name == "nt" else signal.SIGINT)  # type: ignore[attr-defined]
    except OSError:
        pass  # it has ended


def _feed(stdin: IO[bytes], given: Optional[bytes]) -> None:
    try:
        if given is not None:
            stdin.write(given)
        stdin.close()
    except OSError:
        pass  # it has ended, and says why


def _drain(stdout: IO[bytes], out: List[bytes]) -> None:
    try:
        out.append(stdout.read())
    except (OSError, ValueError):
        pass  # it was ended


# What the command takes as a duration; here it is seconds.
_durations = {"time_limit", "answer_limit"}


def flags(options: Dict[str, Any]) -> List[str]:
    """Returns the flags of options by name: time_limit=5 is --time-limit 5s, json=True is --json."""
    all: List[str] = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        flag = "--" + name.rstrip("_").replace("_", "-")
        if value is True:
            all.append(flag)
            continue
        if isinstance(value, (list, tuple)):
            value = ",".join(str(x) for x in value)
        elif name in _durations and not isinstance(value, str):
            value = "%.9fs" % value
        elif isinstance(value, os.PathLike):
            value = os.fspath(value)
        all.append("%s=%s" % (flag, value))
    return all


def main() -> None:
    """Runs the program in the place of Python: `python3 -m gapwise` and the script that a wheel installs."""
    try:
        path = find()
    except NotFound as error:
        sys.exit("gapwise: %s" % error)
    if os.name == "nt":
        sys.exit(subprocess.call([path, *sys.argv[1:]]))
    os.execv(path, [path, *sys.argv[1:]])
