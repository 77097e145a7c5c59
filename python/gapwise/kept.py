"""The file of an experiment, to which runs are added."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, List, Optional

from . import command

# How the line of every run begins.
_begins = b'{"plan":"'


class Kept:
    """The runs in a file of gapwise bench. Of one run by several states of its program the last one counts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        data = path.read_bytes() if path.exists() else b""
        lines = data.split(b"\n")
        last = lines.pop()
        if last:
            try:
                json.loads(last)
                lines.append(last)
                last = b"\n"  # which is missing
            except ValueError:
                if not _begins.startswith(last[: len(_begins)]):
                    raise self._strange(len(lines) + 1) from None
        self._runs: Dict[Any, Dict[str, Any]] = {}
        for k, line in enumerate(lines):
            try:
                run = json.loads(line)
                self._runs[_key(run)] = run
            except (ValueError, TypeError, KeyError):
                raise self._strange(k + 1) from None
        if last == b"\n":
            self._write(last)
        elif last:  # of a program that was killed while it wrote
            with open(path, "r+b") as file:
                file.truncate(len(data) - len(last))

    def _strange(self, line: int) -> command.BadInput:
        return command.BadInput("%s line %d: no run of gapwise bench; give another file" % (self.path, line))

    def _write(self, data: bytes) -> None:
        with open(self.path, "ab") as file:
            file.write(data)

    def find(self, head: Dict[str, Any]) -> Optional[Dict[str, Any]]:
        """Returns the run that head describes, None unless it is there with the same program."""
        run = self._runs.get((head["run"], head["algorithm"], head["seed"]))
        return run if run is not None and run.get("program", "") == head["program"] else None

    def add(self, run: Dict[str, Any]) -> None:
        """Appends a run."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._write(json.dumps(run, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        self._runs[_key(run)] = run

    def runs(self) -> List[Dict[str, Any]]:
        """Returns the runs, each once."""
        return list(self._runs.values())


def _key(run: Dict[str, Any]) -> Any:
    return run["instance"], run["algorithm"], run["seed"]
