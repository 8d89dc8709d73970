"""The intersection heat map: two attributes across and down, the metric as colour and as a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, near_misses
from bayesgroups.forwarding import renamed_keyword
from bayesgroups.questions.values import Using, approach_shown
from bayesgroups.report.view import number, plain, read
from bayesgroups.tallies.labels import shown_level
from bayesgroups.tallies.subgroups import attributes_of
from bayesgroups.views.plots import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


_OPPOSITE = {"white": "black", "black": "white"}
LEVELS = 40
"""Most levels of an attribute that can be told apart in a picture."""


@renamed_keyword("approach", "using", bayesian="auto", frequentist="tally")
@checked_keywords
def heat_map(
    report: xr.DataTree,
    rows: str,
    columns: str,
    *,
    metric: str | None = None,
    using: Using = "auto",
    size: style.Size = "page",
    axes: Axes | None = None,
) -> Axes:
    """Draw a metric for every pair of levels of two attributes.

    Numbers are estimates and stand above n. Where the report has more attributes than the two, a cell is the mean of its
    subgroups weighted by n. Cells without rows, which the model alone answers, are dotted, with the number in brackets, as
    the legend says; hatched cells have no value.

    Parameters
    ----------
    report : xr.DataTree
        A report.
    rows, columns : str
        Attributes, with up to 40 levels each.
    metric : str, optional
        One of its metrics; the first when left out.
    using : {"auto", "posterior", "tally"}
        Whose estimates: the Bayesian ones (``auto``, ``posterior``), or the frequentist ones, which are made from the tally.
    size : {"page", "paper", "slides"}
        Size of picture and letters.
    axes : Axes, optional
        Where to draw; on a new figure when left out.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    SchemaError
        If the tree is not a report.
    InputError
        If an attribute is missing, both are one, or one has too many levels; or as in `bayesgroups.views.plots.forest`.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> from bayesgroups.views.plots import heat_map
    >>> who = pd.DataFrame({"race": ["a", "a", "b", "b"], "sex": ["f", "m", "f", "m"]})
    >>> counts = bg.tally_from_counts([1, 30, 9, 4], [2, 100, 60, 8], who, metric="fnr")
    >>> axes = heat_map(bg.estimate(counts, bg.PartialPooling(), seed=1), "race", "sex")
    >>> [label.get_text() for label in axes.get_xticklabels()]
    ['f', 'm']
    """
    from matplotlib.patheffects import withStroke

    approach = approach_shown(using)
    reading, shape, owns_figure = read(report, metric), style.look(size), axes is None
    table = report["estimates"].to_dataset()
    tally = report["constant_data"].to_dataset()
    attributes = attributes_of(table)
    for attribute in (rows, columns):
        if attribute not in attributes:
            raise InputError(f"the report has no attribute {attribute!r}; {near_misses(attribute, attributes)}")
    if rows == columns:
        raise InputError(f"rows and columns must be two attributes; both are {rows!r}")
    across, down = (list(dict.fromkeys(str(x) for x in table[name].values)) for name in (columns, rows))
    for name, levels in ((columns, across), (rows, down)):
        if len(levels) > LEVELS:
            raise InputError(f"attribute {name!r} has {len(levels)} levels; a heat map has room for {LEVELS}")
    side = reading.bayesian if approach == "bayesian" else reading.frequentist
    value, count, imputed = _cells(
        side.estimate, reading.count, np.array([status == "imputed" for status in side.status]),
        np.array([down.index(str(x)) for x in table[rows].values]),
        np.array([across.index(str(x)) for x in table[columns].values]), (len(down), len(across)),
    )  # fmt: skip
    axes = style.begin(axes, shape, min(0.22 + 0.1 * len(down), 3.0))
    axes.spines[:].set_visible(False)
    image = axes.imshow(np.ma.masked_invalid(value), cmap="cividis", aspect="auto")
    axes.set_facecolor("white")
    middle = float(np.nanmean([np.nanmin(value), np.nanmax(value)])) if np.isfinite(value).any() else 0.0
    for (i, j), cell_value in np.ndenumerate(value):
        if np.isfinite(cell_value):
            text = (
                f"{number(float(cell_value), reading.decimals())}\nn {count[i, j]:.0f}"
                if np.isfinite(count[i, j])
                else f"{cell_value:.3g}"
            )
            light = "white" if cell_value < middle else "black"
            if imputed[i, j]:
                text = f"({number(float(cell_value), reading.decimals())})"
                axes.fill_between(
                    [j - 0.5, j + 0.5], i - 0.5, i + 0.5, facecolor="none", edgecolor=light, hatch="..", lw=0
                )
            rim = [withStroke(linewidth=0.4 * shape.small, foreground=_OPPOSITE[light])] if imputed[i, j] else []
            axes.text(
                j,
                i,
                text,
                ha="center",
                va="center",
                color=light,
                fontsize=shape.small,
                linespacing=1.3,
                path_effects=rim,
            )
        else:
            axes.fill_between(
                [j - 0.5, j + 0.5], i - 0.5, i + 0.5, facecolor="white", edgecolor="#B6BCC6", hatch="///", lw=0
            )
    axes.set_xticks(
        range(len(across)),
        [style.short(plain(shown_level(tally, columns, x)), 20) for x in across],
        fontsize=shape.small,
        parse_math=False,
    )
    axes.set_yticks(
        range(len(down)),
        [style.short(plain(shown_level(tally, rows, x)), 28) for x in down],
        fontsize=shape.small,
        parse_math=False,
    )
    axes.tick_params(length=0)
    style.name(
        axes,
        shape,
        title=f"{reading.metric}, {'Bayesian' if approach == 'bayesian' else approach} estimates{style.of_estimand(side)}",
        x=plain(columns),
        y=plain(rows),
        usable=approach != "bayesian" or reading.usable,
    )
    figure = axes.get_figure()
    if imputed.any():
        style.explain(axes, shape, [_imputed_key()], owns_figure=owns_figure)
    if figure is not None:
        bar = figure.colorbar(image, ax=axes, shrink=0.8)
        bar.ax.tick_params(labelsize=shape.small)
        bar.outline.set_visible(False)
    return axes


def _imputed_key() -> Artist:
    """The entry of the legend for cells without rows."""
    from matplotlib.patches import Patch

    return Patch(
        facecolor="white", edgecolor=style.INK, hatch="..", lw=0, label="(value): no rows, the model alone answers"
    )


def _cells(
    value: FloatArray, count: FloatArray, alone: NDArray[np.bool_], row: NDArray[np.intp], column: NDArray[np.intp],
    shape: tuple[int, int],
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:  # fmt: skip
    """Means weighted by count, unweighted where no count is known; counts; and which pairs the model alone answers."""
    rows = np.zeros(shape)
    np.add.at(rows, (row, column), np.where(np.isfinite(count), count, 0.0))
    weight = np.where(np.isfinite(count), count, 0.0) if rows.any() else np.ones_like(value)
    weight = np.where(np.isfinite(value) & ~alone, weight, 0.0)
    total, sums = np.zeros(shape), np.zeros(shape)
    np.add.at(total, (row, column), weight)
    np.add.at(sums, (row, column), weight * np.nan_to_num(value))
    imputed = np.zeros(shape)  # pairs that only a model answers
    number_of = np.zeros(shape)
    np.add.at(imputed, (row, column), np.nan_to_num(value))
    np.add.at(number_of, (row, column), np.isfinite(value).astype(np.float64))
    with np.errstate(invalid="ignore", divide="ignore"):
        cells = np.where(total > 0, sums / total, np.where(number_of > 0, imputed / number_of, np.nan))
    return cells, (rows if rows.any() else np.full(shape, np.nan)), (total == 0) & (number_of > 0)
