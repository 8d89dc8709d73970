"""The area under the performance-fairness curve, in its readings, whole or in part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.questions.tradeoffs.curves import (
    Curve,
    Part,
    curve,
    efficient,
    part,
    polar_area,
    polar_dto,
    steps_area,
)
from bayesgroups.questions.tradeoffs.distances import check_dominates
from bayesgroups.questions.tradeoffs.points import goals, pair, read_points, without_unknown

if TYPE_CHECKING:
    import pandas as pd

Reading = Literal["frontier", "polar_area", "polar_dto", "steps"]


class Within(TypedDict, total=False):
    """The part of the curve that counts: at least this performance, this fairness, at most this distance."""

    performance: float
    fairness: float
    dto: float


@checked_keywords
def auc_pfc(
    points: pd.DataFrame | xr.Dataset,
    *,
    anchor: float | tuple[float, float],
    reading: Reading = "frontier",
    within: Within | None = None,
    utopia: tuple[float, float] | None = None,
    normalise: bool = False,
) -> xr.DataArray:
    """Take the area under the performance-fairness curve of a method.

    Estimand: with the frontier of the candidates and the anchor joined by straight lines,

    - ``frontier``: the integral of fairness over performance, larger better;
    - ``polar_area``: the area between the curve and the ideal point, half the integral of the squared distance over the
      angle, smaller better. It is ``p_u f_u`` less what lies under the curve, so the same information;
    - ``polar_dto``: the integral of the distance over the angle, smaller better, which is not an area;
    - ``steps``: the area that single candidates reach, without the lines in between, larger better.

    Areas of different readings, anchors or ideal points cannot be compared.

    Parameters
    ----------
    points : pandas DataFrame or xr.Dataset
        ``performance`` and ``fairness`` of the candidates of one method, with or without draws.
    anchor : float or (performance, fairness)
        Performance of a random or trivial model, whose fairness is 1.
    reading : {"frontier", "polar_area", "polar_dto", "steps"}
        What is integrated.
    within : mapping, optional
        ``{"performance": c}``, ``{"fairness": c}`` (at least), ``{"dto": c}`` (at most), or several at once: only that part
        of the curve counts, cut where a line crosses the bound. For ``frontier``.
    utopia : (performance, fairness), optional
        The ideal point. Needed by the polar readings, the same for all methods; (1, 1) for ``dto`` where left out.
    normalise : bool
        Divide both goals by their ideal before the distance of ``dto`` is taken.

    Returns
    -------
    xr.DataArray
        Along ``chain`` and ``draw`` if there are, in units of performance times fairness. Coordinates (of ``frontier``)
        ``lower``, ``upper``: the performance where the integral begins and ends; ``length``: how much of it lies between,
        less holes; ``share``: the area over its maximum, which is the length; ``met``: 0 where no part of the curve meets
        the constraints, and then the area is 0. And ``frontier_size``: efficient candidates. Attributes: the settings.

    Raises
    ------
    InputError
        If the points cannot be read, the anchor is no point, the reading or a constraint is unknown or does not go with the
        other settings, or a candidate lies beyond the ideal point.

    Warns
    -----
    UserWarning
        If a candidate has NaN; it is left out.

    Notes
    -----
    The paper's text describes the polar integral, its tables have the area under the frontier with the anchor (.3, 1),
    which it does not mention. ``frontier`` and the polar readings are not monotone: a further efficient candidate below the
    line between its neighbours makes the method look worse. ``steps`` never falls with a further candidate.

    References
    ----------
    Han, Baldwin, Cohn (2023), https://doi.org/10.18653/v1/2023.eacl-main.23, section 4.4 and Table 3.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> points = pd.DataFrame(
    ...     {"performance": [0.62, 0.70, 0.75, 0.78, 0.80, 0.66], "fairness": [0.97, 0.90, 0.80, 0.72, 0.60, 0.93]}
    ... )
    >>> round(float(bg.auc_pfc(points, anchor=0.5)), 6)
    0.2713
    >>> round(float(bg.auc_pfc(points, anchor=0.5, within={"fairness": 0.75})), 6)
    0.249831
    >>> round(float(bg.auc_pfc(points, anchor=0.5, reading="polar_dto", utopia=(0.8, 1))), 6)
    0.290376
    """
    table = without_unknown(read_points(points))
    start = pair(anchor, "anchor", fairness=1.0)
    performance, fairness = goals(table)
    corners = curve(performance, fairness, start)
    wanted = _check(within, reading)
    ideal = (1.0, 1.0) if utopia is None else pair(utopia, "utopia")
    if reading in {"polar_area", "polar_dto"}:
        if utopia is None:
            raise InputError(f"reading={reading!r} needs utopia=, the same point for all methods that are compared")
        check_dominates(ideal, corners.performance, corners.fairness)
    samples = [dim for dim in table.dims if dim != "candidate"]
    like = table["performance"].isel(candidate=0, drop=True)
    facts: dict[str, NDArray[Any]] = {"frontier_size": efficient(performance, fairness).sum(axis=-1)}
    if reading == "frontier":
        within_bounds = _part(corners, wanted, ideal, normalise=normalise)
        area = within_bounds.area
        met = np.isfinite(within_bounds.lower)
        share = np.divide(area, within_bounds.length, out=np.full(area.shape, np.nan), where=within_bounds.length > 0)
        facts |= {
            "lower": within_bounds.lower,
            "upper": within_bounds.upper,
            "length": within_bounds.length,
            "share": share,
        }
        facts["met"] = met.astype(np.int8)
    elif reading == "steps":
        area = steps_area(corners, start[0])
    else:
        area = polar_area(corners, ideal) if reading == "polar_area" else polar_dto(corners, ideal)
    settings: dict[str, object] = {"reading": reading, "anchor": list(start)}
    settings |= {"utopia": list(ideal), "normalise": int(normalise)} if "dto" in wanted or "polar" in reading else {}
    settings |= {f"within_{name}": value for name, value in wanted.items()}
    answer = xr.DataArray(area, like.coords, like.dims, name="auc_pfc", attrs=settings)
    return answer.assign_coords({name: (tuple(samples), values) for name, values in facts.items()})


def _check(within: Within | None, reading: Reading) -> dict[str, float]:
    if within is None:
        return {}
    if not within or not set(within) <= {"performance", "fairness", "dto"}:
        raise InputError(f"within={within!r} must have one or more of 'performance', 'fairness', 'dto'")
    if reading != "frontier":
        raise InputError(f"within= cuts the area under the frontier; it does not go with reading={reading!r}")
    bounds = {"performance": within.get("performance"), "fairness": within.get("fairness"), "dto": within.get("dto")}
    wanted = {name: float(bound) for name, bound in bounds.items() if bound is not None}
    strange = next((name for name, bound in wanted.items() if not np.isfinite(bound)), None)
    if strange is not None or len(wanted) < len(within):
        raise InputError(f"within={within!r} must have finite numbers")
    return wanted


def _part(corners: Curve, wanted: dict[str, float], ideal: tuple[float, float], *, normalise: bool) -> Part:
    if "dto" in wanted and normalise and min(ideal) <= 0:
        raise InputError(f"utopia={ideal} cannot be divided by; give positive ideals, or normalise=False")
    return part(
        corners,
        performance=wanted.get("performance", -np.inf),
        fairness=wanted.get("fairness", -np.inf),
        distance=wanted.get("dto", np.inf),
        pole=ideal,
        scale=ideal if normalise else (1.0, 1.0),
    )
