"""Optimist and pessimist: numbers of the published tables with better limits, and of rows left out.

    python -m examples.published.intersectionality.page --data FOLDER --record docs/examples/intersectionality.csv

FOLDER holds the public data, one folder each; the record is made by `examples.published.intersectionality.subsampling`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import xarray as xr

import bayesgroups as bg
from bayesgroups.questions.certification import definitions, desiderata
from examples.pages import PAGES, fill
from examples.published.data import load_adult, load_common_voice, load_compas
from examples.published.intersectionality.page_figures import draw, draw_tables
from examples.published.intersectionality.published_certification import CRITICAL_VALUE, LINES, published
from examples.published.intersectionality.record_rows import STATISTICS, own_rows, run_rows, trend_rows
from examples.published.intersectionality.subsampling import Point, read_points

PAGE = PAGES / "intersectionality.md"
FIGURES = {"critical": "1", "all": "3"}
"""Numbers of figures of the paper, by study."""


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


def critical_rows() -> list[str]:
    """Lines of the table of critical subgroups: names, right decisions of three models, and three times the rows."""
    heading = ["data set", *STATISTICS]
    rows = [f"| {' | '.join(heading)} |", f"|{'---|' * len(heading)}"]
    for line in LINES:
        entries = (line.worst, line.optimist, line.pessimist)
        cells = [f"{entry.subgroup} ({entry.right} of {3 * entry.rows})" for entry in entries]
        rows.append(f"| {' | '.join([line.name, *cells])} |")
    return rows


def numbers(data: Path, record: Sequence[Point]) -> dict[str, str]:
    """Tables of the page by the name of their block."""
    tables = tallies(data)
    compas = tables["COMPAS, decile above 4"].sel(metric=["acc"])
    rows = {
        "critical subgroups": critical_rows(),
        "printed and exact values": published_rows(),
        "printed and run": run_rows(record),
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
    draw_tables(given.output.with_name("intersectionality_tables.svg"))
    fill(given.output, numbers(given.data, record), prose=PAGE)


if __name__ == "__main__":
    main()
