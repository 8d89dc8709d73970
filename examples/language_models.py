"""Two language models on the same questions: from their evaluation logs to who is better, by how much and for whom.

    python -m examples.language_models --page models.html

The logs are made up, in the form that Inspect writes: a new model gains in languages with much text and loses a little in Yoruba,
and its sandbox crashes now and then. With logs of your own only `read_logs` and what follows is needed.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import xarray as xr

import bayesgroups as bg
from bayesgroups.interop import read_logs

LANGUAGES = {"English": 0.42, "German": 0.22, "Finnish": 0.16, "Swahili": 0.12, "Yoruba": 0.08}
"""Languages with their shares of the questions."""
GAINS = {"English": 0.5, "German": 0.5, "Finnish": 0.3, "Swahili": 0.1, "Yoruba": -0.4}
"""How much easier the new model finds questions than the old one, on the scale of their difficulty."""
KINDS = ("facts", "sums")
QUESTIONS = 900
CRASHES = 12


def write_logs(folder: Path, *, seed: int) -> None:
    """Logs of both models, ``old.json`` and ``new.json``: a hard question is hard for both, with luck of each model's own."""
    rng = np.random.default_rng(seed)
    language = rng.choice(list(LANGUAGES), QUESTIONS, p=list(LANGUAGES.values()))
    kind = rng.choice(KINDS, QUESTIONS)
    easy = rng.normal(0.6, 1.3, QUESTIONS) + 0.6 * (kind == "facts") - 0.8 * np.isin(language, ["Swahili", "Yoruba"])
    crashed = rng.choice(QUESTIONS, CRASHES, replace=False)
    for model in ("old", "new"):
        gain = np.array([GAINS[name] for name in language]) if model == "new" else 0.0
        right = easy + gain + 0.8 * rng.normal(size=QUESTIONS) > 0
        samples = [
            {"id": f"q{i:03d}", "epoch": 1, "metadata": {"language": str(language[i]), "kind": str(kind[i])},
             **({"scores": {}, "error": {"message": "sandbox out of memory"}} if model == "new" and i in crashed
                else {"scores": {"match": {"value": "C" if right[i] else "I"}, "brevity": {"value": float(rng.uniform())}}})}
            for i in range(QUESTIONS)
        ]  # fmt: skip
        log = {
            "version": 2,
            "status": "success",
            "eval": {"model": f"lab/{model}", "task": "questions"},
            "samples": samples,
        }
        (folder / f"{model}.json").write_text(json.dumps(log), encoding="utf-8")


def pairs_of(folder: Path) -> xr.Dataset:
    """The tally of both models: paired by question, a crash counted as a wrong answer."""
    rows = read_logs(folder, score="match", unscored="wrong")
    return bg.paired_tally(
        rows,
        ["metadata_language", "metadata_kind"],
        ["lab/new", "lab/old"],
        system="system",
        item="item",
        correct="score",
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the logs, print the answer of both approaches, and write the page where one is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--page", type=Path, help="write the page to this file")
    parser.add_argument("--seed", type=int, default=1, help="source of all randomness")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        write_logs(Path(folder), seed=asked.seed)
        pairs = pairs_of(Path(folder))
    answer = bg.compare_systems(pairs, correction="holm_all", overall=True, seed=asked.seed).isel(pair=0)
    for approach, evidence in (("bayesian", "probability_better"), ("frequentist", "p_adjusted")):
        table = answer.sel(approach=approach).to_dataframe()[["difference", "lower", "upper", evidence]]
        print(f"lab/new - lab/old, {approach}", table.round(3).to_string(), sep="\n", end="\n\n")
    if asked.page is not None:
        print(f"Wrote {bg.write_systems_html(pairs, asked.page, seed=asked.seed)}")


if __name__ == "__main__":
    main()
