"""Prior sensitivity of a report."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, near_misses
from bayesgroups.estimators.descriptions import estimator_of
from bayesgroups.inference.prior_densities import LogPrior
from bayesgroups.questions.priors.power_scaling import sensitivity, weights
from bayesgroups.report.diagnostics import K_HAT
from bayesgroups.report.overlap import refuse_overlapping
from bayesgroups.report.schema import check
from bayesgroups.tallies.participation import Imputed, participants
from bayesgroups.tallies.subgroups import attributes_of, with_attributes

POWERS = (0.25, 4.0)
"""Priors twice and half as wide, where they are normal or half-normal."""
MATTERS = 0.05
"""Sensitivities above this deserve a word, as in the paper."""
QUANTITIES = ("overall", "tau", "worst", "gap")


@checked_keywords
def prior_sensitivity(
    report: xr.DataTree, *, powers: Sequence[float] = POWERS, subgroups: Sequence[str] | None = None,
    imputed: Imputed = "leave_out",
) -> xr.Dataset:  # fmt: skip
    """Say how much the priors of a report matter, without fitting again.

    Estimand: what the posterior would be were the priors of the centre and of the spreads, or the likelihood, raised to
    another power, from the draws of the report with other weights. The power 4 halves the scale of a normal or half-normal
    prior and 1/4 doubles it; a Beta prior of a rate counts 4 times or a quarter as many rows.

    Parameters
    ----------
    report : xr.DataTree
        A report.
    powers : sequence of float
        At which means are given.
    subgroups : sequence of str, optional
        Answer for these only, for a report of thousands; all when left out.
    imputed : {"leave_out", "include"}
        Treatment, in ``worst`` and ``gap``, of subgroups without rows that count; all have sensitivities of their own.

    Returns
    -------
    xr.Dataset
        Along ``metric`` and ``subgroup``: ``prior`` and ``likelihood``, the sensitivities (derivatives of a distance
        between distributions, bits per doubling of the power; above 0.05 they matter), ``diagnosis``, ``mean``, and
        ``mean_at`` also along ``power``. Along ``metric`` and ``quantity`` the same with names ``quantity_prior`` and so
        on, of ``overall``, ``tau``, the ``worst`` value and the ``gap`` between the largest and the smallest. Along
        ``metric``: ``k_hat`` (also ``power``), means being NaN where it is above 0.7, and ``reason``, why there is no answer, and
        ``left_out``, labels and reasons of the subgroups that ``worst`` and ``gap`` leave out.
        ``diagnosis`` is ``""``, ``"prior and data disagree"`` or ``"prior strong, data weak"``. ``usable`` is 0 if the report
        did not pass its diagnostics.

    Raises
    ------
    InputError
        If a power is not positive, a subgroup is not in the report, or ``imputed`` is something else.
    SchemaError
        If it is not a report.

    Notes
    -----
    The population from which subgroups are drawn is part of the model and is not scaled. Without pooling every subgroup has
    a prior of its own, which is scaled alone.

    References
    ----------
    Kallioinen, Paananen, Burkner, Vehtari (2024), Detecting and diagnosing prior and likelihood sensitivity with
    power-scaling, https://doi.org/10.1007/s11222-023-10366-5.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([1, 30], [2, 100], pd.DataFrame({"site": ["a", "b"]}), metric="fnr")
    >>> found = bg.prior_sensitivity(bg.estimate(counts, bg.PartialPooling(), seed=1))
    >>> found["diagnosis"].sel(metric="fnr", subgroup="a").item()
    'prior strong, data weak'
    """
    check(report)
    refuse_overlapping(report, "prior_sensitivity")
    for power in powers:
        if not (np.isfinite(power) and power > 0):
            raise InputError(f"powers must be positive numbers; got {power}")
    table = report["estimates"].to_dataset()
    names = [str(name) for name in table["subgroup"].values]
    chosen = names if subgroups is None else [str(name) for name in subgroups]
    for name in chosen:
        if name not in names:
            raise InputError(f"the report has no subgroup {name!r}; {near_misses(name, names)}")
    places = [names.index(name) for name in chosen]
    tables = [
        _metric(report, str(name), [float(power) for power in powers], places, imputed)
        for name in table["metric"].values
    ]
    joined = xr.concat(tables, dim="metric", data_vars="all", join="exact", combine_attrs="drop")
    attributes = {name: ("subgroup", table[name].values[places], table[name].attrs) for name in attributes_of(table)}
    named = with_attributes(joined, {"metric": table["metric"].values, "subgroup": chosen, **attributes})
    return named.assign(usable=np.int8(report.attrs["usable"]))


def _metric(report: xr.DataTree, metric: str, powers: list[float], places: list[int], imputed: Imputed) -> xr.Dataset:
    source = report["constant_data"].to_dataset()
    tally, posterior = source.sel(metric=metric), report["posterior"].to_dataset().sel(metric=metric)
    drawn = posterior.stack(sample=("chain", "draw"), create_index=False)
    all_mu = np.asarray(drawn["mu"].transpose("sample", "subgroup").values, dtype=np.float64)
    taking_part = participants(tally, np.isfinite(all_mu).all(axis=0), imputed)
    larger = bool(int(tally["larger_is_better"]))
    mu, quantities = all_mu[:, places], _quantities(drawn, all_mu[:, taking_part.included], larger=larger)
    size = (mu.shape[1], len(QUANTITIES))
    sensitivities = [{name: np.full(n, np.nan) for name in ("prior", "likelihood")} for n in size]
    moved = [np.full((len(powers), n), np.nan) for n in size]
    k_hat = np.full(len(powers), np.nan)
    prior, rows = _log_densities(report, drawn, source, metric)
    each = prior.value is not None and prior.value.ndim == 2
    if prior.value is not None:
        k_hat = _fill_prior(prior.value, (mu, quantities), powers, places, sensitivities, moved)
        if rows is not None:
            for i, draws in enumerate((mu, quantities)):
                densities = [rows[:, place] for place in places] if each and i == 0 else [rows.sum(axis=1)]
                sensitivities[i]["likelihood"] = _sense(draws, densities)
    reason = prior.reason
    if prior.value is not None and not np.isfinite(k_hat[k_hat <= K_HAT]).any():
        reason = "the draws do not reach the posterior under other priors (k-hat above 0.7): estimate again with them"
    diagnoses = [_diagnosis(side["prior"], side["likelihood"]) for side in sensitivities]
    return xr.Dataset(
        {
            "prior": ("subgroup", sensitivities[0]["prior"]),
            "likelihood": ("subgroup", sensitivities[0]["likelihood"]),
            "diagnosis": ("subgroup", diagnoses[0]),
            "mean": ("subgroup", mu.mean(axis=0)),
            "mean_at": (("power", "subgroup"), moved[0]),
            "quantity_prior": ("quantity", sensitivities[1]["prior"]),
            "quantity_likelihood": ("quantity", sensitivities[1]["likelihood"]),
            "quantity_diagnosis": ("quantity", diagnoses[1]),
            "quantity_mean": ("quantity", quantities.mean(axis=0)),
            "quantity_mean_at": (("power", "quantity"), moved[1]),
            "k_hat": ("power", k_hat),
            "reason": reason,
            "left_out": taking_part.names,
        },
        {"power": powers, "quantity": list(QUANTITIES)},
    )


def _log_densities(
    report: xr.DataTree, draws: xr.Dataset, tally: xr.Dataset, metric: str
) -> tuple[LogPrior, FloatArray | None]:
    """Log prior and log likelihood of one metric as its estimator has them."""
    try:
        estimator = estimator_of(report)
    except InputError as problem:
        word = str(report.attrs["estimator"]).replace("_", " ")
        return LogPrior(None, f"the priors of {word} are not known here: {problem}"), None
    if not np.isfinite(draws["mu"].values).any():
        return LogPrior(None, "the metric is undefined in every subgroup"), None
    given = tally if estimator.joint else tally.sel(metric=[metric])
    prior = estimator.log_prior(draws, given)
    return prior, None if prior.value is None else estimator.log_likelihood(draws, given)


def _fill_prior(
    value: FloatArray, draws: tuple[FloatArray, FloatArray], powers: list[float], places: list[int],
    sensitivities: list[dict[str, FloatArray]], moved: list[FloatArray],
) -> FloatArray:  # fmt: skip
    """Sensitivities to the prior and means under other powers; returns the k-hat of every power, the largest of several."""
    k_hat = np.full(len(powers), -np.inf)
    if value.ndim == 1:
        for i, some in enumerate(draws):
            sensitivities[i]["prior"] = _sense(some, [value])
        for j, power in enumerate(powers):
            weight, k_hat[j] = weights(value, power)
            if k_hat[j] <= K_HAT:
                for i, some in enumerate(draws):
                    moved[i][j] = weight @ some
        return k_hat
    # Every subgroup has a prior of its own: the others' do not matter to it, and quantities of all have none.
    sensitivities[0]["prior"] = _sense(draws[0], [value[:, place] for place in places])
    for j, power in enumerate(powers):
        for g, place in enumerate(places):
            weight, k = weights(value[:, place], power)
            k_hat[j] = max(k_hat[j], k)
            if k <= K_HAT:
                moved[0][j, g] = weight @ draws[0][:, g]
    return k_hat


def _sense(draws: FloatArray, density: list[FloatArray]) -> FloatArray:
    """Sensitivity of every column of the draws to one density, or of each to its own; NaN where there is no value."""
    answer = np.full(draws.shape[1], np.nan)
    defined = np.flatnonzero(np.isfinite(draws).all(axis=0))
    if len(density) == 1:
        answer[defined] = sensitivity(draws[:, defined], density[0])
    else:
        for g in defined:
            answer[g] = sensitivity(draws[:, [g]], density[g])[0]
    return answer


def _quantities(drawn: xr.Dataset, mu: FloatArray, *, larger: bool) -> FloatArray:
    """Draws (draw, quantity) from those of the subgroups that take part (draw, subgroup)."""
    nothing = np.full(len(mu), np.nan)
    low, high = (mu.min(axis=1), mu.max(axis=1)) if mu.shape[1] else (nothing, nothing)
    overall, tau = (np.asarray(drawn[name].values) if name in drawn else nothing for name in ("overall", "tau"))
    return np.column_stack([overall, tau, low if larger else high, high - low])


def _diagnosis(prior: FloatArray, likelihood: FloatArray) -> list[str]:
    """Diagnosis from both sensitivities together."""
    strong = np.nan_to_num(prior) >= MATTERS
    informed = ~(np.nan_to_num(likelihood, nan=np.inf) < MATTERS)
    return ["" if not s else "prior and data disagree" if d else "prior strong, data weak"
            for s, d in zip(strong, informed, strict=True)]  # fmt: skip
