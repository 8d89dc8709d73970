"""Estimators of a readmission model's metrics on the diabetes study, group by group, against the truth.

A risk model is trained on a quarter of 98,650 hospital admissions. The other three quarters are the population: large
enough to know the metrics of all 32 subgroups (race x gender x age). Evaluation sets of 5,000 rows are drawn from it,
as an auditor would have them, and every estimator answers from those alone. Then answers are held against the truth.

    python -m examples.diabetes --data FOLDER --rows 5000 --draws 20 --seed 1 --output docs/examples/diabetes.md

FOLDER holds ``diabetic_data.csv`` (or ``.csv.gz``); BAYESGROUPS_DATA names it too, and without either the file is
downloaded. The design is that of Herlihy, Truong, Chouldechova and Dudik (2024), section 5.1.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

import bayesgroups as bg
from bayesgroups.data.thresholds import SelectionThreshold, selection_threshold
from examples.pages import PAGES, fill, table

PAGE = PAGES / "diabetes.md"
SIZES = ("all", "small", "large")
BY = ["race", "gender", "age"]
METRICS = ["sel", "acc", "fnr", "fpr", "ppv", "auc"]
ESTIMATORS = {
    "no_pooling": bg.NoPooling(),
    "complete_pooling": bg.CompletePooling(),
    "partial_pooling": bg.PartialPooling(),
}
MAX_ROWS_OF_SMALL_SUBGROUP = 25
"""A subgroup is small if it has at most so many rows in the evaluation set."""


def score_held_back(admissions: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Train on a quarter of the rows and score the others; the model sees everything but race and the patient id."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    order = np.random.default_rng(seed).permutation(len(admissions))
    train = admissions.iloc[order[: len(order) // 4]]
    held_back = admissions.iloc[np.sort(order[len(order) // 4 :])]
    levels = OneHotEncoder(min_frequency=50, handle_unknown="infrequent_if_exist")
    columns = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include="number")),
        (levels, make_column_selector(dtype_exclude="number")),
    )
    model = make_pipeline(columns, LogisticRegression(C=0.1, max_iter=1000))
    model.fit(_features(train), train["readmitted"])
    return held_back.assign(score=model.predict_proba(_features(held_back))[:, 1])


def tally_of(rows: pd.DataFrame, threshold: float) -> xr.Dataset:
    """Tally the six metrics of the study."""
    return bg.tally(rows, by=BY, metrics=METRICS, y_true="readmitted", y_score="score", threshold=threshold)


def answers_of(tally: xr.Dataset, seed: int) -> xr.Dataset:
    """Ask every estimator for both its answers to one evaluation set: dims word, approach, metric, subgroup."""
    by_word: list[xr.Dataset] = []
    for word, estimator in ESTIMATORS.items():
        report = bg.estimate(tally, estimator, seed=seed, strict=True)
        estimates = report.children["estimates"].to_dataset().sel(level=0.95, drop=True)
        by_word.append(estimates[["estimate", "lower", "upper"]].expand_dims(word=[word]))
    answers = xr.concat(by_word, "word")
    return answers.assign(rows=tally["rows"])


def accuracy(answers: xr.Dataset, truth: xr.DataArray) -> pd.DataFrame:
    """Mean absolute error and coverage per metric, word and approach, where every word has an answer."""
    defined = answers["estimate"].notnull().all(["word", "approach"]) & truth.notnull()  # noqa: PD004 (xarray)
    error = abs(answers["estimate"] - truth)
    inside = (answers["lower"] <= truth) & (truth <= answers["upper"])
    small = answers["rows"] <= MAX_ROWS_OF_SMALL_SUBGROUP
    columns = {}
    for size, chosen in {"all": defined, "small": defined & small, "large": defined & ~small}.items():
        per_draw = error.where(chosen).mean("subgroup")
        columns[f"mae_{size}"] = error.where(chosen).mean(["draw", "subgroup"])
        columns[f"mae_{size}_se"] = per_draw.std("draw", ddof=1) / np.sqrt(per_draw.sizes["draw"])
        columns[f"coverage_{size}"] = inside.where(chosen).mean(["draw", "subgroup"])
    return xr.Dataset(columns).to_dataframe(dim_order=["metric", "word", "approach"])


def group_by_group(answers: xr.Dataset, whole: xr.Dataset, tally: xr.Dataset) -> pd.DataFrame:
    """One row per metric and subgroup of one evaluation set: the truth and what each word said."""
    population = {"truth": whole["estimate"], "truth_count": whole["count"]}
    drawn = {"rows": answers["rows"], "count": tally["count"], "standard": tally["estimate"]}
    table = xr.Dataset(population | drawn)
    for word in ("complete_pooling", "partial_pooling"):
        for approach in ("bayesian", "frequentist"):
            estimates = answers.sel(word=word, approach=approach)
            table = table.assign(
                {f"{word}_{approach}_{name}": estimates[name] for name in ("estimate", "lower", "upper")}
            )
    return table.reset_coords(drop=True).to_dataframe(dim_order=["metric", "subgroup"]).round(4)


def study(
    population: pd.DataFrame, rows: int, draws: int, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame, SelectionThreshold]:
    """Accuracy over evaluation sets, the first of them group by group, and the threshold that selects a fifth."""
    cut = selection_threshold(population["score"].to_numpy(), 0.2)
    whole = tally_of(population, cut.threshold)
    truth = whole["estimate"].rename("truth")

    seeds = range(seed, seed + draws)
    evaluation_sets = (bg.datasets.draw_evaluation(population, BY, rows, seed=seed) for seed in seeds)
    tallies = [tally_of(evaluation_set, cut.threshold) for evaluation_set in evaluation_sets]
    answers_by_draw = [answers_of(tally, seed) for tally, seed in zip(tallies, seeds, strict=True)]
    answers = xr.concat(answers_by_draw, "draw", join="outer").reindex(subgroup=truth["subgroup"])
    return accuracy(answers, truth), group_by_group(answers.isel(draw=0), whole, tallies[0]), cut


def numbers(scores: pd.DataFrame, groups: pd.DataFrame, setting: str) -> dict[str, str]:
    """Texts of the page by the name of their block."""
    return {
        "setting": setting,
        "accuracy": accuracy_table(scores),
        "monte carlo errors": monte_carlo_errors(scores),
        "groups": groups_table(groups),
    }


def accuracy_table(scores: pd.DataFrame) -> str:
    """Errors and coverage of every metric, estimator and approach."""
    rows = []
    scored: Any = scores.iterrows()
    for (metric, word, approach), row in scored:
        cells = [f"{row[f'mae_{size}']:.4f}" for size in SIZES]
        cells += [f"{100 * row[f'coverage_{size}']:.0f} %" for size in SIZES]
        rows.append([metric, word, approach[0].upper(), *cells])
    return table(["metric", "estimator", "", "MAE all", "small", "large", "coverage all", "small", "large"], rows)


def monte_carlo_errors(scores: pd.DataFrame) -> str:
    """The largest Monte Carlo errors, as a line; a single draw has none."""
    if scores["mae_all_se"].isna().to_numpy().any():
        return "A single draw has no Monte Carlo standard errors."
    largest = ", ".join(f"{scores[f'mae_{size}_se'].max():.4f} ({size})" for size in SIZES)
    return f"Monte Carlo standard errors of the MAE are at most {largest}."


def groups_table(groups: pd.DataFrame) -> str:
    """The false negative rate of the first draw, a line per subgroup."""
    rows = []
    subgroups: Any = groups.loc["fnr"].iterrows()
    for label, row in subgroups:
        observed = [
            "-" if np.isnan(row[name]) else f"{row[name]:.2f} ({row[count]:.0f})"
            for name, count in (("truth", "truth_count"), ("standard", "count"))
        ]
        estimates = [
            "{:.2f} [{:.2f}, {:.2f}]".format(
                *(row[f"partial_pooling_{side}_{end}"] for end in ("estimate", "lower", "upper"))
            )
            for side in ("bayesian", "frequentist")
        ]
        rows.append([label.replace("|", "/"), f"{row['rows']:.0f}", *observed, *estimates])
    head = ["subgroup", "rows", "truth (of positives)", "standard (of positives)", "Bayesian", "frequentist"]
    return table(head, rows)


def find_data(given: str | None) -> Path | None:
    """Find the folder or file asked for; ``None`` means download."""
    if given is None:
        return None
    path = Path(given)
    return path / "diabetes" if (path / "diabetes").is_dir() else path


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m examples.diabetes", description="Estimators against the truth on the diabetes study."
    )
    parser.add_argument("--data", default=os.environ.get("BAYESGROUPS_DATA"), help="folder or file of the data")
    parser.add_argument("--rows", type=int, default=5000, help="rows of an evaluation set")
    parser.add_argument("--draws", type=int, default=1, help="evaluation sets to average over")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, help="the page whose numbers are filled in; a CSV file goes beside it")
    asked = parser.parse_args(arguments)

    population = score_held_back(bg.datasets.load_diabetes(find_data(asked.data)), asked.seed)
    scores, groups, cut = study(population, asked.rows, asked.draws, asked.seed)
    setting = _setting(population, cut, asked.rows, asked.draws)
    print(setting)
    print(scores.drop(columns=[name for name in scores.columns if name.endswith("_se")]).round(4).to_string())
    if asked.output is not None:
        fill(asked.output, numbers(scores, groups, setting), prose=PAGE)
        groups.to_csv(asked.output.with_suffix(".csv"))
        print(f"written: {asked.output} and {asked.output.with_suffix('.csv')}")


def _features(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.drop(columns=["race", "patient", "readmitted"]).fillna("missing")


def _setting(population: pd.DataFrame, cut: SelectionThreshold, rows: int, draws: int) -> str:
    everyone = population.assign(everyone="everyone")
    overall = bg.tally(everyone, by=["everyone"], metrics=["auc"], y_true="readmitted", y_score="score")
    return (
        f"A logistic regression is trained on 25 % of the admissions; the other {len(population):,} are the "
        f"population. The threshold {cut.threshold:.4f} selects {100 * cut.attained:.1f} % of them; AUC "
        f"{overall['estimate'].item():.3f}. Evaluation sets have {rows:,} rows, stratified by race x gender x age "
        f"({draws} {'draw' if draws == 1 else 'draws'})."
    )


if __name__ == "__main__":
    main()
