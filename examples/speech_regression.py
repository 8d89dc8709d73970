"""Section 5.3 of Herlihy, Truong, Chouldechova and Dudik (2024) on other recordings: structured regression and tests of rows.

The paper has race and gender, and the duration of a clip as the one explanatory feature; here they are sex and age, and the
logarithm of the number of words that were said, since durations are not among the public columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import xarray as xr

import bayesgroups as bg
from examples.pages import table
from examples.pictures import panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LENGTH = "log_words"
UNITS: Mapping[str, Literal["robust", "mean"]] = {"clips of speakers": "robust", "speakers": "mean"}
"""Analyses of the tally, by what a row of it is."""
ANSWERS = {
    ("no_pooling", "frequentist"): "standard",
    ("structured_regression", "frequentist"): "structured regression",
    ("structured_regression", "bayesian"): "its posterior",
}
CHAIN = {
    "length": LENGTH,
    "+ sex": f"{LENGTH} + sex",
    "+ age": f"{LENGTH} + sex + age",
    "sex x age": f"{LENGTH} + sex * age",
}
YOUNG = ("teens", "twenties")
COLOURS = ("#595959", "#0072B2", "#D55E00")


def speakers_of(clips: pd.DataFrame) -> pd.DataFrame:
    """The means of every speaker's clips, one row per speaker."""
    values = [name for name in clips.columns if name not in {"speaker", "sex", "age"}]
    return pd.DataFrame(clips.groupby(["speaker", "sex", "age"], as_index=False, sort=True)[values].mean())


def regressions(clips: pd.DataFrame, by: Mapping[str, list[str]], metric: str, seed: int) -> xr.Dataset:
    """Estimates and 95 % intervals of the standard estimator and of structured regression, per unit.

    Parameters
    ----------
    clips : pandas DataFrame
        One row per clip: ``speaker``, attributes, the metric and `LENGTH`.
    by : mapping of str to list of str
        Levels of the attributes.
    metric : str
        Column of the error rate.
    seed : int
        Of the bootstrap and the posterior.

    Returns
    -------
    xr.Dataset
        ``estimate``, ``lower``, ``upper`` along ``unit``, ``answer`` and ``subgroup``.
    """
    parts = []
    for unit, analysis in UNITS.items():
        tally = bg.tally(
            clips, by=by, metrics=[bg.Metric(metric, value=nw.col(metric), lower=0.0)], cluster="speaker",
            cluster_analysis=analysis, features=[LENGTH],
        )  # fmt: skip
        for word, estimator in {
            "no_pooling": bg.NoPooling(),
            "structured_regression": bg.StructuredRegression(),
        }.items():
            report = bg.estimate(tally, estimator, seed=seed, strict=True)
            estimates = report.children["estimates"].to_dataset().sel(level=0.95, metric=metric, drop=True)
            for approach in ("frequentist", "bayesian"):
                if (word, approach) in ANSWERS:
                    where = {"unit": [unit], "answer": [ANSWERS[word, approach]]}
                    answer = estimates[["estimate", "lower", "upper"]].sel(approach=approach, drop=True)
                    parts.append(answer.reset_coords(drop=True).expand_dims(where))
    merged = xr.merge(parts, join="outer", compat="no_conflicts", combine_attrs="drop")
    assert isinstance(merged, xr.Dataset)
    return merged.sel(unit=list(UNITS), answer=list(ANSWERS.values()), subgroup=parts[-1]["subgroup"].values)


def pull_table(answers: xr.Dataset) -> str:
    """A Markdown table: the spread of estimates over subgroups with clips, and the mean width, relative to the standard ones."""
    observed = answers["estimate"].sel(answer="standard").notnull()  # noqa: PD004 (xarray)
    rows = []
    for unit in UNITS:
        at_unit = answers.sel(unit=unit).where(observed.sel(unit=unit))
        spread = at_unit["estimate"].std("subgroup")
        width = (at_unit["upper"] - at_unit["lower"]).mean("subgroup")
        for name in ANSWERS.values():
            relative = (float(value.sel(answer=name) / value.sel(answer="standard")) for value in (spread, width))
            rows.append([unit, name, f"{float(spread.sel(answer=name)):.3f}", *(f"{value:.2f}" for value in relative)])
    return table(["unit", "estimate", "standard deviation", "relative to standard", "width, relative"], rows)


def tests_of_rows(clips: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Nested tests of rows: clips as if independent, clips of speakers, and speakers; with six ages and with two.

    Returns
    -------
    pandas DataFrame
        Columns ``ages``, ``comparison``, ``unit``, ``f``, ``df1``, ``df2``, ``p`` and ``on means``, the p-value of
        `bayesgroups.goodness_of_fit` on subgroup means.
    """
    lines = []
    two = clips.loc[clips["sex"] != "other"].assign(
        age=np.where(clips.loc[clips["sex"] != "other", "age"].isin(YOUNG), "young", "older")
    )
    for ages, rows in {"six": clips, "two": two}.items():
        people = speakers_of(rows)
        tally = bg.tally(rows, by=["sex", "age"], metrics=["mean"], loss=metric, features=[LENGTH])
        on_means = bg.goodness_of_fit(tally, CHAIN)["p_value"].isel(metric=0)
        plain, robust = (bg.goodness_of_fit_rows(rows, CHAIN, metric, cluster=cluster) for cluster in (None, "speaker"))
        by_unit = {
            "clips as if independent": plain[["f", "df1", "df2", "p_value"]],
            "clips of speakers": _robust(robust),
            "speakers": _robust(bg.goodness_of_fit_rows(people, CHAIN, metric)),
        }
        for unit, tests in by_unit.items():
            for i, comparison in enumerate(tests["comparison"].values):
                numbers = [float(tests[name][i]) for name in ("f", "df1", "df2", "p_value")]
                lines.append([ages, str(comparison), unit, *numbers, float(on_means[i])])
    return pd.DataFrame(lines, columns=["ages", "comparison", "unit", "f", "df1", "df2", "p", "on means"])


def _robust(tests: xr.Dataset) -> xr.Dataset:
    kept = tests[["robust_f", "df1", "robust_df2", "robust_p_value"]]
    return kept.rename(robust_f="f", robust_df2="df2", robust_p_value="p_value")


def test_table(tests: pd.DataFrame) -> str:
    """A Markdown table of the nested tests, one row per comparison."""
    units = list(dict.fromkeys(tests["unit"]))
    rows = []
    for _, lines in tests.groupby(["ages", "comparison"], sort=False):
        cells = [
            f"{line['f']:.2f}, ({line['df1']:.0f}, {line['df2']:.0f}), {_p(line['p'])}"
            for _, line in lines.set_index("unit").loc[units].iterrows()
        ]
        rows.append([*lines[["ages", "comparison"]].iloc[0], *cells, _p(float(lines["on means"].iloc[0]))])
    return table(["ages", "models", *(f"{unit}: F, df, p" for unit in units), "on subgroup means: p"], rows)


def _p(value: float) -> str:
    return "none" if np.isnan(value) else "< .001" if value < 0.001 else f"{value:.3f}"


def forest(answers: xr.Dataset) -> Figure:
    """Estimates and 95 % intervals by subgroup, at the level of clips and of speakers."""
    figure, parts = panels(1, len(UNITS), (8.0, 4.6), shared=True)
    labels = [str(label).replace(" | ", ", ") for label in answers["subgroup"].values]
    places = np.arange(len(labels))
    for axes, unit in zip(parts, UNITS, strict=True):
        for i, (name, colour) in enumerate(zip(ANSWERS.values(), COLOURS, strict=True)):
            answer = answers.sel(unit=unit, answer=name)
            middle, low, high = (answer[part].values for part in ("estimate", "lower", "upper"))
            y = places + 0.25 * (i - 1)
            axes.hlines(y, low, high, color=colour, lw=1.2)
            axes.plot(middle, y, "o", color=colour, markersize=3, label=name)
        axes.set_title(unit)
        axes.set_xlabel("word errors per word")
        axes.set_yticks(places, labels)
    parts[0].invert_yaxis()
    parts[0].set_xlim(0, 1.2)
    parts[1].legend(frameon=False, loc="lower right")
    return figure
