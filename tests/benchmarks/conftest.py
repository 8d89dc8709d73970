"""The table that benchmarks add their rows to, printed at the end of the run.

With ``BAYESGROUPS_BENCHMARK_TABLE=tests/benchmarks/record.csv`` its rows take the place of those of the record,
with the day, versions and machine.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.benchmarks.table import Table, machine

_KEY = pytest.StashKey[Table]()


@pytest.fixture(autouse=True)
def _every_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Benchmarks have the processors for themselves."""
    monkeypatch.delenv("LOKY_MAX_CPU_COUNT", raising=False)


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
        path = Path(target)
        known = path.read_text(encoding="utf-8") if path.is_file() else ""
        path.write_text(found.as_csv(known, measured=datetime.now(tz=UTC).date().isoformat()), encoding="utf-8")
