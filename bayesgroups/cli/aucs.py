"""Tallies with an AUC: ``bayesgroups auc-as-rate | with-auc-variance | bin-scores | auc-error-bound``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from bayesgroups.cli.options import ANSWER, AnswerOptions

Target = Annotated[Path, Parameter(alias="-o")]
OfAuc = Literal["pooled_delong", "delong", "hanley_mcneil", "hanley_mcneil_pooled", "calibrated"]


def auc_as_rate(
    tally: Path, *, output: Target, variance: Literal["calibrated", "hanley_mcneil_pooled"] = "calibrated"
) -> int:
    """Make every AUC a rate of effective pairs, so that estimators keep it inside (0, 1).

    For example:

        bayesgroups auc-as-rate auc.tally.nc --output rate.tally.nc

    Parameters
    ----------
    tally
        A tally with an auc (.nc).
    output
        Write the new tally to this NetCDF file.
    variance
        How many pairs an AUC is worth.
    """
    from bayesgroups.cli.tally import wrote
    from bayesgroups.tallies.auc_variances import auc_as_rate as convert
    from bayesgroups.tallies.files import open_tally

    return wrote(convert(open_tally(tally), variance), output)


def with_auc_variance(tally: Path, *, variance: OfAuc, output: Target) -> int:
    """Give the AUCs of a tally another sampling variance.

    For example:

        bayesgroups with-auc-variance auc.tally.nc --variance calibrated --output other.tally.nc

    Parameters
    ----------
    tally
        A tally with an auc (.nc).
    variance
        Which variance.
    output
        Write the new tally to this NetCDF file.
    """
    from bayesgroups.cli.tally import wrote
    from bayesgroups.tallies.auc_variances import with_auc_variance as convert
    from bayesgroups.tallies.files import open_tally

    return wrote(convert(open_tally(tally), variance), output)


def bin_scores(
    tally: Path,
    *,
    output: Target,
    bins: int = 1000,
    lowest: float = 0.0,
    highest: float = 1.0,
) -> int:
    """Bin the scores that a tally keeps; binned tallies add up.

    For example:

        bayesgroups bin-scores auc.tally.nc --bins 200 --output small.tally.nc

    Parameters
    ----------
    tally
        A tally with an auc (.nc).
    output
        Write the new tally to this NetCDF file.
    bins
        Number of bins of equal width.
    lowest
        Lower edge of the first bin.
    highest
        Upper edge of the last bin.
    """
    import numpy as np

    from bayesgroups.cli.tally import wrote
    from bayesgroups.errors import InputError
    from bayesgroups.tallies.files import open_tally
    from bayesgroups.tallies.score_histograms import bin_scores as convert

    if bins < 1:
        raise InputError(f"--bins must be 1 or larger; got {bins}")
    return wrote(convert(open_tally(tally), np.linspace(lowest, highest, bins + 1)), output)


def auc_error_bound(tally: Path, *, answer: AnswerOptions = ANSWER) -> int:
    """Say how far the AUC of binned scores can lie from that of the scores themselves.

    For example:

        bayesgroups auc-error-bound small.tally.nc

    Parameters
    ----------
    tally
        A tally from bin-scores (.nc).
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.results import publish
    from bayesgroups.tallies.files import open_tally
    from bayesgroups.tallies.score_histograms import auc_error_bound as ask

    found = ask(open_tally(tally)).rename("bound").to_dataset()
    return publish(found, "auc_error_bound", answer, rows="subgroup", columns={"bound": "bound"})
