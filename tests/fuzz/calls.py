"""Ordinary calls of public functions, one argument of which a case replaces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from sklearn.dummy import DummyClassifier

import bayesgroups as bg
from bayesgroups import datasets, interop, plots
from bayesgroups.data import metrics
from bayesgroups.data.directions import direction_of

Call = tuple[Callable[..., Any], dict[str, Any]]
BY = ["g", "h"]


@cache
def rows() -> pd.DataFrame:
    """Rows with outcomes, decisions, scores, losses, clusters, judges, critics and two systems."""
    rng = np.random.default_rng(1)
    size = 180
    y = rng.integers(0, 2, size)
    return pd.DataFrame(
        {
            "g": np.tile(["a", "b"], size // 2), "h": np.repeat(["x", "y", "z"], size // 3), "y": y,
            "d": (rng.random(size) < 0.3 + 0.4 * y).astype(int), "s": rng.random(size).round(2), "l": rng.random(size),
            "c": [f"c{i}" for i in np.arange(size) // 4], "w": rng.integers(1, 4, size), "x": rng.normal(size=size),
            "disagrees": rng.integers(0, 2, size), "new": rng.integers(0, 2, size), "old": rng.integers(0, 2, size),
            "gold": np.where(np.arange(size) % 3 == 0, rng.random(size), np.nan), "judge": rng.random(size),
        }
    )  # fmt: skip


@cache
def counts() -> xr.Dataset:
    """Counts of four subgroups."""
    return bg.tally(rows(), BY, ["tpr", "fpr"], y_true="y", y_pred="d", confusion=True)


@cache
def one_metric() -> xr.Dataset:
    return bg.tally(rows(), BY, ["sel"], y_pred="d")


@cache
def scored() -> xr.Dataset:
    return bg.tally(rows(), BY, ["tpr", "auc"], y_true="y", y_score="s", threshold=0.5)


@cache
def paired() -> xr.Dataset:
    return bg.paired_tally(rows(), BY, ["new", "old"])


@cache
def disagreement() -> xr.Dataset:
    return bg.disagreement_tally(rows(), ["g"], "d", "disagrees")


@cache
def labelled_in_part() -> xr.Dataset:
    some = rows().assign(y=rows()["y"].where(rows().index % 3 > 0))
    return bg.tally(some, BY, ["prev"], y_true="y", y_pred="d", unlabelled="keep")


@cache
def report() -> xr.DataTree:
    return bg.estimate(one_metric(), bg.PartialPooling(), seed=1)


@cache
def crossed() -> xr.DataTree:
    return bg.estimate(one_metric(), bg.CrossedEffects(own_effects="learned"), seed=1)


@cache
def points() -> pd.DataFrame:
    return pd.DataFrame({"performance": [0.9, 0.8, 0.7], "fairness": [0.5, 0.6, 0.9], "method": list("uuv")})


def drawn_points(seed: int) -> xr.Dataset:
    draws = np.random.default_rng(seed).normal(0.7, 0.1, (2, 40, 3))
    return xr.Dataset(
        {name: (("draw", "candidate"), each) for name, each in zip(("performance", "fairness"), draws, strict=True)}
    )


ESTIMATES = {
    "complete_pooling": one_metric, "confusion": counts, "crossed_effects": one_metric, "disagreement": disagreement,
    "james_stein": one_metric, "judged_confusion": counts, "model_based_metrics": scored, "no_pooling": one_metric,
    "partial_pooling": one_metric, "structured_regression": one_metric,
}  # fmt: skip
"""Frequentist references and the tallies that they take."""


def replication(rng: np.random.Generator) -> tuple[dict[str, float], dict[str, Any]]:
    """A replication of a study of calibration."""
    return {"mu": rng.normal()}, {"mu": rng.normal(size=50)}


@cache
def calls() -> Mapping[str, Call]:
    """Calls that are answered, by the names of functions."""
    frame, tally = rows(), counts()
    population = pd.DataFrame({"g": list("aaabbb"), "h": list("xyzxyz"), "count": range(1, 7)})
    subgroups = population[BY]
    scores = xr.DataArray([[0.5, 0.6], [0.7, 0.8]], dims=("subgroup", "class"))
    confusion = xr.DataArray(np.full((2, 2, 2), 5), dims=("subgroup", "label", "predicted"))
    model = DummyClassifier().fit(frame[["x"]], frame["y"])
    labels: dict[str, Any] = {"y_true": "y", "y_score": "s", "draws": 100, "seed": 1}
    simulated = bg.Population(
        "rows",
        frame,
        {"g": ("a", "b")},
        (bg.Metric("wrong", value="d", kind="rate"),),
        rows=40,
        design="independent",
        fewest=1,
    )
    answers: dict[Callable[..., Any], dict[str, Any]] = {
        bg.tally: {"frame": frame, "by": BY, "metrics": ["tpr", "acc"], "y_true": "y", "y_pred": "d"},
        bg.tally_from_counts: {"successes": range(6), "trials": [9] * 6, "subgroups": subgroups},
        bg.tally_from_estimates: {"estimate": range(6), "sampling_variance": [0.1] * 6, "subgroups": subgroups},
        bg.tally_from_cells: {"decision_count": [[4, 5]] * 6, "cell_count": [[[3, 1], [1, 4]]] * 6, "subgroups": subgroups},
        bg.tally_from_estimator: {"model": model, "X": frame[["x"]], "y": frame["y"], "by": frame[BY]},
        interop.tally_from_scorer: {
            "model": model, "X": frame[["x"]], "y": frame["y"], "by": frame[BY], "scoring": "accuracy", "seed": 1, "replicates": 20,
        },
        bg.disagreement_tally: {"frame": frame, "by": BY, "label": "d", "disagrees": "disagrees"},
        bg.gold_score_tally: {"frame": frame, "by": BY, "gold": "gold", "judge": "judge"},
        bg.paired_tally: {"frame": frame, "by": BY, "systems": ["new", "old"]},
        bg.add_tallies: {"tallies": [tally, tally]}, bg.margins: {"tally": tally},
        bg.save_tally: {"tally": tally, "path": "a.nc"}, bg.open_tally: {"path": "none.nc"}, bg.open_report: {"path": "none.nc"},
        bg.name_levels: {"data": tally, "names": {"g": {"a": "A"}}},
        bg.word_errors: {"reference": ["a b", "c"], "hypothesis": ["a", "c"]},
        bg.estimate: {"tally": one_metric(), "estimator": bg.NoPooling(), "seed": 1},
        bg.compare: {"reports": {"one": report(), "two": crossed()}}, bg.loo: {"report": report()},
        bg.save_report: {"report": report(), "path": "a.nc"},
        bg.add_groups: {"report": report(), "groups": ["log_likelihood"]},
        bg.report_from_draws: {"tally": one_metric(), "draws": report()["posterior"]["mu"]},
        bg.write_html: {"report": report(), "path": "a.html"},
        bg.write_systems_html: {"source": paired(), "path": "a.html"}, bg.citations: {"report": report()},
        bg.run_analysis: {"path": "none.toml"},
        bg.judge_corrected: {"tally": labelled_in_part()},
        bg.rows_to_label: {"source": labelled_in_part(), "number": 150}, bg.variance_attribution: {"report": crossed()},
        bg.goodness_of_fit: {"tally": one_metric(), "formulas": ["g", "g + h"]},
        bg.goodness_of_fit_rows: {"frame": frame, "formulas": ["g", "g + h"], "value": "s", "cluster": "c"},
        bg.between_group_variance: {"tally": one_metric(), "draws": 50}, bg.maihda: {"source": one_metric()},
        bg.disparity: {"source": one_metric(), "draws": 50},
        bg.aggregate: {"scores": scores, "center": "mean"}, bg.auc_intervals: {"tally": scored()},
        bg.reporting_checklist: {"confusion": confusion, "aggregated": bg.aggregate(scores, center="mean"), "metric": "f1"},
        bg.poststratify: {"source": one_metric(), "population": population},
        bg.calibration_curve: {"source": frame, "by": BY, **labels}, bg.roc_curve: {"source": frame, "by": BY, **labels},
        bg.threshold_curve: {"source": frame, "by": BY, **labels},
        bg.disagreement_bounds: {"tally": disagreement(),
            "notion": "equal_opportunity"},
        bg.auc_pfc: {"points": points(), "anchor": 0.5},
        bg.compare_auc_pfc: {"methods": {"u": drawn_points(1), "v": drawn_points(2)}, "anchor": 0.5},
        bg.distance_to_optimum: {"points": points()}, bg.pareto_frontier: {"points": points()},
        bg.select_model: {"points": points()},
        bg.prior_predictive: {"tally": one_metric(), "estimator": bg.PartialPooling(), "seed": 1, "draws": 20},
        bg.prior_sensitivity: {"report": report()}, bg.compare_systems: {"source": paired()}, bg.leaderboard: {"source": paired()},
        bg.study: {"population": simulated, "estimators": {"alone": bg.NoPooling()}, "draws": 2, "seed": 1},
        bg.calibrate: {"replication": replication, "replications": 3, "bins": 5, "seed": 1},
        bg.subsampling: {"frame": frame, "by": BY, "y_true": "y", "y_pred": "d", "fractions": [0.5, 1.0]},
        bg.two_way_clusters: dict.fromkeys(("first", "second", "both"), bg.tally(frame, BY, ["sel"], y_pred="d", cluster="c")),
        interop.export_report: {"report": report(), "path": "a.csv"}, interop.metric_frame: {"report": report()},
        interop.great_table: {"report": report()}, interop.read_inspect: {"path": "none.eval"},
        interop.read_lm_eval: {"path": "none.jsonl"}, interop.read_logs: {"source": "none.eval"},
        interop.tally_from_metric_frame: {"frame": object()}, metrics.named: {"name": "tpr"},
        plots.forest: {"report": report()}, plots.shrinkage: {"report": report()}, plots.certification: {"report": report()},
        plots.disparity_posterior: {"report": report()}, plots.heat_map: {"report": report(), "rows": "g", "columns": "h"},
        plots.contrasts: {"answer": bg.contrasts(one_metric())}, plots.maihda: {"answer": bg.maihda(one_metric())},
        plots.curves: {"found": bg.roc_curve(frame, BY, **labels)},
        plots.calibration_ranks: {"ranks": {"mu": range(99)}, "draws": 99},
        plots.population: {"report": bg.poststratify(one_metric(), population)},
        plots.ordered_effect: {"report": bg.estimate(one_metric(), bg.CrossedEffects(ordered=("h",)), seed=1), "attribute": "h"},
        plots.prior_predictive: {"found": bg.prior_predictive(one_metric(), bg.PartialPooling(), seed=1, draws=20)},
        plots.coverage: {"table": pd.DataFrame({"interval": ["a", "b"], "level": 0.95, "coverage": [0.9, 1.0], "mc_error": 0.1,
                                               "replications": [10, 10]})},
        plots.disagreement_bounds: {"found": bg.disagreement_bounds(disagreement(), "equal_opportunity")},
        datasets.draw_evaluation: {"frame": frame, "by": BY, "n": 30, "seed": 1},
        datasets.largest_remainder: {"sizes": [3, 4, 5], "n": 6}, datasets.demonstration: {"seed": 1},
        direction_of: {"name": "tpr"}, metrics.net_benefit: {"threshold": 0.5},
        plots.systems: {"answer": bg.compare_systems(paired())}, plots.frontier: {"methods": {"u": points()}, "anchor": 0.5},
    }  # fmt: skip
    for ask in (bg.contrasts, bg.impact_ratios, bg.certify, bg.discoveries, bg.fairness_definitions, bg.ranks,
                bg.simultaneous_intervals):  # fmt: skip
        answers[ask] = {"source": tally}
    for reference, counted in ESTIMATES.items():
        answers[import_module(f"bayesgroups.frequentist.{reference}").estimate] = {"tally": counted()}
    return {f"{ask.__module__}.{ask.__name__}": (ask, given) for ask, given in answers.items()}
