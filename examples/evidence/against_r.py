"""Values of R packages, stored below ``tests/golden`` with the scripts that made them, beside ours."""

from __future__ import annotations

import csv
from typing import Any

import numpy as np
import pandas as pd

import bayesgroups as bg
from bayesgroups.data.arrays import FloatArray
from bayesgroups.models.shared.ordered_levels import Ordered
from examples.evidence.comparison import GOLDEN, Pair, golden


def _columns(name: str, keys: int) -> dict[tuple[str, ...], FloatArray]:
    lines = csv.reader((GOLDEN / "metafor" / name).read_text(encoding="utf-8").splitlines()[1:])
    return {tuple(line[:keys]): np.array(line[keys:], dtype=np.float64) for line in lines}


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


def _cells(name: str) -> Any:
    """Stored counts of cells with their rates and sampling variances, as the script of R has them."""
    cells: Any = pd.read_csv(GOLDEN / "multilevel" / name)
    by = [column for column in cells.columns if column not in ("k", "n")]
    p = (cells.k + 1) / (cells.n + 2)
    return cells.astype(dict.fromkeys(by, str)).assign(z=cells.k / cells.n, v=p * (1 - p) / cells.n)


def _crossed(cells: Any, ordered: Ordered | None = None) -> Any:
    """Our crossed effects by restricted likelihood, as if the variances of the fit were known."""
    from bayesgroups.frequentist import crossed_effects

    by = [column for column in cells.columns if column not in ("k", "n", "z", "v")]
    tally = bg.tally_from_estimates(cells.z, cells.v, cells[by])
    return crossed_effects.estimate(
        tally, method="marginal_likelihood", order=1, interval="plug_in", ordered=ordered
    ).isel(metric=0)  # fmt: skip


def crossed_variances(program: str) -> Pair:
    """Variances of three attributes and of the cell, and all estimates, of rates with known sampling variances."""
    answer, stored = _crossed(_cells("cells.csv")), golden("multilevel/crossed_effects.json")[program]
    ours = [answer["component_sd"].values[1:] ** 2, answer["estimate"].values]
    theirs = [stored["variances"], stored["estimate"]]
    if "std_error" in stored:
        ours.append(answer["std_error"].values)
        theirs.append(stored["std_error"])
    return np.concatenate(ours), np.concatenate(theirs)


def ordered_ages() -> Pair:
    """Variances of what follows the order and of what does not, estimates and standard errors of twelve ages."""
    cells = _cells("ages.csv")
    answer = _crossed(cells, ordered={"age": cells["age"].tolist()})
    stored = golden("multilevel/crossed_effects.json")["mgcv_ordered"]
    ours = [answer["component_sd"].values[1:] ** 2, answer["estimate"].values, answer["std_error"].values]
    return np.concatenate(ours), np.concatenate([stored[name] for name in ("variances", "estimate", "std_error")])


def crossed_rows(program: str) -> Pair:
    """Variances of three attributes and of the cell, and fitted cells, of rows whose variance the other program has estimated."""
    stored, cells = golden("multilevel/crossed_effects.json")[program], _cells("cells.csv")
    answer = _crossed(cells.assign(v=stored["residual"] / cells.n))
    ours = np.concatenate([answer["component_sd"].values[1:] ** 2, answer["estimate"].values])
    return ours, np.concatenate([stored["variances"], stored["estimate"]])


ATTRIBUTES = ["gender", "employed", "age"]


def _means_of_strata(adjust: list[str], restricted: bool) -> Any:
    """Our fit of the strata of ``efc`` from their sums; adjusted for attributes."""
    from bayesgroups.questions.maihda import mean_models

    strata: Any = pd.read_csv(GOLDEN / "targets" / "efc_strata.csv", dtype=dict.fromkeys(ATTRIBUTES, str))
    dummies = (
        pd.get_dummies(strata[adjust], drop_first=True, dtype=float) if adjust else pd.DataFrame(index=strata.index)
    )
    columns = np.column_stack([np.ones(len(strata)), dummies.to_numpy(dtype=float)])
    n, mean = strata["n"].to_numpy(dtype=float), strata["mean"].to_numpy(dtype=float)
    return mean_models.fit(mean_models.Means(n, mean, float(strata["sum_squares"].sum()), columns, restricted))


def strata_of_means(method: str) -> Pair:
    """Variances, VPC and PCV of the null model and three models of one attribute, and the null model's effects of strata."""
    stored = golden("targets/maihda_gaussian.json")[method]
    fits = {
        name: _means_of_strata([] if name == "null" else [name], method == "reml") for name in ("null", *ATTRIBUTES)
    }
    null, ours, theirs = fits["null"].between, [], []
    for line in stored["variances"]:
        if line["_row"] in fits:
            fit = fits[line["_row"]]
            ours += [fit.between, fit.residual, fit.between / (fit.between + fit.residual), (null - fit.between) / null]
            theirs += [line["between"], line["residual"], line["vpc"], stored["pcv"][line["_row"]]]
    return np.array([*ours, *fits["null"].effect]), np.array([*theirs, *stored["residuals_null"].values()])


def null_variances_of_lme4() -> Pair:
    """Variances of strata and of rows, by either likelihood."""
    fits = [_means_of_strata([], restricted) for restricted in (False, True)]
    stored = [golden("targets/maihda_gaussian.json")[method]["lme4"]["null"] for method in ("ml", "reml")]
    return np.array([[fit.between, fit.residual] for fit in fits]), np.array(stored)


def rates_of_strata() -> Any:
    """Counts of the strata of ``efc``."""
    return pd.read_csv(GOLDEN / "targets" / "efc_binary_strata.csv", dtype=dict.fromkeys(ATTRIBUTES, str))


def strata_of_rates() -> Pair:
    """Variance of strata of the null model and of the adjusted one, and the coefficients of both."""
    from bayesgroups.questions.maihda import rate_models

    strata, ours, theirs = rates_of_strata(), [], []
    dummies = pd.get_dummies(strata[ATTRIBUTES], drop_first=True, dtype=float).to_numpy(dtype=float)
    for name, columns in (("null", dummies[:, :0]), ("adjusted", dummies)):
        k, n = strata["k"].to_numpy(dtype=float), strata["n"].to_numpy(dtype=float)
        fit = rate_models.fit(rate_models.Counts(k, n, np.column_stack([np.ones(len(k)), columns])))
        stored = golden("targets/maihda_binary.json")["nAGQ25"][name]
        ours += [fit.between, *fit.coefficients]
        theirs += [stored["variance"], *stored["fixed"].values()]
    return np.array(ours), np.array(theirs)


def areas_of_strata() -> Pair:
    """The AUC of fitted and of observed rates of strata, and DeLong's limits of the latter."""
    strata = rates_of_strata()
    tally = bg.tally_from_counts(strata["k"], strata["n"], strata[ATTRIBUTES], metric="negc7d")
    answer = bg.maihda(tally, seed=1).sel(metric="negc7d", approach="frequentist")
    rows = strata.loc[strata.index.repeat(strata["n"]), ["k", "n"]].reset_index(drop=True)
    rank = rows.groupby(strata.index.repeat(strata["n"])).cumcount()
    rows = rows.assign(y=(rank < rows["k"]).astype(int), rate=rows["k"] / rows["n"], whole="all")
    observed = bg.auc_intervals(
        bg.tally(rows, by="whole", metrics=["auc"], y_true="y", y_score="rate"), interval="wald"
    )
    stored = golden("targets/maihda_binary.json")
    ours = [*answer["auc"].sel(model=["null", "adjusted"]).values, *_limits(observed)]
    lower, middle, upper = stored["ci_auc_observed"]
    return np.array(ours), np.array(
        [stored["nAGQ25"]["auc_null"], stored["nAGQ25"]["auc_adjusted"], middle, lower, upper]
    )


def _limits(answer: Any) -> list[float]:
    """Estimate and limits of the only subgroup."""
    return [float(answer[name].values[0, 0]) for name in ("estimate", "lower", "upper")]


def areas_of_groups() -> Pair:
    """AUCs, DeLong's standard errors and limits of four groups with tied scores."""
    rows = pd.read_csv(GOLDEN / "areas" / "rows.csv")
    answer = bg.auc_intervals(bg.tally(rows, by="group", metrics=["auc"], y_true="y", y_score="score"), interval="wald")
    ours = [answer["estimate"].values, answer["variance"].values ** 0.5, answer["lower"].values, answer["upper"].values]
    stored = golden("areas/areas.json")
    theirs = [[each["auc"], each["std_error"], *each["limits"]] for each in stored.values()]
    return np.column_stack([part[0] for part in ours]), np.array(theirs)
