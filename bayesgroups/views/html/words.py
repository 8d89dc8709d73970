"""Metrics, estimators, likelihoods, priors and intervals in words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import xarray as xr

from bayesgroups.models.shared.component_scales import LOGIT_SCALE, ROW_SHARE
from bayesgroups.models.shared.confusion_tree import (
    DECISION_SCALE,
    FOLLOWER_SCALE,
    OUTCOME_SCALE,
    SELECTION_SLOPE_MEAN,
    SELECTION_SLOPE_SD,
)
from bayesgroups.models.shared.scales import JEFFREYS, LOGIT_OVERALL_SCALE, LOGIT_TAU_SCALE, WEAK, natural_scale
from bayesgroups.models.shared.score_cells import EFFECT_SCALE
from bayesgroups.report.view import plain
from bayesgroups.tallies.notes import assumed_directions

_METRICS = {
    "sel": ("Selection rate", "the share of all rows that are selected", "rows"),
    "acc": ("Accuracy", "the share of all rows whose decision agrees with the outcome", "rows"),
    "tpr": ("True positive rate", "the share of positives that are selected", "positives"),
    "fnr": ("False negative rate", "the share of positives that are not selected", "positives"),
    "fpr": ("False positive rate", "the share of negatives that are selected", "negatives"),
    "tnr": ("True negative rate", "the share of negatives that are not selected", "negatives"),
    "ppv": ("Positive predictive value", "the share of positives among the selected", "selected rows"),
    "fdr": ("False discovery rate", "the share of negatives among the selected", "selected rows"),
    "npv": (
        "Negative predictive value",
        "the share of negatives among those not selected",
        "rows not selected",
    ),
    "for": ("False omission rate", "the share of positives among those not selected", "rows not selected"),
    "f1": ("F1 score", "the harmonic mean of precision and recall", "rows that are positive or selected"),
    "auc": (
        "Area under the ROC curve",
        "the chance that a random positive scores higher than a random negative, ties counting one half",
        "pairs, as the harmonic size n0 n1 / (n0 + n1 + 1) of the two classes",
    ),
    "correct": ("Share correct", "the share of answers that are graded correct", "answers"),
    "mean": ("Mean loss", "the mean of the loss over all rows", "rows"),
}

_ESTIMATORS = {
    "no_pooling": "No pooling: every subgroup is estimated from its own rows alone.",
    "complete_pooling": "Complete pooling: all subgroups get one value, as if they did not differ.",
    "james_stein": (
        "James-Stein: every subgroup is pulled the same share of the way to the overall value, the more so the less "
        "the subgroups differ beyond chance; small ones no more than large ones."
    ),
    "partial_pooling": (
        "Partial pooling: subgroups are taken to be drawn from one population, so that small ones borrow "
        "strength from the others and are pulled towards the overall value, large ones hardly at all."
    ),
    "crossed_effects": (
        "Crossed effects: a subgroup is the sum of what every subset of its attributes contributes, so that it borrows "
        "strength from the subgroups that share some of its attributes."
    ),
    "confusion": (
        "Confusion cells: decision and outcome of every subgroup are modelled together, with effects of every subset of its "
        "attributes, and every metric is computed from the same cells, so that the metrics agree with each other."
    ),
    "disagreement": (
        "Disagreement feedback: critics say whether they disagree and not with which label, so that rates are known within "
        "bounds; where in them a rate lies is a stated prior on the Bayesian side, and left open on the other."
    ),
    "model_based_metrics": (
        "Model-based metrics: the score itself is modelled given outcome and subgroup, and every metric is computed from that "
        "model, so that small subgroups borrow the shape of scores from large ones; the diagnostics say whether it fits."
    ),
    "structured_regression": (
        "Structured regression: a subgroup is the sum of the effects of its features, its attributes among them, and an "
        "effect of its own; few of all these effects are expected to matter, and the others are pulled to nothing."
    ),
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
    "wilson": "Wilson's score interval of a proportion, from the rows of the subgroup alone",
    "jeffreys": "Jeffreys' interval of a proportion",
    "clopper_pearson": "the exact interval of Clopper and Pearson, which is conservative",
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
    "bootstrap_normal": "normal interval with a bootstrap standard error from resampling critics and items",
    "fab": "the FAB interval of Yu and Hoff, which covers in every single subgroup",
}

_NORMAL = ("james_stein", "structured_regression")
"""Words whose likelihood is normal for every metric."""

_PER_CLASS = re.compile(r"(?P<rate>[a-z0-9]+)\[(?P<label>.+)\]", re.DOTALL)


@dataclass(frozen=True)
class MetricWords:
    """A metric in words: its title, what it is, what n counts, and which way is better."""

    title: str
    definition: str
    counted: str
    direction: str


def metric_words(tally: xr.Dataset, metric: str) -> MetricWords:
    """Describe one metric of a tally.

    Parameters
    ----------
    tally : xr.Dataset
        A tally, or the ``constant_data`` of a report.
    metric : str
        One of its metrics.

    Returns
    -------
    MetricWords

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([1], [2], pd.DataFrame({"site": ["a"]}), metric="fnr")
    >>> metric_words(counts, "fnr").definition
    'the share of positives that are not selected'
    """
    one = tally.sel(metric=metric)
    kind, larger = str(one["kind"].values), bool(int(one["larger_is_better"]))
    settings = settings_of(tally)
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
    elif kind == "rate":
        title, definition, counted = plain(metric), "successes out of trials", "trials"
    elif kind == "estimate":
        title, definition, counted = (
            plain(metric),
            "estimates with their sampling variances, as published",
            "",
        )
    else:
        title, definition, counted = (
            plain(metric),
            "the mean of a value over the rows that count",
            "rows that count",
        )
    if settings.get("weights") and counted:
        counted += ", as the effective number under the weights"
    direction = "larger is better" if larger else "smaller is better"
    if metric in assumed_directions(tally):
        direction = f"{direction}, for no direction was given"
    elif title == "Selection rate":  # which way is better is a matter of values
        direction = ""
    return MetricWords(title, definition, counted, direction)


def estimator_words(word: str) -> str:
    """Assumptions of an estimator, in a sentence."""
    return _ESTIMATORS.get(word, f"Estimator {plain(word.replace('_', ' '))}.")


def interval_words(method: str) -> str:
    """Description of an interval; methods can carry a remark in brackets.

    Examples
    --------
    >>> interval_words("t (unshrunk: too few subgroups)")
    "Student's t interval with the row variance of each subgroup (unshrunk: too few subgroups)"
    """
    word, _, remark = method.partition(" (")
    said = _INTERVALS.get(word, plain(word.replace("_", " ")))
    return f"{said} ({plain(remark)}" if remark else said


def model_words(report: xr.DataTree) -> list[str]:
    """Likelihood and priors of the Bayesian side, one sentence per metric with its own.

    Parameters
    ----------
    report : xr.DataTree
        A report.

    Returns
    -------
    list of str
        Rates come together in one sentence where they have the same priors.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([1, 30], [2, 100], pd.DataFrame({"site": ["a", "b"]}), metric="fnr")
    >>> model_words(bg.estimate(counts, bg.NoPooling(), seed=1))
    ['fnr: binomial likelihood; the prior of each subgroup is Beta(0.5, 0.5) (Jeffreys).']
    """
    tally, word = report["constant_data"].to_dataset(), str(report.attrs["estimator"])
    settings = json.loads(str(report.attrs["settings"]))
    if word not in _ESTIMATORS:
        return []
    said: dict[str, list[str]] = {}
    natural = natural_scale(tally)
    posterior = report["posterior"].to_dataset()
    follower = str(posterior["follower"].item()) if "follower" in posterior else None
    for i, metric in enumerate(tally["metric"].values):
        binomial = str(tally["kind"].values[i]) == "rate" and settings.get("likelihood", "auto") != "normal"
        binomial &= word not in _NORMAL
        own = {name: float(natural[name].values[i]) for name in ("centre", "scale", "tau_scale")}
        binomial |= word in ("confusion", "disagreement")
        likelihood = "binomial likelihood" if binomial else "normal likelihood with known sampling variances"
        if word == "model_based_metrics":
            likelihood = "a functional of normal scores, in standard units, of each outcome"
        known = settings.get("centre")
        mine = settings | {"centre": known.get(str(metric)) if isinstance(known, dict) else known, "follower": follower}
        sentence = f"{likelihood}; {_priors(word, mine, own, binomial=binomial)}."
        said.setdefault(sentence, []).append(plain(str(metric)))
    return [f"{', '.join(metrics)}: {sentence}" for sentence, metrics in said.items()]


def settings_of(tally: xr.Dataset) -> dict[str, Any]:
    """Settings by which a tally was made; empty where it does not say."""
    try:
        found = json.loads(str(tally.attrs.get("settings", "{}")))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _priors(word: str, settings: Mapping[str, Any], own: Mapping[str, float], *, binomial: bool) -> str:
    if word == "james_stein":
        known = settings.get("centre")
        number = "three" if known is None else "two"
        few = f"with {number} estimates or fewer each subgroup stands alone, with a flat prior"
        if known is not None:
            return f"subgroups are Normal({known:.3g}, tau) around a known centre, with a flat prior of the square of tau; {few}"
        return f"subgroups are Normal(centre, tau), with flat priors of the centre and of the square of tau; {few}"
    if word == "crossed_effects":
        return _component_prior(settings, binomial=binomial)
    if word == "confusion":
        return _factor_prior(settings)
    if word == "model_based_metrics":
        return f"half-normal priors of scale {settings.get('effect_scale') or EFFECT_SCALE:g} on the standard deviations of effects"
    if word == "disagreement":
        return _destination_prior(settings)
    if word == "structured_regression":
        return _coefficient_prior(settings, own)
    if word != "partial_pooling":
        whose = "each subgroup" if word == "no_pooling" else "the one value"
        if binomial:
            return f"the prior of {whose} is Beta({JEFFREYS:g}, {JEFFREYS:g}) (Jeffreys)"
        return f"the prior of {whose} is Normal({own['centre']:.3g}, {WEAK * own['scale']:.3g})"
    what = "logits of subgroups" if binomial else "subgroups"
    middle = 0.0 if binomial else own["centre"]
    overall = settings.get("overall_scale") or (LOGIT_OVERALL_SCALE if binomial else own["scale"])
    tau = settings.get("tau_scale") or (LOGIT_TAU_SCALE if binomial else own["tau_scale"])
    priors = f"centre ~ Normal({middle:.3g}, {overall:.3g}) and tau ~ HalfNormal({tau:.3g})"
    return f"{what} are Normal(centre, tau), with priors {priors}"


def _component_prior(settings: Mapping[str, Any], *, binomial: bool) -> str:
    family = {"half_normal": "half-normal", "half_t": "half-t", "r2d2": "R2-D2"}[str(settings.get("prior", "half_t"))]
    given = settings.get("tau_scale")
    default = f"{LOGIT_SCALE:g} logits" if binomial else f"{ROW_SHARE:g} of the standard deviation of a row"
    scale = f"{given:.3g}" if given else default
    return f"{family} priors of scale {scale} on the standard deviations of the components"


def _factor_prior(settings: Mapping[str, Any]) -> str:
    given = settings.get("tau_scale")
    scale = (
        f"{given:.3g}" if given else f"{DECISION_SCALE:g} for decisions and {OUTCOME_SCALE:g} for outcomes given them"
    )
    said = (
        f"half-normal priors of scale {scale} on the standard deviations of the components of the logits of the cells"
    )
    if settings.get("correlated"):
        return f"{said}, correlated across them with an LKJ prior"
    if settings.get("follower") is None:
        return said
    slope = f"Normal({SELECTION_SLOPE_MEAN:g}, {SELECTION_SLOPE_SD:g})"
    besides = "" if given else f", and a scale of {FOLLOWER_SCALE:g} besides"
    followed = {"for": "outcomes where the decision is negative", "ppv": "outcomes where it is positive"}[
        settings["follower"]
    ]
    return f"{said}; {followed} follow the selection rate, slope ~ {slope}{besides}"


def _destination_prior(settings: Mapping[str, Any]) -> str:
    overall, tau = settings.get("overall_scale") or LOGIT_OVERALL_SCALE, settings.get("tau_scale") or LOGIT_TAU_SCALE
    return (
        f"logits of disagreement are Normal(centre, tau), with priors centre ~ Normal(0, {overall:.3g}) and "
        f"tau ~ HalfNormal({tau:.3g}); "
        f"the label that a disagreeing critic has in mind has the prior Dirichlet({settings.get('destination', 1.0):.3g})"
    )


def _coefficient_prior(settings: Mapping[str, Any], own: Mapping[str, float]) -> str:
    overall = f"overall ~ Normal({own['centre']:.3g}, {own['scale']:.3g})"
    if settings.get("prior") == "laplace":
        return f"{overall}, and Laplace(0, tau) priors of coefficients with tau ~ HalfNormal({own['tau_scale'] / 2**0.5:.3g})"
    slab = settings.get("slab_scale") or own["scale"]
    return f"{overall}, and a regularised horseshoe prior of coefficients with a slab of {slab:.3g}"
