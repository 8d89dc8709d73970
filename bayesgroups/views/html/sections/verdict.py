"""The verdict: whether the numbers may be relied on, and what they say at a glance."""

from __future__ import annotations

from typing import Any

import xarray as xr

from bayesgroups.report.view import failures, usable


def verdict(report: xr.DataTree) -> dict[str, Any]:
    """Verdict on the report: usable or not, the number of checks, and the sentences of those that failed."""
    return {
        "usable": usable(report),
        "checks": int(report["diagnostics"].sizes.get("check", 0)),
        "failures": failures(report),
    }
