"""Provenance of the report: the lines of code, the seed, the versions."""

from __future__ import annotations

from typing import Any

import xarray as xr

from bayesgroups.report.view import plain
from bayesgroups.tallies.subgroups import attributes_of
from bayesgroups.views.html.sections.attributes import json_of
from bayesgroups.views.html.words import settings_of

_ENGINES = ("nuts", "nuts_jax")
"""Engines that are asked for by name; the exact ones are what comes when nothing is said."""
_ASKED = ("y_true", "y_pred", "y_score", "threshold", "positive", "loss", "correct", "features", "weights", "cluster",
          "confusion", "row_covariates")  # fmt: skip


def origin(report: xr.DataTree) -> dict[str, Any]:
    """The code, and facts by name."""
    versions = ", ".join(f"{name} {version}" for name, version in sorted(json_of(report, "versions", {}).items()))
    facts = {
        "Made at": plain(str(report.attrs.get("created_at", ""))),
        "Command": plain(str(report.attrs.get("command", ""))),
        "Seed": str(report.attrs.get("seed", "")),
        "Inference": plain(str(report.attrs.get("inference", ""))),
        "Versions": plain(versions),
        "Schema": f"{report.attrs['schema']} {report.attrs['schema_version']}",
    }
    return {"code": _code(report), "facts": {name: fact for name, fact in facts.items() if fact}}


def _code(report: xr.DataTree) -> str:
    """Python that asks the same of the same rows; what the report does not know is left to the reader."""
    tally = report["constant_data"].to_dataset()
    settings = settings_of(tally)
    said = {name: settings.get(name) for name in _ASKED}
    if said["positive"] in (
        "1",
        "1.0",
        "True",
    ):  # what is taken for positive where nothing is said, and not always a text
        said["positive"] = None
    asked = [f"{name}={value!r}" for name, value in said.items() if value not in (None, [], False)]
    if settings.get("larger_is_better") is not None:
        asked.append(f"larger_is_better={settings['larger_is_better']!r}")
    by, metrics = attributes_of(tally), [str(name) for name in tally["metric"].values]
    lines = [
        "import bayesgroups as bg",
        _tally(settings.get("source") == "rows", by, metrics, asked),
        *_estimate(report),
        'bg.write_html(report, "report.html")',
    ]
    return "\n".join(plain(line) for line in lines)


def _estimate(report: xr.DataTree) -> list[str]:
    """The fit; where a report names no class, as of draws made elsewhere, its word and settings."""
    given = ", ".join(f"{key}={_value(value)}" for key, value in json_of(report, "settings", {}).items())
    seed, engine = report.attrs.get("seed", ""), str(report.attrs.get("inference", ""))
    module, _, name = str(report.attrs.get("estimator_class", "")).partition(":")
    if not name:
        return [f"report = ...  # {report.attrs['estimator']}({given}), which is not part of bayesgroups; seed {seed}"]
    asked = f", inference={engine!r}" if engine in _ENGINES else ""
    if module.partition(".")[0] == "bayesgroups":
        return [f"report = bg.estimate(tally, bg.{name}({given}), seed={seed}{asked})"]
    fit = f"report = bg.estimate(tally, {name}({given}), seed={seed}{asked})"
    if module == "__main__" or "<locals>" in name:
        return [f"{fit}  # a class of the script that made the report"]
    return [f"from {module} import {name.partition('.')[0]}", fit]


def _tally(rows: bool, by: list[str], metrics: list[str], asked: list[str]) -> str:
    if rows:
        return f"tally = bg.tally({', '.join(['rows', repr(by), repr(metrics), *asked])})"
    return f"tally = ...  # the same counts or estimates of {', '.join(metrics)} by {', '.join(by)}"


def _value(value: Any) -> str:
    return repr(tuple(value)) if isinstance(value, list) else repr(value)
