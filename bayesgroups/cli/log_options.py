"""The options that say what is read of evaluation logs, shared by the commands that read them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cyclopts import Parameter

from bayesgroups.cli.options import Names

if TYPE_CHECKING:
    import pandas as pd


@Parameter(name="*", group="Logs")
@dataclass(frozen=True, kw_only=True)
class LogOptions:
    """Scores and systems of logs.

    Parameters
    ----------
    name
        Name of the system of a log, in the order of the logs; repeat it for each. Systems are called by their models when left out.
    score
        Scorer of Inspect or metric of lm-evaluation-harness, where logs have several.
    task
        Logs of this task alone.
    filter
        Filter of lm-evaluation-harness, where there are several.
    unscored
        Answers without a score, because something failed: an error, no rows (drop), or the grade 0 (wrong).
    """

    name: Names = ()
    score: str | None = None
    task: str | None = None
    filter: str | None = None
    unscored: Literal["error", "drop", "wrong"] = "error"

    def rows(self, logs: tuple[Path, ...]) -> pd.DataFrame:
        """Rows of the logs, one per answer."""
        from bayesgroups.errors import InputError
        from bayesgroups.interop import read_logs

        if self.name and len(self.name) != len(logs):
            names = "1 name" if len(self.name) == 1 else f"{len(self.name)} names"
            raise InputError(f"{names} for {len(logs)} logs; give each its --name, in their order, or none")
        twice = next((name for name in self.name if self.name.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"name {twice!r} is given twice; logs of one system lie in one folder")
        return read_logs(
            dict(zip(self.name, logs, strict=True)) if self.name else logs, score=self.score, task=self.task,
            filter=self.filter, unscored=self.unscored,
        )  # fmt: skip


LOGS = LogOptions()
"""No option given."""
