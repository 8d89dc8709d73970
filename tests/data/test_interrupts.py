"""Interrupts that wait until a file is whole."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.data.interrupts import held_interrupts
from bayesgroups.data.netcdf import PatientFile


@pytest.fixture(autouse=True)
def interrupts_are_heard() -> None:
    """A shell may have started this process with interrupts ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_an_interrupt_waits_until_the_file_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = PatientFile.write
    written = []

    def interrupted(self: PatientFile, data: bytes) -> int:
        signal.raise_signal(signal.SIGINT)
        written.append(len(data))
        return write(self, data)

    monkeypatch.setattr(PatientFile, "write", interrupted)
    tally = bg.tally_from_counts([1, 30], [2, 100], pd.DataFrame({"site": ["a", "b"]}))
    with pytest.raises(KeyboardInterrupt):
        bg.save_tally(tally, tmp_path / "sites.tally.nc")
    assert len(written) > 1
    assert list(tmp_path.iterdir()) == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    monkeypatch.undo()
    bg.save_tally(tally, tmp_path / "sites.tally.nc")
    xr.testing.assert_identical(bg.open_tally(tmp_path / "sites.tally.nc"), tally)


def test_an_error_is_raised_as_it_is() -> None:
    with pytest.raises(ValueError, match="own"), held_interrupts():
        raise ValueError("its own")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_and_ignored_interrupts_are_left_alone() -> None:
    seen: list[object] = []

    def stretch() -> None:
        with held_interrupts():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=stretch)
    thread.start()
    thread.join()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stretch()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    assert seen == [signal.default_int_handler, signal.SIG_IGN]
