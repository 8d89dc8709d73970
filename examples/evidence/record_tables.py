"""Tables of pages that are read off a record.

    python -m examples.evidence.record_tables

fills them in, in a second.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from examples.evidence import study_tables
from examples.evidence.calibrated_records import RECORDS
from examples.pages import fill, table

PROGRAM = "python -m examples.evidence.record_tables"
DOCS = Path(__file__).parents[2] / "docs"
METRICS = ["sel", "acc", "fnr", "fpr", "ppv", "auc"]
COMPETITORS = {
    "standard": "standard",
    "eb_plug_in": "empirical Bayes, plug-in",
    "eb_morris": "empirical Bayes, Morris",
    "sr": "structured regression",
    "suremap": "SureMap",
    "crossed_effects (bayesian)": "crossed effects, Bayesian",
    "mbm_normal": "score regression, normal",
    "mbm (frequentist)": "score regression, skewed",
    "mbm (bayesian)": "model-based metrics, Bayesian",
}
"""Estimators of the record of model-based metrics by the name on its page."""
SHRUNK = {
    "morris": "`morris`",
    "robust": "`robust`",
    "fab": "`fab`",
    "james_stein_bootstrap": "`bootstrap`",
    "bayesian_james_stein": "posterior",
}
"""Intervals of the James-Stein page by their name in the record of coverage."""


def model_based() -> dict[str, str]:
    """Errors, coverage and widths of nine estimators by metric, and geometric means of their relative errors."""
    lines = pd.read_csv(RECORDS / "model_based_metrics.csv").set_index(["estimator", "subgroups", "metric"])
    every, small = (pd.DataFrame(lines.xs(name, level="subgroups")) for name in ("all", "small"))
    pairs = every["pairs"] - small["pairs"]
    large = (every["coverage"] * every["pairs"] - small["coverage"] * small["pairs"]) / pairs
    tables = {
        "errors": (every["mae"], "{:.3f}"),
        "errors of small subgroups": (small["mae"], "{:.3f}"),
        "coverage": (every["coverage"], "{:.0%}"),
        "coverage of large subgroups": (large, "{:.0%}"),
        "coverage of small subgroups": (small["coverage"], "{:.0%}"),
        "widths": (every["width"], "{:.3f}"),
    }
    ratios = [
        [label, *(f"{np.exp(np.log(part.loc[name, 'ratio']).mean()):.2f}" for part in (every, small))]
        for name, label in COMPETITORS.items()
    ]
    relative = table(["estimator", "all subgroups", "small subgroups"], ratios)
    shown = {name: _by_metric(pd.Series(values), form) for name, (values, form) in tables.items()}
    return {"relative errors": relative} | shown


def _by_metric(values: pd.Series, form: str) -> str:
    rows = []
    for name, label in COMPETITORS.items():
        row = values.loc[name].loc[METRICS]
        rows.append([label, *(form.format(value).replace("%", " %") for value in (*row, row.mean()))])
    return table(["estimator", *METRICS, "mean"], rows)


def james_stein() -> dict[str, str]:
    """Coverage at 95 %, over all and over large subgroups, and width in three superpopulations."""
    lines = pd.read_csv(RECORDS / "interval_coverage.csv").query("level == 0.95")
    lines = lines.set_index(["interval", "design", "size_class"])
    rows = []
    for interval, label in SHRUNK.items():
        row = [label]
        for design in ("normal_01", "normal_002", "two_point_01"):
            every, large = (lines.loc[(interval, design, size)] for size in ("all", "large"))
            row += [f"{100 * every['coverage']:.1f}", f"{100 * large['coverage']:.1f}"]
            row += [f"{every['width_ratio']:.2f}".removeprefix("0")]
        rows.append(row)
    head = ["interval"]
    for design in ("normal, 0.1", "normal, 0.045", "two values"):
        head += [design, "large", "width"]
    return {"coverage": table(head, rows)}


PAGES: dict[str, Callable[[], dict[str, str]]] = {
    "docs/examples/model_based_metrics.md": model_based,
    "docs/estimators/james_stein.md": james_stein,
    **study_tables.PAGES,
}
"""Function that makes the tables of each page, by the path of the page."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Fill in the tables of all pages."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description="Tables of pages that are read off a record.")
    parser.add_argument("--docs", type=Path, default=DOCS, help="folder of the pages")
    folder = parser.parse_args(arguments).docs
    for name, numbers in PAGES.items():
        fill(folder / name.removeprefix("docs/"), numbers())


if __name__ == "__main__":
    main()
