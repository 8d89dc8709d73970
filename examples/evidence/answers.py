"""Answers of every word on small fixed tables, which tell the records that were made before a word came to answer otherwise.

    python -m examples.evidence.answers --output docs/answers.csv

takes ten seconds. A line has means over subgroups of what one word says of one metric, and the minute (UTC) since which it says
so. What the file had before stays where it is held to `MAX_DIFFERENCE`, so that another way to the same posterior changes no time.
"""

from __future__ import annotations

import argparse
import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

import bayesgroups as bg
from bayesgroups.estimators.base import Estimator
from examples.records import as_csv, write

PROGRAM = "python -m examples.evidence.answers"
RECORD = Path(__file__).parents[2] / "docs" / "answers.csv"
SEED = 20_261_126
LEVEL = 0.95
MAX_DIFFERENCE = 0.04
"""Share of the width of an interval: the error of means over subgroups of medians and limits of some thousand draws."""


@dataclass(frozen=True)
class Answer:
    """Means over the subgroups of one table: estimates or posterior medians, and limits of 95 %; and since when, UTC."""

    word: str
    table: str
    approach: str
    metric: str
    estimate: float
    lower: float
    upper: float
    since: str = ""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Question that is answered."""
        return self.word, self.table, self.approach, self.metric

    def agrees(self, other: Answer) -> bool:
        """Agreement with another answer to the same question, to `MAX_DIFFERENCE`; undefined agrees with undefined."""
        old, new = (np.array([each.estimate, each.lower, each.upper]) for each in (self, other))
        allowed = MAX_DIFFERENCE * (self.upper - self.lower) if np.isfinite(self.upper - self.lower) else 1e-6
        return bool(np.allclose(old, new, rtol=0.0, atol=allowed, equal_nan=True))


def rows() -> pd.DataFrame:
    """600 people of 24 subgroups, some of two rows: outcomes, decisions, scores, and losses with a heavy tail."""
    rng = np.random.default_rng(SEED)
    size = 600
    frame = pd.DataFrame(
        {
            "race": rng.choice(["a", "b", "c", "d"], size, p=[0.5, 0.3, 0.15, 0.05]),
            "sex": rng.choice(["f", "m"], size),
            "age": rng.choice(["1", "2", "3"], size, p=[0.3, 0.5, 0.2]),
        }
    )
    effect = 0.8 * (frame["race"] == "b") - 0.5 * (frame["sex"] == "f") + 0.4 * frame["age"].astype(float)
    frame["y"] = (rng.random(size) < 1 / (1 + np.exp(1.0 - effect))).astype(int)
    frame["score"] = 1 / (1 + np.exp(0.8 - 1.2 * frame["y"] - 0.3 * effect - rng.normal(size=size)))
    frame["d"] = (frame["score"] > 0.5).astype(int)
    frame["loss"] = np.exp(0.3 * effect + 0.9 * rng.normal(size=size))
    frame["known"] = np.where(rng.random(size) < 0.3, frame["y"], np.nan)
    frame["said"] = np.where(frame["d"] == 1, "yes", "no")
    frame["disagrees"] = (frame["d"] != frame["y"]).astype(int)
    return frame


def tables() -> dict[str, xr.Dataset]:
    """Tallies by name."""
    frame, by = rows(), ["race", "sex", "age"]
    return {
        "rates": bg.tally(frame, by, ["sel", "fnr"], y_true="y", y_pred="d"),
        "losses": bg.tally(frame, by, ["mean"], loss="loss"),
        "cells": bg.tally(frame, by, ["sel", "fnr", "ppv"], confusion=True, y_true="y", y_pred="d"),
        "few_labels": bg.tally(frame, by, ["tpr", "prev"], y_true="known", y_pred="d", unlabelled="keep"),
        "scores": bg.tally(frame, by, ["tpr", "auc"], y_true="y", y_score="score", threshold=0.5),
        "critics": bg.disagreement_tally(frame, ["race", "sex"], "said", "disagrees"),
    }


QUESTIONS: dict[str, dict[str, Estimator]] = {
    "rates": {
        "no_pooling": bg.NoPooling(),
        "complete_pooling": bg.CompletePooling(),
        "james_stein": bg.JamesStein(),
        "partial_pooling": bg.PartialPooling(),
        "crossed_effects": bg.CrossedEffects(),
        "crossed_effects_ordered": bg.CrossedEffects(ordered={"age": ["1", "2", "3"]}),
        "structured_regression": bg.StructuredRegression(),
    },
    "losses": {
        "no_pooling": bg.NoPooling(),
        "james_stein": bg.JamesStein(),
        "partial_pooling": bg.PartialPooling(),
        "crossed_effects": bg.CrossedEffects(),
        "structured_regression": bg.StructuredRegression(),
    },
    "cells": {"confusion_model": bg.ConfusionModel()},
    "few_labels": {"confusion_model": bg.ConfusionModel()},
    "scores": {"no_pooling": bg.NoPooling(), "model_based_metrics": bg.ModelBasedMetrics()},
    "critics": {"disagreement_model": bg.DisagreementModel()},
}
"""Words by the table that they are asked about."""


def answers() -> Iterator[Answer]:
    """Answers of every word today, without a time."""
    for table, tally in tables().items():
        for word, estimator in QUESTIONS[table].items():
            estimates = bg.estimate(tally, estimator, seed=SEED)["estimates"].to_dataset().sel(level=LEVEL)
            for approach, middle in (("bayesian", "median"), ("frequentist", "estimate")):
                mean = estimates.sel(approach=approach)[[middle, "lower", "upper"]].mean("subgroup")
                for metric in mean["metric"].values:
                    estimate, lower, upper = (
                        float(mean[name].sel(metric=metric)) for name in (middle, "lower", "upper")
                    )
                    yield Answer(word, table, approach, str(metric), estimate, lower, upper)


def recorded(path: Path = RECORD) -> list[Answer]:
    """Answers of a file."""
    frame = pd.read_csv(path)
    return [Answer(*values) for values in frame.itertuples(index=False)]


def dated(answered: Sequence[Answer], before: Sequence[Answer], now: str) -> list[Answer]:
    """Answers with their times: a former one that still holds stays as it is."""
    former = {each.key: each for each in before}
    return [
        former[each.key] if each.key in former and former[each.key].agrees(each) else replace(each, since=now)
        for each in answered
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description="Answers of every word.")
    parser.add_argument(
        "--output", type=Path, required=True, help="CSV file, whose former answers stay where they hold"
    )
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M")
    parser.add_argument("--time", default=now, help="time of answers that are new, UTC, as '2026-11-26 09:30'")
    given = parser.parse_args(arguments)
    before = recorded(given.output) if given.output.is_file() else []
    write(given.output, as_csv(dated(list(answers()), before, given.time)))


if __name__ == "__main__":
    main()
