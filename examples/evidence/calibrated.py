"""Tables and pictures of the page of calibration and coverage, from the records.

    python -m examples.evidence.calibrated --output docs/evidence/calibrated.md

takes ten seconds and writes the pictures beside the page. Times at which records were made are those of `docs/records.csv`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from bayesgroups.studies.uniformity import uniformity
from bayesgroups.views.plots.calibration_plot import share_below
from examples.evidence import calibrated_records as records
from examples.evidence.calibrated_figures import DRAWS, band, figures
from examples.evidence.record_dates import commands, recorded
from examples.pages import fill, table
from examples.pictures import save, style

PROGRAM = "python -m examples.evidence.calibrated"
LEVEL = 0.95
PLACES = {
    "separate_normal": "`NoPooling`", "wald": "`NoPooling`", "t": "`NoPooling`", "pooled_normal": "`NoPooling`",
    "pooled_normal_published": "`NoPooling`", "pooled_t": "`NoPooling`", "wilson": "`NoPooling`", "jeffreys": "`NoPooling`",
    "clopper_pearson": "`NoPooling`", "percentile": "`NoPooling`", "bayesian_no_pooling": "`NoPooling`",
    "unshrunk": "`PartialPooling`", "plug_in": "`PartialPooling`", "morris": "`PartialPooling`", "robust": "`PartialPooling`",
    "robust_any_kurtosis": "`PartialPooling`", "fab": "`PartialPooling`", "bayesian_partial_pooling": "`PartialPooling`",
    "james_stein_bootstrap": "`JamesStein`", "bayesian_james_stein": "`JamesStein`",
}  # fmt: skip
"""Estimators by the intervals of the record of interval coverage."""


def calibration() -> str:
    """Uniformity of the ranks, a line per engine and design."""
    rows = []
    for name, title in records.CALIBRATIONS.items():
        for design, each in records.ranks(name).items():
            number = len(next(iter(each.values())))
            values = pd.DataFrame(each).to_xarray().to_array("quantity").rename(index="replication")
            tests = uniformity(values.transpose("quantity", "replication"), draws=DRAWS)
            smallest = float(min(tests["chi2_p"].min(), tests["ks_p"].min()))
            grid, wide = band(number)
            outside = sum(
                bool((abs(share_below((rank + 0.5) / (DRAWS + 1), grid) - grid) > wide + 1e-12)[1:-1].any())
                for rank in each.values()
            )
            means = tests["mean_pit"].values
            rows.append(
                [
                    title, design, number, len(each), f"{outside} ({0.05 * len(each):.1f})", f"{smallest:.4f}",
                    f"{min(1.0, 2 * len(each) * smallest):.3f}", f"{means.min():.3f} to {means.max():.3f}",
                ]
            )  # fmt: skip
    head = [
        "engine",
        "design",
        "tables",
        "quantities",
        "outside the band (expected)",
        "smallest p",
        "times tests",
        "mean PIT",
    ]
    return table(head, rows)


def by_level() -> str:
    """Coverage of every interval at each level, all subgroups."""
    lines = records.coverage("interval_coverage").query("size_class == 'all'")
    wide = lines.pivot_table(index=["design", "interval"], columns="level", values="coverage", sort=False)
    error: Any = lines.groupby(["design", "interval"])["mc_error"].max()
    rows = [
        [
            design,
            PLACES[interval],
            interval,
            *(f"{100 * value:.1f}" for value in row),
            f"{100 * error[design, interval]:.1f}",
        ]
        for (design, interval), row in zip(wide.index, wide.to_numpy(), strict=True)
    ]
    head = ["design", "estimator", "interval", *(f"{100 * level:g} %" for level in wide.columns), "largest MC error"]
    return table(head, rows)


def by_size() -> str:
    """Coverage at 95 % in small and in large subgroups."""
    lines = records.coverage("interval_coverage").query("level == @LEVEL", local_dict={"LEVEL": LEVEL})
    wide: Any = lines.pivot_table(index=["design", "interval"], columns="size_class", values="coverage", sort=False)
    rows = [
        [design, interval, *(f"{100 * value:.1f}" for value in pair)]
        for (design, interval), pair in zip(wide.index, wide[["small", "large"]].to_numpy(), strict=True)
    ]
    return table(["design", "interval", "25 rows or fewer", "more rows"], rows)


def by_estimator() -> str:
    """Coverage at 95 % of subgroups without rows: lowest and highest of four spreads."""
    lines: Any = records.coverage("imputed_coverage")
    lines = lines[lines["level"] == LEVEL]
    rows = []
    for (estimator, side, kind), each in lines.groupby(["estimator", "side", "kind"], sort=False):
        covered = each.sort_values("spread")
        if (covered["answered"] == 0).all():
            rows.append([estimator, side, kind, *["no answer"] * len(covered)])
            continue
        rows.append(
            [estimator, side, kind]
            + [f"{100 * a:.0f} ± {100 * b:.0f}" for a, b in zip(covered["coverage"], covered["mc_error"], strict=True)]
        )
    spreads = sorted(lines["spread"].unique())
    return table(["estimator", "side", "rows", *(f"spread {spread:g}" for spread in spreads)], rows)


def lowest() -> str:
    """Lowest and highest coverage at 95 % of every record that has it, and where the lowest is."""
    rows = []
    for name in records.COVERAGES:
        lines: Any = records.coverage(name)
        if "coverage" not in lines:
            continue
        if "level" in lines:
            lines = lines[lines["level"] == LEVEL]
        lines = lines[lines["coverage"].notna()]
        worst = lines.loc[lines["coverage"].idxmin()]
        described = [
            str(worst[column]) for column in lines.columns[: lines.columns.get_loc("coverage")] if column != "level"
        ]
        covered = lines["coverage"]
        rows.append(
            [
                f"`{name}`", len(lines), *(f"{100 * value:.1f}" for value in (covered.min(), covered.median(), covered.max())),
                ", ".join(described),
            ]
        )  # fmt: skip
    return table(["record", "lines", "lowest", "median", "highest", "the lowest is"], rows)


def origins() -> str:
    """Time, digest and command of every record."""
    typed, dates = commands(), recorded()
    rows = [[f"`{name}`", dates[name].made, f"`{dates[name].digest}`", f"`{typed[name]}`"] for name in records.files()]
    return table(["record", "made (UTC)", "SHA-256", "command"], rows)


def numbers() -> dict[str, str]:
    """Texts of the page by the name of their block."""
    return {
        "calibration": calibration(),
        "by level": by_level(),
        "by size": by_size(),
        "by estimator": by_estimator(),
        "lowest": lowest(),
        "records": origins(),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Fill in the tables and draw the pictures."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description="Page of calibration and coverage, from the records.")
    parser.add_argument("--output", type=Path, required=True, help="Markdown page whose numbers to fill in")
    given = parser.parse_args(arguments)
    fill(given.output, numbers())
    with style():
        drawn = figures()
    save(drawn, given.output.parent)


if __name__ == "__main__":
    main()
