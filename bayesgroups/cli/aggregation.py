"""Many classes and subgroups in one number: ``bayesgroups aggregate | reporting-checklist``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cyclopts import Parameter

from bayesgroups.cli.options import ANSWER, AnswerOptions

if TYPE_CHECKING:
    import xarray as xr

ClassMetric = Literal["tpr", "fnr", "tnr", "fpr", "ppv", "fdr", "npv", "for", "f1", "sel", "acc"]
GROUP_STEPS = (
    "mean_gap", "sum_gap", "variance", "max_gap", "min_score", "min_ratio", "max_difference", "max_ratio",
    "difference_threshold", "ratio_threshold",
)  # fmt: skip
CLASS_STEPS = ("binary", "mean", "quadratic_mean")


@Parameter(name="*", group="Aggregation")
@dataclass(frozen=True, kw_only=True)
class Steps:
    """Steps by which a metric is aggregated.

    Parameters
    ----------
    unit
        What is averaged over subgroups; gap where an exponent is given.
    group_power
        Exponent over subgroups (a number, -inf to inf), or the name of a published aggregate such as max_gap.
    class_power
        Exponent over classes, or mean, quadratic_mean or binary; none stops after the first step.
    center
        Reference value of each class: pooled over rows, or the mean of its subgroups.
    threshold
        Of difference_threshold and ratio_threshold.
    positive
        The class of binary.
    undefined
        What an undefined score does: makes the answer undefined (nan), or is left out (drop).
    """

    unit: Literal["score", "gap", "ratio"] | None = None
    group_power: str = "1"
    class_power: str = "2"
    center: Literal["pooled", "mean"] = "pooled"
    threshold: float | None = None
    positive: str | None = None
    undefined: Literal["nan", "drop"] = "nan"


STEPS = Steps()


def aggregate(
    data: Path,
    *,
    metric: ClassMetric = "tpr",
    steps: Steps = STEPS,
    side: Literal["bayesian", "frequentist"] = "bayesian",
    answer: AnswerOptions = ANSWER,
) -> int:
    """Aggregate a metric over subgroups, then over classes.

    For example:

        bayesgroups aggregate confusion.csv --metric tpr --group-power max_gap
        bayesgroups aggregate classes.nc --metric tpr --unit score --group-power -inf

    Parameters
    ----------
    data
        A report or tally of metrics per class such as 'tpr[cat]' (.nc), or confusion counts as a table with the columns
        subgroup, label, predicted, count (.csv, .parquet).
    metric
        The metric per class.
    steps
        How it is aggregated.
    side
        Of a report: draws of its posterior or of its bootstrap.
    answer
        How the answer is shown.
    """
    import xarray as xr

    from bayesgroups.cli.inputs import source_of
    from bayesgroups.cli.options import ROWS
    from bayesgroups.cli.results import publish
    from bayesgroups.questions.disparities.class_scores import class_scores, confusion_scores

    source = source_of(data, ROWS) if data.suffix.lower() == ".nc" else None
    scores = confusion_scores(_confusion(data), metric) if source is None else class_scores(source, metric, side=side)
    total = aggregated(scores, steps)
    settings = {name: value for name, value in total.attrs.items() if value is not None}
    if "draw" in total.dims:
        draws = total.stack(sample=("chain", "draw"))
        found = xr.Dataset({"value": draws.median("sample")}, attrs=settings)
        found["lower"] = draws.quantile(0.025, "sample").drop_vars("quantile")
        found["upper"] = draws.quantile(0.975, "sample").drop_vars("quantile")
        shown: dict[str, Any] = {"value": ("value", "lower", "upper")}
    else:
        found, shown = xr.Dataset({"value": total}, attrs=settings), {"value": "value"}
    found = found.reset_coords([name for name in ("reason", "undefined_cells") if name in found.coords])
    rows = "label" if "label" in found.dims else None
    remark = "reason" if "reason" in found else None
    return publish(found, "aggregate", answer, rows=rows, columns=shown, source=source, remark=remark)


def reporting_checklist(
    confusion: Path,
    *,
    metric: ClassMetric = "tpr",
    steps: Steps = STEPS,
    why_group_power: str | None = None,
    why_class_power: str | None = None,
    criterion: str | None = None,
    split: str | None = None,
    seeds: int | None = None,
    uncertainty: str | None = None,
    answer: AnswerOptions = ANSWER,
) -> int:
    """Complete the checklist of what a report on fairness must say, for one analysis.

    For example:

        bayesgroups reporting-checklist confusion.csv --metric tpr --why-class-power "as published"

    Parameters
    ----------
    confusion
        Confusion counts with the columns subgroup, label, predicted, count (.csv, .parquet).
    metric
        The metric per class.
    steps
        How it is aggregated.
    why_group_power
        The reason for the step over subgroups.
    why_class_power
        The reason for the step over classes.
    criterion
        How the model was selected.
    split
        On which rows.
    seeds
        Runs per setting.
    uncertainty
        Where the uncertainty of the numbers comes from.
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.results import publish
    from bayesgroups.questions.disparities.class_scores import confusion_scores
    from bayesgroups.questions.disparities.reporting import reporting_checklist as ask

    counts = _confusion(confusion)
    found = ask(
        counts, aggregated(confusion_scores(counts, metric), steps), metric=metric, why_group_power=why_group_power,
        why_class_power=why_class_power, criterion=criterion, split=split, seeds=seeds, uncertainty=uncertainty,
    )  # fmt: skip
    return publish(found, "reporting_checklist", answer, rows="item", columns={"answer": "answer"})


def aggregated(scores: xr.DataArray, steps: Steps) -> xr.DataArray:
    """Aggregate scores as the options say; errors as in `bayesgroups.aggregate`."""
    from bayesgroups.questions.disparities.aggregation import aggregate as combine

    group: Any = _power(steps.group_power, "--group-power", GROUP_STEPS)
    classes: Any = None if steps.class_power == "none" else _power(steps.class_power, "--class-power", CLASS_STEPS)
    return combine(
        scores, steps.unit, group_power=group, class_power=classes, center=steps.center, threshold=steps.threshold,
        positive=steps.positive, undefined=steps.undefined,
    )  # fmt: skip


def _power(text: str, option: str, names: tuple[str, ...]) -> float | str:
    from bayesgroups.errors import InputError, near_misses

    if text in names:
        return text
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{option} {text!r} is neither a number nor a name; {near_misses(text, names)}") from None


def _confusion(path: Path) -> xr.DataArray:
    """Confusion counts of a table, absent cells 0."""
    from bayesgroups.cli.inputs import table_of
    from bayesgroups.errors import InputError

    cells = ["subgroup", "label", "predicted"]
    frame = table_of(path, (*cells, "count"))
    twice = frame[frame.duplicated(cells)]
    if len(twice):
        raise InputError(f"file {str(path)!r} has two counts of the cell {twice.iloc[0][cells].tolist()}; add them up")
    classes = sorted({str(value) for name in cells[1:] for value in frame[name]})
    texts = frame.assign(**{name: frame[name].astype(str) for name in cells})
    grid = texts.set_index(cells)["count"].to_xarray().fillna(0)
    found: xr.DataArray = grid.reindex(label=classes, predicted=classes, fill_value=0)
    return found
