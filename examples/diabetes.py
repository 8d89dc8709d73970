"""Whom does a readmission model miss? The diabetes study, group by group, against the truth.

A risk model is trained on a quarter of 98,650 hospital admissions. The other three quarters are the population: large
enough to know the metrics of all 32 subgroups (race x gender x age). Evaluation sets of 5,000 rows are drawn from it, as
an auditor would have them, and every estimator answers from those alone. Then the answers are held against the truth.

    python examples/diabetes.py --data FOLDER --output docs/examples/diabetes.md

FOLDER holds ``diabetic_data.csv`` (or ``.csv.gz``); BAYESGROUPS_DATA names it too, and without either the file is
downloaded. The design is that of Herlihy, Truong, Chouldechova and Dudik (2024), section 5.1.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

import bayesgroups as bg
from bayesgroups.thresholds import selection_threshold

BY = ["race", "gender", "age"]
METRICS = ["sel", "acc", "fnr", "fpr", "ppv", "auc"]
ESTIMATORS = {
    "no_pooling": bg.NoPooling(),
    "complete_pooling": bg.CompletePooling(),
    "partial_pooling": bg.PartialPooling(),
}
SMALL = 25
"""A subgroup is small if it has at most so many rows in the evaluation set."""


def score_held_back(admissions: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Train on a quarter of the rows and score the others; the model sees everything but race and the patient id."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    shuffled = admissions.sample(frac=1, random_state=seed)
    train, held_back = shuffled[: len(shuffled) // 4], shuffled[len(shuffled) // 4 :].sort_index()

    def features(rows: pd.DataFrame) -> pd.DataFrame:
        return rows.drop(columns=["race", "patient", "readmitted"]).fillna("missing")

    model = make_pipeline(
        make_column_transformer(
            (StandardScaler(), make_column_selector(dtype_include="number")),
            (
                OneHotEncoder(min_frequency=50, handle_unknown="infrequent_if_exist"),
                make_column_selector(dtype_exclude="number"),
            ),
        ),
        LogisticRegression(C=0.1, max_iter=1000),
    )
    model.fit(features(train), train["readmitted"])
    return held_back.assign(score=model.predict_proba(features(held_back))[:, 1])


def tally_of(rows: pd.DataFrame, threshold: float) -> xr.Dataset:
    """The six metrics of the study."""
    return bg.tally(rows, by=BY, metrics=METRICS, y_true="readmitted", y_score="score", threshold=threshold)


def answers_of(tally: xr.Dataset, seed: int) -> xr.Dataset:
    """Both answers of every estimator to one evaluation set: dims word, approach, metric, subgroup."""
    found = []
    for word, estimator in ESTIMATORS.items():
        report = bg.estimate(tally, estimator, seed=seed)
        if not report.attrs["usable"]:
            raise SystemExit(f"{word}: a diagnostic failed, see report['diagnostics']")
        estimates = report["estimates"].to_dataset().sel(level=0.95)
        found.append(estimates[["estimate", "lower", "upper"]].expand_dims(word=[word]))
    return xr.concat(found, "word").assign(rows=tally["rows"])


def accuracy(answers: xr.Dataset, truth: xr.DataArray) -> pd.DataFrame:
    """Mean absolute error and coverage per metric, word and approach, over subgroups where every word has an answer."""
    defined = (np.isfinite(answers["estimate"]).all(["word", "approach"])) & np.isfinite(truth)
    error = abs(answers["estimate"] - truth)
    inside = (answers["lower"] <= truth) & (truth <= answers["upper"])
    small = answers["rows"] <= SMALL
    columns = {}
    for size, chosen in {"all": defined, "small": defined & small, "large": defined & ~small}.items():
        columns[f"mae_{size}"] = error.where(chosen).mean(["draw", "subgroup"])
        per_draw = error.where(chosen).mean("subgroup")
        columns[f"mae_{size}_se"] = per_draw.std("draw", ddof=1) / np.sqrt(per_draw.sizes["draw"])
        columns[f"coverage_{size}"] = inside.where(chosen).mean(["draw", "subgroup"])
    table = xr.Dataset(columns).drop_vars("level", errors="ignore").to_dataframe()
    return table.reorder_levels(["metric", "word", "approach"]).loc[METRICS]


def group_by_group(answers: xr.Dataset, truth: xr.DataArray, tally: xr.Dataset) -> pd.DataFrame:
    """One row per metric and subgroup of one evaluation set: the truth and what each word said."""
    table = xr.Dataset({"rows": answers["rows"], "count": tally["count"], "truth": truth, "standard": tally["estimate"]})
    for word in ("complete_pooling", "partial_pooling"):
        for approach in ("bayesian", "frequentist"):
            said = answers.sel(word=word, approach=approach)
            table = table.assign({f"{word}_{approach}_{name}": said[name] for name in ("estimate", "lower", "upper")})
    frame = table.reset_coords(drop=True).to_dataframe()
    return frame.loc[[(metric, label) for metric in METRICS for label in truth["subgroup"].values]].round(4)


def page(summary: dict[str, float], scores: pd.DataFrame, groups: pd.DataFrame, command: str) -> str:
    """The comparison as a Markdown page."""
    lines = [
        "# Diabetes: whom does a readmission model miss?",
        "",
        f"Made by `{command}`. A logistic regression is trained on 25 % of the admissions; the other "
        f"{summary['population']:,.0f} are the population. The threshold {summary['threshold']:.4f} selects "
        f"{100 * summary['selected']:.1f} % of them; AUC {summary['auc']:.3f}. Evaluation sets have {summary['rows']:,.0f} rows, "
        f"stratified by race x gender x age ({summary['draws']:.0f} draws). Small: at most {SMALL} rows in the evaluation set.",
        "",
        "## Accuracy",
        "",
        "Mean absolute error against the population value and coverage of 95 % intervals, over subgroups and draws where "
        "every word has an answer. B: Bayesian; F: frequentist.",
        "",
        "| metric | word | | MAE all | small | large | coverage all | small | large |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for (metric, word, approach), row in scores.iterrows():
        cells = [f"{row[f'mae_{size}']:.4f}" for size in ("all", "small", "large")]
        cells += [f"{100 * row[f'coverage_{size}']:.0f} %" for size in ("all", "small", "large")]
        lines.append(f"| {metric} | {word} | {approach[0].upper()} | {' | '.join(cells)} |")
    if summary["draws"] > 1:
        largest = scores[["mae_all_se", "mae_small_se", "mae_large_se"]].max()
        errors = ", ".join(f"{value:.4f} ({name.split('_')[1]})" for name, value in largest.items())
        lines += ["", f"Monte Carlo standard errors of the MAE are at most {errors}."]
    lines += [
        "",
        "## Group by group: false negative rate of the first draw",
        "",
        "Estimate and 95 % interval of `partial_pooling`, Bayesian and frequentist; `standard` is the rate in the "
        "evaluation set, of so many positives. All six metrics: the CSV file beside this page.",
        "",
        "| subgroup | rows | positives | truth | standard | Bayesian | frequentist |",
        "|---|---|---|---|---|---|---|",
    ]
    for label, row in groups.loc["fnr"].iterrows():
        answers = [
            "{:.2f} [{:.2f}, {:.2f}]".format(*(row[f"partial_pooling_{side}_{name}"] for name in ("estimate", "lower", "upper")))
            for side in ("bayesian", "frequentist")
        ]
        standard = "-" if np.isnan(row["standard"]) else f"{row['standard']:.2f}"
        lines.append(
            f"| {str(label).replace('|', '/')} | {row['rows']:.0f} | {row['count']:.0f} | {row['truth']:.2f} | {standard} "
            f"| {' | '.join(answers)} |"
        )
    return "\n".join(lines) + "\n"


def find_data(given: str | None) -> Path | None:
    """The folder or file asked for; ``None`` means download."""
    if given is None:
        return None
    path = Path(given)
    return path / "diabetes" if (path / "diabetes").is_dir() else path


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--data", default=os.environ.get("BAYESGROUPS_DATA"), help="folder or file of the data")
    parser.add_argument("--rows", type=int, default=5000, help="rows of an evaluation set")
    parser.add_argument("--draws", type=int, default=1, help="evaluation sets to average over")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, help="Markdown page to write; a CSV file goes beside it")
    asked = parser.parse_args(arguments)

    population = score_held_back(bg.datasets.load_diabetes(find_data(asked.data)), asked.seed)
    cut = selection_threshold(population["score"], 0.2)
    whole = tally_of(population, cut.threshold)
    truth = whole["estimate"].rename("truth")

    draws, first = [], None
    for i in range(asked.draws):
        rows = bg.datasets.draw_evaluation(population, BY, asked.rows, seed=asked.seed + i)
        tally = tally_of(rows, cut.threshold).reindex(subgroup=truth["subgroup"])
        first = tally if first is None else first
        draws.append(answers_of(tally, asked.seed + i))
    answers = xr.concat(draws, "draw")
    scores = accuracy(answers, truth)
    groups = group_by_group(answers.isel(draw=0), truth, first)
    overall = bg.tally(
        population.assign(all="all"), by=["all"], metrics=["auc"], y_true="readmitted", y_score="score"
    )["estimate"].item()
    print(f"{len(population):,} rows held back; threshold {cut.threshold:.4f} selects {cut.attained:.4f}; AUC {overall:.4f}")
    print(scores.drop(columns=[name for name in scores if name.endswith("_se")]).round(4).to_string())

    if asked.output is not None:
        summary = {
            "population": len(population), "threshold": cut.threshold, "selected": cut.attained, "auc": overall,
            "rows": asked.rows, "draws": asked.draws,
        }  # fmt: skip
        command = f"python examples/diabetes.py --data FOLDER --rows {asked.rows} --draws {asked.draws} --seed {asked.seed}"
        asked.output.parent.mkdir(parents=True, exist_ok=True)
        asked.output.write_text(page(summary, scores, groups, command), encoding="utf-8")
        groups.to_csv(asked.output.with_suffix(".csv"))
        print(f"written: {asked.output} and {asked.output.with_suffix('.csv')}")


if __name__ == "__main__":
    main()
