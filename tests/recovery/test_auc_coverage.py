"""The record of coverage for the AUC, held to thresholds, and how it is made.

python -m tests.recovery.studies.auc_coverage --output tests/recovery/records/auc_coverage.csv
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.errors import InputError
from bayesgroups.inference.collapsed.partial_pooling import sample
from bayesgroups.questions.curves.areas import auc_intervals
from bayesgroups.tallies.auc_variances import auc_as_rate
from examples.records import as_csv
from tests.recovery.remade import assert_remade
from tests.recovery.studies import auc_coverage
from tests.recovery.studies.auc_coverage import SEED, answers, aucs, draw, law, study
from tests.studies.resumed import resumed

RECORD = Path(__file__).parent / "records" / "auc_coverage.csv"
DESIGNS = ("alike", "apart", "excellent", "unequal")


@cache
def record() -> pd.DataFrame:
    table = pd.read_csv(RECORD)
    return table.set_index(["design", "interval", "size_class", "level"]).sort_index()


def line(design: str, interval: str, size_class: str = "all", level: float = 0.95) -> pd.Series:
    found: pd.Series = record().loc[design, interval, size_class, level]
    return found


def test_monte_carlo_errors_are_small() -> None:
    table = record().reset_index()
    unpooled = ~table["interval"].str.startswith("bayesian")
    assert table.loc[unpooled & (table["size_class"] == "all"), "mc_error"].max() < 0.008
    assert set(table["design"]) == set(DESIGNS)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("size_class", ["all", "small", "large"])
@pytest.mark.parametrize("interval", ["newcombe", "logit_delong", "no_pooling_rate", "no_pooling_rate_calibrated"])
def test_intervals_of_single_subgroups_cover(interval: str, size_class: str, design: str) -> None:
    found = line(design, interval, size_class)
    assert 0.92 <= found["coverage"] + 2 * found["mc_error"]
    assert found["outside"] == 0
    assert found["none"] == 0


@pytest.mark.parametrize("design", DESIGNS)
def test_the_normal_interval_does_not(design: str) -> None:
    found = line(design, "wald_delong", "small")
    assert found["coverage"] < 0.7
    assert found["none"] > 0.2  # no width, or no variance


@pytest.mark.parametrize("design", DESIGNS)
def test_newcombe_is_narrower_than_the_logit_interval(design: str) -> None:
    assert line(design, "newcombe")["width"] < line(design, "logit_delong")["width"]
    assert line(design, "newcombe", "small")["width"] < 0.85 * line(design, "logit_delong", "small")["width"]


@pytest.mark.parametrize("design", DESIGNS)
def test_empirical_bayes_covers_and_is_nearer_to_the_truth(design: str) -> None:
    pooled, alone = line(design, "empirical_bayes_rate_calibrated"), line(design, "newcombe")
    assert pooled["coverage"] > 0.93
    assert pooled["width"] < 0.9 * alone["width"]
    assert pooled["error"] < 0.8 * alone["error"]


def test_where_the_bayesian_side_falls_short() -> None:
    """The default spread of logits is too small for AUCs from .88 to .998; calibrated pairs mend half of it."""
    for design in ("alike", "unequal"):
        assert line(design, "bayesian_rate_calibrated")["coverage"] > 0.93
    assert line("apart", "bayesian_rate_calibrated")["coverage"] > 0.91
    excellent = [line("excellent", name)["coverage"] for name in ("bayesian_rate", "bayesian_rate_calibrated")]
    assert excellent[0] < excellent[1]
    assert excellent[1] > 0.87


def test_the_code_makes_the_record() -> None:
    """One evaluation set is answered by all the intervals of the record."""
    rng = np.random.default_rng([SEED, 0, 0])
    drawn = draw(law(rng.permutation(aucs()["alike"]), 1.0), rng)
    names = [name for name, _, _ in answers(drawn, bayesian=True, seed=0)]
    assert sorted(names) == sorted(set(record().reset_index()["interval"]))


KEYS = ("design", "interval", "size_class", "level")
Answers = Iterator[tuple[str, NDArray[np.float64], NDArray[np.float64]]]


@pytest.mark.record
def test_lines_of_a_posterior_can_be_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of calibrated pairs of counts, where all AUCs are alike, in all of its replications."""

    def posterior(drawn: xr.Dataset, *, bayesian: bool, seed: int) -> Answers:
        assert bayesian
        fit = sample(auc_as_rate(drawn, "calibrated"), seed=seed, draws=auc_coverage.DRAWS)
        mu = fit.draws["mu"].values.reshape(-1, drawn.sizes["subgroup"])
        tails = np.array([[(1 - level) / 2, (1 + level) / 2] for level in auc_coverage.LEVELS])
        yield "bayesian_rate_calibrated", mu.mean(axis=0), np.quantile(mu, tails, axis=0)

    monkeypatch.setattr(auc_coverage, "answers", posterior)
    chosen = range(0, auc_coverage.REPLICATIONS, auc_coverage.THINNING)
    judgements = [auc_coverage._judgements("alike", SEED, replication) for replication in chosen]
    values = np.array([block for ((_, block),) in judgements])
    lines = auc_coverage._lines("alike", {"bayesian_rate_calibrated": values}, SEED)
    assert_remade(RECORD, [asdict(line) for line in lines], KEYS, tolerance=1e-5)


@pytest.mark.slow
def test_lines_of_intervals_of_single_subgroups_can_be_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Newcombe's interval where all AUCs are alike, in all replications."""

    def newcombe(drawn: xr.Dataset, *, bayesian: bool, seed: int) -> Answers:
        each = [auc_intervals(drawn, interval="newcombe", variance=None, level=level) for level in auc_coverage.LEVELS]
        limits = np.stack([[one["lower"].values[0], one["upper"].values[0]] for one in each])
        yield "newcombe", drawn["estimate"].values[0], limits

    alike = {"alike": aucs()["alike"]}
    monkeypatch.setattr(auc_coverage, "aucs", lambda: alike)
    monkeypatch.setattr(auc_coverage, "answers", newcombe)
    lines = [asdict(line) for line in study()]
    assert len(lines) == 6
    assert_remade(RECORD, lines, KEYS)


@pytest.mark.record
def test_a_study_goes_on_from_its_checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = {"alike": aucs()["alike"]}
    monkeypatch.setattr(auc_coverage, "aucs", lambda: one)
    monkeypatch.setattr(auc_coverage, "DRAWS", 200)
    found, again = resumed(lambda run: study(8, 1, executor=run), tmp_path)
    assert as_csv(found) == as_csv(again)
    keys = {(line.design, line.interval, line.size_class, line.level) for line in found}
    assert keys == {key for key in record().index if key[0] == "alike"}


def test_few_replications_have_no_error() -> None:
    with pytest.raises(InputError, match="replications=7 must be 8 or more, to have a Monte Carlo error"):
        study(7)
