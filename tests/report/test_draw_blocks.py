"""Ranks, probabilities and gaps of many draws: the same block by block, and without a second copy of the draws."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.report import draw_blocks
from bayesgroups.report.draw_blocks import blocks

ASKED: dict[str, Callable[[xr.DataTree], xr.Dataset]] = {
    "ranks": bg.ranks,
    "certify": lambda report: bg.certify(report, standards=[0.3, 0.5]),
    "disparity": bg.disparity,
}
EXTRA = {"ranks": 0.8, "certify": 0.3, "disparity": 0.3}
"""Most memory beside the draws, as a share of theirs; ranks are kept in half of it for their quantiles."""


def test_blocks_are_all_there_is() -> None:
    for length, width in ((0, 5), (1, 10**9), (7, draw_blocks.BLOCK // 3), (5, 0)):
        found = [i for block in blocks(length, width) for i in range(block.start, block.stop)]
        assert found == list(range(length))


@pytest.fixture(scope="module")
def report() -> xr.DataTree:
    from tests.conftest import make_report, make_tally

    return make_report(make_tally({"site": [str(i) for i in range(600)]}, metrics=("acc", "fnr")))


@pytest.mark.parametrize("question", ASKED)
def test_blocks_change_no_answer_and_need_little_memory(
    question: str, report: xr.DataTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = ASKED[question](report)
    monkeypatch.setattr(draw_blocks, "BLOCK", 20_000)
    tracemalloc.start()
    try:
        parts = ASKED[question](report)
        peak: Any = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    xr.testing.assert_allclose(parts, whole, rtol=1e-12)
    one_metric = report["posterior"]["mu"].nbytes / 2
    assert np.isfinite(peak)
    assert peak < EXTRA[question] * one_metric + 2e6
