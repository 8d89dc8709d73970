"""Numbers that no double can square: refused at the door, and no warning leaks."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups import cli
from bayesgroups.cli import run
from bayesgroups.errors import InputError, SchemaError

UNKNOWN: Any = "zz"
SITES = pd.DataFrame({"site": ["a", "b"]})
ROWS = pd.DataFrame({"site": ["a", "a", "b", "b"] * 3, "y": [0, 1, 1, 0] * 3, "p": [1, 1, 0, 0] * 3})


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1e-300] * 12, r"column 'w' \(weights=\) has weights near .*, whose squares .* divide all by their mean"),
        ([1e300] * 12, r"column 'w' \(weights=\) has weights near 1e\+300"),
        ([1e-300, 1e-300, 1.0, 1.0] * 3, r"column 'w' \(weights=\) has weights near 3e-300|near 6e-300"),
    ],
)
def test_weights(weights: list[float], message: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError, match=message):
            bg.tally(ROWS.assign(w=weights), ["site"], ["acc"], y_true="y", y_pred="p", weights="w")


def test_weights_that_can_be_squared_count_by_their_ratios() -> None:
    weights = np.arange(1, 13)
    plain, small = (
        bg.tally(ROWS.assign(w=weights * scale), ["site"], ["acc"], y_true="y", y_pred="p", weights="w")
        for scale in (1.0, 1e-100)
    )
    for name in ("estimate", "count", "sampling_variance"):
        np.testing.assert_allclose(small[name].values, plain[name].values, rtol=1e-12)


@pytest.mark.parametrize("losses", [[1e308] * 12, [1e200, -1e200] * 6])
def test_losses(losses: list[float]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError, match="metric 'mean' has the value -?1e.*, whose square no number can hold"):
            bg.tally(ROWS.assign(l=losses), ["site"], ["mean"], loss="l")


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: bg.tally_from_counts([1e307, 1], [1e308, 4], SITES), r"subgroup 'a': successes= .* must be at most 1e\+150"),
        (lambda: bg.tally_from_counts([1, 1], [1e308, 4], SITES), r"subgroup 'a': trials= .* must be at most 1e\+150"),
        (lambda: bg.tally_from_estimates([1e160, 1], [1, 1], SITES), "subgroup 'a': .* must be at most .* larger units"),
        (lambda: bg.tally_from_estimates([1, 1], [1, 1e308], SITES), "subgroup 'b': .* must be at most .* larger units"),
        (lambda: bg.tally_from_counts([1, 2], [3, 4], SITES, pooled_variance=UNKNOWN), "pooled_variance='zz' is not one of"),
        (lambda: bg.tally_from_counts([10**400, 2], [3, 4], SITES), "successes= must hold numbers"),
    ],
)  # fmt: skip
def test_published_tables(made: Callable[[], Any], message: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError, match=message):
            made()


def test_a_report_is_not_saved_as_a_tally(tmp_path: Path) -> None:
    tally = bg.tally_from_counts([1, 2], [3, 4], SITES)
    report: Any = bg.estimate(tally, bg.NoPooling(), seed=1)
    with pytest.raises(SchemaError, match=r"tally must come from bg.tally\(\) or a related function; got Report"):
        bg.save_tally(report, tmp_path / "t.nc")
    assert not list(tmp_path.iterdir())


def test_too_little_memory_is_said_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = bg.save_tally(bg.tally_from_counts([1, 2], [3, 4], SITES), tmp_path / "t.nc")

    def exhausted(*_: object, **__: object) -> None:
        raise MemoryError("Unable to allocate 9. TiB")

    monkeypatch.setattr(importlib.import_module("bayesgroups.estimators.estimate"), "assemble", exhausted)
    assert run(["estimate", str(path)]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "not enough memory: Unable to allocate 9. TiB; ask for fewer subgroups" in said


def test_a_library_that_finds_no_memory_is_an_error_in_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unloaded(_: object) -> int:
        raise ImportError("scipy.so: failed to map segment from shared object")

    monkeypatch.setattr(cli, "_call", unloaded)
    assert cli.run(["demo"]) == 2
    assert "not enough memory to load a library; leave the process more" in capsys.readouterr().err

    def absent(_: object) -> int:
        raise ImportError("cannot import name 'a'")

    monkeypatch.setattr(cli, "_call", absent)
    with pytest.raises(ImportError, match="cannot import name"):
        cli.run(["demo"])
