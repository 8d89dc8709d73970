"""Report as HTML in a notebook: the verdict, the estimand and the table of every metric, the tree of xarray below."""

from __future__ import annotations

import json
from html import escape

import numpy as np
import xarray as xr

from bayesgroups.report.levels import LEVELS
from bayesgroups.report.schema import check
from bayesgroups.report.view import Reading, Side, failures, metrics_of, number, percent, plain, read, usable, whole

LEVEL = 0.95
"""Level of the intervals that are shown."""
SUBGROUPS_SHOWN = 20
"""Most subgroups of a metric in a table, the largest."""
METRICS_SHOWN = 6
"""Most metrics with a table, the first."""
DIMS = {"approach", "metric", "subgroup", "level"}
"""Dims of ``/estimates`` that the table is made of."""
STYLE = """<style>
.bg-report {font: 13px/1.4 system-ui, sans-serif; max-width: 60em; overflow-x: auto}
.bg-report table {border-collapse: collapse; margin: .3em 0 .8em; font-size: inherit}
.bg-report caption {text-align: left; font-weight: 600; padding: .3em 0}
.bg-report th, .bg-report td {padding: .15em .7em; text-align: left; border-bottom: 1px solid #8884}
.bg-report .num {text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap}
.bg-report .verdict {border-left: 4px solid #2a7f4f; padding: .3em .7em; margin: .3em 0}
.bg-report .bad {border-color: #c0392b}
.bg-report .verdict ul {margin: .2em 0; padding-left: 1.4em}
.bg-report summary {cursor: pointer}
</style>"""
"""Style of what is shown, in its own class so that nothing else of the notebook changes."""


def is_whole(report: xr.DataTree) -> bool:
    """True if a tree has all that a report shows."""
    try:
        check(report)
    except ValueError:
        return False
    estimates = report["estimates"].to_dataset()
    return set(estimates.dims) >= DIMS and {LEVELS[0], LEVEL} <= set(estimates["level"].values.tolist())


def page(report: xr.DataTree, tree: str) -> str:
    """A whole report as HTML; ``tree`` is the HTML of its groups, which is folded."""
    metrics = metrics_of(report)
    tables = [_table(read(report, metric, level=LEVEL)) for metric in metrics[:METRICS_SHOWN]]
    left = metrics[METRICS_SHOWN:]
    more = f"<p>{len(left)} more metrics: {_text(', '.join(left))}.</p>" if left else ""
    return (
        f'<div class="bg-report">{STYLE}{_verdict(report)}{"".join(tables)}{more}{_notes(report)}'
        f"<details><summary>All groups, as xarray shows them</summary>{tree}</details></div>"
    )


def _verdict(report: xr.DataTree) -> str:
    failed, checks = failures(report), int(report["diagnostics"].sizes.get("check", 0))
    made = _text(
        f"{report.attrs.get('estimator')}, by {report.attrs.get('inference')}, seed {report.attrs.get('seed')}"
    )
    if usable(report):
        passed = f"All {checks} checks" if checks > 1 else "The one check"
        why = f"{passed} of the computation passed." if checks else "There was nothing to check."
        return f'<div class="verdict" role="status"><strong>Usable.</strong> {why} <small>({made})</small></div>'
    sentences = "".join(f"<li>{_text(sentence)}</li>" for sentence in failed)
    return (
        '<div class="verdict bad" role="alert"><strong>NOT usable: the Bayesian numbers below must not be relied on.</strong> '
        f"{len(failed)} of {checks} checks of the computation failed. <small>({made})</small><ul>{sentences}</ul></div>"
    )


def _table(reading: Reading) -> str:
    order = reading.order("tally" if len(reading.subgroups) <= SUBGROUPS_SHOWN else "size")[:SUBGROUPS_SHOWN]
    remarks, places = reading.remarks(), reading.decimals()
    rows = "".join(
        f'<tr><th scope="row">{_text(reading.subgroups[i])}</th><td class="num">{whole(float(reading.count[i]))}</td>'
        f"{_cell(reading.bayesian, i, places)}{_cell(reading.frequentist, i, places)}<td>{_text(remarks[i])}</td></tr>"
        for i in map(int, order)
    )
    heads = "".join(
        f'<th scope="col" class="num">{side.approach.capitalize()}<br><small>{percent(reading.level)} '
        f"{_text(side.interval_kind)}</small></th>"
        for side in (reading.bayesian, reading.frequentist)
    )
    rest = len(reading.subgroups) - len(order)
    more = f"<p>The {len(order)} largest of {len(reading.subgroups)} subgroups are shown.</p>" if rest else ""
    return (
        f"<table><caption>{_text(reading.headline())}</caption><thead><tr><th scope='col'>Subgroup</th>"
        f"<th scope='col' class='num'>n</th>{heads}<th></th></tr></thead><tbody>{rows}</tbody></table>{more}"
    )


def _cell(side: Side, i: int, places: int) -> str:
    if not np.isfinite(side.estimate[i]):
        return f'<td class="num">{_text(side.status[i])}</td>'
    limits = [number(float(limit), places) for limit in (side.lower[i], side.upper[i])]
    interval = f" [{limits[0]}, {limits[1]}]" if all(limits) else ""
    return f'<td class="num">{number(float(side.estimate[i]), places)}{interval}</td>'


def _notes(report: xr.DataTree) -> str:
    notes = json.loads(str(report.attrs.get("notes", "[]")))
    return "".join(f"<p>Note: {_text(str(note))}</p>" for note in notes)


def _text(text: str) -> str:
    """A label as HTML shows it, whatever characters it has."""
    return escape(plain(text))
