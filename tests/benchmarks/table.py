"""One table of all benchmarks of a run: ratios to peers with medians and spread, the bar, and whether it is met."""

from __future__ import annotations

import csv
import io
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from statistics import median
from typing import Literal

Unit = Literal["x", "s", "GB", ""]
HEADER = ("what", "peer", "bar", "median", "smallest", "largest", "runs", "met", "note")
PACKAGES = ("numpy", "pandas", "polars", "duckdb", "xarray", "pymc", "nutpie", "arviz", "fairlearn")


@dataclass(frozen=True)
class Row:
    """Measurements of every run, in the unit of the bar; ``larger`` if the bar is to be reached and not kept below."""

    what: str
    peer: str
    values: tuple[float, ...]
    unit: Unit = "x"
    bar: float | None = None
    larger: bool = True
    note: str = ""

    @property
    def met(self) -> str:
        """Comparison of all runs with the bar; it is not decided where their spread contains the bar."""
        if self.bar is None or not self.values:
            return "-"
        passed = {value >= self.bar if self.larger else value <= self.bar for value in self.values}
        if len(passed) == 2:
            return "not decided"
        return "met" if passed.pop() else "missed"

    def cells(self) -> tuple[str, ...]:
        """The row as texts, in the order of `HEADER`."""
        bar = "-" if self.bar is None else f"{'>=' if self.larger else '<='} {_text(self.bar, self.unit)}"
        spread: tuple[str, ...] = ("-", "-", "-")
        if self.values:
            spread = tuple(
                _text(value, self.unit) for value in (median(self.values), min(self.values), max(self.values))
            )
        return (self.what, self.peer, bar, *spread, str(len(self.values) or "-"), self.met, self.note)


class Table:
    """The rows of one run, in the order in which they were measured."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def ratio(
        self, what: str, peer: str, theirs: Sequence[float], ours: Sequence[float], *,
        bar: float | None = None, larger: bool = True, note: str = "",
    ) -> float:  # fmt: skip
        """Add how many times as long the peer takes, run by run; with ``larger=False`` how many times as long we do.

        Returns
        -------
        float
            The median.
        """
        pairs = zip(theirs, ours, strict=True)
        values = tuple(a / b if larger else b / a for a, b in pairs)
        self.add(Row(what, peer, values, "x", bar, larger, note))
        return median(values)

    def add(self, row: Row) -> None:
        """Add a row, in place of an earlier one of the same name and peer."""
        self.rows = [known for known in self.rows if (known.what, known.peer) != (row.what, row.peer)]
        self.rows.append(row)

    def text(self) -> str:
        """The table as columns of text.

        Examples
        --------
        >>> table = Table()
        >>> table.ratio("import", "pandas", [1.5, 2.0, 1.75], [0.25, 0.25, 0.25], bar=5.0)
        7.0
        >>> print(table.text())
        what    peer    bar       median  smallest  largest  runs  met  note
        import  pandas  >= 5.00x  7.00x   6.00x     8.00x    3     met
        """
        lines = [HEADER, *(row.cells() for row in self.rows)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(HEADER))]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
        )

    def as_csv(self, known: str = "", *, measured: str = "") -> str:
        r"""The table as a CSV file with the day and the machine, in the place of the same rows of a known file.

        Examples
        --------
        >>> table = Table()
        >>> table.add(Row("import", "-", (0.25,), "s"))
        >>> first = "what,peer\nimport,-\ntally,polars\n"
        >>> [line.split(",")[:4] for line in table.as_csv(first, measured="2026-11-24").splitlines()[1:]]
        [['import', '-', '-', '0.25 s'], ['tally', 'polars']]
        """
        lines = {tuple(line[:2]): line for line in [*csv.reader(io.StringIO(known))][1:]}
        lines |= {row.cells()[:2]: [*row.cells(), measured, machine()] for row in self.rows}
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([(*HEADER, "measured", "machine"), *lines.values()])
        return text.getvalue()


def machine() -> str:
    """Python, packages and processors."""
    found = [f"Python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return f"{', '.join(found)}; {os.cpu_count()} processors, {platform.machine()}, {platform.system()}"


def _text(value: float, unit: Unit) -> str:
    if unit == "x":
        return f"{value:,.0f}x" if value >= 100 else f"{value:.2f}x"
    return f"{value:,.0f}" if not unit else f"{value:.3g} {unit}"
