"""Questions along thresholds and of AUCs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesgroups.cli import readers
from bayesgroups.cli.questions.question import Question, Table

if TYPE_CHECKING:
    import xarray as xr

CURVE = {"estimate": ("estimate", "lower", "upper"), "whole curve from": "band_lower", "to": "band_upper"}


def _bounds(bound: xr.DataArray) -> xr.Dataset:
    return bound.rename("bound").to_dataset()


CURVES = (
    Question(
        function="questions.curves.thresholds.threshold_curve",
        example=(
            "threshold-curve rows.csv --by sex --metric tpr --y-true sick --y-score risk --at 0.5 --at 0.8\n"
            "threshold-curve auc.tally.nc --output curve.nc"
        ),
        reads={"source": readers.auc_tally, "metrics": readers.curve_metrics},
        spelled={"thresholds": "--at"},
        table=Table(along=("threshold",), columns=CURVE),
    ),
    Question(
        function="questions.curves.roc.roc_curve",
        example="roc-curve rows.csv --by sex --y-true sick --y-score risk --at 0.1 --at 0.2",
        reads={"source": readers.auc_tally},
        spelled={"fpr": "--at"},
        table=Table(along=("fpr",), columns=CURVE),
    ),
    Question(
        function="questions.curves.calibration.calibration_curve",
        example="calibration-curve rows.csv --by sex --y-true sick --y-score risk --bins 5",
        reads={"source": readers.auc_tally},
        table=Table(along=("bin",), columns={"score from": "bin_lower", "to": "bin_upper", "n": "count", **CURVE}),
    ),
    Question(
        function="questions.curves.areas.auc_intervals",
        example="auc-intervals rows.csv --by sex --y-true sick --y-score risk --interval logit",
        reads={"tally": readers.auc_tally},
        table=Table(
            along=("subgroup",),
            columns={"positives": "positives", "negatives": "negatives", "AUC": ("estimate", "lower", "upper")},
        ),
    ),
    Question(
        function="tallies.auc_variances.auc_as_rate",
        example="auc-as-rate auc.tally.nc --output rate.tally.nc",
        reads={"tally": readers.saved_tally},
    ),
    Question(
        function="tallies.auc_variances.with_auc_variance",
        example="with-auc-variance auc.tally.nc --variance calibrated --output other.tally.nc",
        reads={"tally": readers.saved_tally},
    ),
    Question(
        function="tallies.score_histograms.bin_scores",
        example="bin-scores auc.tally.nc --bins 200 --output small.tally.nc",
        reads={"tally": readers.saved_tally, "edges": readers.bin_edges},
    ),
    Question(
        function="tallies.score_histograms.auc_error_bound",
        example="auc-error-bound small.tally.nc",
        reads={"tally": readers.saved_tally},
        table=Table(along=("subgroup",), columns={"bound": "bound"}, prepare=_bounds),
    ),
)
