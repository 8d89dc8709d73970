"""Records of simulation studies as pictures: ranks of simulation-based calibration, and coverage of intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.report.view import percent, plain
from bayesgroups.views.plots import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer


BAND_LEVEL = 0.95
SIMULATIONS = 2000


@checked_keywords
def calibration_ranks(
    ranks: Mapping[str, ArrayLike], *, draws: int, size: style.Size = "page", axes: Axes | None = None, seed: int = 0
) -> Axes:
    """Draw how far the ranks of true values among posterior draws are from even.

    A line per quantity: the share of ranks up to x, minus x. If the computation is right all lines stay in the grey band, with
    probability 95 % each. A line that bulges up says that true values rank low: the posterior is too high; an S-shape says that it
    is too narrow or too wide.

    Parameters
    ----------
    ranks : mapping of names to arrays (replication,)
        Ranks, whole numbers from 0 to ``draws``, up to six quantities.
    draws : int
        Among so many posterior draws.
    size : {"page", "paper", "slides"}
        Size of picture and letters.
    axes : Axes, optional
        Where to draw; on a new figure when left out.
    seed : int
        Of the simulation of the band.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there is no quantity, there are too many, their numbers of ranks differ, or a rank is out of range.

    References
    ----------
    Talts, Betancourt, Simpson, Vehtari, Gelman (2018), https://doi.org/10.48550/arXiv.1804.06788; Sailynoja, Burkner,
    Vehtari (2022), https://doi.org/10.1007/s11222-022-10090-6 (the band).

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgroups.views.plots import calibration_ranks
    >>> calibration_ranks({"mu": np.random.default_rng(1).integers(0, 100, 500)}, draws=99).get_ylabel()
    'difference from even'
    """
    if not 1 <= len(ranks) <= len(style.SEQUENCE):
        raise InputError(f"a picture tells 1 to {len(style.SEQUENCE)} quantities apart; got {len(ranks)}")
    arrays = {str(name): np.asarray(values) for name, values in ranks.items()}
    number = len(next(iter(arrays.values())))
    for name, values in arrays.items():
        if values.ndim != 1 or len(values) != number or number == 0:
            raise InputError(
                f"ranks of {name!r} must be an array of as many numbers as the others; got shape {values.shape}"
            )
        if values.min() < 0 or values.max() > draws:
            raise InputError(
                f"ranks of {name!r} must lie from 0 to draws={draws}; got {values.min()} to {values.max()}"
            )
    rng = np.random.default_rng(seed)
    grid, wide = rank_band(number, rng=rng)
    shape, owns_figure = style.look(size), axes is None
    axes = style.begin(axes, shape, 0.55)
    handles: list[Artist] = [
        axes.fill_between(grid, -wide, wide, color=style.GREY, alpha=0.18, lw=0, label=f"{percent(BAND_LEVEL)} band")
    ]
    for (name, values), (colour, marker) in zip(arrays.items(), style.SEQUENCE, strict=False):
        pit = (values + rng.random(number)) / (draws + 1)
        (line,) = axes.plot(
            grid, share_below(pit, grid) - grid, color=colour, lw=shape.line, label=plain(name), marker=marker, markevery=25,
            markersize=0.8 * shape.marker,
        )  # fmt: skip
        handles.append(line)
    axes.axhline(0, color=style.INK, lw=0.6)
    style.name(axes, shape, title=f"Ranks of true values, {number} replications", x="rank, as a share of the draws",
               y="difference from even")  # fmt: skip
    style.explain(axes, shape, handles, owns_figure=owns_figure, columns=3)
    return axes


@checked_keywords
def coverage(
    table: pd.DataFrame, *, by: Sequence[str] = ("interval",), size: style.Size = "page", axes: Axes | None = None
) -> Axes:
    """Draw how often intervals cover the truth, by how often they say they do.

    Points on the diagonal keep their level; below it intervals are too short. Bars are two Monte Carlo standard errors.

    Parameters
    ----------
    table : pd.DataFrame
        Columns ``level``, ``coverage``, ``mc_error`` and those of ``by``, as in the records of coverage studies.
    by : sequence of str
        Columns whose combinations are lines, up to six.
    size : {"page", "paper", "slides"}
        Size of picture and letters.
    axes : Axes, optional
        Where to draw; on a new figure when left out.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If a column is missing, there are more lines than can be told apart, or a line has a level twice.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesgroups.views.plots import coverage
    >>> table = pd.DataFrame({"interval": "morris", "level": [0.5, 0.9], "coverage": [0.51, 0.88], "mc_error": 0.01})
    >>> coverage(table).get_xlabel()
    'stated level'
    """
    if not by:
        raise InputError("by= names no column; name one that tells the lines apart, as by=('interval',)")
    for column in ("level", "coverage", "mc_error", *by):
        if column not in table.columns:
            raise InputError(f"the table has no column {column!r}; it has {', '.join(map(str, table.columns))}")
    groups = list(table.groupby(list(by), sort=False))
    if not 1 <= len(groups) <= len(style.SEQUENCE):
        raise InputError(
            f"a picture tells 1 to {len(style.SEQUENCE)} lines apart; got {len(groups)}: choose some rows first"
        )
    shape, owns_figure = style.look(size), axes is None
    axes = style.begin(axes, shape, 0.72)
    level, covered, error = (table[name].to_numpy(dtype=np.float64) for name in ("level", "coverage", "mc_error"))
    least = float(level.min())
    lowest = min(least, float((covered - 2 * error).min())) - 0.03
    (diagonal,) = axes.plot([lowest, 1], [lowest, 1], color=style.GREY, ls="--", lw=0.8 * shape.line, label="as stated")
    handles: list[Artist | ErrorbarContainer] = [diagonal]
    for (key, lines), (colour, marker) in zip(groups, style.SEQUENCE, strict=False):
        label = ", ".join(plain(str(part)) for part in (key if isinstance(key, tuple) else (key,)))
        if lines["level"].duplicated().any():
            raise InputError(f"{label}: a level comes twice; choose rows first, or give more columns in by=")
        ordered = lines.sort_values("level")
        drawn = axes.errorbar(
            ordered["level"], ordered["coverage"], 2 * ordered["mc_error"], color=colour, marker=marker,
            markersize=shape.marker, lw=shape.line, capsize=2, label=label,
        )  # fmt: skip
        handles.append(drawn)
    axes.set_xlim(least - 0.03, 1.005)
    axes.set_ylim(lowest, 1.005)
    axes.grid(color=style.RULE, lw=0.6)
    style.name(axes, shape, title="Coverage of intervals", x="stated level", y="share that covers")
    style.explain(axes, shape, handles, owns_figure=owns_figure, columns=3)
    return axes


def rank_band(
    number: int, *, rng: np.random.Generator, level: float = BAND_LEVEL, points: int = 201
) -> tuple[FloatArray, FloatArray]:
    """Simultaneous band of the empirical distribution function of uniform values, around the diagonal.

    Parameters
    ----------
    number : int
        Number of values.
    rng : np.random.Generator
        Of the simulation, with `SIMULATIONS` samples.
    level : float
        Probability that the whole function stays in the band.
    points : int
        Number of points from 0 to 1 where it is looked at.

    Returns
    -------
    grid, half_width : arrays (points,)
        The half-width is proportional to the standard error of the function at each point.

    References
    ----------
    Sailynoja, Burkner, Vehtari (2022), https://doi.org/10.1007/s11222-022-10090-6.

    Examples
    --------
    >>> import numpy as np
    >>> grid, half_width = rank_band(500, rng=np.random.default_rng(1))
    >>> len(grid), float(half_width.max().round(3))
    (201, 0.07)
    """
    grid = np.linspace(0, 1, points)
    even = np.stack([share_below(rng.random(number), grid) - grid for _ in range(SIMULATIONS)])
    scale = np.sqrt(np.maximum(grid * (1 - grid), 1e-12) / number)
    return grid, float(np.quantile(np.max(abs(even[:, 1:-1]) / scale[1:-1], axis=1), level)) * scale


def share_below(values: FloatArray, grid: FloatArray) -> FloatArray:
    """Share of the values that are at most each number of the grid.

    >>> share_below(np.array([0.2, 0.7]), np.array([0.1, 0.5, 1.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    return np.asarray(np.searchsorted(np.sort(values), grid, side="right") / len(values))
