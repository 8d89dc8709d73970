"""Optimist and pessimist: numbers of the published tables with better limits, and of rows left out.

    python -m examples.published.intersectionality.page --data FOLDER --record docs/examples/intersectionality.csv

FOLDER holds the public data, one folder each; the record is made by `examples.published.intersectionality.subsampling`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

import bayesgroups as bg
from bayesgroups.questions.certification import definitions, desiderata
from examples.pages import PAGES, fill
from examples.published.data import load_adult, load_common_voice, load_compas
from examples.published.intersectionality.published_certification import CRITICAL_VALUE, LINES, Line
from examples.published.intersectionality.subsampling import Point, read_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAGE = PAGES / "intersectionality.md"
COLOURS = {"worst": "0.45", "optimist": "tab:blue", "pessimist": "tab:orange"}
HONEST = ("out_of_fold", "loss")
"""Accuracies that no model was trained on."""
FIGURES = {"critical": "1", "whole": "3"}
"""Numbers of figures of the paper, by study."""


def published(line: Line) -> xr.Dataset:
    """The critical subgroups of a data set as a tally; right decisions of three models are thirds of a row."""
    entries = list(line.entries.values())
    who = pd.DataFrame({"of": [entry.subgroup for entry in entries]})
    right, trials = [entry.right for entry in entries], [3 * entry.rows for entry in entries]
    counts = bg.tally_from_counts(right, trials, who, metric="acc")
    return counts.assign(count=counts["count"] / 3, successes=counts["successes"] / 3)


def published_rows() -> list[str]:
    """Lines of the table of printed and better values."""
    rows = [
        "| data set | printed optimist | ours | exact | printed pessimist | ours | exact | its rows |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for line in LINES:
        raw = bg.certify(published(line), critical_value=CRITICAL_VALUE).isel(metric=0)
        exact = bg.certify(published(line)).isel(metric=0)
        rows.append(
            f"| {line.name} | {line.optimist_value:.6f} | {float(raw['optimist_unclipped']):.6f} | "
            f"{float(exact['optimist']):.3f} | {line.pessimist_value:.6f} | {float(raw['pessimist_unclipped']):.6f} | "
            f"{float(exact['pessimist']):.3f} | {float(exact['pessimist_count']):.0f} |"
        )
    return rows


def tallies(data: Path) -> dict[str, xr.Dataset]:
    """Systems that are there already, each by all its protected attributes."""
    adult = load_adult(data / "adult")
    compas = load_compas(data / "compas")
    speech = load_common_voice(data / "asr_commonvoice")
    return {
        "Adult, language model": bg.tally(
            adult, ["race", "sex", "age_band"], "acc", y_true="income", y_pred="predicted"
        ),
        "COMPAS, decile above 4": bg.tally(
            compas, ["race", "sex", "age_band"], ["acc", "fpr"], y_true="recidivism", y_pred="predicted"
        ),
        "Common Voice, Whisper tiny": bg.tally(speech, ["sex", "age"], "mean", loss="wer"),
    }


def certified_rows(tables: dict[str, xr.Dataset]) -> list[str]:
    """Lines of the table of systems: who is worst, and what the optimist and the pessimist say with different evidence."""
    heading = [
        "system", "metric", "subgroups", "worst", "optimist, 1.64", "exact, Bonferroni", "pessimist, 1.64", "exact",
        "pooled posterior", "likeliest worst",
    ]  # fmt: skip
    rows = [f"| {' | '.join(heading)} |", f"|{'---|' * len(heading)}"]
    for name, tally in tables.items():
        report = bg.estimate(tally, bg.PartialPooling(), seed=1)
        raw = bg.certify(tally, critical_value=CRITICAL_VALUE)
        exact, corrected, pooled = bg.certify(tally), bg.certify(tally, correction="bonferroni"), bg.certify(report)
        for metric in tally["metric"].values:
            chosen = {"metric": metric}
            chance = pooled["probability_worst"].sel(chosen)
            likeliest = chance.fillna(0).argmax("subgroup")
            who = str(chance["subgroup"].values[int(likeliest)]).replace("|", "/")
            rows.append(
                f"| {name} | {metric} | {int(exact['groups'].sel(chosen))} of {tally.sizes['subgroup']} "
                f"| {float(raw['worst'].sel(chosen)):.3f} ({str(raw['worst_subgroup'].sel(chosen).values).replace('|', '/')}) "
                f"| {float(raw['optimist'].sel(chosen)):.3f} | {float(corrected['optimist'].sel(chosen)):.3f} "
                f"| {float(raw['pessimist'].sel(chosen)):.3f} | {float(exact['pessimist'].sel(chosen)):.3f} "
                f"| {float(pooled['pessimist'].sel(chosen)):.3f} to {float(pooled['optimist'].sel(chosen)):.3f} "
                f"| {who} ({100 * float(chance[int(likeliest)]):.0f} %) |"
            )
    return rows


def requirement_rows(tally: xr.Dataset) -> list[str]:
    """Lines of the table of definitions and what they fail."""
    checks = ["minimal_justice", "consistent_conceptualisation", "data_not_punished", "errors_not_rewarded"]
    rows = [f"| definition | {' | '.join(check.replace('_', ' ') for check in checks)} |", "|---|---|---|---|---|"]
    for definition in definitions(0.05, standard=0.6):
        checked = desiderata(definition, tally).isel(metric=0)
        many = int(np.isfinite(checked["before"].values[0]).sum())
        failures = [int(checked["fails"].sel(check=check).sum()) for check in checks]
        rows.append(
            f"| {definition.name.replace('_', ' ')} | "
            + " | ".join(f"{failed} of {many}" if failed else "kept" for failed in failures)
            + " |"
        )
    return rows


def trend(points: Sequence[Point]) -> dict[float, float]:
    """Mean value at every fraction, NaN where a subsample has no row."""
    fractions = sorted({point.fraction for point in points})
    return {at: float(np.mean([point.value for point in points if point.fraction == at])) for at in fractions}


def own_rows(record: Sequence[Point]) -> list[str]:
    """Lines of the table of our own runs with all rows: what the paper prints of its data sets."""
    heading = [
        "worst, in sample",
        "optimist, 1.64",
        "pessimist, 1.64",
        "worst, out of fold",
        "optimist, exact",
        "pessimist, exact",
    ]
    rows = [f"| data set | {' | '.join(heading)} |", "|---|---|---|---|---|---|---|"]
    whole = [point for point in record if (point.study, point.fraction, point.repeat) == ("whole", 1.0, 0)]
    for table in dict.fromkeys(point.table for point in whole):
        cells = [table]
        for form in (("in_sample", "wald"), ("out_of_fold", "clopper_pearson")):
            for statistic in COLOURS:
                matching = next(
                    point
                    for point in whole
                    if (point.table, point.statistic) == (table, statistic)
                    and (point.accuracy, point.interval) in (form, ("loss", "pooled_t"))
                )
                cells.append(f"{matching.value:.3f} ({matching.rows})")
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def trend_rows(record: Sequence[Point]) -> list[str]:
    """Lines of the table of the two studies: the value at a tenth, half and all of the rows."""
    rows = [
        "| data set | rows left out of | value | of (all rows) | 10 % | 50 % | 100 % |",
        "|---|---|---|---|---|---|---|",
    ]
    honest = [point for point in record if point.accuracy in HONEST and point.interval != "wald"]
    for table, study, statistic in dict.fromkeys((point.table, point.study, point.statistic) for point in honest):
        points = [point for point in honest if (point.table, point.study, point.statistic) == (table, study, statistic)]
        means = trend(points)
        whole = next(point for point in points if point.fraction == 1.0)
        shown = [f"{means[at]:.3f}" if np.isfinite(means[at]) else "-" for at in (0.1, 0.5, 1.0)]
        where = "it alone" if study == "critical" else "all"
        of = f"{whole.subgroup.replace('|', '/')} (n = {whole.rows})"
        rows.append(f"| {table} | {where} | {statistic} | {of} | {' | '.join(shown)} |")
    return rows


def draw(record: Sequence[Point], study: str, path: Path) -> None:
    """Draw one study: the published way above, out of fold with exact limits below, a column per data set."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    lines = [point for point in record if point.study == study]
    tables = list(dict.fromkeys(point.table for point in lines))
    forms = (("in_sample", "wald"), ("out_of_fold", "clopper_pearson"))
    with mpl.rc_context({"svg.hashsalt": "bayesgroups", "svg.fonttype": "none", "font.size": 8}):
        figure, axes = plt.subplots(2, len(tables), figsize=(2.6 * len(tables), 4.4), sharex=True, squeeze=False)
        for column, table in enumerate(tables):
            for row, form in enumerate(forms):
                accepted = (form, ("loss", "pooled_t"))
                _panel(
                    axes[row, column],
                    [point for point in lines if point.table == table and (point.accuracy, point.interval) in accepted],
                )
            axes[0, column].set_title(table.replace("_", " "))
            axes[1, column].set_xlabel("rows kept")
        axes[0, 0].set_ylabel("in sample, Wald")
        axes[1, 0].set_ylabel("out of fold, exact")
        axes[0, 0].legend(frameon=False)
        figure.tight_layout()
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)


def _panel(axes: Axes, points: Sequence[Point]) -> None:
    for statistic, colour in COLOURS.items():
        means = trend([point for point in points if point.statistic == statistic])
        axes.plot(list(means), list(means.values()), marker=".", color=colour, label=statistic)


def numbers(data: Path, record: Sequence[Point]) -> dict[str, str]:
    """Tables of the page by the name of their block."""
    tables = tallies(data)
    compas = tables["COMPAS, decile above 4"].sel(metric=["acc"])
    rows = {
        "printed and exact values": published_rows(),
        "systems": certified_rows(tables),
        "desiderata": requirement_rows(compas),
        "all rows": own_rows(record),
        "rows left out": trend_rows(record),
    }
    return {name: "\n".join(lines) for name, lines in rows.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Fill in the numbers of the page, and draw its figures."""
    program = "python -m examples.published.intersectionality.page"
    parser = argparse.ArgumentParser(prog=program, description="Optimist and pessimist, published and ours.")
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds the public data")
    parser.add_argument("--record", type=Path, required=True, help="the record of the study of subsamples")
    parser.add_argument("--output", type=Path, default=PAGE, help="the page to write, figures beside it")
    given = parser.parse_args(arguments)
    record = read_points(given.record)
    for study, number in FIGURES.items():
        draw(record, study, given.output.with_name(f"intersectionality_{number}.svg"))
    fill(given.output, numbers(given.data, record), prose=PAGE)


if __name__ == "__main__":
    main()
