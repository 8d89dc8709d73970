"""How to make the report again: the lines of code, the seed, the versions."""

from __future__ import annotations

from typing import Any

import xarray as xr

from bayesgroups.html.sections.attributes import json_of
from bayesgroups.html.words import settings_of
from bayesgroups.readings import plain
from bayesgroups.tallies.subgroups import attributes_of

_CLASSES = {"confusion": "ConfusionModel", "disagreement": "DisagreementModel"}
_ASKED = ("y_true", "y_pred", "y_score", "threshold", "positive", "loss", "features", "weights", "cluster", "confusion")


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
    tally, word = report["constant_data"].to_dataset(), str(report.attrs["estimator"])
    settings = settings_of(tally)
    said = {name: settings.get(name) for name in _ASKED}
    if said["positive"] in (
        "1",
        "1.0",
        "True",
    ):  # what is taken for positive where nothing is said, and not always a text
        said["positive"] = None
    asked = [f"{name}={value!r}" for name, value in said.items() if value not in (None, [], False)]
    by, metrics = attributes_of(tally), [str(name) for name in tally["metric"].values]
    name = _CLASSES.get(word, "".join(part.capitalize() for part in word.split("_")))
    given = ", ".join(f"{key}={_value(value)}" for key, value in json_of(report, "settings", {}).items())
    lines = [
        "import bayesgroups as bg",
        _tally(settings.get("source") == "rows", by, metrics, asked),
        f"report = bg.estimate(tally, bg.{name}({given}), seed={report.attrs.get('seed', '')})",
        'bg.write_html(report, "report.html")',
    ]
    return "\n".join(plain(line) for line in lines)


def _tally(rows: bool, by: list[str], metrics: list[str], asked: list[str]) -> str:
    if rows:
        return f"tally = bg.tally({', '.join(['rows', repr(by), repr(metrics), *asked])})"
    return f"tally = ...  # the same counts or estimates of {', '.join(metrics)} by {', '.join(by)}"


def _value(value: Any) -> str:
    return repr(tuple(value)) if isinstance(value, list) else repr(value)
