"""The table of all subgroups."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesgroups.report.view import number, percent, plain, whole
from bayesgroups.views.html.sections.context import Context

ROWS = 5000
"""At most so many subgroups are listed, those with the largest n."""


def table(context: Context) -> dict[str, Any]:
    """Both approaches as text, with what sorts them, in the order of the tally."""
    reading = context.reading
    places = reading.decimals()
    order = reading.order("size")[:ROWS]
    rows = [_row(context, int(i), places) for i in np.sort(order)]
    return {
        "level": percent(context.level),
        "sides": [
            {
                "name": side.approach.capitalize(),
                "kind": plain(side.interval_kind),
                "method": plain(side.methods),
            }
            for side in (reading.bayesian, reading.frequentist)
        ],
        "rows": rows,
        "truth": reading.truth is not None,
        "left": len(reading.subgroups) - len(rows),
    }


def _row(context: Context, i: int, places: int) -> dict[str, Any]:
    reading = context.reading
    cells = []
    for side in (reading.bayesian, reading.frequentist):
        known = reading.truth is not None and np.isfinite(reading.truth[i]) and np.isfinite(side.lower[i])
        bounds = number(side.lower[i], places), number(side.upper[i], places)
        cells.append(
            {
                "estimate": number(side.estimate[i], places),
                "interval": " to ".join(bounds) if all(bounds) else "",
                "width": f"{side.upper[i] - side.lower[i]:.6g}" if all(bounds) else "",
                "status": side.status[i],
                "misses": bool(known and not reading.inside(side)[i]),
            }
        )
    return {
        "label": reading.subgroups[i],
        "n": whole(float(reading.count[i])),
        "sides": cells,
        "truth": "" if reading.truth is None else number(float(reading.truth[i]), places),
        "reason": plain(reading.reason[i]),
    }
