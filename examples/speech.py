"""Word error rates of a speech recogniser by sex and age, at the level of clips and of speakers.

Whisper tiny transcribed the English test and validation clips of Common Voice. Clips of one speaker are alike, so this
page asks three times: clips as if independent, clips with widths that count what clips of a speaker have in common, and
speakers, each of whom counts once.

    python -m examples.speech --data FOLDER --seed 1 --output docs/examples/speech.md

FOLDER holds ``clips.csv`` (or ``.csv.gz``); BAYESGROUPS_DATA names it too.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import xarray as xr

import bayesgroups as bg
from examples import pictures
from examples import speech_regression as regression
from examples.pages import PAGES, fill, table

BY = {
    "sex": ["female", "male", "other"],
    "age": ["teens", "twenties", "thirties", "forties", "fifties", "sixties and older"],
}
OLDER = ("sixties", "seventies", "eighties", "nineties")
Analysis = Literal["ignore", "robust", "mean"]
PAGE = PAGES / "speech.md"
WER = ("wer", "wer_trimmed")
"""Word errors per word of normalised texts; the same of raw texts, without the repeated tail of what was recognised."""
ANALYSES: dict[Analysis, str] = {
    "ignore": "clips as if independent",
    "robust": "clips of speakers",
    "mean": "speakers",
}
FORMULAS = {"null": "1", "sex": "sex", "sex + age": "sex + age", "sex * age": "sex * age"}


def clips_with_sex_and_age(everyone: pd.DataFrame) -> pd.DataFrame:
    """The clips of everyone who gave sex and age."""
    clips = everyone.loc[(everyone["gender"] != "") & (everyone["age"] != "")]
    age = clips["age"].replace({"fourties": "forties", **dict.fromkeys(OLDER, "sixties and older")})
    return pd.DataFrame(
        {
            "speaker": clips["speaker"],
            "sex": clips["gender"],
            "age": age,
            "wer": clips["errors_norm"] / clips["ref_words_norm"],
            "wer_trimmed": clips["errors_raw_tailclean"] / clips["ref_words"],
            regression.LENGTH: np.log(clips["ref_words_norm"]),
        }
    )


def tally_of(clips: pd.DataFrame, analysis: Analysis) -> xr.Dataset:
    """Tally both error rates by sex and age."""
    metrics = [bg.Metric(name, value=nw.col(name), lower=0.0) for name in WER]
    return bg.tally(clips, by=BY, metrics=metrics, cluster="speaker", cluster_analysis=analysis)


def answers_of(tallies: dict[Analysis, xr.Dataset], seed: int) -> xr.Dataset:
    """Estimates and 95 % intervals of no and partial pooling of every analysis, frequentist side and both sides."""
    parts = []
    for name, tally in tallies.items():
        asked: dict[str, bg.NoPooling | bg.PartialPooling] = {
            "no_pooling": bg.NoPooling(),
            "partial_pooling": bg.PartialPooling(),
        }
        if name != "ignore":
            asked["cluster_robust"] = bg.NoPooling(interval="cluster_robust")
        for word, estimator in asked.items():
            report = bg.estimate(tally, estimator, seed=seed, strict=True)
            estimates = report.children["estimates"].to_dataset().sel(level=0.95, drop=True)
            where = {"analysis": [name], "word": [word]}
            parts.append(estimates[["estimate", "lower", "upper"]].expand_dims(where))
    merged = xr.merge(parts, join="outer", compat="no_conflicts", combine_attrs="drop")
    assert isinstance(merged, xr.Dataset)
    return merged


def design_effects(plain: xr.Dataset, robust: xr.Dataset) -> pd.DataFrame:
    """Rows per effective row in each subgroup, and the same from the subgroup's own speakers, one column per metric."""
    pooled = plain["count"] / robust["count"]
    unpooled = robust["cluster_robust_variance"] / (plain["row_variance"] / plain["count"])
    columns = {}
    for name in WER:
        columns[f"{name}_pooled"] = pooled.sel(metric=name, drop=True)
        columns[f"{name}_own"] = unpooled.sel(metric=name, drop=True)
    return xr.Dataset(columns).reset_coords(drop=True).to_dataframe()


def tests_of(tallies: dict[Analysis, xr.Dataset]) -> pd.DataFrame:
    """F-tests of nested models of sex and age against the noise of each analysis."""
    tables = []
    for name, tally in tallies.items():
        tests = bg.goodness_of_fit(tally, FORMULAS)
        names = ["pure_error_f", "pure_error_df1", "pure_error_df2", "pure_error_p_value", "f", "p_value"]
        tables.append(tests[names].expand_dims(analysis=[name]))
    whole = xr.concat(tables, "analysis", join="outer")
    return whole.to_dataframe(dim_order=["metric", "comparison", "analysis"])


def numbers(
    everyone: pd.DataFrame, clips: pd.DataFrame, tallies: dict[Analysis, xr.Dataset], answers: xr.Dataset,
    effects: pd.DataFrame, tests: pd.DataFrame,
) -> dict[str, str]:  # fmt: skip
    """Texts of the page by the name of their block."""
    robust = tallies["robust"]
    speakers = f"{clips['speaker'].nunique():,}"
    made = {
        "clips": f"{len(clips):,} clips of the {speakers} speakers who gave sex and age, out of {len(everyone):,} clips "
        f"of {everyone['speaker'].nunique():,} speakers.",
        "longer than said": f"{100 * (clips['wer'] > 1).mean():.1f} % of the clips have more errors than words, up to "
        f"{clips['wer'].max():.0f} times as many.",
        "correlations": table(
            ["metric", "clips", "speakers", "correlation of two clips of a speaker"],
            [[name, f"{len(clips):,}", speakers, f"{float(robust['icc'].sel(metric=name)):.2f}"] for name in WER],
        ),
        "design effects": table(
            ["subgroup", "clips", "speakers", *(f"{kind}, {name}" for name in WER for kind in ("pooled", "own"))],
            [
                [
                    _plain(label), f"{robust['rows'].values[i]:.0f}", f"{robust['clusters'].values[i]:.0f}",
                    *("-" if np.isnan(value) else f"{value:.2f}" for value in row),
                ]
                for i, (label, row) in enumerate(effects.iterrows())
            ],
        ),
    }  # fmt: skip
    head = ["subgroup", "clips as if independent", "clips of speakers", "own speakers", "speakers", "partially pooled"]
    for name in WER:
        rows = []
        for label in robust["subgroup"].values:
            subgroup_answers = answers.sel(metric=name, subgroup=label)
            alone = subgroup_answers.sel(word="no_pooling", approach="frequentist")
            cells = [_interval(alone.sel(analysis=analysis)) for analysis in ANALYSES]
            cells.insert(
                2, _interval(subgroup_answers.sel(word="cluster_robust", approach="frequentist", analysis="robust"))
            )
            cells.append(
                _interval(subgroup_answers.sel(word="partial_pooling", approach="bayesian", analysis="robust"))
            )
            rows.append([_plain(label), *cells])
        made[name] = table(head, rows)
    rows = []
    for metric in WER:
        for comparison in tests.loc[metric].index.get_level_values("comparison").unique():
            tested = []
            for analysis in ANALYSES:
                row = tests.loc[(metric, comparison, analysis)]
                freedom = f"({row['pure_error_df1']:.0f}, {row['pure_error_df2']:.0f})"
                tested.append(f"{row['pure_error_f']:.2f}, {freedom}, {_p(row['pure_error_p_value'])}")
            rows.append([metric, str(comparison).replace("|", "/"), *tested])
    made["tests"] = table(["metric", "models", *(f"{text}: F, df, p" for text in ANALYSES.values())], rows)
    return made


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m examples.speech", description="Word error rates by sex and age, by clip and by speaker."
    )
    parser.add_argument("--data", default=os.environ.get("BAYESGROUPS_DATA"), help="folder or file of the clips")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, help="the page whose numbers are filled in")
    asked = parser.parse_args(arguments)
    if asked.data is None:
        parser.error("name the folder with clips.csv: --data FOLDER")

    everyone = pd.read_csv(find_data(Path(asked.data)), keep_default_na=False)
    clips = clips_with_sex_and_age(everyone)
    tallies: dict[Analysis, xr.Dataset] = {analysis: tally_of(clips, analysis) for analysis in ANALYSES}
    answers = answers_of(tallies, asked.seed)
    effects = design_effects(tallies["ignore"], tallies["robust"])
    tests = tests_of(tallies)
    shown = answers["estimate"].sel(word="no_pooling", approach="frequentist", metric="wer")
    print(shown.transpose("subgroup", "analysis").to_pandas().round(3).to_string())
    print(effects.round(2).to_string())
    print(tests.round(4).to_string())
    if asked.output is not None:
        fitted = regression.regressions(clips, BY, "wer", asked.seed)
        made = numbers(everyone, clips, tallies, answers, effects, tests) | {
            "pull": regression.pull_table(fitted),
            "tests of rows": regression.test_table(regression.tests_of_rows(clips, "wer")),
        }
        fill(asked.output, made, prose=PAGE)
        with pictures.style():
            pictures.save({"speech_regression.svg": regression.forest(fitted)}, asked.output.parent)
        print(f"written: {asked.output}")


def find_data(path: Path) -> Path:
    """Find the file in the folder asked for, which may hold several studies."""
    if path.is_file():
        return path
    folder = path / "asr_commonvoice" if (path / "asr_commonvoice").is_dir() else path
    for name in ("clips.csv", "clips.csv.gz"):
        if (folder / name).is_file():
            return folder / name
    raise FileNotFoundError(f"no clips.csv or clips.csv.gz in {str(folder)!r}")


def _plain(label: object) -> str:
    return str(label).replace(" | ", " / ")


def _interval(answer: xr.Dataset) -> str:
    values = [float(answer[name]) for name in ("estimate", "lower", "upper")]
    return "-" if np.isnan(values[0]) else "{:.2f} [{:.2f}, {:.2f}]".format(*values)


def _p(value: float) -> str:
    return "-" if np.isnan(value) else "< .001" if value < 0.001 else f"{value:.3f}"


if __name__ == "__main__":
    main()
