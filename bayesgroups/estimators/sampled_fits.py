"""Fits by NUTS: announced with the time that they take, and made again, longer or with smaller steps, where one does not do."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bayesgroups.estimators.base import Estimator
from bayesgroups.estimators.likelihood_groups import too_large
from bayesgroups.estimators.model_errors import errors_of_models
from bayesgroups.report.diagnostics import nuts_checks, only_too_few_draws, usable
from bayesgroups.report.posterior import CHAINS, Posterior
from bayesgroups.tallies.determined import determined_notes

if TYPE_CHECKING:
    import pymc as pm

    from bayesgroups.inference.nuts import Backend

DRAWS = 1000
"""Draws per chain."""
SECONDS, SECONDS_PER_VALUE = 15.0, 0.12
"""Time of a fit of 4 chains on two processors, compilation included: whatever the model, and for every free value that it has."""
LOG = logging.getLogger("bayesgroups")


def sampled_fit(
    tally: xr.Dataset, estimator: Estimator, seed: int, backend: Backend, why: str, notes: list[str]
) -> Posterior:
    """Posterior of one metric, or of those fitted together, by NUTS; what was done is added to the notes.

    ``why`` says why it is not the exact engine, empty where NUTS was asked for. Before it starts, the logger ``bayesgroups`` says
    how long it takes: a warning where nobody asked for it.
    """
    name = ", ".join(str(metric) for metric in tally["metric"].values)
    with errors_of_models():
        model = estimator.model(tally)
    if why:
        notes.append(f"{name}: {why}, so NUTS was run")
    for sentence in determined_notes(tally):
        LOG.warning(sentence)
    reason = f"{why}, so it is" if why else "it is"
    LOG.log(
        logging.WARNING if why else logging.INFO,
        "%s: %s sampled by NUTS, which takes %s",
        name,
        reason,
        expected_time(model),
    )
    run = partial(_nuts, model, tally, estimator, seed, backend)
    fit, remark = _extended(partial(run, target_accept=0.9))
    if not usable(fit.checks) and not only_too_few_draws(fit.checks):
        notes.append(f"{name}: NUTS was repeated with smaller steps")
        fit, remark = _extended(partial(run, target_accept=0.99, tune=2000))
    if remark:
        notes.append(f"{name}: {remark}")
    return fit


def expected_time(model: pm.Model) -> str:
    """Rough time of one fit of a model by NUTS, in words.

    Examples
    --------
    >>> import pymc as pm
    >>> with pm.Model() as model:
    ...     _ = pm.Normal("x", shape=1000)
    >>> expected_time(model)
    'about 2 minutes'
    """
    values = _size(model.free_RVs)
    minutes = (SECONDS + SECONDS_PER_VALUE * values) / 60
    if minutes < 0.75:
        return "about half a minute"
    return "about a minute" if minutes < 1.5 else f"about {minutes:.0f} minutes"


def _extended(run: Callable[..., Posterior]) -> tuple[Posterior, str]:
    """Sample, and where only effective sample sizes fall short sample longer; the fit, and what was done."""
    from bayesgroups.inference.nuts import EXTENSIONS

    fit, remark = run(), ""
    for times in EXTENSIONS:
        if not only_too_few_draws(fit.checks):
            break
        fit = run(thin=times)
        remark = (
            f"too few draws were effective, so NUTS drew {times * DRAWS} per chain, of which one in {times} was kept"
        )
    return fit, remark


def _nuts(
    model: pm.Model, tally: xr.Dataset, estimator: Estimator, seed: int, backend: Backend, *, target_accept: float,
    tune: int = 1000, thin: int = 1,
) -> Posterior:  # fmt: skip
    from bayesgroups.inference import nuts

    tree = nuts.sample(
        model, seed=seed, draws=DRAWS, tune=tune, chains=CHAINS, target_accept=target_accept,
        backend=backend, thin=thin, log_likelihood=estimator.hides_parameters and not too_large(_numbers(model)),
    )  # fmt: skip
    draws = tree["posterior"].to_dataset().drop_vars("alpha", errors="ignore")
    stats = tree["sample_stats"].to_dataset()
    shared = [variable for variable in ("diverging", "energy", "step_size", "n_steps") if variable in stats]
    stats = _of_kept_draws(stats[shared], thin).expand_dims(metric=tally["metric"].values, axis=-1)
    observed = {name: tree[name].to_dataset() for name in ("observed_data", "log_likelihood") if name in tree.children}
    names = [str(metric) for metric in tally["metric"].values]
    checks = tuple(check for name in names for check in nuts_checks(tree, name))
    return Posterior(draws, checks, "nuts_jax" if backend == "jax" else "nuts", stats, observed=observed)


def _numbers(model: pm.Model) -> int:
    """Size of the log likelihood of all draws."""
    return CHAINS * DRAWS * _size([model.rvs_to_values[node] for node in model.observed_RVs])


def _size(variables: Sequence[Any]) -> int:
    """Number of values of tensors, whose shapes may have to be computed."""
    from bayesgroups.inference.compilations import whole_compilations

    with whole_compilations():
        return sum(int(np.prod(variable.shape.eval())) for variable in variables)


def _of_kept_draws(stats: xr.Dataset, thin: int) -> xr.Dataset:
    """Statistics of the draws that are kept; a divergence before one of them counts as its own. ``thinning``: one in so many."""
    kept = stats.isel(draw=slice(thin - 1, None, thin))
    if "diverging" in stats and thin > 1:
        kept["diverging"] = stats["diverging"].coarsen(draw=thin).max().astype(bool).assign_coords(kept.coords)
    return kept.assign_coords(draw=np.arange(kept.sizes["draw"])).assign(thinning=np.int64(thin))
