"""Questions of what priors say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesgroups.cli import readers
from bayesgroups.cli.questions.question import Question, Table

if TYPE_CHECKING:
    import xarray as xr


def _summarised(drawn: xr.Dataset) -> xr.Dataset:
    """Medians and 95 % ranges beside the draws."""
    answer = drawn.assign_attrs(
        estimand="value of each subgroup, and its estimate, before any data", level=0.95, interval_kind="prior predictive",
        interval_method="equal_tailed",
    )  # fmt: skip
    for name, variable in (("prior", "mu"), ("estimates", "predicted")):
        low, middle, high = (
            drawn[variable].quantile(p, "draw", skipna=False).drop_vars("quantile") for p in (0.025, 0.5, 0.975)
        )
        answer = answer.assign({name: middle, f"{name}_lower": low, f"{name}_upper": high})
    return answer


PRIORS = (
    Question(
        "questions.priors.predictive.prior_predictive", "prior-predictive fnr.tally.nc --set tau_scale=1",
        {"estimator": readers.estimator, "tally": readers.tally},
        table=Table(
            "subgroup", {"prior": ("prior", "prior_lower", "prior_upper"),
            "estimates then": ("estimates", "estimates_lower", "estimates_upper"), "observed": "observed"},
            prepare=_summarised,
        ),
    ),
    Question(
        "questions.priors.sensitivity.prior_sensitivity", "prior-sensitivity fnr.nc", {"report": readers.report},
        table=Table("subgroup", {"mean": "mean", "prior": "prior", "likelihood": "likelihood", "": "diagnosis"}, order=("-prior",)),
    ),
)  # fmt: skip
