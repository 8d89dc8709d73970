"""Centres of metrics that were known beforehand: one number for all, or one by the name of the metric."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING

from bayesgroups.errors import InputError, near_misses

if TYPE_CHECKING:
    import numpy as np
    import xarray as xr
    from numpy.typing import NDArray

Centre = float | Mapping[str, float] | None
"""A number for every metric, numbers by the names of metrics, or nothing known."""


def checked(word: str, centre: object) -> float | dict[str, float] | None:
    """A copy in plain floats of a centre, which must be a finite number or such numbers by name; ``word`` names the class.

    >>> checked("JamesStein", {"fnr": 1})
    {'fnr': 1.0}
    """
    if centre is None:
        return None
    if not isinstance(centre, Mapping):
        return _number(word, "centre", centre)
    for name in centre:
        if not isinstance(name, str):
            raise InputError(f"{word}: centre names {name!r}, but metrics are named by text, such as {{'fnr': 0.2}}")
    return {name: _number(word, f"centre of metric {name!r}", value) for name, value in centre.items()}


def known_centres(word: str, centre: Centre, tally: xr.Dataset, *, whole: bool = False) -> NDArray[np.float64] | None:
    """The known centre of every metric of a tally (metric,), NaN where it is not known; None where no centre is known at all.

    ``centre`` comes from `checked`. It must lie in the range of its metric, and its name be that of one, where ``whole`` says that
    these are all metrics that were asked of.
    """
    import numpy as np

    if centre is None:
        return None
    names = [str(name) for name in tally["metric"].values]
    if isinstance(centre, Mapping):
        if whole:
            for name in centre:
                if name not in names:
                    raise InputError(
                        f"{word}: centre names {name!r}, which is no metric of the tally; {near_misses(name, names)}"
                    )
        values = np.array([centre.get(name, math.nan) for name in names], dtype=np.float64)
    else:
        values = np.full(len(names), centre, dtype=np.float64)
    bounds = zip(names, values.tolist(), tally["range_lower"].values, tally["range_upper"].values, strict=True)
    for name, value, low, high in bounds:
        if value < low or value > high:
            raise InputError(
                f"{word}: centre={value:g} of metric {name!r} is outside of its range, from {low:g} to {high:g}"
            )
    return None if np.isnan(values).all() else values


def _number(word: str, what: str, value: object) -> float:
    import numpy as np

    if isinstance(value, bool | np.bool_) or not isinstance(value, Real) or not math.isfinite(value):
        raise InputError(f"{word}: {what} is {value!r}, but must be a finite number")
    return float(value)
