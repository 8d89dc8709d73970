"""Whom does a speech recogniser mishear? Word error rates by sex and age, at the level of clips and of speakers.

Whisper tiny transcribed the English test and validation clips of Common Voice. Clips of one speaker are alike, so this
page asks three times: clips as if independent, clips with widths that count what clips of a speaker have in common, and
speakers, each of whom counts once.

    python examples/speech.py --data FOLDER --seed 1 --output docs/examples/speech.md

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

BY = {
    "sex": ["female", "male", "other"],
    "age": ["teens", "twenties", "thirties", "forties", "fifties", "sixties and older"],
}
OLDER = ("sixties", "seventies", "eighties", "nineties")
Analysis = Literal["ignore", "robust", "mean"]
WER = {
    "wer": "word errors per word of normalised texts",
    "wer_trimmed": "the same of raw texts, less the repeated tail of what was recognised",
}
"""The metrics, and what each is."""
ANALYSES: dict[Analysis, str] = {
    "ignore": "clips as if independent",
    "robust": "clips of speakers",
    "mean": "speakers",
}
FORMULAS = {"null": "1", "sex": "sex", "sex + age": "sex + age", "sex * age": "sex * age"}


def known(everyone: pd.DataFrame) -> pd.DataFrame:
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
        }
    )


def tally_of(clips: pd.DataFrame, analysis: Analysis) -> xr.Dataset:
    """Tally both error rates by sex and age."""
    metrics = [bg.Metric(name, value=nw.col(name), lower=0.0) for name in WER]
    return bg.tally(clips, by=BY, metrics=metrics, cluster="speaker", cluster_analysis=analysis)


def answers_of(tallies: dict[Analysis, xr.Dataset], seed: int) -> xr.Dataset:
    """Estimates and 95 % intervals of no and partial pooling of every analysis, frequentist side and both sides."""
    found = []
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
            found.append(estimates[["estimate", "lower", "upper"]].expand_dims(where))
    merged = xr.merge(found, join="outer", compat="no_conflicts", combine_attrs="drop")
    assert isinstance(merged, xr.Dataset)
    return merged


def design_effects(plain: xr.Dataset, robust: xr.Dataset) -> pd.DataFrame:
    """Rows per effective row in each subgroup, and the same from the subgroup's own speakers, one column per metric."""
    pooled = plain["count"] / robust["count"]
    own = robust["cluster_robust_variance"] / (plain["row_variance"] / plain["count"])
    columns = {}
    for name in WER:
        columns[f"{name}_pooled"] = pooled.sel(metric=name, drop=True)
        columns[f"{name}_own"] = own.sel(metric=name, drop=True)
    return xr.Dataset(columns).reset_coords(drop=True).to_dataframe()


def tests_of(tallies: dict[Analysis, xr.Dataset]) -> pd.DataFrame:
    """F-tests of nested models of sex and age against the noise of each analysis."""
    tables = []
    for name, tally in tallies.items():
        found = bg.goodness_of_fit(tally, FORMULAS)
        names = ["pure_error_f", "pure_error_df1", "pure_error_df2", "pure_error_p_value", "f", "p_value"]
        tables.append(found[names].expand_dims(analysis=[name]))
    whole = xr.concat(tables, "analysis", join="outer")
    return whole.to_dataframe(dim_order=["metric", "comparison", "analysis"])


def page(
    everyone: pd.DataFrame, clips: pd.DataFrame, tallies: dict[Analysis, xr.Dataset], answers: xr.Dataset,
    effects: pd.DataFrame, tests: pd.DataFrame, command: str,
) -> str:  # fmt: skip
    """Write the study as a Markdown page."""
    robust = tallies["robust"]
    lines = [
        "# Speech: whom does a recogniser mishear?",
        "",
        f"Made by `{command}`. Whisper tiny on the English test and validation clips of Common Voice: {len(clips):,} clips "
        f"of the {clips['speaker'].nunique():,} speakers who gave sex and age, out of {len(everyone):,} clips of "
        f"{everyone['speaker'].nunique():,} speakers. "
        "People who said nothing need not be like those who did.",
        "",
        "Herlihy, Truong, Chouldechova and Dudik (2024, section 5.3) ask the same of other recordings and another "
        "recogniser. Their table of clips is not available, so nothing here can be held against their numbers; what can "
        "be repeated is the comparison of the two levels.",
        "",
        *(f"- `{name}`: {text}" for name, text in WER.items()),
        "",
        f"The error rate of a clip has no upper end: {100 * (clips['wer'] > 1).mean():.1f} % of the clips have more errors "
        f"than words, up to {clips['wer'].max():.0f} times as many where the recogniser repeats itself. A group's rate is "
        "the mean over its clips, or over the means of its speakers.",
        "",
        "## Speakers are alike within themselves",
        "",
        "| metric | clips | speakers | correlation of two clips of a speaker |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {name} | {len(clips):,} | {clips['speaker'].nunique():,} | {float(robust['icc'].sel(metric=name)):.2f} |"
        for name in WER
    ]
    lines += [
        "",
        "Design effect: how many clips count for one. Pooled: from that correlation, as the tally has it. Own: the "
        "variance from the subgroup's own speakers over the one its own clips would have if they were independent; with "
        "few speakers it says little.",
        "",
        "| subgroup | clips | speakers | pooled, wer | own, wer | pooled, wer_trimmed | own, wer_trimmed |",
        "|---|---|---|---|---|---|---|",
    ]
    for i, (label, row) in enumerate(effects.iterrows()):
        number = f"{robust['rows'].values[i]:.0f} | {robust['clusters'].values[i]:.0f}"
        cells = " | ".join("-" if np.isnan(value) else f"{value:.2f}" for value in row)
        lines.append(f"| {_plain(label)} | {number} | {cells} |")
    for name in WER:
        lines += [
            "",
            f"## {name} of each group",
            "",
            "Estimate and 95 % interval of the standard estimator with a row variance pooled over subgroups, at each "
            "level; with the spread of the subgroup's own speakers instead (`cluster_robust`), which a group of like "
            "speakers has narrower; and of partial pooling of clips of speakers, Bayesian.",
            "",
            "| subgroup | clips as if independent | clips of speakers | own speakers | speakers | partially pooled |",
            "|---|---|---|---|---|---|",
        ]
        for label in robust["subgroup"].values:
            one = answers.sel(metric=name, subgroup=label)
            alone = one.sel(word="no_pooling", approach="frequentist")
            said = [_interval(alone.sel(analysis=analysis)) for analysis in ANALYSES]
            said.insert(2, _interval(one.sel(word="cluster_robust", approach="frequentist", analysis="robust")))
            said.append(_interval(one.sel(word="partial_pooling", approach="bayesian", analysis="robust")))
            lines.append(f"| {_plain(label)} | {' | '.join(said)} |")
    lines += [
        "",
        "## Do sex and age explain the differences?",
        "",
        "F-tests of nested models of the group means against sampling noise. Taking clips for independent makes noise "
        "look smaller and its degrees of freedom larger than they are.",
        "",
        f"| metric | models | {' | '.join(f'{text}: F, df, p' for text in ANALYSES.values())} |",
        "|---|---|---|---|---|",
    ]
    for metric in WER:
        for comparison in tests.loc[metric].index.get_level_values("comparison").unique():
            tested = []
            for analysis in ANALYSES:
                row = tests.loc[(metric, comparison, analysis)]
                freedom = f"({row['pure_error_df1']:.0f}, {row['pure_error_df2']:.0f})"
                tested.append(f"{row['pure_error_f']:.2f}, {freedom}, {_p(row['pure_error_p_value'])}")
            lines.append(f"| {metric} | {str(comparison).replace('|', '/')} | {' | '.join(tested)} |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Word error rates by sex and age, by clip and by speaker.")
    parser.add_argument("--data", default=os.environ.get("BAYESGROUPS_DATA"), help="folder or file of the clips")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, help="Markdown page to write")
    asked = parser.parse_args(arguments)
    if asked.data is None:
        parser.error("name the folder with clips.csv: --data FOLDER")

    everyone = pd.read_csv(find_data(Path(asked.data)), keep_default_na=False)
    clips = known(everyone)
    tallies: dict[Analysis, xr.Dataset] = {analysis: tally_of(clips, analysis) for analysis in ANALYSES}
    answers = answers_of(tallies, asked.seed)
    effects = design_effects(tallies["ignore"], tallies["robust"])
    tests = tests_of(tallies)
    shown = answers["estimate"].sel(word="no_pooling", approach="frequentist", metric="wer")
    print(shown.transpose("subgroup", "analysis").to_pandas().round(3).to_string())
    print(effects.round(2).to_string())
    print(tests.round(4).to_string())
    if asked.output is not None:
        command = f"python examples/speech.py --data FOLDER --seed {asked.seed} --output docs/examples/speech.md"
        asked.output.parent.mkdir(parents=True, exist_ok=True)
        asked.output.write_text(page(everyone, clips, tallies, answers, effects, tests, command), encoding="utf-8")
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


def _interval(one: xr.Dataset) -> str:
    values = [float(one[name]) for name in ("estimate", "lower", "upper")]
    return "-" if np.isnan(values[0]) else "{:.2f} [{:.2f}, {:.2f}]".format(*values)


def _p(value: float) -> str:
    return "-" if np.isnan(value) else "< .001" if value < 0.001 else f"{value:.3f}"


if __name__ == "__main__":
    main()
