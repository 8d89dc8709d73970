"""Tables of the pages on coming from another tool: the values that the tool has made, beside ours.

    python -m examples.evidence.coming_from --folder docs/how-to

takes ten seconds. Values of the tools are stored below ``tests/golden``, with the scripts that made them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import bayesgroups as bg
from bayesgroups.interop import read_logs
from examples.evidence import against_r as r
from examples.evidence import against_samplers as samplers
from examples.evidence.comparison import GOLDEN, golden
from examples.pages import fill, table

PROGRAM = "python -m examples.evidence.coming_from"
Line = tuple[str, float, float]
"""A quantity with the other program's value and ours."""


def maihda() -> list[Line]:
    """Quantities of the null and the adjusted model of a rate, by lme4 with 25 points and pROC, and here."""
    strata = r.rates_of_strata()
    tally = bg.tally_from_counts(strata["k"], strata["n"], strata[r.ATTRIBUTES], metric="negc7d")
    answer = bg.maihda(tally, seed=1).sel(metric="negc7d", approach="frequentist")
    stored = golden("targets/maihda_binary.json")["nAGQ25"]
    null, adjusted = stored["null"]["variance"], stored["adjusted"]["variance"]
    theirs = {
        "variance between strata, null model": null, "VPC, latent scale": null / (null + np.pi**2 / 3),
        "AUC of the strata": stored["auc_null"], "variance between strata, adjusted model": adjusted,
        "PCV": (null - adjusted) / null, "AUC of the main effects": stored["auc_adjusted"],
    }  # fmt: skip
    places = [
        (name, model)
        for model in ("null", "adjusted")
        for name in ("between", "vpc" if model == "null" else "pcv", "auc")
    ]
    ours = [float(answer[name].sel(model=model)) for name, model in places]
    return [(name, value, here) for (name, value), here in zip(theirs.items(), ours, strict=True)]


def maihda_of_means() -> list[Line]:
    """The same of a mean, by glmmTMB with restricted likelihood."""
    names = [
        f"{what}, {model}" for model in ("null", *r.ATTRIBUTES) for what in ("between strata", "residual", "VPC", "PCV")
    ]
    ours, theirs = r.strata_of_means("reml")
    lines = zip(names, theirs.tolist(), ours.tolist(), strict=False)
    return [line for line in lines if line[0] != "PCV, null" and not line[0].startswith("residual")]


def mrp() -> list[list[str]]:
    """Means and limits of eight cells and of the population, by brms, rstanarm and here."""
    who = [f"{race}, {sex}" for race, sex in samplers.CELLS[["race", "sex"]].to_numpy()]
    labels = [*zip(who, samplers.CELLS["k"], samplers.CELLS["n"], strict=True), ("population", "", "")]
    sides = (samplers.brms().value, samplers.rstanarm().value, samplers.same_priors().value)
    return [
        [*map(str, label), *(f"{side[i, 0]:.3f} ({side[i, 1]:.2f} to {side[i, 2]:.2f})" for side in sides)]
        for i, label in enumerate(labels)
    ]


def logs(folder: str, score: str, attribute: str, stored: str, task: str | None = None) -> list[list[str]]:
    """Rows and accuracies by system and language, of the package's own table and of the tally of its logs, with limits."""
    rows = read_logs(GOLDEN / "logs" / folder, score=score, unscored="drop", task=task)
    tally = bg.tally(rows, ["system", attribute], "correct", correct="score", cluster="item")
    report: Any = bg.estimate(tally, bg.PartialPooling(), seed=1)
    ours = report["estimates"].to_dataset().sel(approach="bayesian", level=0.95).isel(metric=0)
    lines = []
    for i, (system, level) in enumerate(zip(tally["system"].values, tally[attribute].values, strict=True)):
        theirs = next(each for name, each in golden(stored).items() if system.endswith(name))[level]
        lines.append([
            str(system), str(level), f"{theirs['size']}", f"{theirs['mean']:.3f}", f"{tally['rows'].values[i]:.0f}",
            f"{tally['estimate'].values[0, i]:.3f}", f"{float(ours['lower'][i]):.2f} to {float(ours['upper'][i]):.2f}",
        ])  # fmt: skip
    return lines


def inspect() -> list[list[str]]:
    """Lines of Inspect's logs."""
    return logs("inspect", "match", "metadata_language", "logs/inspect_groups.json")


def harness() -> list[list[str]]:
    """Lines of the harness's samples."""
    return logs("lm_eval", "acc", "doc_language", "logs/lm_eval_groups.json", task="sums_choice")


def rounded(lines: Sequence[Line]) -> list[list[str]]:
    """Lines with four significant digits of each value; variances of a millionth are 0."""
    return [[name, *(f"{0 if abs(value) < 1e-6 else value:.4g}" for value in pair)] for name, *pair in lines]


def numbers() -> dict[str, dict[str, str]]:
    """Texts of the blocks of each page."""
    of_logs = ["system", "language", "rows", "accuracy", "rows here", "accuracy here", "95 % limits, pooled"]
    return {
        "coming_from_maihda.md": {
            "rate": table(["a rate", "lme4, pROC", "here"], rounded(maihda())),
            "mean": table(["a mean, REML", "glmmTMB", "here"], rounded(maihda_of_means())),
        },
        "coming_from_mrp.md": {"cells": table(["cell", "cases", "rows", "brms", "rstanarm", "here"], mrp())},
        "coming_from_inspect.md": {"logs": table(of_logs, inspect())},
        "coming_from_lm_eval.md": {"logs": table(of_logs, harness())},
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Fill in the tables."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description="Values of other tools beside ours.")
    parser.add_argument("--folder", type=Path, required=True, help="folder of the pages whose numbers to fill in")
    folder = parser.parse_args(arguments).folder
    for page, texts in numbers().items():
        fill(folder / page, texts)


if __name__ == "__main__":
    main()
