"""The plot of a target population: the share of every cell among the evaluated rows and among the people of the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, near_misses
from bayesgroups.report.overlap import overlaps
from bayesgroups.report.schema import check
from bayesgroups.report.view import metrics_of, plain
from bayesgroups.views.plots import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

DRAWN = 30
"""At most so many cells are drawn, those whose shares differ most."""


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares (cell,) of the cells among the rows and among the people of a target, and their labels."""

    labels: tuple[str, ...]
    rows: FloatArray
    people: FloatArray


def shares_of(report: xr.DataTree, metric: str | None = None, target: str = "all") -> Shares:
    """Shares behind one target of a poststratified report; of the rows those in cells of the target."""
    check(report)
    if not overlaps(report):
        raise InputError("the report has no target population; make one with bg.poststratify(report, population)")
    names = metrics_of(report)
    name = names[0] if metric is None else metric
    if name not in names:
        raise InputError(f"the report has no metric {name!r}; {near_misses(name, names)}")
    table = report["constant_data"].to_dataset().sel(metric=name)
    labels = [str(label) for label in table["subgroup"].values]
    if target not in labels:
        raise InputError(f"the report has no target {target!r}; {near_misses(target, labels)}")
    people = np.asarray(table["weight"].sel(subgroup=target).values, dtype=np.float64)
    inside = people > 0 if target != labels[0] else np.isfinite(people)
    rows = np.where(inside, table["cell_rows"].values, 0.0)
    total = float(rows.sum())
    shared = rows / total if total > 0 else rows
    seen = inside & ((people > 0) | (shared > 0))
    cells = [plain(str(label)) for label in table["cell"].values[seen]]
    return Shares(tuple(cells), shared[seen], people[seen])


@checked_keywords
def population(
    report: xr.DataTree, *, metric: str | None = None, target: str = "all", show: int = DRAWN, size: style.Size = "page",
    axes: Axes | None = None,
) -> Axes:  # fmt: skip
    """Draw the share of every cell among the evaluated rows beside its share among the people of a target.

    The wider apart, the more the evaluation is weighted; a hollow circle is a cell of people without a single row.

    Parameters
    ----------
    report : xr.DataTree
        A report of `bayesgroups.poststratify`.
    metric : str, optional
        One of its metrics, whose rows are counted; the first when left out.
    target : str
        One of its targets.
    show : int
        Draw at most so many cells, those whose shares differ most.
    size : {"page", "paper", "slides"}
        Size of picture and letters.
    axes : Axes, optional
        Where to draw; on a new figure when left out.

    Returns
    -------
    matplotlib.axes.Axes
        Its figure is ``axes.figure``.

    Raises
    ------
    SchemaError
        If the tree is not a report.
    InputError
        If it has no target population, lacks the metric or the target, or a setting does not exist.

    References
    ----------
    Cleveland, McGill (1984), Graphical perception, doi:10.1080/01621459.1984.10478080 (positions on one scale).

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.views.plots import population
    >>> schools = pd.DataFrame({"type": ["E", "H", "M"]})
    >>> tally = bg.tally_from_counts([101, 9, 14], [142, 25, 33], schools, metric="acc")
    >>> population(bg.poststratify(tally, schools.assign(count=[4421, 755, 1018]))).get_xlabel()
    'share, %'
    """
    if show < 1:
        raise InputError(f"show must be 1 or more; got {show}")
    shares, shape, owns_figure = shares_of(report, metric, target), style.look(size), axes is None
    difference = np.abs(shares.people - shares.rows)
    kept = np.sort(np.argsort(-difference, kind="stable")[:show])[::-1]
    rows, people = 100 * shares.rows[kept], 100 * shares.people[kept]
    axes = style.begin(axes, shape, 0.26 + 0.055 * len(kept))
    places = np.arange(len(kept))
    axes.hlines(
        places, np.minimum(rows, people), np.maximum(rows, people), color="#B6BCC6", lw=1.2 * shape.line, zorder=1
    )
    empty = (rows == 0) & (people > 0)
    (sampled,) = axes.plot(
        rows[~empty], places[~empty], ls="", marker="D", color=style.VERMILION, markersize=shape.marker, label="evaluated rows",
        zorder=2,
    )  # fmt: skip
    (served,) = axes.plot(
        people[~empty], places[~empty], ls="", marker="o", color=style.BLUE, markersize=1.2 * shape.marker,
        label="people of the target", zorder=3,
    )  # fmt: skip
    handles: list[Artist] = [sampled, served]
    if empty.any():
        (hollow,) = axes.plot(
            people[empty], places[empty], ls="", marker="o", color=style.BLUE, markerfacecolor="white",
            markersize=1.2 * shape.marker, label="people without a row", zorder=3,
        )  # fmt: skip
        handles.append(hollow)
    labels = [style.short(shares.labels[int(i)]) for i in kept]
    axes.set_yticks(places, labels, parse_math=False)
    axes.set_ylim(-0.7, len(kept) - 0.3)
    axes.set_xlim(left=0)
    more = f", the {len(kept)} cells that differ most" if len(kept) < len(shares.labels) else ""
    everybody = "the target population" if target == "all" else plain(target)
    longest = max(map(len, labels))
    style.name(axes, shape, title=f"Evaluated rows and {everybody}{more}", x="share, %", y="", beside=longest)
    axes.grid(axis="x", color=style.RULE, lw=0.6)
    style.explain(axes, shape, handles, owns_figure=owns_figure, columns=3)
    return axes
