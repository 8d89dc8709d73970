"""A model of Bambi and ours in one table: ``python examples/bambi_beside_ours.py``, with Bambi and nutpie beside bayesgroups.

Bambi samples a logistic model with an effect per level of each attribute; its draws become a report like any other, with the
checks of its chains, and `bayesgroups.compare` lays both beside each other.
"""

from __future__ import annotations

import pandas as pd

import bayesgroups as bg


def main() -> pd.DataFrame:
    """Fit both and print values and 95 % intervals of every subgroup."""
    import bambi  # pyright: ignore[reportMissingImports]

    who = pd.DataFrame({"race": list("aaabbbccc"), "age": ["20s", "40s", "60s"] * 3})
    tally = bg.tally_from_counts(
        [4, 30, 22, 9, 14, 3, 1, 6, 12], [20, 110, 60, 30, 70, 9, 2, 40, 35], who, metric="fnr"
    )
    table = who.assign(k=tally["successes"].values[0].astype(int), n=tally["count"].values[0].astype(int))
    model = bambi.Model("p(k, n) ~ 1 + (1|race) + (1|age)", table, family="binomial")
    fitted = model.fit(
        draws=1000,
        tune=2000,
        chains=4,
        inference_method="nutpie",
        target_accept=0.995,
        random_seed=1,
        progressbar=False,
    )
    model.predict(fitted, data=table, kind="response_params")
    reports = {
        "bambi": bg.report_from_draws(tally, fitted, variable="p", dim="__obs__", estimator="bambi", seed=1),
        "ours": bg.estimate(tally, bg.CrossedEffects(), seed=1),
    }
    estimates = bg.compare(reports).sel(metric="fnr", approach="bayesian", level=0.95)
    values = ["estimate", "lower", "upper"]
    rows = estimates[values].to_dataframe().reset_index()
    shown = rows.pivot_table(index="subgroup", columns="estimator", values=values)
    print(shown.round(3).to_string())
    for name, report in reports.items():
        print(name, "usable" if report.attrs["usable"] else "NOT usable")
    return shown


if __name__ == "__main__":
    main()
