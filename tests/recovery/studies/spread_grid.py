"""Exact engines against quadrature and against NUTS where subgroups differ by next to nothing, or by far more than rows do.

    python -m tests.recovery.studies.spread_grid --output tests/recovery/records/spread_grid.csv

Every data set is fitted by an exact engine. With one attribute the reference is two-dimensional quadrature; with more it is
NUTS on the same model, if it passes its own checks. The record has the largest distance of a posterior mean (of the log of the
standard deviation, and of the linear predictor of every subgroup) from the reference in Monte Carlo standard errors of both.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

import bayesgroups as bg
from bayesgroups.data.arrays import FloatArray
from bayesgroups.estimators import Estimator
from bayesgroups.inference import nuts
from bayesgroups.inference.prior_conflict import logit
from bayesgroups.models.shared.component_scales import OVERALL_LOGIT, component_scales
from bayesgroups.models.shared.scales import LOGIT_OVERALL_SCALE, LOGIT_TAU_SCALE, natural_scale
from bayesgroups.models.shared.subsets import subsets
from bayesgroups.models.shared.variances import with_shrunk_variances
from bayesgroups.report.diagnostics import nuts_checks, usable
from bayesgroups.studies.execution import HERE, Executor
from examples.commands import add_options, executor
from examples.records import rows_as_csv, write
from tests.recovery.studies import quadrature

ONE_ATTRIBUTE = ((12,),)
SEVERAL = ((4, 3), (4, 2, 3), (2, 2, 2, 3))
SPREADS = (0.01, 0.1, 0.7, 2.0, 5.0, 20.0, 50.0)
"""Standard deviations of the subgroups, in standard deviations of a row, or in logits of a rate."""
SPREADS_OF_SEVERAL = (0.01, 0.3, 1.0, 5.0, 50.0)
ROWS = (2, 100, 1_000_000)
"""Mean rows of a subgroup."""
DRAWS, TUNE = 500, 400
"""Draws of NUTS per chain that are kept, and warm-up draws: most of its time goes into compiling the model."""
ALONE = (1500, 1000)
"""The same of a data set that is sampled alone, because that was not enough."""
TARGET_ACCEPT = 0.95
LIKELIHOODS = ("normal", "binomial")
LARGEST_LOGIT_SPREAD = 10.0
"""Spread of rates beyond which counts hold nothing but zeros and totals."""
SEED = 20_261_122
HEADER = (
    "shape", "likelihood", "spread", "rows", "estimator", "usable", "failed", "k_hat", "reference", "largest_z",
)  # fmt: skip


class Setting(NamedTuple):
    """One data set, and the estimator that it is given to."""

    shape: tuple[int, ...]
    likelihood: str
    spread: float
    rows: int
    estimator: str


def settings() -> list[Setting]:
    """All data sets.

    Examples
    --------
    >>> {setting.estimator for setting in settings()} == {"crossed_effects", "partial_pooling"}
    True
    """
    one = itertools.product(ONE_ATTRIBUTE, LIKELIHOODS, SPREADS, ROWS, ("crossed_effects", "partial_pooling"))
    several = itertools.product(SEVERAL, LIKELIHOODS, SPREADS_OF_SEVERAL, ROWS, ("crossed_effects",))
    every = [Setting(*each) for each in (*one, *several)]
    return [each for each in every if each.likelihood == "normal" or each.spread <= LARGEST_LOGIT_SPREAD]


def simulate(setting: Setting, rng: np.random.Generator) -> xr.Dataset:
    """The tally of one data set; half of the variance is that of single subgroups, the rest of their attributes."""
    names = [f"a{i}" for i in range(len(setting.shape))]
    codes = np.array(list(itertools.product(*map(range, setting.shape))))
    who = pd.DataFrame({name: codes[:, i].astype(str) for i, name in enumerate(names)})
    number = len(who)
    design = subsets(bg.tally_from_counts(np.zeros(number), np.ones(number), who)).cells
    share = np.full(len(design), 0.5 / max(len(design) - 1, 1))
    share[-1] = 1 - share[:-1].sum()
    value = sum(
        np.sqrt(part) * rng.standard_normal(int(cell.max()) + 1)[cell] for part, cell in zip(share, design, strict=True)
    )
    rows = np.maximum(np.round(setting.rows * rng.gamma(2.0, 0.5, number)), 2.0)
    if setting.likelihood == "binomial":
        return bg.tally_from_counts(
            rng.binomial(rows.astype(int), 1 / (1 + np.exp(1 - setting.spread * value))), rows, who
        )
    estimate = setting.spread * value + rng.standard_normal(number) / np.sqrt(rows)
    return means_of_rows(estimate, rows, who)


def means_of_rows(estimate: FloatArray, rows: FloatArray, who: pd.DataFrame) -> xr.Dataset:
    """A tally of means of rows of variance 1, of which two rows a subgroup are kept: one above the mean and one below it."""
    side = np.tile([1.0, -1.0], len(who))
    frame = who.loc[np.repeat(np.arange(len(who)), 2)].reset_index(drop=True)
    frame["loss"], frame["weight"] = np.repeat(estimate, 2) + side, np.repeat(rows / 2, 2)
    tally = bg.tally(frame, list(who), ["mean"], loss="loss")
    count = xr.DataArray(rows[None], dims=("metric", "subgroup"))
    variance = xr.ones_like(count)
    return tally.assign(
        rows=("subgroup", rows), count=count, row_variance=variance, sampling_variance=variance / count,
        pooled_variance=("metric", [1.0]), pooled_df=("metric", [rows.sum() - len(who)]),
    )  # fmt: skip


def study(seed: int = SEED, *, executor: Executor = HERE) -> list[list[object]]:
    """One line of the record per data set, in the order of `HEADER`."""
    alone = sum(len(setting.shape) == 1 for setting in settings())
    lines = executor.run("grid of spreads", partial(line, seed), alone, settings={"seed": seed})
    groups = executor.run(
        "spreads of several attributes", partial(group, seed), len(designs()), settings={"seed": seed}
    )
    return [*lines, *itertools.chain.from_iterable(groups)]


def line(seed: int, position: int) -> list[object]:
    """The line of one data set with one attribute, by its place in `settings`."""
    setting, tally, report = answered(seed, position)
    return laid_out(setting, report, "quadrature", from_quadrature(setting, tally, report))


def designs() -> list[tuple[tuple[int, ...], str]]:
    """Shapes of several attributes and their likelihoods, in the order of `settings`."""
    return list(dict.fromkeys((setting.shape, setting.likelihood) for setting in settings() if len(setting.shape) > 1))


def group(seed: int, design: int) -> list[list[object]]:
    """The lines of all data sets of one shape and likelihood, by its place in `designs`.

    NUTS samples them as metrics of one model, which have no parameter in common, for the time goes into compiling; those whose
    chains do not pass their checks are then sampled alone, with more draws.
    """
    places = [i for i, one in enumerate(settings()) if (one.shape, one.likelihood) == designs()[design]]
    answers = [answered(seed, position) for position in places]
    named = [tally.assign_coords(metric=[str(place)]) for place, (_, tally, _) in zip(places, answers, strict=True)]
    tree = sampled(answers[0][0], together(named), seed, DRAWS, TUNE)
    lines = []
    for place, tally, (setting, _, report) in zip(places, named, answers, strict=True):
        name = str(place)
        passed = usable(nuts_checks(tree, name))
        lines.append(compared(setting, report, tree, name) if passed else alone(setting, tally, report, seed))
    return lines


def together(tallies: Sequence[xr.Dataset]) -> xr.Dataset:
    """Data sets of one design as metrics of one tally."""
    return xr.concat(
        [tally.drop_vars("rows") for tally in tallies], dim="metric", data_vars="minimal", coords="minimal", join="exact",
        compat="override", combine_attrs="override",
    )  # fmt: skip


def alone(setting: Setting, tally: xr.Dataset, report: xr.DataTree, seed: int) -> list[object]:
    """The line of one data set with several attributes, which NUTS samples by itself."""
    return compared(setting, report, sampled(setting, tally, seed, *ALONE), str(tally["metric"].values[0]))


def sampled(setting: Setting, tally: xr.Dataset, seed: int, draws: int, tune: int) -> xr.DataTree:
    """Chains of NUTS."""
    model = estimator_of(setting).model(tally)
    return nuts.sample(model, seed=seed + 1, draws=draws, tune=tune, target_accept=TARGET_ACCEPT)


def compared(setting: Setting, report: xr.DataTree, tree: xr.DataTree, metric: str) -> list[object]:
    """The line of one data set against chains of NUTS, if these pass their checks."""
    if not usable(nuts_checks(tree, metric)):
        return laid_out(setting, report, "none, NUTS failed its checks", float("nan"))
    return laid_out(
        setting, report, "nuts", from_nuts(setting, report, tree["posterior"].to_dataset().sel(metric=metric))
    )


def answered(seed: int, position: int) -> tuple[Setting, xr.Dataset, xr.DataTree]:
    """A data set and the report of the exact engine."""
    setting = settings()[position]
    tally = simulate(setting, np.random.default_rng([seed, position]))
    return setting, tally, bg.estimate(tally, estimator_of(setting), seed=seed, inference="collapsed")


def laid_out(setting: Setting, report: xr.DataTree, source: str, largest: float) -> list[object]:
    """The line of a data set, in the order of `HEADER`."""
    checks = report["diagnostics"].to_dataset()
    names = checks["check"].values.astype(str)
    failed = [name.partition(": ")[2] for name in names[checks["passed"].values == 0]]
    k_hat = max(checks["value"].values[np.char.find(names, "k-hat") >= 0], default=np.nan)
    return [
        "x".join(map(str, setting.shape)), setting.likelihood, setting.spread, setting.rows, setting.estimator,
        int(report.attrs["usable"]), "; ".join(failed), round(float(k_hat), 3), source, round(largest, 2),
    ]  # fmt: skip


def estimator_of(setting: Setting) -> Estimator:
    """The estimator with the likelihood of the setting."""
    likelihood: Literal["binomial", "normal"] = "binomial" if setting.likelihood == "binomial" else "normal"
    if setting.estimator == "partial_pooling":
        return bg.PartialPooling(likelihood=likelihood)
    return bg.CrossedEffects(likelihood=likelihood)


def from_quadrature(setting: Setting, tally: xr.Dataset, report: xr.DataTree) -> float:
    """Largest distance of a posterior mean from quadrature, in standard errors."""
    own = report["posterior"].to_dataset().isel(metric=0)
    moments = by_quadrature(setting, tally)
    log_tau, eta = np.log(own["tau"].values).ravel(), _predictor(own, setting.likelihood == "binomial")
    effective = _effective(report)
    z = [abs(log_tau.mean() - moments.log_tau) / (moments.log_tau_sd / np.sqrt(effective))]
    z += list(np.abs(eta.mean(axis=0) - moments.eta) / (eta.std(axis=0) / np.sqrt(effective)))
    return float(max(z))


def from_nuts(setting: Setting, report: xr.DataTree, theirs: xr.Dataset) -> float:
    """Largest distance of a posterior mean from that of NUTS, in standard errors of the difference."""
    import arviz as az

    own, binomial = report["posterior"].to_dataset().isel(metric=0), setting.likelihood == "binomial"
    effective, distances = _effective(report), []
    for first, second in (
        (_log(own["component_sd"]), _log(theirs["component_sd"])),
        (_scaled(own["mu"], binomial), _scaled(theirs["mu"], binomial)),
    ):
        mc_error = az.mcse(second.rename("x").to_dataset())["x"].values
        error = np.hypot(mc_error, first.std(("chain", "draw")).values / np.sqrt(effective))
        distance = np.abs((first.mean(("chain", "draw")) - second.mean(("chain", "draw"))).values)
        distances.append(float(np.max(distance / error)))
    return max(distances)


def _log(values: xr.DataArray) -> xr.DataArray:
    return values.copy(data=np.log(values.values))


def _scaled(mu: xr.DataArray, binomial: bool) -> xr.DataArray:
    """The linear predictor of the subgroups."""
    return mu.copy(data=logit(mu.values)) if binomial else mu


def by_quadrature(setting: Setting, tally: xr.Dataset) -> quadrature.Moments:
    """Moments of one attribute under the prior of the estimator."""
    crossed, binomial = setting.estimator == "crossed_effects", setting.likelihood == "binomial"
    family = "half_t" if crossed else "half_normal"
    if binomial:
        k, n = tally["successes"].values[0], tally["count"].values[0]
        overall = OVERALL_LOGIT if crossed else LOGIT_OVERALL_SCALE
        scale = float(component_scales(tally, np.array([True]))[0]) if crossed else LOGIT_TAU_SCALE
        return quadrature.rates(k, n, overall_scale=overall, tau_scale=scale, family=family)  # type: ignore[arg-type]
    source = with_shrunk_variances(tally) if crossed else tally
    natural = natural_scale(source).isel(metric=0)
    scale = float(component_scales(source, np.array([False]))[0]) if crossed else float(natural["tau_scale"])
    centre = float(natural["centre"])
    found = quadrature.means(
        source["estimate"].values[0] - centre, source["sampling_variance"].values[0],
        overall_scale=float(natural["scale"]), tau_scale=scale, family=family,  # type: ignore[arg-type]
    )  # fmt: skip
    return found._replace(eta=found.eta + centre)


def _predictor(own: xr.Dataset, binomial: bool) -> FloatArray:
    mu = own["mu"].transpose("chain", "draw", "subgroup").values.reshape(-1, own.sizes["subgroup"])
    return logit(mu) if binomial else np.asarray(mu, dtype=np.float64)


def _effective(report: xr.DataTree) -> float:
    """Effective number of the draws: that of the importance weights where there are any, and never more than draws."""
    checks = report["diagnostics"].to_dataset()
    weighted = np.char.find(checks["check"].values.astype(str), "importance ESS") >= 0
    number = report["posterior"].sizes["chain"] * report["posterior"].sizes["draw"]
    # Draws that are resampled from weighted ones have the error of both.
    return float(1 / (1 / number + sum(1 / checks["value"].values[weighted])))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the grid and write its record."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.recovery.studies.spread_grid", description="Exact engines against quadrature and NUTS."
    )
    parser.add_argument("--output", type=Path, required=True, help="the CSV file to write")
    parser.add_argument("--seed", type=int, default=SEED)
    add_options(parser)
    given = parser.parse_args(arguments)
    with executor(given) as run:
        lines = study(given.seed, executor=run)
    write(given.output, rows_as_csv([HEADER, *lines]))
    answered = [each for each in lines if each[5] == 1]
    largest = np.nanmax([float(str(each[-1])) for each in answered])
    sys.stdout.write(
        f"{len(lines)} data sets, {len(answered)} usable, farthest from the reference {largest:.2f} errors\n"
    )


if __name__ == "__main__":
    main()
