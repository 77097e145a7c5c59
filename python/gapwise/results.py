"""What is handed back: dicts as the command prints them, with names for what is asked for most."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any, Dict, List, Optional, Tuple, Union


class Result(Dict[str, Any]):
    """A result as docs/reference/results.md has it, judged before it was handed back."""

    #: Ctrl-C has stopped it: this is the best so far.
    interrupted: bool = False
    #: The instance, and how it was read; set by what has made the result.
    _of: Optional[Tuple[Any, Dict[str, Any]]] = None

    @property
    def status(self) -> str:
        """optimal, feasible, infeasible or unknown; the first and the third are proofs."""
        return str(self["status"])

    @property
    def algorithm(self) -> str:
        return str(self["algorithm"])

    @property
    def objective(self) -> Optional[float]:
        return self.get("objective")

    @property
    def second_objective(self) -> Optional[float]:
        return self.get("second_objective")

    @property
    def bound(self) -> Optional[float]:
        """No solution is better."""
        return self.get("bound")

    @property
    def gap(self) -> Optional[float]:
        """|objective - bound| / |objective|; None where it isn't known."""
        return self.get("gap")

    @property
    def solution(self) -> Optional[Dict[str, Any]]:
        """The decisions."""
        return self.get("solution")

    @property
    def account(self) -> Optional[Dict[str, Any]]:
        """What the files said that the instance was made of, and what of it isn't modelled; None if it comes from none."""
        return self.get("account")

    @property
    def rows(self) -> List[Dict[str, Any]]:
        """The decisions of each job, task or request: the first list of the solution."""
        lists = [x for x in (self.solution or {}).values() if isinstance(x, list)]
        return lists[0] if lists else []

    def to_pandas(self) -> Any:
        """Returns a DataFrame of the rows."""
        return _frame(self.rows)

    def picture(self, **options: Any) -> str:
        """Returns it drawn, as SVG; options are those of gapwise gantt, such as width=170."""
        from .api import picture

        if self._of is None or not self.solution:
            raise ValueError("there is nothing to draw: the result has no solution, or isn't of this process")
        return picture(self._of[0], self, **{**self._of[1], **options})

    def _repr_svg_(self) -> Optional[str]:
        return self.picture() if self._of is not None and self.solution else None

    def __repr__(self) -> str:
        figures = ", ".join("%s %s" % (k, _figure(self.get(k))) for k in ("objective", "bound", "gap"))
        return "<%s %s by %s: %s, %s>" % (self.get("kind"), self.get("instance"), self.algorithm, self.status, figures)


class Verdict(Dict[str, Any]):
    """A judgement; it is true if the solution is accepted."""

    @property
    def accepted(self) -> bool:
        return bool(self["accepted"])

    @property
    def violations(self) -> List[Dict[str, Any]]:
        """The constraints that don't hold: constraint, where, amount and unit of each."""
        return list(self["violations"])

    def __bool__(self) -> bool:
        return self.accepted

    def __repr__(self) -> str:
        if self.accepted:
            return "<accepted: objective %s>" % _figure(self.get("objective"))
        return "<refused: %s>" % "; ".join("%s %s" % (v["constraint"], v["where"]) for v in self.violations)


class Bounds(Dict[str, Any]):
    """The bounds of an instance, each with its evidence."""

    @property
    def best(self) -> Optional[float]:
        """No solution is better; None where there is no bound, or no solution."""
        return self.get("best")

    @property
    def infeasible(self) -> bool:
        """It is proved that there is no solution."""
        return bool(self["infeasible"])

    def __repr__(self) -> str:
        all = ", ".join("%s %s" % (b["name"], _figure(b["value"])) for b in self["bounds"])
        return "<%s %s: %s>" % (self["kind"], self["instance"], "infeasible" if self.infeasible else all)


class Explanation(Dict[str, Any]):
    """Why no solution is better, and what keeps this one from it; str() is the text."""

    def __str__(self) -> str:
        lines = [self.get("value", "")]
        for part in (self.get("why") or []) + (self.get("holds") or []):
            lines += ["", part["words"]]
            rows = part.get("rows") or []
            widths = [max(map(len, column)) for column in zip(*rows)]
            lines += ["  " + "  ".join(cell.ljust(n) for cell, n in zip(row, widths)).rstrip() for row in rows]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)


class Runs(List[Dict[str, Any]]):
    """The lines of an experiment's results file."""

    #: Ctrl-C has stopped the experiment: these are the runs so far.
    interrupted: bool = False

    def to_pandas(self) -> Any:
        """Returns a DataFrame with a row for each run."""
        return _frame(self)

    def table(self, **options: Any) -> str:
        """Returns what gapwise bench table says of them; options are its flags, such as by="tasks"."""
        from .api import told

        return told("table", self, options)

    def compare(self, **options: Any) -> str:
        """Returns what gapwise bench compare says of them: tests in pairs, or with ranks=True of all together."""
        from .api import told

        return told("compare", self, options)

    def plot(self, output: Union[str, "os.PathLike[str]"], **options: Any) -> None:
        """Draws them into a file .svg, .png or .pdf, as gapwise bench plot does: kind="box", y="gap %"."""
        from .api import told

        told("plot", self, {**options, "output": output})

    def __repr__(self) -> str:
        return self.table() if self else "<no runs>"


def _frame(rows: List[Dict[str, Any]]) -> Any:
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise ImportError("pandas isn't installed; the same rows are there as a list of dicts") from None
    return pandas.DataFrame(rows)


def _figure(x: Any) -> str:
    return "unknown" if x is None else "%.6g" % x
