"""The record of model-based metrics on the readmission study, held to what its page says; and how its table is made.

The record is made, in about ten minutes, by

    python -m examples.published.structured_regression.model_based --data FOLDER --output RESULTS
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from bayesgroups.studies.resampling import study
from examples.comparisons.shared_cells import DIABETES_DRAWS, SEED, populations
from examples.published.structured_regression import model_based
from examples.published.structured_regression.model_based import competitors, main, table
from tests.public_data import public_data
from tests.recovery.remade import assert_remade

RECORD = Path(__file__).parent / "records" / "model_based_metrics.csv"
PAGE = Path(__file__).parents[2] / "docs" / "examples" / "model_based_metrics.md"
METRICS = ("sel", "acc", "fnr", "fpr", "ppv", "auc")
MINE, PUBLISHED = "mbm (bayesian)", "mbm (frequentist)"


@cache
def record() -> dict[tuple[str, str, str], dict[str, float]]:
    with RECORD.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    keys = ("estimator", "metric", "subgroups")
    return {
        (line["estimator"], line["metric"], line["subgroups"]): {
            name: float(value) for name, value in line.items() if name not in keys
        }
        for line in lines
    }


def _mean(estimator: str, what: str, subgroups: str = "all") -> float:
    values = [record()[estimator, metric, subgroups][what] for metric in METRICS]
    return float(np.exp(np.mean(np.log(values))) if what == "ratio" else np.mean(values))


def test_every_estimator_and_metric_is_there() -> None:
    names = {name for name, _, _ in record()}
    assert names >= {"standard", "eb_morris", "sr", "suremap", "mbm_normal", MINE, PUBLISHED}
    assert set(record()) == {
        (name, metric, which) for name in names for metric in METRICS for which in ("all", "small", "known")
    }
    assert record()["standard", "sel", "all"]["pairs"] == 20 * 32


def test_over_confidence_is_reproduced() -> None:
    assert _mean(PUBLISHED, "coverage") < 0.8
    assert _mean("eb_morris", "coverage") > 0.9
    assert _mean(PUBLISHED, "width") < 0.9 * _mean("eb_morris", "width")


def test_the_hierarchical_version_repairs_it_where_the_truth_is_known() -> None:
    crossed = "crossed_effects (bayesian)"
    assert 0.93 < _mean(MINE, "coverage", "known") < 0.97
    assert _mean(PUBLISHED, "coverage", "known") < 0.9
    assert min(record()[MINE, metric, "known"]["coverage"] for metric in METRICS) > 0.88
    assert _mean(MINE, "width", "known") < 0.8 * _mean(crossed, "width", "known")
    others = {name for name, _, _ in record()} - {MINE}
    assert _mean(MINE, "ratio", "known") < min(_mean(name, "ratio", "known") for name in others)


def test_it_covers_larger_subgroups_and_errs_least() -> None:
    assert np.mean([_large(MINE, metric) - _large(PUBLISHED, metric) for metric in METRICS]) > 0.04
    assert np.mean([_large(MINE, metric) for metric in METRICS]) > 0.9
    assert _mean(MINE, "coverage", "small") < 0.7
    assert _mean(MINE, "ratio") < 0.52
    assert _mean(MINE, "ratio") < min(_mean(name, "ratio") for name in ("js", "eb_morris", "sr", "suremap", PUBLISHED))


def test_normal_scores_are_biased() -> None:
    assert abs(record()["mbm_normal", "sel", "all"]["bias"]) > 0.03
    assert abs(record()[MINE, "sel", "all"]["bias"]) < 0.01


SHOWN = {
    "standard": "standard", "empirical Bayes, plug-in": "eb_plug_in", "empirical Bayes, Morris": "eb_morris",
    "structured regression": "sr", "SureMap": "suremap", "crossed effects, Bayesian": "crossed_effects (bayesian)",
    "score regression, normal": "mbm_normal", "score regression, skewed": PUBLISHED, "model-based metrics, Bayesian": MINE,
}  # fmt: skip
"""Estimators of the tables of the page."""


def _large(estimator: str, metric: str) -> float:
    """Coverage in subgroups that are not small, from that in all and in small ones."""
    every, small = (record()[estimator, metric, subgroups] for subgroups in ("all", "small"))
    covered = every["coverage"] * every["pairs"] - small["coverage"] * small["pairs"]
    return covered / (every["pairs"] - small["pairs"])


@pytest.mark.parametrize(
    ("title", "column", "subgroups"),
    [
        ("Mean absolute error, all subgroups", "mae", "all"),
        ("Mean absolute error, small subgroups", "mae", "small"),
        ("Coverage of 95 % intervals, all subgroups", "coverage", "all"),
        ("Coverage, subgroups with more than 25 rows", "coverage", "large"),
        ("Coverage, small subgroups", "coverage", "small"),
        ("Coverage where the truth is known", "coverage", "known"),
        ("Width of 95 % intervals where the truth is known", "width", "known"),
        ("Width of 95 % intervals, all subgroups", "width", "all"),
    ],
)
def test_the_page_shows_the_record(title: str, column: str, subgroups: str) -> None:
    section = PAGE.read_text(encoding="utf-8").split(f"## {title}\n")[1].split("\n## ", maxsplit=1)[0]
    rows = []
    for shown, name in SHOWN.items():
        values = [
            _large(name, metric) if subgroups == "large" else record()[name, metric, subgroups][column]
            for metric in METRICS
        ]
        values.append(float(np.mean(values)))
        cells = [f"{100 * value:.0f} %" if column == "coverage" else f"{value:.3f}" for value in values]
        rows.append(f"| {shown} | {' | '.join(cells)} |")
    lines = [line for line in section.splitlines() if line.startswith("| ") and not line.startswith("| ---")]
    assert lines[1:] == rows


def test_the_page_compares_with_crossed_effects() -> None:
    text = PAGE.read_text(encoding="utf-8")
    crossed = "crossed_effects (bayesian)"
    assert f"({_mean(crossed, 'ratio'):.2f} for crossed effects;" in text
    narrower = 1 - _mean(MINE, "width", "known") / _mean(crossed, "width", "known")
    assert f"with intervals {100 * narrower:.0f} % narrower than those of crossed effects" in text
    known = [_mean(name, "coverage", "known") for name in (MINE, crossed)]
    assert (
        f"it covers {100 * known[0]:.0f} % on average over the metrics (crossed effects {100 * known[1]:.0f} %)" in text
    )
    least = [f"{_mean(name, 'ratio', 'known'):.2f}" for name in (MINE, crossed, PUBLISHED)]
    assert (
        f"{least[0]} times those of the standard estimate ({least[1]} for crossed effects; {least[2]} for the" in text
    )
    assert f"these cover {100 * _mean(crossed, 'coverage'):.0f} %" in text
    assert f"{100 * _mean(crossed, 'coverage', 'small'):.0f} % in small ones, with wider intervals" in text
    small = [f"{_mean(name, 'ratio', 'small'):.2f}" for name in (crossed, MINE, "eb_morris")]
    assert f"err a little less ({small[0]} against {small[1]}), and empirical Bayes as much ({small[2]})" in text


def _found() -> xr.Dataset:
    shape = (2, 3, 1, 2)
    estimate = np.full(shape, 0.5) + 0.05 * np.arange(2)[:, None, None, None]
    dims = ("estimator", "draw", "metric", "subgroup")
    return xr.Dataset(
        {
            "estimate": (dims, estimate),
            "lower": ((*dims, "level"), estimate[..., None] - 0.2),
            "upper": ((*dims, "level"), estimate[..., None] + 0.7),
            "standard": (dims[1:], estimate[0]),
            "truth": (dims[2:], [[0.6, 0.9]]),
            "rows": (("draw", "subgroup"), np.full((3, 2), [100.0, 10.0])),
            "range_lower": ("metric", [0.0]),
            "range_upper": ("metric", [1.0]),
            "covers": (dims[2:], [[True, False]]),
            "usable": (("estimator", "draw"), np.ones((2, 3))),
        },
        coords={"estimator": ["standard", "mbm (bayesian)"], "level": [0.95], "metric": ["sel"], "draw": range(3)},
    )


def test_the_table_counts_errors_bias_coverage_and_clipped_width() -> None:
    found = table(_found()).set_index(["estimator", "subgroups"])
    other = found.loc[("mbm (bayesian)", "all")]
    assert other["mae"] == pytest.approx((0.05 + 0.35) / 2)
    assert other["ratio"] == pytest.approx(0.2 / 0.25)
    assert other["bias"] == pytest.approx(-(100 * 0.05 + 10 * 0.35) / 110)
    assert other["width"] == pytest.approx(0.65)
    assert found.loc[("standard", "small"), "pairs"] == 3
    assert found.loc[("standard", "small"), "coverage"] == 1.0
    assert found.loc[("standard", "known"), ["pairs", "mae"]].tolist() == pytest.approx([3, 0.1])


def test_the_command_writes_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(model_based, "populations", lambda folder: [None])
    monkeypatch.setattr(model_based, "study", lambda population, competitors, **settings: _found())
    main(["--data", str(tmp_path), "--output", str(tmp_path)])
    assert len(pd.read_csv(tmp_path / model_based.RECORD)) == 6
    assert "3 draws, 3 usable fits" in capsys.readouterr().out
    assert list(competitors())[0] == "standard"  # noqa: RUF015


KEYS = ("estimator", "metric", "subgroups")
HALF_DIGIT = 1.01e-4
"""A record with four decimals, and one unit of the last of them."""


def _remade(*names: str) -> list[dict[str, object]]:
    """Lines of some estimators, made again in all draws."""
    readmission = populations(public_data("diabetes", "adult", "asr_commonvoice"))[0]
    chosen = {name: competitors()[name] for name in ("standard", *names)}
    lines = table(study(readmission, chosen, draws=DIABETES_DRAWS, seed=SEED)).to_dict("records")
    return [{str(name): value for name, value in line.items()} for line in lines]


@pytest.mark.record
def test_lines_of_references_can_be_made_again() -> None:
    lines = _remade("js", "eb_plug_in", "eb_morris")
    assert len(lines) == 4 * 18
    assert_remade(RECORD, lines, KEYS, tolerance=HALF_DIGIT)


@pytest.mark.slow
def test_lines_of_crossed_effects_can_be_made_again() -> None:
    """Both sides; a pair of draw and subgroup may change sides of a limit where draws are rounded otherwise."""
    lines = _remade("crossed_effects")
    assert len(lines) == 3 * 18
    assert_remade(RECORD, lines, KEYS, tolerance=5e-3)
