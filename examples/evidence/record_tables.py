"""Tables of pages that are read off a record.

    python -m examples.evidence.record_tables

fills them in, in a second.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

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
    every, small, certain = (pd.DataFrame(lines.xs(name, level="subgroups")) for name in ("all", "small", "known"))
    pairs = every["pairs"] - small["pairs"]
    large = (every["coverage"] * every["pairs"] - small["coverage"] * small["pairs"]) / pairs
    tables = {
        "errors": (every["mae"], "{:.3f}"),
        "errors of small subgroups": (small["mae"], "{:.3f}"),
        "coverage": (every["coverage"], "{:.0%}"),
        "coverage of large subgroups": (large, "{:.0%}"),
        "coverage of small subgroups": (small["coverage"], "{:.0%}"),
        "coverage of known truths": (certain["coverage"], "{:.0%}"),
        "widths of known truths": (certain["width"], "{:.3f}"),
        "widths": (every["width"], "{:.3f}"),
    }
    ratios = [
        [label, *(f"{np.exp(np.log(part.loc[name, 'ratio']).mean()):.2f}" for part in (every, small, certain))]
        for name, label in COMPETITORS.items()
    ]
    relative = table(["estimator", "all subgroups", "small subgroups", "known truths"], ratios)
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


def family_wise() -> dict[str, str]:
    """Wrong statements about several subgroups at once, by statement, limits and correction."""
    lines = pd.read_csv(RECORDS / "family_wise.csv", keep_default_na=False)
    rows = [
        [
            *(str(line[name]).replace("_", " ") for name in ("statement", "method", "correction")),
            line["groups"],
            f"{100 * line['error']:.1f} ± {100 * line['mc_error']:.1f}",
        ]
        for _, line in lines.iterrows()
    ]
    return {"errors": table(["statement", "limits", "correction", "about", "error, %"], rows)}


def ordered_levels() -> dict[str, str]:
    """Errors with the order of levels relative to those without, by population, order and number of levels."""
    error = pd.read_csv(RECORDS / "ordered_gain.csv", dtype={"order": str}).set_index(
        ["population", "order", "levels"]
    )["error"]
    names = {
        "trend": "a straight trend",
        "walk": "a random walk",
        "bend": "the middle level differs",
        "none": "no order",
    }
    head = ["Along the levels", "3 levels", "5", "10", "3, order scrambled", "5", "10"]
    rows = [
        [name, *(f"{error[(word, order, levels)]:.2f}" for order in ("true", "random") for levels in (3, 5, 10))]
        for word, name in names.items()
    ]
    return {"errors": table(head, rows)}


def interaction_shares() -> dict[str, str]:
    """Coverage, width and error of the interaction share of strata, by the model that it comes from."""
    lines = pd.read_csv(RECORDS / "maihda_coverage.csv")
    head = [
        "shares from",
        "coverage of 95 % limits, %",
        "mean width",
        "mean error",
        "no variance left by maximum likelihood, %",
    ]
    rows = [
        [
            f'`model="{line["model"]}"`',
            f"{100 * line['coverage']:.1f} ± {100 * line['mc_error']:.1f}",
            f"{line['width']:.2f}",
            f"{line['bias']:.2f}",
            f"{100 * line['boundary']:.1f}",
        ]
        for line in lines.to_dict("records")
    ]
    return {"shares": table(head, rows)}


def few_labels() -> dict[str, str]:
    """Coverage, width and error of rates of which few outcomes are known, in simulated tables and on real decisions."""
    lines = pd.read_csv(RECORDS / "few_labels.csv").query("drawn == 'random' and metric == 'prev'")
    names = {
        "joint": "joint model", "labels alone, pooled": "labels alone, pooled (`CrossedEffects`)",
        "labels alone, Wilson": "labels alone, Wilson", "post-stratified": "post-stratified, MOVER",
        "PPI++": "PPI++, tuned, normal",
    }  # fmt: skip
    measures = ["coverage", "width", "error", "answered"]
    means = pd.DataFrame(lines.groupby("method")[measures].mean()).to_dict("index")
    simulated = [
        [name, *_accuracy(means[word]), f"{100 * means[word]['answered']:.0f}"] for word, name in names.items()
    ]
    census = pd.DataFrame(pd.read_csv(RECORDS / "few_labels_adult.csv").query("answered > 0"))
    draws = pd.DataFrame(census.groupby(["labels", "method"])[measures].mean()).to_dict("index")
    alone = "labels alone, pooled"
    shown = [
        ("2 or more, not rare", ("joint", alone, "PPI++")),
        ("0 or 1, not rare", ("joint", alone)),
        ("2 or more", ("joint",)),
        ("0 or 1", ("joint",)),
    ]
    real = [
        [
            labels,
            word.replace("joint", "joint model"),
            *_accuracy(draws[labels, word]),
            f"{draws[labels, word]['answered']:.1f}",
        ]
        for labels, words in shown
        for word in words
    ]
    head = ["Coverage, %", "Width", "Mean error"]
    return {
        "simulated": table(["Method", *head, "Subgroups with an interval, %"], simulated),
        "census": table(["Labels", "Method", *head, "Subgroups with an interval"], real),
    }


def _accuracy(line: Mapping[Any, Any]) -> list[str]:
    return [f"{100 * line['coverage']:.1f}", f"{line['width']:.3f}", f"{line['error']:.3f}"]


def target_populations() -> dict[str, str]:
    """Coverage of 95 % intervals of target populations, by what is known of the population and by the interval."""
    coverage = pd.read_csv(RECORDS / "poststratification_coverage.csv").set_index(["form", "rates", "rows"])["coverage"]
    names = {
        "known": "sizes known", "survey": '`variance="survey"`', "raked": "margins known", "second sample": "a second sample",
        "finite": "a finite population", "mid-p": '`interval="mid_p"`', "mid-p survey": '`mid_p`, `variance="survey"`',
        "mid-p raked": "`mid_p`, margins known", "mid-p second sample": "`mid_p`, a second sample",
        "mid-p finite": "`mid_p`, a finite population", "score": '`interval="score"`', "exact": '`interval="exact"`',
        "means": "means of skewed losses", "bounds": "bounds, at their end",
    }  # fmt: skip
    cells = [(rates, rows) for rates in ("rare", "middle") for rows in ("few", "many")]
    rows = [[name, *(f"{100 * coverage[(form, *cell)]:.0f}" for cell in cells)] for form, name in names.items()]
    head = ["rates of 2 to 10 %, few rows", "many rows", "rates of 30 to 70 %, few rows", "many rows"]
    return {"coverage": table(["", *head], rows)}


def auc() -> dict[str, str]:
    """Coverage of 95 % intervals of AUCs, over all and over small subgroups, in four designs."""
    lines = (
        pd.read_csv(RECORDS / "auc_coverage.csv").query("level == 0.95").set_index(["interval", "design", "size_class"])
    )
    names = {
        "wald_delong": "`wald`, DeLong", "logit_delong": "`logit`, DeLong", "newcombe": "`newcombe`",
        "newcombe_calibrated": "`newcombe`, `calibrated`", "no_pooling_rate_calibrated": "`NoPooling` of `auc_as_rate`",
        "empirical_bayes_rate_calibrated": "empirical Bayes of `auc_as_rate`",
        "bayesian_rate_calibrated": "Bayesian, `auc_as_rate`",
        "bayesian_own_scale": "Bayesian, own scale",
    }  # fmt: skip
    designs = {
        "alike": "AUC .80 everywhere", "apart": "AUC .53 to .96", "excellent": "AUC .88 to .998", "unequal": "unequal spreads",
    }  # fmt: skip
    percent = 100 * lines["coverage"]
    rows = [
        [
            name,
            *(f"{percent[(word, design, 'all')]:.0f} ({percent[(word, design, 'small')]:.0f})" for design in designs),
        ]
        for word, name in names.items()
    ]
    return {"coverage": table(["Interval", *designs.values()], rows)}


PAGES: dict[str, Callable[[], dict[str, str]]] = {
    "docs/examples/model_based_metrics.md": model_based,
    "docs/estimators/james_stein.md": james_stein,
    "docs/how-to/auc.md": auc,
    "docs/how-to/certify.md": family_wise,
    "docs/how-to/few_labels.md": few_labels,
    "docs/how-to/maihda.md": interaction_shares,
    "docs/how-to/ordered_levels.md": ordered_levels,
    "docs/how-to/target_populations.md": target_populations,
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
