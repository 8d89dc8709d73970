"""Questions along thresholds and of AUCs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesgroups.cli import readers
from bayesgroups.cli.questions.question import Question, Table

if TYPE_CHECKING:
    import xarray as xr

CURVE = {"estimate": ("estimate", "lower", "upper"), "whole curve from": "band_lower", "whole curve to": "band_upper"}


def _bands(curve: xr.Dataset) -> list[str]:
    """The meaning of the second pair of limits, and what both pairs do not count."""
    from bayesgroups.report.view import percent

    together = f"whole curve: limits that hold all points of a subgroup's curve with probability {percent(float(curve['level']))}"
    return [together, str(curve.attrs["note"])] if curve.attrs["note"] else [together]


def _beside_all(curve: xr.Dataset) -> xr.Dataset:
    """Net benefits beside that of selecting everyone, where a table is of a net benefit, and their posterior probability."""
    if "probability_useful" not in curve:
        return curve
    beneficial = curve["metric"].isin(["net_benefit", "standardised_net_benefit"])
    beside = ("treat_all", "minus_treat_all", "minus_treat_all_lower", "minus_treat_all_upper")
    bayesian = curve["approach"] == "bayesian"
    shown = {name: curve[name].where(beneficial) for name in beside}
    return curve.assign(shown | {"probability_useful": curve["probability_useful"].where(beneficial & bayesian)})


def _bounds(bound: xr.DataArray) -> xr.Dataset:
    return bound.rename("bound").to_dataset()


CURVES = (
    Question(
        "questions.curves.thresholds.threshold_curve",
        "threshold-curve rows.csv --by sex --metric tpr --y-true sick --y-score risk --at 0.5 --at 0.8\n"
        "threshold-curve auc.tally.nc --output curve.nc",
        {"source": readers.auc_tally, "metrics": readers.curve_metrics}, spelled={"thresholds": "--at"},
        table=Table(
            "threshold", {"n": "count", **CURVE, "treat all": "treat_all",
            "beyond treat all": ("minus_treat_all", "minus_treat_all_lower", "minus_treat_all_upper"),
            "P(useful)": "probability_useful"},
            printed=_beside_all, notes=_bands,
        ),
    ),
    Question(
        "questions.curves.roc.roc_curve", "roc-curve rows.csv --by sex --y-true sick --y-score risk --at 0.1 --at 0.2",
        {"source": readers.auc_tally}, spelled={"fpr": "--at"},
        table=Table("fpr", {"positives": "positives", "negatives": "negatives", **CURVE}, notes=_bands),
    ),
    Question(
        "questions.curves.calibration.calibration_curve",
        "calibration-curve rows.csv --by sex --y-true sick --y-score risk --bins 5", {"source": readers.auc_tally},
        table=Table("bin", {"score from": "bin_lower", "score to": "bin_upper", "n": "count", **CURVE}, notes=_bands),
    ),
    Question(
        "questions.curves.areas.auc_intervals",
        "auc-intervals rows.csv --by sex --y-true sick --y-score risk --interval logit", {"tally": readers.auc_tally},
        table=Table(
            "subgroup", {"positives": "positives", "negatives": "negatives", "AUC": ("estimate", "lower", "upper")},
            order=("estimate",),
        ),
    ),
    Question(
        "tallies.auc_variances.auc_as_rate", "auc-as-rate auc.tally.nc --output rate.tally.nc",
        {"tally": readers.saved_tally},
    ),
    Question(
        "tallies.auc_variances.with_auc_variance",
        "with-auc-variance auc.tally.nc --variance calibrated --output other.tally.nc", {"tally": readers.saved_tally},
    ),
    Question(
        "tallies.score_histograms.bin_scores", "bin-scores auc.tally.nc --bins 200 --output small.tally.nc",
        {"tally": readers.saved_tally, "edges": readers.bin_edges},
    ),
    Question(
        "tallies.score_histograms.auc_error_bound", "auc-error-bound small.tally.nc", {"tally": readers.saved_tally},
        table=Table("subgroup", {"bound": "bound"}, prepare=_bounds, order=("-bound",)),
    ),
)  # fmt: skip
