"""Posterior against confidence interval: the same counts, four answers, and where they part.

python examples/two_answers.py
"""

from __future__ import annotations

import pandas as pd

import bayesgroups as bg


def main() -> pd.DataFrame:
    clinics = pd.DataFrame({"clinic": ["north", "east", "south", "west", "hill"]})
    tally = bg.tally_from_counts([12, 30, 9, 1, 0], [60, 100, 40, 2, 0], clinics, metric="fnr")
    alone = bg.estimate(tally, bg.NoPooling(), seed=1)
    pooled = bg.estimate(tally, bg.PartialPooling(), seed=1)
    table = bg.compare({"alone": alone, "pooled": pooled}).sel(metric="fnr", level=0.95)
    shown = table[["estimate", "lower", "upper", "width", "interval_kind"]].to_dataframe()
    print(shown[["interval_kind", "estimate", "lower", "upper", "width"]].round(2).to_string())
    return shown


if __name__ == "__main__":
    main()
