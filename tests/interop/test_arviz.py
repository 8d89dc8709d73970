"""Every public function of ArviZ, as it is installed, on a report with all groups: it works, or the page says why it cannot.

The page is docs/how-to/arviz.md; a function that ArviZ adds fails here until it is in one of the lists.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import arviz as az
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.estimators.groups import Group

mpl.use("Agg")

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "arviz.md"
SUBGROUPS = pd.DataFrame({"race": ["a", "a", "b", "b", "c", "c"], "sex": ["f", "m"] * 3})
COUNTS = bg.tally_from_counts([12, 30, 9, 0, 33, 11], [60, 100, 60, 0, 130, 40], SUBGROUPS, metric="fnr")
EVERY: list[Group] = ["prior", "prior_predictive", "posterior_predictive", "log_prior"]

# A subgroup that has an effect of its own moves the posterior much when it is left out, which PSIS says.
pytestmark = pytest.mark.filterwarnings("ignore:Estimated shape parameter of Pareto:UserWarning")


@cache
def report() -> xr.DataTree:
    return bg.estimate(COUNTS, bg.PartialPooling(), seed=1, groups=EVERY)


@cache
def pooled() -> xr.DataTree:
    return bg.estimate(COUNTS, bg.CompletePooling(), seed=1, groups=EVERY)


@pytest.fixture(autouse=True)
def figures() -> Iterator[None]:
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


NAMED: dict[str, Callable[[xr.DataTree], Any]] = {
    "loo": az.loo,
    "compare": lambda r: az.compare({"apart": r, "pooled": pooled()}),
    "plot_ppc_dist": az.plot_ppc_dist,
    "plot_loo_pit": az.plot_loo_pit,
    "psense_summary": az.psense_summary,
    "plot_prior_posterior": az.plot_prior_posterior,
}
"""Functions that the page shows, with how they are called."""
UNCHANGED = (
    "diagnose", "ess", "eti", "extract", "get_log_likelihood", "get_unconstrained_samples", "hdi", "histogram", "iqr", "kde",
    "loo_expectations", "loo_influence", "loo_metrics", "loo_pit", "loo_score", "mad", "mcse", "mean", "median", "metrics", "mode",
    "plot_autocorr", "plot_convergence_dist", "plot_dgof", "plot_dgof_dist", "plot_dist", "plot_ess", "plot_ess_evolution",
    "plot_forest", "plot_loo_interval", "plot_loo_pava", "plot_mcse", "plot_parallel", "plot_ppc_censored", "plot_ppc_dist_pit",
    "plot_ppc_interval", "plot_ppc_pava", "plot_ppc_pit", "plot_ppc_rootogram", "plot_ppc_tstat", "plot_psense_dist",
    "plot_psense_quantities", "plot_rank", "plot_rank_dist", "plot_ridge", "plot_trace", "plot_trace_dist", "psense", "qds", "rhat",
    "std", "summary", "thin", "var", "convert_to_datatree", "convert_to_dataset", "xarray_sel_iter", "xarray_var_iter",
)  # fmt: skip
"""Functions that need nothing but the report."""
CALLS: dict[str, Callable[[xr.DataTree], Any]] = {
    **NAMED,
    **{name: getattr(az, name) for name in UNCHANGED},
    "bayes_factor": lambda r: az.bayes_factor(r, var_names="tau", ref_vals=0.3),
    "ci_in_rope": lambda r: az.ci_in_rope(r, rope=(0.1, 0.3), var_names=["mu"]),
    "combine_plots": lambda r: az.combine_plots(
        r, plots=[(az.plot_trace, {}), (az.plot_rank, {})], var_names=["overall", "tau"]
    ),
    "kl_divergence": lambda r: az.kl_divergence(r, pooled(), var_names=["mu"]),
    "wasserstein": lambda r: az.wasserstein(r, pooled(), var_names=["mu"]),
    "generate_survival_curves": lambda r: az.generate_survival_curves(r, var_names=["successes"]),
    "kaplan_meier": lambda r: az.kaplan_meier(r, var_names=["successes"]),
    "loo_i": lambda r: az.loo_i(0, r),
    "loo_r2": lambda r: az.loo_r2(r, var_name="successes"),
    "loo_subsample": lambda r: az.loo_subsample(r, observations=3),
    "update_subsample": lambda r: az.update_subsample(az.loo_subsample(r, observations=2), r, observations=2),
    "plot_bf": lambda r: az.plot_bf(r, var_names="tau", ref_val=0.3),
    "plot_compare": lambda r: az.plot_compare(az.compare({"apart": r, "pooled": pooled()})),
    "plot_khat": lambda r: az.plot_khat(az.loo(r, pointwise=True)),
    "plot_pair": lambda r: az.plot_pair(r, var_names=["overall", "tau"]),
    "plot_pair_focus": lambda r: az.plot_pair_focus(r, focus_var="tau", focus_var_coords={"metric": "fnr"}),
    "rhat_nested": lambda r: az.rhat_nested(r, superchain_ids=[0, 0, 1, 1]),
    "weight_predictions": lambda r: az.weight_predictions([r, pooled()]),
    "dataset_to_dataarray": lambda r: az.dataset_to_dataarray(r["posterior"].to_dataset()),
    "dataset_to_dataframe": lambda r: az.dataset_to_dataframe(r["posterior"].to_dataset()),
    "xarray_to_ndarray": lambda r: az.xarray_to_ndarray(r["posterior"].to_dataset()),
    "explode_dataset_dims": lambda r: az.explode_dataset_dims(r["posterior"].to_dataset(), dim="subgroup"),
}
CANNOT: dict[str, tuple[Callable[[xr.DataTree], Any], str]] = {
    "bayesian_r2": (lambda r: az.bayesian_r2(r, "mu", "tau"), "could not broadcast"),
    "residual_r2": (lambda r: az.residual_r2(r, pred_mean="mu", obs_name="successes"), "could not broadcast"),
    "bfmi": (az.bfmi, "energy"),
    "plot_energy": (az.plot_energy, "sample_stats"),
    "ecdf": (az.ecdf, "DataTree ecdf not available"),
    "plot_ecdf_pit": (az.plot_ecdf_pit, "prior_sbc"),
    "plot_lm": (az.plot_lm, "'subgroup' set as `plot_dim`"),
    "plot_ppc_pava_residuals": (lambda r: az.plot_ppc_pava_residuals(r, x_var="count"), "out of bounds"),
    "lfo_cv": (lambda r: az.lfo_cv(r, None, 2, 1), "SamplingWrapper"),
    "loo_kfold": (lambda r: az.loo_kfold(r, None), "SamplingWrapper"),
    "reloo": (az.reloo, "SamplingWrapper"),
    "loo_moment_match": (lambda r: az.loo_moment_match(r, az.loo(r, pointwise=True)), "log_prob_upars_fn"),
    "loo_approximate_posterior": (lambda r: az.loo_approximate_posterior(r, None, None), "log_p must be"),
}
"""Functions that cannot take a report of an exact engine: a call, and words of the error."""
OTHER = {
    "add_bands", "add_lines", "citations", "clear_data_home", "dict_to_dataset", "from_cmdstanpy", "from_dict", "from_emcee",
    "from_netcdf", "from_numpyro", "from_numpyro_svi", "from_zarr", "generate_dims_coords", "get_data_home", "get_function",
    "hexbin", "histogram2d", "kde2d", "list_datasets", "load_arviz_data", "make_attrs", "ndarray_to_dataarray",
    "references_to_dataset",
}  # fmt: skip
"""Functions that take no draws: readers, arrays, settings."""


def public() -> set[str]:
    """Names of the functions of ArviZ."""
    return {
        name
        for name in dir(az)
        if not name.startswith("_") and callable(getattr(az, name)) and not inspect.isclass(getattr(az, name))
    }


def test_every_function_is_in_a_list() -> None:
    assert public() == {*CALLS, *CANNOT, *OTHER}
    assert not set(CALLS) & set(CANNOT)


def test_the_page_says_why_the_others_cannot() -> None:
    table = re.findall(r"^\| (`az\..*?`) \|", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert {name for row in table for name in re.findall(r"`az\.(\w+)`", row)} == set(CANNOT)


@pytest.mark.filterwarnings("ignore:Variables successes in '(observed|predictive)' look discrete")
@pytest.mark.parametrize("name", NAMED)
def test_functions_of_the_page_work(name: str) -> None:
    assert NAMED[name](report()) is not None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("name", sorted(set(CALLS) - set(NAMED)))
def test_every_other_function_works(name: str) -> None:
    CALLS[name](report())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize("name", sorted(CANNOT))
def test_the_others_still_cannot(name: str) -> None:
    call, message = CANNOT[name]
    with pytest.raises((ValueError, KeyError, IndexError, TypeError, NotImplementedError), match=message):
        call(report())


def test_loo_is_that_of_the_densities() -> None:
    """Complete pooling of rates has a closed form: leaving a subgroup out, its successes are beta-binomial."""
    from scipy.stats import betabinom

    k, n = (COUNTS[name].values[0][COUNTS["count"].values[0] > 0] for name in ("successes", "count"))
    exact = betabinom.logpmf(k, n, 0.5 + k.sum() - k, 0.5 + (n - k).sum() - (n - k)).sum()
    assert az.loo(pooled()).elpd == pytest.approx(exact, abs=0.15)
    assert np.isfinite(az.loo(report()).elpd)
