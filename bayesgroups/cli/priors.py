"""Commands for priors: ``bayesgroups prior-predictive | prior-sensitivity``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bayesgroups.cli.estimate import Settings, Word
from bayesgroups.cli.options import ANSWER, ROWS, AnswerOptions, Imputed, RowOptions

if TYPE_CHECKING:
    import xarray as xr


def prior_predictive(
    data: Path,
    *,
    rows: RowOptions = ROWS,
    estimator: Word = "partial_pooling",
    settings: Settings = (),
    draws: int = 1000,
    seed: int = 0,
    answer: AnswerOptions = ANSWER,
) -> int:
    """Say what the priors of an estimator imply for the subgroups, before their outcomes are looked at.

    For example:

        bayesgroups prior-predictive fnr.tally.nc --set tau_scale=1

    Parameters
    ----------
    data
        A tally (.nc), or rows (.csv, .parquet).
    rows
        What is in the rows; leave these out for a tally.
    estimator
        Whose priors.
    settings
        A setting of the estimator, as --set tau_scale=1; repeat it for several.
    draws
        How many.
    seed
        Source of all randomness.
    answer
        How the answer is shown; its draws are in a .nc file.
    """
    import logging

    from bayesgroups.cli.estimate import parsed
    from bayesgroups.cli.inputs import tally_of
    from bayesgroups.cli.results import publish
    from bayesgroups.estimators.named import estimator_named
    from bayesgroups.questions.priors import prior_predictive as draw

    logging.getLogger("pymc").setLevel(logging.WARNING)  # it tells which variables it draws
    found = _summarised(
        draw(tally_of(data, rows), estimator_named(estimator, parsed(settings)), seed=seed, draws=draws)
    )
    shown = {
        "prior": ("prior", "prior_lower", "prior_upper"),
        "estimates then": ("estimates", "estimates_lower", "estimates_upper"), "observed": "observed",
    }  # fmt: skip
    return publish(found, "prior_predictive", answer, rows="subgroup", columns=shown)


def prior_sensitivity(report: Path, *, imputed: Imputed = "leave_out", answer: AnswerOptions = ANSWER) -> int:
    """Say how much the priors of a report matter, without fitting again.

    For example:

        bayesgroups prior-sensitivity fnr.nc

    Parameters
    ----------
    report
        A report with its draws (.nc).
    imputed
        Whether subgroups without rows can be the worst and take part in the gap.
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.inputs import report_of
    from bayesgroups.cli.results import publish
    from bayesgroups.questions.priors import prior_sensitivity as ask

    source = report_of(report)
    shown = {"mean": "mean", "prior": "prior", "likelihood": "likelihood", "": "diagnosis"}
    return publish(
        ask(source, imputed=imputed), "prior_sensitivity", answer, rows="subgroup", columns=shown, source=source
    )


def _summarised(drawn: xr.Dataset) -> xr.Dataset:
    """Medians and 95 % ranges beside the draws."""
    found = drawn
    for name, variable in (("prior", "mu"), ("estimates", "predicted")):
        low, middle, high = (drawn[variable].quantile(p, "draw").drop_vars("quantile") for p in (0.025, 0.5, 0.975))
        found = found.assign({name: middle, f"{name}_lower": low, f"{name}_upper": high})
    return found
