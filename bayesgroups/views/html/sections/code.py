"""Python that makes a page again, from the rows on; what a report does not know is left to the reader, and said to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import xarray as xr

from bayesgroups.data.metrics import named
from bayesgroups.errors import InputError
from bayesgroups.estimators.groups import Group
from bayesgroups.report.overlap import overlaps
from bayesgroups.report.view import plain
from bayesgroups.tallies.notes import assumed_directions
from bayesgroups.tallies.origins import origin_of
from bayesgroups.views.html.words import json_of

_NAMED_ENGINES = ("nuts", "nuts_jax")
"""Engines that are asked for by name; the exact ones are what comes when nothing is said."""
_ROWS = ("y_true", "y_pred", "y_score", "threshold", "positive", "loss", "correct", "features", "weights", "cluster",
         "cluster_analysis", "shared_clusters", "missing", "pooled_variance", "confusion", "row_covariates", "larger_is_better",
         "unlabelled", "time")  # fmt: skip
_PAIRS = ("systems", "system", "item", "correct", "loss", "metric", "y_true", "baseline", "cluster", "epoch", "epochs", "missing",
          "larger_is_better")  # fmt: skip
_JUDGEMENTS = ("label", "disagrees", "critic", "critic_group", "item", "labels", "missing")
_GOLD = ("gold", "judge", "metric", "larger_is_better", "missing")
_ASKED = {
    "rows": ("tally", _ROWS), "pairs": ("paired_tally", _PAIRS), "judgements": ("disagreement_tally", _JUDGEMENTS),
    "gold scores": ("gold_score_tally", _GOLD),
}  # fmt: skip
"""Function that makes a tally, and its arguments after rows and attributes, by the source that the tally names."""
_USUAL = {"missing": "error", "pooled_variance": "corrected", "shared_clusters": "ignore", "epochs": "items"}
_TARGETS = (
    "population_of",
    "empty",
    "composition",
    "smoothing",
    "finite",
    "benchmark",
    "benchmark_scale",
    "variance",
    "interval",
)


def report_code(report: xr.DataTree, page: Mapping[str, Any]) -> str:
    """Lines that make the page of a report; ``page`` are arguments of `bayesgroups.write_html` that are not the usual ones."""
    lines = ["import bayesgroups as bg"]
    if overlaps(report):
        lines += _targets(report)
    else:
        tally = report["constant_data"].to_dataset()
        lines += [*tally_lines(tally), *_fit(report, "report")]
        added = [name for name in get_args(Group) if name in report.children]
        lines += [f"report = bg.add_groups(report, {added!r})"] if added else []
    return "\n".join(plain(line) for line in [*lines, *_page(page)])


def _targets(report: xr.DataTree) -> list[str]:
    """The fit behind a report of target populations, and the populations."""
    asked = json_of(report, "poststratification", {})
    made_from = asked.get("source")
    if not made_from:
        return ["report = ...  # bg.poststratify() of a report that is not named here"]
    fitted = "seed" in made_from
    tally = report["constant_data"].to_dataset()
    lines = tally_lines(tally, made_from)
    lines += _fit(report, "fit", made_from["seed"]) if fitted else []
    rows = made_from["population"] == "rows"
    if not rows:
        lines.append(
            "population = ...  # sizes of the target population, which the report does not keep as they were given"
        )
    given = [f"{name}={_tuples(asked[name])!r}" for name in _TARGETS if asked.get(name) is not None]
    if made_from["prevalence"]:
        lines.append("prevalence = ...  # shares of positives among the people of the cells")
        given.append("prevalence=prevalence")
    source, sizes = "fit" if fitted else "tally", "'rows'" if rows else "population"
    return [
        *lines,
        f"report = bg.poststratify({', '.join([source, sizes, f'by={asked["by"]!r}', *given, f'seed={asked["seed"]}'])})",
    ]


def tally_lines(tally: xr.Dataset, source: Mapping[str, Any] | None = None) -> list[str]:
    """Lines that make a tally, or the one behind a table of targets, of which ``source`` has what the table lacks."""
    settings, metrics = json_of(tally, "settings", {}), [str(name) for name in tally["metric"].values]
    kept = source or origin_of(tally)
    levels = {name: levels for name, levels in kept["levels"].items() if name not in settings.get("time", {})}
    by = repr({name: levels.get(name) for name in kept["by"]} if levels else kept["by"])
    if settings.get("source") not in _ASKED:
        return [f"tally = ...  # the same counts or estimates of {', '.join(metrics)} by {', '.join(kept['by'])}"]
    function, names = _ASKED[settings["source"]]
    given = {**settings, **kept, **_of_metrics(tally, settings, metrics)}
    lines, words = [], ["rows", by]
    if settings["source"] == "rows":
        strange = [name for name in metrics if not _known(name)]
        lines += (
            [f"own = {{{', '.join(f'{name!r}: ...' for name in strange)}}}  # bg.Metric() of these names"]
            if strange
            else []
        )
        words.append(f"[{', '.join(f'own[{name!r}]' if name in strange else repr(name) for name in metrics)}]")
    words += [f"{name}={given[name]!r}" for name in names if _said(name, given)]
    call = f"bg.{function}({', '.join(words)})"
    if "parts" in settings:
        lines.append(f"parts = ...  # the rows of each of the {settings['parts']} tallies that were added")
        call = f"bg.add_tallies([{call} for rows in parts])"
    lines.append(f"tally = {call}")
    if "auc_as_rate" in settings:
        lines.append(f"tally = bg.tallies.auc_as_rate(tally, {settings['auc_as_rate']!r})")
    if "score_edges" in settings:
        lines.append(f"tally = bg.tallies.bin_scores(tally, {settings['score_edges']!r})")
    return lines


def _of_metrics(tally: xr.Dataset, settings: Mapping[str, Any], metrics: Sequence[str]) -> dict[str, Any]:
    """Arguments that the metrics of a tally tell, of which its settings do not have all."""
    told: dict[str, Any] = {}
    if settings.get("positive") is not None:
        told["positive"] = _label(settings["positive"])
    if "rows_unlabelled" in settings and settings.get("unlabelled") != "keep":
        told["unlabelled"] = "drop"
    if settings.get("unlabelled") == "keep":
        told["confusion"] = False  # implied
    if settings["source"] == "gold scores":
        told["metric"] = metrics[0]
        if not assumed_directions(tally):
            told["larger_is_better"] = bool(tally["larger_is_better"].values[0])
    if settings["source"] == "pairs":
        systems = {"systems": [str(name) for name in tally["system"].values]}
        told |= {"correct": None, "loss": None, **settings.get("columns", systems)}
    return told


def _said(name: str, given: Mapping[str, Any]) -> bool:
    """True for an argument that is not what is taken where nothing is said."""
    value = given.get(name)
    if value is None or value == [] or (value is False and name != "larger_is_better"):
        return False
    return bool(value != _USUAL.get(name))


def _known(name: str) -> bool:
    try:
        named(name)
    except InputError:
        return False
    return True


def _label(text: str) -> Any:
    """The positive label, of which a tally keeps the text: a number or a truth value where the text is that of one."""
    if text in ("True", "False"):
        return text == "True"
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() else number


def _fit(report: xr.DataTree, name: str, seed: object = None) -> list[str]:
    """The fit; where a report names no class, as of draws made elsewhere, its word and settings."""
    given = ", ".join(f"{key}={_tuples(value)!r}" for key, value in json_of(report, "settings", {}).items())
    seed, engine = report.attrs.get("seed", "") if seed is None else seed, str(report.attrs.get("inference", ""))
    module, _, made_by = str(report.attrs.get("estimator_class", "")).partition(":")
    if not made_by:
        return [f"{name} = ...  # {report.attrs['estimator']}({given}), which is not part of bayesgroups; seed {seed}"]
    asked = f", inference={engine!r}" if engine in _NAMED_ENGINES else ""
    if module.partition(".")[0] == "bayesgroups":
        return [f"{name} = bg.estimate(tally, bg.{made_by}({given}), seed={seed}{asked})"]
    fit = f"{name} = bg.estimate(tally, {made_by}({given}), seed={seed}{asked})"
    if module == "__main__" or "<locals>" in made_by:
        return [f"{fit}  # a class of the script that made the report"]
    return [f"from {module} import {made_by.partition('.')[0]}", fit]


def _page(page: Mapping[str, Any]) -> list[str]:
    """The page; what is too large to be written down is named."""
    lines, words = [], ["report", '"report.html"']
    for name, value in page.items():
        if name == "truth":
            lines.append("truth = ...  # the true values")
        elif name == "population" and not isinstance(value, str):
            lines.append("population = ...  # sizes of the target population, or its report")
        else:
            words.append(f"{name}={value!r}")
            continue
        words.append(f"{name}={name}")
    return [*lines, f"bg.write_html({', '.join(words)})"]


def _tuples(value: Any) -> Any:
    """A setting as it was given: JSON has lists for tuples."""
    if isinstance(value, Mapping):
        return {name: _tuples(each) for name, each in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
