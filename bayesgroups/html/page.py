"""Writing the page: what the template is given, and the picture in it."""

from __future__ import annotations

import base64
import io
import json
import warnings
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import xarray as xr
from markupsafe import Markup

from bayesgroups.files import write_atomically
from bayesgroups.html import summary, words
from bayesgroups.plots import forest
from bayesgroups.readings import Reading, failures, metrics_of, number, percent, plain, read, usable, whole
from bayesgroups.report import check
from bayesgroups.tallies.subgroups import attributes_of

DRAWN = 60
"""At most so many subgroups are drawn, the largest; the table has them all."""


def write_html(
    report: xr.DataTree, path: str | Path, *, level: float = 0.95, truth: xr.DataArray | None = None
) -> Path:
    """Write a report as one self-contained page.

    The page needs no network, no script and no other file: headline with the verdict, and per metric what it
    shows in sentences, a forest plot with a text in its place, and the table of both approaches; then
    diagnostics, methods in words, notes, versions. The same report gives the same bytes with the same version
    of matplotlib.

    Parameters
    ----------
    report : xr.DataTree
        A report.
    path : str or Path
        The file; an older one of that name is replaced in one step.
    level : float
        Level of the intervals, one of `bayesgroups.levels.LEVELS`.
    truth : xr.DataArray, optional
        True values along ``subgroup`` (and ``metric``), shown where they are known.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    SchemaError
        If the tree is not a report.
    InputError
        If the file cannot be written, the report lacks the level, or the truth does not fit.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([1, 30], [2, 100], pd.DataFrame({"site": ["a", "b"]}), metric="fnr")
    >>> report = bg.estimate(counts, bg.PartialPooling(), seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     "False negative rate" in bg.write_html(report, Path(folder) / "fnr.html").read_text("utf-8")
    True
    """
    text = render(report, level=level, truth=truth).encode("utf-8")

    def write(place: Path) -> None:
        place.write_bytes(text)

    return write_atomically(path, write)


def render(report: xr.DataTree, *, level: float = 0.95, truth: xr.DataArray | None = None) -> str:
    """The page as text; parameters and errors as in `write_html`."""
    check(report)
    files = resources.files("bayesgroups.html")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True,
    )  # fmt: skip
    template = environment.from_string(files.joinpath("page.html").read_text("utf-8"))
    # The style is our own file without data in it; all else is escaped.
    style = Markup(files.joinpath("style.css").read_text("utf-8"))
    tally = report["constant_data"].to_dataset()
    metrics = [_metric(report, tally, name, level, truth) for name in metrics_of(report)]
    return template.render(
        style=style,
        metrics=metrics,
        title=_title(report, [metric["title"] for metric in metrics]),
        usable=usable(report),
        failures=failures(report),
        facts=_facts(report, tally),
        checks=_checks(report),
        method=_method(report, level),
        notes=[plain(str(note)) for note in _json(report, "notes", [])],
        origin=_origin(report),
    )


def _metric(
    report: xr.DataTree, tally: xr.Dataset, name: str, level: float, truth: xr.DataArray | None
) -> dict[str, Any]:
    reading = read(report, name, level=level, truth=truth)
    drawn = min(DRAWN, len(reading.subgroups))
    said = words.metric_words(tally, name)
    return {
        "name": reading.metric,
        "title": said.title,
        "heading": said.title if said.title == reading.metric else f"{said.title} ({reading.metric})",
        "words": said,
        "sentences": summary.sentences(reading),
        "picture": _picture(report, name, level, truth, drawn),
        "alternative": summary.alternative(reading, drawn),
        "drawn": drawn,
        "subgroups": len(reading.subgroups),
        "level": percent(level),
        "sides": [
            {
                "name": side.approach.capitalize(),
                "kind": plain(side.interval_kind),
                "method": plain(side.interval_method.replace("_", " ")),
            }
            for side in (reading.bayesian, reading.frequentist)
        ],
        "rows": _rows(reading),
        "truth": reading.truth is not None,
    }


def _rows(reading: Reading) -> list[dict[str, Any]]:
    """The table as text, in the order of the tally."""
    places = reading.decimals()
    rows = []
    for i, label in enumerate(reading.subgroups):
        cells = []
        for side in (reading.bayesian, reading.frequentist):
            bounds = number(side.lower[i], places), number(side.upper[i], places)
            known = reading.truth is not None and np.isfinite(reading.truth[i]) and np.isfinite(side.lower[i])
            cells.append(
                {
                    "estimate": number(side.estimate[i], places),
                    "interval": f"{bounds[0]} to {bounds[1]}" if all(bounds) else "",
                    "status": side.status[i],
                    "misses": bool(known and not reading.inside(side)[i]),
                }
            )
        truth = "" if reading.truth is None else number(float(reading.truth[i]), places)
        rows.append(
            {
                "label": label,
                "n": whole(reading.count[i]),
                "sides": cells,
                "truth": truth,
                "reason": reading.reason[i],
            }
        )
    return rows


def _picture(report: xr.DataTree, metric: str, level: float, truth: xr.DataArray | None, drawn: int) -> str:
    """The forest plot as a data address, the same bytes for the same report."""
    import matplotlib as mpl

    buffer = io.BytesIO()
    with mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()  # the reader's own styles would change the bytes
        # Text stays text: browsers have fonts for scripts that matplotlib's own lacks (and warns about).
        mpl.rcParams.update({"svg.hashsalt": "bayesgroups", "svg.fonttype": "none"})
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = forest(report, metric=metric, level=level, truth=truth, limit=drawn)
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return "data:image/svg+xml;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")


def _title(report: xr.DataTree, titles: Sequence[str]) -> str:
    by = attributes_of(report["estimates"].to_dataset())
    shown = [*titles[:3], f"{len(titles) - 3} more"] if len(titles) > 4 else list(titles)
    subject = _listed([shown[0], *(title if title.isupper() else title[:1].lower() + title[1:] for title in shown[1:])])
    return f"{subject} by {_listed([plain(name) for name in by])}" if by else f"{subject} by subgroup"


def _facts(report: xr.DataTree, tally: xr.Dataset) -> dict[str, str]:
    rows = tally["rows"].values if "rows" in tally else np.array([np.nan])
    facts = {
        "Estimator": str(report.attrs["estimator"]).replace("_", " "),
        "Subgroups": str(tally.sizes["subgroup"]),
        "Rows": whole(float(rows.sum())) or "not known",
        "Attributes": ", ".join(plain(name) for name in attributes_of(tally)),
    }
    labels = {
        "y_true": "Outcome", "y_pred": "Decision", "y_score": "Score", "threshold": "Threshold",
        "positive": "Positive label", "loss": "Loss", "weights": "Weights", "cluster": "Clusters",
        "rows_dropped": "Rows dropped (missing attribute)",
    }  # fmt: skip
    settings = words.settings_of(tally)
    facts |= {label: plain(str(settings[key])) for key, label in labels.items() if settings.get(key) is not None}
    return {label: fact for label, fact in facts.items() if fact}


def _checks(report: xr.DataTree) -> list[dict[str, Any]]:
    table = report["diagnostics"].to_dataset()
    columns = (table[name].values for name in ("check", "value", "threshold", "passed", "sentence"))
    return [
        {
            "name": plain(str(name)),
            "value": f"{float(value):.4g}",
            "threshold": f"{float(threshold):g}",
            "passed": bool(passed),
            "sentence": plain(str(sentence)),
        }
        for name, value, threshold, passed, sentence in zip(*columns, strict=True)
    ]


def _method(report: xr.DataTree, level: float) -> list[str]:
    table = report["estimates"].to_dataset()
    engines = {
        "collapsed": "independent draws from the exact posterior",
        "nuts": "Hamiltonian Monte Carlo (NUTS)",
    }
    inference = str(report.attrs["inference"])
    how = ", ".join(engines.get(engine, engine) for engine in inference.split(", "))
    said = [words.estimator_words(str(report.attrs["estimator"]))]
    said += [f"Bayesian model, {sentence}" for sentence in words.model_words(report)]
    said.append(f"The posterior was computed by {plain(how)}; the Bayesian estimate is the posterior mean.")
    for approach in ("bayesian", "frequentist"):
        own = table.sel(approach=approach)
        methods = dict.fromkeys(str(method) for method in own["interval_method"].values)
        for method in methods:
            which = [str(name) for name in own["metric"].values[own["interval_method"].values == method]]
            about = f" for {', '.join(plain(name) for name in which)}" if len(methods) > 1 else ""
            said.append(f"{approach.capitalize()} intervals{about}: {words.interval_words(method)}.")
    said.append(
        "Intervals are clipped to the range of the metric. Each holds for its own subgroup: among many, some "
        f"{percent(level)} intervals miss by chance, and the most extreme one looks more extreme than it is."
    )
    return said


def _origin(report: xr.DataTree) -> dict[str, str]:
    versions = ", ".join(f"{name} {version}" for name, version in sorted(_json(report, "versions", {}).items()))
    settings = _json(report, "settings", {})
    return {
        "Made at": plain(str(report.attrs.get("created_at", ""))),
        "Seed": str(report.attrs.get("seed", "")),
        "Inference": plain(str(report.attrs.get("inference", ""))),
        "Settings": plain(", ".join(f"{name}={value}" for name, value in settings.items())),
        "Versions": plain(versions),
        "Schema": f"{report.attrs['schema']} {report.attrs['schema_version']}",
    }


def _json(report: xr.DataTree, attribute: str, otherwise: Any) -> Any:
    """An attribute that holds JSON; ``otherwise`` where it is missing or holds something else."""
    try:
        found = json.loads(str(report.attrs[attribute]))
    except (KeyError, ValueError):
        return otherwise
    wanted = Mapping if isinstance(otherwise, dict) else list
    return found if isinstance(found, wanted) else otherwise


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
