"""Pages on coming from another tool: their tables are the stored values of that tool and ours, and both agree."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from examples.evidence import against_samplers as samplers
from examples.evidence import coming_from
from examples.evidence.comparison import ROOT, golden
from examples.pages import blocks


def test_draws_of_rstanarm_can_be_used() -> None:
    stored = golden("multilevel/mrp.json")
    assert stored["divergences"] == 0
    assert stored["rhat"] < 1.01
    assert stored["effective_share"] > 0.9


def test_means_are_those_of_rstanarm_within_monte_carlo_error() -> None:
    ours, theirs = samplers.same_priors(), samplers.rstanarm()
    error = np.hypot(ours.error, theirs.error)
    assert (abs(ours.value[:, 0] - theirs.value[:, 0]) < 4 * error).all()
    assert error.max() < 0.003


def test_draws_of_brms_can_be_used() -> None:
    stored = golden("multilevel/mrp_brms.json")
    assert stored["divergences"] == 0
    assert stored["rhat"] < 1.01


def test_means_are_those_of_brms_within_monte_carlo_error() -> None:
    ours, theirs = samplers.same_priors(), samplers.brms()
    error = np.hypot(ours.error, theirs.error)
    assert (abs(ours.value[:, 0] - theirs.value[:, 0]) < 4 * error).all()
    assert error.max() < 0.003


def test_means_are_those_of_bambi_within_monte_carlo_error() -> None:
    stored, ours = golden("multilevel/bambi.json"), samplers.same_priors()
    seen = np.flatnonzero(samplers.CELLS["n"] > 0)
    error = np.hypot(ours.error[seen], stored["error"])
    assert stored["divergences"] == 0
    assert (abs(ours.value[seen, 0] - stored["mean"]) < 4 * error).all()


@pytest.mark.parametrize("cell", range(9))
@pytest.mark.parametrize("sampler", [samplers.rstanarm, samplers.brms])
def test_limits_are_those_of_stan(sampler: Callable[[], samplers.Summary], cell: int) -> None:
    """Ends of intervals, of 4,000 draws and of 12,000 or 40,000, lie within a quarter of a standard deviation of each other."""
    ours, theirs = samplers.same_priors().value[cell], sampler().value[cell]
    width = (theirs[2] - theirs[1]) / 4
    assert (abs(ours[1:] - theirs[1:]) < 0.25 * width).all()


@pytest.mark.record
def test_tables_of_the_pages() -> None:
    numbers = coming_from.numbers()
    assert len(numbers) == 4
    for page, texts in numbers.items():
        text = (ROOT / "docs" / "how-to" / page).read_text(encoding="utf-8")
        assert blocks(text) == texts, page
        assert len(text.splitlines()) < 90, page


@pytest.mark.parametrize("lines", [coming_from.maihda, coming_from.maihda_of_means])
def test_maihda_is_that_of_r(lines: Callable[[], list[coming_from.Line]]) -> None:
    for name, theirs, ours in lines():
        assert abs(ours - theirs) <= 1e-5 * max(1, abs(theirs)), name


@pytest.mark.parametrize("lines", [coming_from.inspect, coming_from.harness])
def test_tables_of_logs_are_those_of_the_packages(lines: Callable[[], list[list[str]]]) -> None:
    for _, _, rows, accuracy, our_rows, our_accuracy, _ in lines():
        assert (rows, accuracy) == (our_rows, our_accuracy)
