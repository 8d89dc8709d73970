"""Tallies of counts by decision, and by outcome and decision of the rows that have an outcome."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.directions import Direction, LargerIsBetter, choose_directions
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.data.metric_words import resolve_metrics
from bayesgroups.data.metrics import Metric
from bayesgroups.errors import InputError
from bayesgroups.tallies.assembly import Description, assemble
from bayesgroups.tallies.confusion import weights_of, with_counts
from bayesgroups.tallies.moments import Moments
from bayesgroups.tallies.notes import direction_settings
from bayesgroups.tallies.partial_labels import PartialCells
from bayesgroups.tallies.partial_metrics import with_partial
from bayesgroups.tallies.published import crossed_subgroups
from bayesgroups.tallies.sums import Sums

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


@checked_keywords
def tally_from_cells(
    decision_count: ArrayLike,
    cell_count: ArrayLike,
    subgroups: pd.DataFrame,
    metrics: Sequence[str | Metric] | str | Metric = ("prev", "tpr", "tnr"),
    *,
    classes: Sequence[str] = ("0", "1"),
    larger_is_better: LargerIsBetter = None,
) -> xr.Dataset:
    """A tally of counts where all rows have a decision and some an outcome.

    Parameters
    ----------
    decision_count : array-like (subgroup, decision)
        Rows by decision, labelled or not.
    cell_count : array-like (subgroup, outcome, decision)
        Labelled rows by outcome and decision.
    subgroups : pandas.DataFrame
        One row per subgroup, one column per attribute. Combinations of levels that the table lacks are added with
        count 0, after those it has.
    metrics : sequence of str or Metric
        Metrics of outcome and decision, as in `bayesgroups.tally`.
    classes : sequence of str
        Labels along outcome and decision; of two the second one is the positive class.
    larger_is_better : bool or mapping from metrics to bool, optional
        Direction of the metrics, as in `bayesgroups.tally`.

    Returns
    -------
    xr.Dataset
        The tally, as ``bg.tally(..., unlabelled="keep")`` makes it of the rows.

    Raises
    ------
    InputError
        If counts are negative, not whole or of another shape, more rows are labelled than judged, no row is labelled, a metric is
        no function of outcome and decision, or a subgroup is there twice.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> where = pd.DataFrame({"hospital": ["a"]})
    >>> tally = bg.tally_from_cells([[221, 429]], [[[54, 32], [27, 231]]], where)  # Begg and Greenes (1983)
    >>> tally["estimate"].values.ravel().round(4).tolist()
    [0.693, 0.8365, 0.7384]
    """
    wanted, labels = resolve_metrics(metrics), [str(label) for label in classes]
    if len(labels) < 2 or len(set(labels)) < len(labels):
        raise InputError(f"classes= must be two different labels or more; got {list(classes)}")
    for metric, form in zip(wanted, weights_of(wanted, labels, labels if len(labels) == 2 else None)[0], strict=True):
        if not np.isfinite(form).all():
            raise InputError(f"metric {metric.name!r} is no function of outcome and decision; leave it out")
    table, places = crossed_subgroups(subgroups)
    size, number = len(table.table), len(labels)
    named = [table.labels[place] for place in places]
    judged, cells = np.zeros((size, number)), np.zeros((size, number, number))
    judged[places] = _counts(decision_count, "decision_count", (len(named), number), named)
    cells[places] = _counts(cell_count, "cell_count", (len(named), number, number), named)
    labelled = cells.sum(axis=1)
    for g, d in np.argwhere(labelled > judged):
        raise InputError(
            f"subgroup {table.labels[g]!r}: {labelled[g, d]:g} of {judged[g, d]:g} rows judged {labels[d]} are labelled; labelled "
            "rows cannot exceed judged ones"
        )
    if not labelled.sum():
        raise InputError("cell_count= has no labelled row; nothing to learn the judge's errors from")
    directions = choose_directions(
        [metric.name for metric in wanted],
        larger_is_better,
        {metric.name: metric.larger_is_better for metric in wanted},
    )
    settings = {
        "source": "cells",
        **({"positive": labels[1]} if number == 2 else {}),
        **direction_settings([metric.name for metric in wanted], directions),
    }
    nothing = Moments(*(np.zeros((len(wanted), size)) for _ in range(4)))
    described = [_describe(*each) for each in zip(wanted, directions, strict=True)]
    empty = assemble(table, described, Sums(judged.sum(axis=1), nothing, weighted=False), settings=settings)
    whole = with_counts(empty, wanted, labels)
    return with_partial(whole, PartialCells(judged, labelled, judged, cells), ["0", "1"] if number == 2 else labels)


def _describe(metric: Metric, direction: Direction) -> Description:
    return Description(
        metric.name, metric.kind, metric.lower, metric.upper, direction.larger_is_better, metric.undefined, metric.ties
    )


def _counts(values: ArrayLike, name: str, shape: tuple[int, ...], labels: Sequence[str]) -> FloatArray:
    try:
        counts = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name}= must hold numbers") from None
    if counts.shape != shape:
        raise InputError(
            f"{name}= has the shape {counts.shape}, and {shape} is needed: one entry per subgroup and class"
        )
    wrong = ~(np.isfinite(counts) & (counts >= 0) & (counts == np.floor(counts)))
    for place in np.argwhere(wrong):
        raise InputError(
            f"{name}= of subgroup {labels[place[0]]!r} must be whole numbers, 0 or larger; got {counts[tuple(place)]:g}"
        )
    return counts
