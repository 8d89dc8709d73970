"""Questions of how unequal subgroups are, and of what explains it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from bayesgroups.cli import readers
from bayesgroups.cli.questions import contrast_readers
from bayesgroups.cli.questions.question import Question, Table

if TYPE_CHECKING:
    import xarray as xr

AGGREGATION = "questions.disparities.aggregation.aggregate"
CONFUSION_SCORES = "questions.disparities.class_scores.confusion_scores"


def _aggregate(
    function: Callable[..., Any], arguments: Mapping[str, Any], of_classes: partial[Any], of_counts: partial[Any]
) -> xr.DataArray:
    import xarray as xr

    source = of_classes.keywords["source"]
    scores = of_counts(confusion=source) if isinstance(source, xr.DataArray) else of_classes()
    aggregated: xr.DataArray = function(scores, **arguments)
    return aggregated


def _aggregated(total: xr.DataArray) -> xr.Dataset:
    """The aggregate, with the median and 95 % limits of its draws where it has some."""
    import xarray as xr

    answer = xr.Dataset(
        {"value": total}, attrs={name: value for name, value in total.attrs.items() if value is not None}
    )
    if "draw" in total.dims:
        draws = total.stack(sample=("chain", "draw"))
        answer = xr.Dataset({"value": draws.median("sample")}, attrs=answer.attrs)
        answer["lower"] = draws.quantile(0.025, "sample").drop_vars("quantile")
        answer["upper"] = draws.quantile(0.975, "sample").drop_vars("quantile")
        answer.attrs |= {"estimand": "aggregate over subgroups", "level": 0.95, "interval_kind": "draw-based"}
        answer.attrs["interval_method"] = "equal_tailed"
    return answer.reset_coords([name for name in ("reason", "undefined_cells") if name in answer.coords])


def _checklist(
    function: Callable[..., Any], arguments: Mapping[str, Any], of_counts: partial[Any], aggregate: partial[Any]
) -> xr.Dataset:
    answer: xr.Dataset = function(**arguments, aggregated=aggregate(of_counts()))
    return answer


def _shares(answer: xr.Dataset) -> list[str]:
    """The interaction shares, which lie along no model."""
    lines = []
    for approach in answer["approach"].values:
        for metric in answer["metric"].values:
            here = answer.sel(approach=approach, metric=metric)
            share, low, high = (float(here[f"interaction_share{end}"]) for end in ("", "_lower", "_upper"))
            limits = f" ({low:.3f} to {high:.3f})" if low == low else ""  # noqa: PLR0124, NaN: no limits
            reason = str(here["share_reason"].values)
            told = f"interaction share {share:.3f}{limits}" if share == share else "no interaction share"  # noqa: PLR0124
            lines.append(f"{approach}, {metric}: {told}{f': {reason}' if reason else ''}")
    return lines


INEQUALITY = (
    Question(
        "questions.disparities.disparity.disparity",
        "disparity fnr.nc\ndisparity fnr.tally.nc --measure variance --corrected", {"source": readers.source},
        spelled={"weights": "--weigh-by"},
        table=Table(
            "measure", {"value": ("value", "lower", "upper"), "mean": "mean", "if all were equal": "expected_if_equal",
            "p of so much then": "p_value_if_equal", "P(within tolerance)": "probability_within"},
        ),
    ),
    Question(
        "questions.disparities.between_group_variance.between_group_variance",
        "between-group-variance fnr.tally.nc --method reml", {"tally": readers.tally},
        table=Table(
            "metric", {"variance": ("truncated", "lower", "upper"), "raw": "raw", "I squared": "i_squared",
            "subgroups": "subgroups"},
        ),
    ),
    Question(
        "questions.disparities.posterior_variance.posterior_variance", "posterior-variance fnr.nc",
        {"report": readers.report},
        table=Table("estimand", {"mean": ("mean", "lower", "upper"), "median": "median", "upper limit": "upper_limit"}),
    ),
    Question(
        "questions.explanation.nested_models.goodness_of_fit",
        'goodness-of-fit fnr.tally.nc --formula 1 --formula race --formula "race + sex"', {"tally": readers.tally},
        spelled={"weights": "--weigh-by"},
        table=Table(
            "comparison", {"F": "f", "df": "df1", "of": "df2", "p": "p_value", "p (Holm)": "p_value_holm",
            "p against noise": "pure_error_p_value"},
        ),
    ),
    Question(
        "questions.maihda.maihda.maihda", "maihda fnr.tally.nc --method ml",
        {"source": readers.source, "population": contrast_readers.population}, spelled={"weights": "--weigh-by"},
        table=Table(
            "model", {"variance": ("between", "between_lower", "between_upper"), "VPC": ("vpc", "vpc_lower", "vpc_upper"),
            "PCV": ("pcv", "pcv_lower", "pcv_upper"), "MOR": ("mor", "mor_lower", "mor_upper"),
            "AUC": ("auc", "auc_lower", "auc_upper")},
            notes=_shares,
        ),
    ),
    Question(
        "questions.explanation.attribution.variance_attribution",
        "estimate fnr.tally.nc --estimator crossed_effects --set own_effects=learned -o fnr.nc\n"
        "variance-attribution fnr.nc",
        {"report": readers.report},
        table=Table(
            "component", {"share": ("share", "lower", "upper"), "P(largest)": "probability_largest", "sd": "sd"},
        ),
    ),
)  # fmt: skip
CLASSES = (
    Question(
        AGGREGATION,
        "aggregate confusion.csv --metric tpr --group-power max_gap\n"
        "aggregate classes.nc --metric tpr --unit score --group-power -inf",
        {"source": readers.classes}, steps=("questions.disparities.class_scores.class_scores", CONFUSION_SCORES),
        ask=_aggregate,
        table=Table("label", {"value": ("value", "lower", "upper")}, prepare=_aggregated),
    ),
    Question(
        "questions.disparities.reporting.reporting_checklist",
        'reporting-checklist confusion.csv --metric tpr --why-class-power "as published"',
        {"confusion": readers.confusion}, steps=(CONFUSION_SCORES, AGGREGATION), ask=_checklist,
        table=Table("item", {"answer": "answer"}),
    ),
)  # fmt: skip
