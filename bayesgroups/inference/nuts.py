"""The No-U-Turn sampler: the one place of the package where a PyMC model is sampled.

nutpie runs it when it is installed, PyMC's own sampler otherwise; on request the model is compiled by JAX, for a graphics
processor where there is one. Nothing is judged here; see ``verdicts``.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, get_args

import xarray as xr

from bayesgroups.data.linear_algebra import one_thread_of_linear_algebra
from bayesgroups.errors import InputError, MissingDependencyError

if TYPE_CHECKING:
    import pymc as pm

Backend = Literal["default", "jax"]
"""What compiles the model: what PyMC compiles with (numba), or JAX."""

CORES = 2
EXTENSIONS = (2, 4)
"""Multiples of the draws that are sampled in turn where chains agree, but too few of their draws are effective."""
STATISTICS = (
    "lp",
    "energy",
    "diverging",
    "acceptance_rate",
    "step_size",
    "n_steps",
    "tree_depth",
    "reached_max_treedepth",
)
NUTPIE_NAMES = {
    "logp": "lp",
    "mean_tree_accept": "acceptance_rate",
    "depth": "tree_depth",
    "maxdepth_reached": "reached_max_treedepth",
}


def sample(
    model: pm.Model,
    *,
    seed: int,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    target_accept: float = 0.9,
    progress: bool = False,
    log_likelihood: bool = False,
    keep_latent: bool = False,
    backend: Backend = "default",
    thin: int = 1,
) -> xr.DataTree:
    """Draws from the posterior of a model made by one of the builders; the same seed gives the same draws.

    ``draws`` are kept and ``tune`` thrown away per chain, two chains run at a time. The step size aims at
    ``target_accept``, in (0, 1); nearer to 1 means smaller steps and fewer divergences. ``log_likelihood`` adds the
    pointwise log likelihood of the observed nodes. ``keep_latent`` keeps variables that only serve the parametrisation:
    ``z``, ``z_...``, and variables other than ``mu`` and ``cell_share`` along ``subgroup``, ``binomial_metric`` or
    ``normal_metric``. With the backend ``jax`` nutpie samples and JAX computes density and gradient where JAX is set up
    to: on a graphics processor if it has one. Draws differ from those of the default, not the posterior. ``thin`` times
    ``draws`` are sampled, and every ``thin``-th is kept; ``sample_stats`` are those of all of them.

    Groups are ``posterior`` (``mu(chain, draw, metric, subgroup)``, ``overall``, ``tau`` and other hyper-parameters),
    ``sample_stats`` and ``observed_data`` if anything was observed; ``log_likelihood`` if asked for. InputError if
    ``backend`` is neither of the two, or ``thin`` is not a whole number, 1 or larger; MissingDependencyError if JAX or
    nutpie is asked for and not installed. Hoffman and Gelman (2014), "The No-U-Turn Sampler", JMLR 15.
    """
    _check(backend, thin)
    import pymc as pm
    from pytensor.configdefaults import config

    from bayesgroups.inference.compilations import whole_compilations

    kept = [variable.name for variable in model.unobserved_RVs] if keep_latent else parameters_of(model)
    observed = log_likelihood and bool(model.observed_RVs)
    # With fast maths the first run and a run from the compiler's cache round differently, and draw differently.
    with model, config.change_flags(numba__fastmath=False), one_thread_of_linear_algebra(), whole_compilations():
        raw: xr.DataTree = pm.sample(
            draws=draws * thin,
            tune=tune,
            chains=chains,
            cores=CORES,
            random_seed=seed,
            progressbar=progress,
            quiet=not progress,
            # A log likelihood is computed from the free variables, latent ones included.
            var_names=None if observed else kept,
            nuts_sampler="nutpie" if find_spec("nutpie") else "pymc",
            target_accept=target_accept,
            compile_kwargs={"mode": "JAX"} if backend == "jax" else None,
            # Judged in `verdicts`; here it would only warn.
            compute_convergence_checks=False,
        )
        if observed:
            pm.compute_log_likelihood(raw, progressbar=False)  # adds a group to the tree
    posterior = along_metrics(_used(raw["posterior"].to_dataset()[kept]))
    groups = {"posterior": _thinned(posterior, thin), "sample_stats": _statistics(raw)}
    groups |= {name: raw[name].to_dataset() for name in ("observed_data", "log_likelihood") if name in raw.children}
    if observed:
        groups["log_likelihood"] = _thinned(groups["log_likelihood"], thin)
    return xr.DataTree.from_dict({name: group for name, group in groups.items() if group.data_vars})


def _check(backend: str, thin: int = 1) -> None:
    if isinstance(thin, bool) or not isinstance(thin, int) or thin < 1:
        raise InputError(f"thin={thin!r} must be a whole number, 1 or larger: 2 keeps every second draw")
    if backend not in get_args(Backend):
        raise InputError(f"backend={backend!r} is not one of {', '.join(map(repr, get_args(Backend)))}")
    missing = [name for name in ("jax", "nutpie") if backend == "jax" and find_spec(name) is None]
    if missing:
        raise MissingDependencyError(
            f"sampling with JAX needs {' and '.join(missing)}; install what is missing with: pip install 'bayesgroups[jax]'"
        )


def parameters_of(model: pm.Model) -> list[str]:
    """Variables of a model that are kept: all that are not observed and do more than serve the parametrisation."""
    return [variable.name for variable in model.unobserved_RVs if not _latent(model, variable.name)]


def along_metrics(draws: xr.Dataset) -> xr.Dataset:
    """Draws whose variables of the metrics that are means run along all metrics, NaN for the others."""
    means = [name for name, values in draws.data_vars.items() if "mean_metric" in values.dims]
    if not means:
        return draws
    metrics = draws["metric"].values
    wide = {name: draws[name].rename(mean_metric="metric").reindex(metric=metrics) for name in means}
    return draws.drop_vars([*means, "mean_metric"]).assign(wide)


def _latent(model: pm.Model, name: str) -> bool:
    """True if a variable only serves the parametrisation."""
    along = model.named_vars_to_dims.get(name, ())
    assembled = {"binomial_metric", "normal_metric", "subgroup"}
    return name not in ("mu", "cell_share") and (
        name == "z" or name.startswith("z_") or not assembled.isdisjoint(along)
    )


def _thinned(values: xr.Dataset, thin: int) -> xr.Dataset:
    """Every so many-th draw, numbered anew."""
    if thin == 1:
        return values
    kept = values.isel(draw=slice(thin - 1, None, thin))
    return kept.assign_coords(draw=range(kept.sizes["draw"]))


def _used(posterior: xr.Dataset) -> xr.Dataset:
    """Drop the coordinates of variables that were dropped; labels become plain text, whichever sampler ran."""
    used = {dim for variable in posterior.data_vars.values() for dim in variable.dims}
    posterior = posterior.drop_vars([name for name in posterior.coords if name not in used])
    labels = {name: values.astype(str) for name, values in posterior.coords.items() if values.dtype == object}
    return posterior.assign_coords(labels)


def _statistics(raw: xr.DataTree) -> xr.Dataset:
    """Sampler statistics under the names of the ArviZ schema, whichever sampler ran."""
    stats = (
        raw["sample_stats"]
        .to_dataset()
        .rename_vars({theirs: ours for theirs, ours in NUTPIE_NAMES.items() if theirs in raw["sample_stats"]})
    )
    return stats[[name for name in STATISTICS if name in stats]]
