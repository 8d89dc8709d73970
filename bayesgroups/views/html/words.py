"""Metrics, intervals, and what a report says of its estimator, in words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.report.view import plain
from bayesgroups.tallies.notes import assumed_directions, undirected
from bayesgroups.tallies.partial_labels import is_partial
from bayesgroups.tallies.partial_metrics import mixed

_METRICS = {
    "sel": ("Selection rate", "the share of all rows that are selected", "rows"),
    "acc": ("Accuracy", "the share of all rows whose decision agrees with the outcome", "rows"),
    "tpr": ("True positive rate", "the share of positives that are selected", "positives"),
    "fnr": ("False negative rate", "the share of positives that are not selected", "positives"),
    "fpr": ("False positive rate", "the share of negatives that are selected", "negatives"),
    "tnr": ("True negative rate", "the share of negatives that are not selected", "negatives"),
    "ppv": ("Positive predictive value", "the share of positives among the selected", "selected rows"),
    "fdr": ("False discovery rate", "the share of negatives among the selected", "selected rows"),
    "npv": ("Negative predictive value", "the share of negatives among those not selected", "rows not selected"),
    "for": ("False omission rate", "the share of positives among those not selected", "rows not selected"),
    "f1": ("F1 score", "the harmonic mean of precision and recall", "rows that are positive or selected"),
    "auc": (
        "Area under the ROC curve",
        "the chance that a random positive scores higher than a random negative, ties counting one half",
        "pairs, as the harmonic size n0 n1 / (n0 + n1 + 1) of the two classes",
    ),
    "correct": ("Share correct", "the share of answers that are graded correct", "answers"),
    "prev": ("Prevalence", "the share of positives among all rows", "rows"),
    "judge_bias": (
        "Bias of the judge",
        "the share of all rows that the judge calls positive, less the share that are positive",
        "rows",
    ),
    "mean": ("Mean loss", "the mean of the loss over all rows", "rows"),
}

_INTERVALS = {
    "equal_tailed": (
        "equal-tailed posterior interval: given model and prior, the value lies in it with the stated chance"
    ),
    "one_sided": (
        "one-sided posterior interval from the end of the range, taken where no row, or every row, is a success and it is shorter "
        "than the equal-tailed one: given model and prior, the value lies in it with the stated chance"
    ),
    "delta": "normal interval with the standard error of the delta method, from the confusion cells of the subgroup alone",
    "multinomial_bootstrap": "percentiles of a bootstrap of the subgroup's confusion cells",
    "score_regression_fast": "percentiles of a bootstrap of the score regression, one Newton step per replicate; can be too short",
    "score_regression_full": "percentiles of a bootstrap of the score regression; can be too short",
    "wilson": "Wilson's score interval of a proportion, or of the one behind an F1, from the rows of the subgroup alone",
    "jeffreys": "Jeffreys' interval of a proportion",
    "clopper_pearson": "the exact interval of Clopper and Pearson, which is conservative",
    "anytime": "anytime-valid limits, which hold at all looks together",
    "anytime_beta": "anytime-valid limits of a proportion (prior-posterior ratio), which hold at all looks together",
    "anytime_normal": "anytime-valid limits of a mean (normal mixture), for many rows, which hold at all looks together",
    "wald": "the normal interval of a proportion with its own variance, without width where all rows agree",
    "percentile": "bootstrap percentile interval of a proportion, without width where all rows agree",
    "pooled_t": "Student's t interval with the row variance pooled over subgroups",
    "pooled_normal": "normal interval with the row variance pooled over subgroups",
    "separate_normal": "normal interval with the bootstrap variance of each subgroup, too short if small",
    "t": "Student's t interval with the row variance of each subgroup",
    "bootstrap": "bootstrap interval: as wide as the errors of the estimate in resampled data, bias included",
    "unshrunk": "normal interval with the row variance pooled over subgroups; too few of them to shrink",
    "morris": (
        "Morris's empirical-Bayes interval, which counts the uncertainty about the population of subgroups; "
        "it covers on average over subgroups"
    ),
    "plug_in": ("plug-in empirical-Bayes interval, which takes estimated hyper-parameters for true ones: under-covers"),
    "robust": "the robust empirical-Bayes interval of Armstrong, Kolesar and Plagborg-Moller",
    "corrected": (
        "empirical-Bayes interval that counts the uncertainty about the variance components by drawing them anew"
    ),
    "rblpr_known_variance": (
        "bootstrap interval of lasso and partial ridge, with normal errors of the known sampling variances"
    ),
    "rblpr_residual": "bootstrap interval of lasso and partial ridge, with resampled residuals; can be too short",
    "cluster_robust": "Student's t interval with the cluster-robust variance of each subgroup, its clusters taken for independent",
    "imbens_manski": (
        "confidence set of Imbens and Manski for a value that is known within bounds only; the estimate is their middle"
    ),
    "imbens_manski_bounds": (
        "confidence set of Imbens and Manski around the bounds that remain where people are in cells without rows; there is no "
        "estimate without an assumption about them"
    ),
    "mover": (
        "limits of a weighted sum by the method of variance estimates recovery, from Wilson limits of the cells; cells are taken "
        "to be sampled independently"
    ),
    "satterthwaite_t": "Student's t interval of a weighted sum of means, with Satterthwaite's degrees of freedom",
    "bootstrap_normal": "normal interval with a bootstrap standard error from resampling critics and items",
    "fab": "the FAB interval of Yu and Hoff, which covers in every single subgroup",
}

_PER_CLASS = re.compile(r"(?P<rate>[a-z0-9]+)\[(?P<label>.+)\]", re.DOTALL)


@dataclass(frozen=True)
class MetricWords:
    """A metric in words: its title, what it is, what n is, and which way is better; ``effective`` where n is no number of rows."""

    title: str
    definition: str
    counted: str
    direction: str
    effective: bool = False


def metric_words(tally: xr.Dataset, metric: str) -> MetricWords:
    """Description of one metric of a tally, or of the ``constant_data`` of a report."""
    selected = tally.sel(metric=metric)
    kind, larger = str(selected["kind"].values), bool(int(selected["larger_is_better"]))
    settings = json_of(tally, "settings", {})
    per_class = _PER_CLASS.fullmatch(metric)
    if metric in _METRICS:
        title, definition, counted = _METRICS[metric]
        if metric == "mean" and settings.get("loss"):
            definition = f"the mean of the column {plain(str(settings['loss']))} over all rows"
        title = "Mean" if metric == "mean" and larger else title
    elif per_class and per_class["rate"] in _METRICS:
        label = plain(per_class["label"])
        title, definition, counted = _METRICS[per_class["rate"]]
        title, definition = (
            f"{title} of {label}",
            f"{definition}, where {label} is positive and any other class negative",
        )
    elif settings.get("source") == "pairs":
        title, definition, counted = plain(metric), *_of_systems(tally, metric)
    elif kind == "rate":
        title, definition, counted = plain(metric), "successes out of trials", "trials"
    elif kind == "estimate":
        title, definition, counted = (plain(metric), "estimates with their sampling variances, as published", "")
    else:
        title, definition, counted = (plain(metric), "the mean of a value over the rows that count", "rows that count")
    reasons = _effective(tally, metric, kind, settings) if counted else []
    counted = _sentence(tally, metric, kind, settings, counted, reasons) if counted else ""
    direction = "larger is better" if larger else "smaller is better"
    if metric in undirected(tally):
        direction = "0 is fair, and neither larger nor smaller values are better"
    elif metric in assumed_directions(tally):
        direction = f"{direction}, for no direction was given"
    elif title == "Selection rate":  # which way is better is a matter of values
        direction = ""
    return MetricWords(title, definition, counted, direction, bool(reasons))


def _of_systems(tally: xr.Dataset, metric: str) -> tuple[str, str]:
    """Definition of the value of a system, or of a difference of two, and what it is of."""
    names = tally["pair"].values.astype(str).tolist() if "pair" in tally.coords else []
    if metric not in names:
        return f"the mean of the values of {plain(metric)} over the items that it has", "items"
    first, second = (plain(str(tally[side].values[names.index(metric)])) for side in ("first", "second"))
    return f"the mean of the values of {first} less those of {second}, over the items that both have", "items"


def _effective(tally: xr.Dataset, metric: str, kind: str, settings: Mapping[str, Any]) -> list[str]:
    """Reasons why n is an effective number; none where it is a number of rows or clusters."""
    if kind != "auc" and settings.get("cluster_analysis") == "mean":
        return []
    reasons = ["rows have weights"] if settings.get("weights") else []
    if kind != "auc" and settings.get("cluster_analysis") == "robust":
        reasons.append("rows of a cluster say in part the same")
    if kind in ("rate", "f1") and _partly_labelled(tally, metric, settings):
        reasons.append("not every row has a label")
    return reasons


def _partly_labelled(tally: xr.Dataset, metric: str, settings: Mapping[str, Any]) -> bool:
    """True of a metric that rests on outcomes that some rows lack; of targets, which keep no labels, their numbers tell."""
    if settings.get("unlabelled") != "keep":
        return False
    if is_partial(tally):
        return bool(mixed(tally)[tally["metric"].values.tolist().index(metric)].any())
    count = tally["count"].sel(metric=metric).values
    return bool((count != np.rint(count)).any())


def _sentence(
    tally: xr.Dataset, metric: str, kind: str, settings: Mapping[str, Any], counted: str, reasons: list[str]
) -> str:
    """Sentence on n: a number of rows, of clusters, or an effective number and why."""
    if reasons:
        return f"n is the effective number of {counted}, for {' and '.join(reasons)}: so many independent ones tell as much"
    if kind != "auc" and settings.get("cluster_analysis") == "mean":
        return "n counts clusters, each of which counts once"
    if kind == "mean" and _partly_labelled(tally, metric, settings):
        return f"n counts {counted} with a label"
    return f"n counts {counted}"


def estimator_words(report: xr.DataTree) -> str:
    """The description of its estimator that a report carries; its word where it carries none."""
    word = str(report.attrs["estimator"]).replace("_", " ")
    return plain(str(report.attrs.get("description") or f"Estimator {word}."))


def interval_words(method: str) -> str:
    """Description of an interval; methods can carry a remark in brackets.

    >>> interval_words("t (unshrunk: too few subgroups)")
    "Student's t interval with the row variance of each subgroup (unshrunk: too few subgroups)"
    """
    word, _, remark = method.partition(" (")
    description = _INTERVALS.get(word, plain(word.replace("_", " ")))
    return f"{description} ({plain(remark)}" if remark else description


def model_words(report: xr.DataTree) -> list[str]:
    """Likelihood and priors of the Bayesian side that a report carries, one sentence for metrics that share it."""
    priors, metrics_by_prior = json_of(report, "prior_description", {}), dict[str, list[str]]()
    for metric in report["estimates"].to_dataset()["metric"].values:
        if priors.get(str(metric)):
            metrics_by_prior.setdefault(plain(str(priors[str(metric)])), []).append(plain(str(metric)))
    return [f"{', '.join(metrics)}: {sentence}." for sentence, metrics in metrics_by_prior.items()]


def json_of(data: xr.DataTree | xr.Dataset, attribute: str, otherwise: Any) -> Any:
    """An attribute that holds JSON; ``otherwise`` where it is missing or holds something else."""
    try:
        value = json.loads(str(data.attrs[attribute]))
    except (KeyError, ValueError):
        return otherwise
    wanted = Mapping if isinstance(otherwise, dict) else list
    return value if isinstance(value, wanted) else otherwise
