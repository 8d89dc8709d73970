"""Checks of the computation."""

from __future__ import annotations

from typing import Any

import xarray as xr

from bayesgroups.report.view import plain


def diagnostics(report: xr.DataTree) -> list[dict[str, Any]]:
    """Every check as text, those that failed first."""
    table = report["diagnostics"].to_dataset()
    columns = (table[name].values for name in ("check", "value", "threshold", "passed", "sentence"))
    found = [
        {
            "name": plain(str(name)),
            "value": f"{float(value):.4g}",
            "threshold": f"{float(threshold):g}",
            "passed": bool(passed),
            "sentence": plain(str(sentence)),
        }
        for name, value, threshold, passed, sentence in zip(*columns, strict=True)
    ]
    return sorted(found, key=lambda check: check["passed"])
