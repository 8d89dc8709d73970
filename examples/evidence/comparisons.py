"""Comparisons with independent programs: the quantity, the data, the test that holds it, and both values."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bayesgroups as bg
from bayesgroups.data.arrays import FloatArray

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
Pair = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class Comparison:
    """One line of the page.

    Attributes
    ----------
    oracle, version : str
        The independent program, and its version where it is stored with its values; ``installed`` where the test runs it.
    mention : str
        Text by which the test names the program.
    quantity, data, test : str
        The quantity compared, on which data, and the test that holds it.
    values : callable, optional
        Our values and the other ones, arrays of one shape; left out where the values are made by a longer test alone.
    bound : float
        Largest absolute difference that is accepted here.
    """

    oracle: str
    version: str
    mention: str
    quantity: str
    data: str
    test: str
    values: Callable[[], Pair] | None = None
    bound: float = 1e-8


def difference(comparison: Comparison) -> float:
    """Largest absolute difference of the two sides, as computed now; NaN where the test alone computes them."""
    if comparison.values is None:
        return float("nan")
    ours, theirs = comparison.values()
    return float(np.max(np.abs(np.asarray(ours) - np.asarray(theirs))))


@cache
def golden(name: str) -> Any:
    """Stored values of a file below ``tests/golden``."""
    return json.loads((GOLDEN / name).read_text(encoding="utf-8"))


def _columns(name: str, keys: int) -> dict[tuple[str, ...], FloatArray]:
    lines = csv.reader((GOLDEN / "metafor" / name).read_text(encoding="utf-8").splitlines()[1:])
    return {tuple(line[:keys]): np.array(line[keys:], dtype=np.float64) for line in lines}


def proportion(method: str) -> Pair:
    """Limits of 300 proportions, and those of statsmodels."""
    from statsmodels.stats.proportion import proportion_confint

    from bayesgroups.frequentist.intervals import proportions

    random = np.random.default_rng(3)
    n = random.integers(2, 2000, 300).astype(float)
    k = random.integers(1, n).astype(float)
    ours = getattr(proportions, {"beta": "clopper_pearson"}.get(method, method))(k, n, 0.95)
    return np.array([ours.lower, ours.upper]), np.array(proportion_confint(k, n, alpha=0.05, method=method))


def mcnemar_exact() -> Pair:
    """Exact p-values of 81 paired tables."""
    from statsmodels.stats.contingency_tables import mcnemar

    from bayesgroups.frequentist.intervals import paired_rates

    first, second = (part.ravel().astype(np.float64) for part in np.mgrid[0:9, 0:9])
    results: list[Any] = [mcnemar([[3, b], [c, 4]], exact=True) for b, c in zip(first, second, strict=True)]
    theirs = [result.pvalue for result in results]
    return np.asarray(paired_rates.mcnemar(first, second, mid=False)), np.array(theirs)


def _people() -> pd.DataFrame:
    random = np.random.default_rng(8)
    rows = pd.DataFrame({"group": random.choice(list("abcd"), 400), "y": random.integers(0, 2, 400)})
    rows["score"] = np.round(random.normal(size=400) + rows["y"], 1)
    return rows.assign(d=(rows["score"] > 0.5).astype(int))


def equalized_odds() -> Pair:
    """Difference of equalized odds of 400 rows in four groups."""
    from fairlearn.metrics import equalized_odds_difference

    rows = _people()
    tally = bg.tally(rows, by="group", metrics=["sel", "tpr", "fpr"], y_true="y", y_pred="d")
    ours = bg.disparity(tally, "equalized_odds_difference", draws=50)["value"].sel(metric="tpr").values[0]
    return np.array([ours]), np.array([equalized_odds_difference(rows.y, rows.d, sensitive_features=rows.group)])


def rates_of_groups() -> Pair:
    """Selection, false negative and false positive rates of four groups."""
    from fairlearn.metrics import MetricFrame, false_negative_rate, false_positive_rate, selection_rate

    rows = _people()
    frame = MetricFrame(
        metrics={"sel": selection_rate, "fnr": false_negative_rate, "fpr": false_positive_rate},
        y_true=rows.y, y_pred=rows.d, sensitive_features=rows.group,
    )  # fmt: skip
    tally = bg.tally(rows, by="group", metrics=["sel", "fnr", "fpr"], y_true="y", y_pred="d")
    return tally["estimate"].values, frame.by_group.to_numpy(dtype=float).T


def areas_under_curves() -> Pair:
    """The AUC of four groups, with ties."""
    from sklearn.metrics import roc_auc_score

    rows = _people()
    tally = bg.tally(rows, by="group", metrics=["auc"], y_true="y", y_score="score")
    theirs = [roc_auc_score(each.y, each.score) for _, each in rows.groupby("group")]
    return tally["estimate"].values[0], np.array(theirs)


def between_variances() -> Pair:
    """Between-group variances by six estimators, seven data sets."""
    from bayesgroups.questions.disparities.population_variance import of_population

    inputs, answers = _columns("inputs.csv", 2), _columns("estimates.csv", 2)
    pairs = []
    for name, method in answers:
        if method in ("HE", "DL", "PM", "SJ", "ML", "REML"):
            y, v = inputs[name, "y"], inputs[name, "v"]
            ours = max(of_population(y, v, v, method.lower(), "q_profile", 0.95).raw, 0.0)
            pairs.append((ours, answers[name, method][0]))
    ours_all, theirs = np.array(pairs).T
    return ours_all, theirs


def q_profiles() -> Pair:
    """Q-profile limits of seven data sets."""
    from bayesgroups.questions.disparities import q_profile

    inputs, answers = _columns("inputs.csv", 2), _columns("estimates.csv", 2)
    names = [name for name, part in inputs if part == "y"]
    limits = [q_profile.two_sided(inputs[name, "y"], inputs[name, "v"], 0.95) for name in names]
    theirs = np.array([answers[name, "Q-profile"] for name in names])
    return np.array([[float(each.lower), float(each.upper)] for each in limits]), theirs


def small_areas() -> Pair:
    """Variance by three methods and all estimates of 43 small areas."""
    from bayesgroups.frequentist.intervals import fay_herriot

    rows = list(csv.DictReader((GOLDEN / "targets" / "milk.csv").read_text(encoding="utf-8").splitlines()))
    z = np.array([float(row["direct_est"]) for row in rows])
    v = np.array([float(row["std_error"]) for row in rows]) ** 2
    major = np.array([int(row["major_area"]) for row in rows])
    x = np.column_stack([np.ones(len(z)), *(major == area for area in (2, 3, 4))]).astype(float)
    stored = golden("targets/fay_herriot_metafor.json")
    ours, theirs = [], []
    for name, method in (("REML", "reml"), ("ML", "ml"), ("PM", "moment")):
        fit = fay_herriot.fit(z, v, x, method)  # type: ignore[arg-type]
        ours += [float(fit.variance), *fit.estimate]
        theirs += [stored[name]["A"], *stored[name]["blup"]]
    return np.array(ours), np.array(theirs)


def _example() -> Any:
    who = pd.DataFrame({"race": ["A", "A", "B", "B"], "sex": ["f", "m"] * 2})
    return bg.tally_from_counts([18, 30, 18, 6], [60, 150, 40, 25], who, metric="sel")


def differences_to_rest(reference: str) -> Pair:
    """Differences of four subgroups with their standard errors."""
    answer = bg.contrasts(_example(), reference).sel(approach="frequentist", metric="sel", scale="difference")
    ours = np.column_stack([answer["estimate"].values, answer["std_error"].values])
    return ours, np.array(golden("targets/contrasts.json")[f"minus_{reference}"])


def mantel_haenszel() -> Pair:
    """Common difference, log ratio and log odds ratio across two strata."""
    answer = bg.contrasts(
        _example(), {"sex": "m"}, within="race", across="mantel_haenszel", scale=("difference", "ratio", "odds_ratio")
    ).isel(metric=0, contrast=0, approach=0)
    estimate = answer["estimate"].values
    ours = np.column_stack([[estimate[0], *np.log(estimate[1:])], answer["std_error"].values])
    return ours, np.array([golden("targets/contrasts.json")[name] for name in ("mh_rd", "mh_log_rr", "mh_log_or")])


def poststratified() -> Pair:
    """Poststratified share of schools with an award, and its standard error."""
    schools = pd.DataFrame({"type": ["E", "H", "M"]})
    tally = bg.tally_from_counts([101, 9, 14], [142, 25, 33], schools, metric="acc")
    answer = bg.poststratify(tally, schools.assign(count=[4421, 755, 1018]), variance="survey")
    table = answer["estimates"].to_dataset().sel(approach="frequentist", subgroup="all", level=0.95).isel(metric=0)
    stored = golden("targets/surveys.json")["poststratified_without_fpc"]
    return np.array([table["estimate"], table["std_error"]]), np.array([stored["estimate"], stored["se"]])


def dunnett() -> Pair:
    """Critical value of three comparisons with one subgroup, which mvtnorm simulates."""
    from bayesgroups.frequentist.intervals.many_to_one import dunnett as critical

    k, n = np.array([18.0, 30, 18, 6]), np.array([60.0, 150, 40, 25])
    v = k / n * (1 - k / n) / (n - 1)
    return np.array([critical(v[[0, 2, 3]], float(v[1]), 0.95)]), np.array(
        [golden("targets/contrasts.json")["dunnett"]]
    )


def smoothed_weights() -> Pair:
    """Leave-one-out log densities and tail shapes of five subgroups from 900 draws."""
    from bayesgroups.inference.left_out.smoothing import smoothed

    density = np.loadtxt(GOLDEN / "loo" / "log_density.csv", delimiter=",").reshape(4, -1, 5)
    answer = smoothed(density, efficiency=1.0)
    stored = pd.read_csv(GOLDEN / "loo" / "values.csv")
    return np.array([answer.elpd, answer.pareto_k]), stored[["elpd_loo", "pareto_k"]].to_numpy().T


def prediction_powered_means() -> Pair:
    """Three prediction-powered means of twelve labels and sixty judged rows, with their limits."""
    from bayesgroups.frequentist.intervals.interval import normal_quantile
    from bayesgroups.frequentist.intervals.prediction_powered import of_columns, prediction_powered, tuned_weight

    stored = golden("labels/q_labels.json")["continuous_judge"]
    y, i = np.array(stored["Y"]), np.arange(1, 13)
    moments = of_columns(y, (i * 7 % 13) / 13, ((np.arange(60) * 17 + 5) % 61) / 61)
    z, ours, theirs = normal_quantile(0.95), [], []
    for weight, key in ((0.0, "lambda_0"), (1.0, "lambda_1"), (tuned_weight(*moments), "tuned")):
        estimate, error = prediction_powered(*moments, weight)
        ours.append([estimate[0], estimate[0] - z * error[0], estimate[0] + z * error[0]])
        theirs.append([stored[key]["estimate"], *stored[key]["interval"]])
    return np.array(ours), np.array(theirs)


F, Q, INTEROP = "tests/frequentist", "tests/questions", "tests/interop"
COMPARISONS: Sequence[Comparison] = (
    Comparison("statsmodels", "installed", "statsmodels", "Wilson limits", "300 counts", f"{F}/test_proportions.py",
               lambda: proportion("wilson")),
    Comparison("statsmodels", "installed", "statsmodels", "Jeffreys limits", "300 counts", f"{F}/test_proportions.py",
               lambda: proportion("jeffreys")),
    Comparison("statsmodels", "installed", "statsmodels", "Clopper-Pearson limits", "300 counts",
               f"{F}/test_proportions.py", lambda: proportion("beta")),
    Comparison("statsmodels", "installed", "statsmodels", "exact McNemar p-values", "81 tables",
               f"{F}/test_paired_rates.py", mcnemar_exact),
    Comparison("statsmodels", "installed", "statsmodels", "F tests of nested weighted regressions", "simulated subgroups",
               f"{Q}/explanation/test_nested_models.py"),
    Comparison("statsmodels", "installed", "StratifiedTable", "Mantel-Haenszel ratios", "two unequal strata",
               f"{Q}/contrasts/test_mantel_haenszel.py"),
    Comparison("fairlearn", "installed", "fairlearn", "equalized odds difference", "400 rows",
               f"{Q}/disparities/test_field_measures.py", equalized_odds),
    Comparison("fairlearn", "installed", "MetricFrame", "selection and error rates per group", "400 rows",
               f"{INTEROP}/test_metric_frames.py", rates_of_groups),
    Comparison("scikit-learn", "installed", "sklearn", "AUC per group, with ties", "400 rows",
               f"{Q}/curves/test_roc.py", areas_under_curves),
    Comparison("scikit-learn", "installed", "sklearn", "calibration curves", "simulated scores",
               f"{Q}/curves/test_calibration.py"),
    Comparison("metafor (R)", "3.8-1", "metafor", "between-group variance, six estimators", "seven data sets",
               f"{Q}/disparities/test_metafor.py", between_variances, 1e-6),
    Comparison("metafor (R)", "3.8-1", "metafor", "Q-profile limits", "seven data sets",
               f"{Q}/disparities/test_metafor.py", q_profiles, 1e-5),
    Comparison("metafor (R)", "3.8-1", "metafor", "Fay-Herriot variances and estimates", "43 areas (milk)",
               "tests/estimators/test_covariates.py", small_areas),
    Comparison("survey (R)", "4.1-1", "SURVEY", "differences to everyone", "four subgroups",
               f"{Q}/contrasts/test_worked_numbers.py", lambda: differences_to_rest("overall"), 1e-10),
    Comparison("survey (R)", "4.1-1", "SURVEY", "differences to everyone else", "four subgroups",
               f"{Q}/contrasts/test_worked_numbers.py", lambda: differences_to_rest("rest"), 1e-10),
    Comparison("survey (R)", "4.1-1", "survey", "poststratified share and its error", "200 schools (api)",
               f"{Q}/populations/test_worked_numbers.py", poststratified, 1e-6),
    Comparison("metafor (R)", "3.8-1", "contrasts.json", "Mantel-Haenszel on three scales", "two strata",
               f"{Q}/contrasts/test_mantel_haenszel.py", mantel_haenszel),
    Comparison("mvtnorm (R)", "1.1-3", "mvtnorm", "Dunnett's critical value", "four subgroups",
               f"{F}/test_contrast_intervals.py", dunnett, 2e-4),
    Comparison("loo (R)", "2.5.1", "loo", "leave-one-out densities and tail shapes", "900 draws, five subgroups",
               "tests/inference/test_left_out.py", smoothed_weights),
    Comparison("ppi-python", "0.2.3", "ppi_python", "prediction-powered means and limits", "12 labels, 60 judged rows",
               f"{F}/test_post_stratified.py", prediction_powered_means, 1e-7),
    Comparison("lme4, glmmTMB, pROC (R)", "1.1-31, 1.1.5, 1.18.0", "maihda_python.json",
               "values of a program that was checked against them", "12 strata (efc)", f"{Q}/maihda/test_maihda.py"),
    Comparison("dcurves", "1.1.7", "dcurves", "values of a program that was checked against it", "df_binary, six thresholds",
               f"{Q}/curves/test_net_benefits.py"),
    Comparison("Inspect", "0.3.285", "inspect", "scores per item of its logs", "two systems, 8 items", f"{INTEROP}/test_logs.py"),
    Comparison("lm-evaluation-harness", "0.4.13", "lm_eval", "scores per item of its logs", "two systems, 6 documents",
               f"{INTEROP}/test_logs.py"),
    Comparison("Bambi", "installed by its test", "bambi", "posterior means", "simulated rates", f"{INTEROP}/test_bambi.py"),
)  # fmt: skip
"""Lines of the page; one without values is computed by its test alone."""
