"""The table that benchmarks add their rows to, printed at the end of the run.

With ``BAYESGROUPS_BENCHMARK_TABLE=FILE`` it is written as CSV as well, with versions and machine.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.benchmarks.table import Table, machine

_KEY = pytest.StashKey[Table]()


@pytest.fixture(scope="session")
def table(pytestconfig: pytest.Config) -> Table:
    """The one table of the run."""
    return pytestconfig.stash.setdefault(_KEY, Table())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the table, and write it where one asks for it."""
    found = config.stash.get(_KEY, None)
    if found is None or not found.rows:
        return
    terminalreporter.section("benchmarks")
    terminalreporter.write_line(machine())
    terminalreporter.write_line(found.text())
    target = os.environ.get("BAYESGROUPS_BENCHMARK_TABLE")
    if target:
        Path(target).write_text(found.as_csv(), encoding="utf-8")
