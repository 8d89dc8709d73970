"""An analyst's script: whom a model misses, how sure that is, and what can be promised to everyone.

    python examples/analyst.py --output RESULTS

Every step is a function of a file or a frame; `bayesgroups estimate rows.csv ...` does the same without Python.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import bayesgroups as bg
from bayesgroups.datasets import demonstration


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path())
    folder = parser.parse_args(arguments).output

    rows = demonstration(seed=1).rows  # yours: a CSV or Parquet file, or any dataframe
    tally = bg.tally(
        rows, by=["race", "age", "gender"], metrics=["fnr"], y_true="readmitted", y_score="score", threshold=0.21
    )
    report = bg.estimate(tally, bg.PartialPooling(), seed=1)
    gap = bg.disparity(report, ["max_min_difference"]).isel(measure=0, metric=0)
    worst = bg.certify(report).isel(metric=0)
    print(
        f"largest gap between subgroups: {float(gap['value']):.2f} [{float(gap['lower']):.2f}, {float(gap['upper']):.2f}]"
    )
    print(f"no subgroup misses more than {float(worst['pessimist']):.2f} of its cases, with 95 % probability")
    bg.save_report(report, folder / "fnr.nc")
    bg.write_html(report, folder / "fnr.html")


if __name__ == "__main__":
    main()
