"""Values of independent Python programs beside ours: run here, or stored below ``tests/golden`` with the script that made them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd

import bayesgroups as bg
from examples.evidence.comparison import GOLDEN, Pair, golden


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


def nested_regressions() -> Pair:
    """F statistics and p-values of three nested regressions of 24 rates, weighted by their rows."""
    import statsmodels.api as sm

    random = np.random.default_rng(4)
    who = pd.MultiIndex.from_product([list("abcd"), list("xyz"), list("fm")], names=["race", "age", "sex"]).to_frame(
        index=False
    )
    n: Any = random.integers(20, 200, len(who))
    tally = bg.tally_from_counts(random.binomial(n, 0.3), n, who)
    answer = bg.goodness_of_fit(tally, ["1", "race", "race + age"], weights="count").isel(metric=0)
    designs = [
        sm.add_constant(pd.get_dummies(who[names], drop_first=True, dtype=float))
        for names in (["race"], ["race", "age"])
    ]
    fits = [sm.WLS(tally["estimate"].values[0], x, weights=n).fit() for x in (np.ones((len(who), 1)), *designs)]
    tests = [large.compare_f_test(small)[:2] for small, large in itertools.pairwise(fits)]
    return np.column_stack([answer["f"].values, answer["p_value"].values]), np.array(tests)


def stratified_ratios() -> Pair:
    """Common odds ratio, its log's standard error and its limits, and the common ratio, of two unequal strata."""
    from statsmodels.stats.contingency_tables import StratifiedTable

    k, n = np.array([3, 9, 11, 2]), np.array([31, 40, 17, 8])
    who = pd.DataFrame({"race": list("aabb"), "sex": ["f", "m"] * 2})
    answer = bg.contrasts(
        bg.tally_from_counts(k, n, who, metric="sel"), {"sex": "m"}, within="race", across="mantel_haenszel",
        scale=("ratio", "odds_ratio"),
    ).isel(metric=0, contrast=0, approach=0)  # fmt: skip
    other = StratifiedTable([np.array([[k[i], n[i] - k[i]], [k[i + 1], n[i + 1] - k[i + 1]]]) for i in (0, 2)])
    odds, ratio = answer.sel(scale="odds_ratio"), answer.sel(scale="ratio")
    ours = [*(float(odds[name]) for name in ("estimate", "std_error", "lower", "upper")), float(ratio["estimate"])]
    theirs = [
        other.oddsratio_pooled,
        other.logodds_pooled_se,
        *other.oddsratio_pooled_confint(),
        other.riskratio_pooled,
    ]
    return np.array(ours), np.array(theirs)


def calibration() -> Pair:
    """Shares and mean scores of the filled bins of four groups."""
    from sklearn.calibration import calibration_curve

    random = np.random.default_rng(1)
    rows = pd.DataFrame({"group": random.choice(list("abcd"), 400), "score": random.beta(1.5, 2.5, 400)})
    rows["y"] = (random.random(400) < rows["score"]).astype(int)
    answer = bg.calibration_curve(rows, ["group"], y_true="y", y_score="score", bins=10, draws=100, seed=1)
    share = answer["estimate"].sel(approach="frequentist").transpose("subgroup", ...).values.reshape(4, -1)
    score = answer["mean_score"].transpose("subgroup", ...).values.reshape(4, -1)
    theirs = [
        calibration_curve(rows_of_group.y, rows_of_group.score, n_bins=10) for _, rows_of_group in rows.groupby("group")
    ]
    filled = np.isfinite(share)
    return np.array([share[filled], score[filled]]), np.concatenate([np.array(each) for each in theirs], axis=1)


def net_benefits() -> Pair:
    """Net benefit of a model and of treating everyone: all patients, and two groups, at six thresholds."""
    from bayesgroups.questions.curves import net_benefits as ours
    from bayesgroups.questions.curves.rates import Confusion

    stored, counts = (pd.read_csv(GOLDEN / "labels" / name) for name in ("dcurves.csv", "t_counts.csv"))
    both = stored.merge(counts[["subgroup", "threshold", "tp", "fp", "positives", "n"]], on=["subgroup", "threshold"])
    tp, fp, ones, n = (both[name].to_numpy(dtype=float) for name in ("tp", "fp", "positives", "n"))
    cells, cost = Confusion(tp, ones - tp, fp, n - ones - fp), ours.odds(both["threshold"].to_numpy())
    values = [ours.value("net_benefit", cells, cost), ours.treat_all(cells, cost)]
    return np.array(values), both[["net_benefit", "treat_all"]].to_numpy().T


def groups_of_inspect() -> Pair:
    """Rows and shares of right answers by system and language, of logs as Inspect's own table has them."""
    from bayesgroups.interop import read_logs

    rows = read_logs(GOLDEN / "logs" / "inspect", score="match", unscored="drop")
    tally = bg.tally(rows, ["system", "metadata_language"], "correct", correct="score", cluster="item")
    return _by_system(tally, "metadata_language", "mockllm/{}", "logs/inspect_groups.json")


def groups_of_harness() -> Pair:
    """Documents and accuracies by system and language, of samples as the harness averages them."""
    from bayesgroups.interop import read_logs

    rows = read_logs(GOLDEN / "logs" / "lm_eval", score="acc", task="sums_choice")
    tally = bg.tally(rows, ["system", "doc_language"], "correct", correct="score")
    return _by_system(tally, "doc_language", "{}", "logs/lm_eval_groups.json")


def _by_system(tally: Any, attribute: str, name: str, file: str) -> Pair:
    """Rows and rates of a tally, and the stored ones of the same system and level."""
    stored, theirs = golden(file), []
    for system, level in zip(tally["system"].values, tally[attribute].values, strict=True):
        line = next(each for key, each in stored.items() if name.format(key) == system)[level]
        theirs.append([line["size"], line["mean"]])
    return np.column_stack([tally["rows"].values, tally["estimate"].values[0]]), np.array(theirs)


def suremap_cells() -> tuple[Any, Any, Any, Any]:
    """Stored answers, the cells, the matrices of the components, and the ratios of variances in our order of them."""
    from bayesgroups.frequentist.crossed.families import family

    stored, cells = golden("suremap/values.json"), pd.read_csv(GOLDEN / "suremap" / "cells.csv")
    names = ["region", "income", "sex"]
    levels = np.column_stack([np.unique(cells[name], return_inverse=True)[1] for name in names])
    return stored, cells, family(levels, names).agreement(), np.array([*stored["fixed"][1:], stored["fixed"][0]])


def suremap_at_given_variances() -> Pair:
    """Risks and estimates of two systems by themselves, and the risks of both together, at given variances."""
    from bayesgroups.frequentist.crossed import multi_task, sure
    from bayesgroups.frequentist.crossed.precision import combine

    stored, cells, agreement, ratios = suremap_cells()
    n, ours, theirs = cells["n"].to_numpy(dtype=float), [], []
    z = np.array([cells["old"] / n, cells["new"] / n])
    for errors, each in zip(z, stored["tasks"], strict=True):
        u, variances = n / each["row_variance"], ratios * each["row_variance"]
        ours += [sure.risk(errors, u, agreement, variances)[0]]
        ours += sure.posterior_mean(errors, u, combine(variances, agreement)).tolist()
        theirs += [each["risk"], *each["estimate"]]
    u, variances = np.tile(n / stored["scale"], (2, 1)), ratios * stored["scale"]
    ours.append(multi_task.risk(z, u, agreement, np.r_[variances, 2 * variances], variant="metamap")[0])
    ours.append(multi_task.risk(z, u, agreement, variances, variant="solve")[0])
    return np.array(ours), np.array([*theirs, stored["joint_risk"]["metamap"], stored["joint_risk"]["solve"]])


def suremap_tuned() -> Pair:
    """Estimates of two systems at the variances that each program finds."""
    from bayesgroups.frequentist.crossed import sure

    stored, cells, agreement, _ = suremap_cells()
    n = cells["n"].to_numpy(dtype=float)
    ours = [
        sure.fit((cells[name] / n).to_numpy(), n / each["row_variance"], agreement).estimate
        for name, each in zip(("old", "new"), stored["tasks"], strict=True)
    ]
    return np.array(ours), np.array([each["tuned"] for each in stored["tasks"]])


def ratios_of_aequitas() -> Pair:
    """False positive rates of three groups, and ratios to the first."""
    stored = golden("neighbours/aequitas.json")
    groups = pd.DataFrame({"race": ["white", "black", "other"]})
    tally = bg.tally_from_counts([80, 30, 3], [400, 100, 12], groups, metric="fpr")
    ratios = bg.contrasts(tally, {"race": "white"}, scale="ratio").isel(metric=0, scale=0, approach=0)["estimate"]
    theirs = [stored[race]["fpr"] for race in groups["race"]] + [
        stored[race]["fpr_disparity"] for race in ("black", "other")
    ]
    return np.array([*tally["estimate"].values[0], *ratios.values]), np.array(theirs)
