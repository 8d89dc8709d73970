"""Tables of the page of the joint study, from its records.

    python -m examples.comparisons.joint_page --record docs/examples/joint_model.csv --output docs/examples/joint_model.md

Rows of the first table are populations, of the second estimators, of the third metrics. A record of other draws, with
``--held-out``, fills a table of its own, and so does one of known components, with ``--ceiling``.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from bayesgroups.errors import InputError
from examples.pages import blocks, fill, table

PROGRAM = "python -m examples.comparisons.joint_page"
JOINT, REFERENCE = "confusion (bayesian)", "crossed_effects (bayesian)"
INGREDIENTS = {
    "SureMap": "suremap",
    "cut by the outcome": "confusion_by_outcome",
    "joint, nothing follows": "confusion_not_following (bayesian)",
    "joint with scores": "confusion_scores (bayesian)",
}
"""Columns of errors by their estimator in the record."""
ENTRANTS = {
    "standard": "standard",
    "James-Stein": "js",
    "empirical Bayes, plug-in": "eb_plug_in",
    "empirical Bayes, Morris": "eb_morris",
    "structured regression": "sr",
    "SureMap": "suremap",
    "empirical Bayes, crossed effects": "eb_ml",
    "`PartialPooling`": "partial_pooling (bayesian)",
    "`CrossedEffects`": REFERENCE,
    "**`ConfusionModel`**": JOINT,
}
Record = Mapping[tuple[str, str, str], Mapping[str, str]]


def read(path: Path) -> dict[tuple[str, str, str], dict[str, str]]:
    """Lines of a record by population, estimator and class of subgroups."""
    with path.open(encoding="utf-8", newline="") as file:
        return {(line["population"], line["estimator"], line["size_class"]): line for line in csv.DictReader(file)}


def numbers(record: Record) -> dict[str, str]:
    """Blocks of the page by name: errors by population, by estimator and by metric."""
    estimators = {estimator for _, estimator, _ in record}
    for estimator in (*INGREDIENTS.values(), *ENTRANTS.values()):
        if estimator not in estimators:
            raise InputError(f"the record has no line of {estimator!r}; the page names the estimators of its command")
    names = list(dict.fromkeys(population for population, _, _ in record))
    populations = [name for name in names if not name.startswith("all")]
    draws = {name: int(record[name, JOINT, "all"]["draws"]) for name in populations}
    shown: list[tuple[str, str, str, str]] = [
        ("**all cells**", "all", "all", f"{sum(draws.values())} in all"),
        ("**small subgroups**", "all", "small", f"{sum(draws.values())} in all"),
        *((name, name, "all", str(draws[name])) for name in populations),
    ]
    columns = ["interval score", "coverage of `CrossedEffects`", "coverage"]
    by_population = [
        [title, number, *_errors(record, name, size), *_joint(record, name, size)]
        for title, name, size, number in shown
    ]
    by_estimator = []
    for title, estimator in ENTRANTS.items():
        lines = [record["all", estimator, size] for size in ("all", "small")]
        ratios = [_ratio(line[column]) for column in ("mae", "interval_score") for line in lines]
        by_estimator.append([title, *ratios, *(_percent(line["coverage"]) for line in lines)])
    metrics = [name for name in names if name.startswith("all, ")]
    by_metric = [
        [name.removeprefix("all, ").upper(), *_errors(record, name, "all")[2:], *_joint(record, name, "all")]
        for name in metrics
    ]
    return {
        "errors by population": table(["population", "draws", *INGREDIENTS, "joint", *columns], by_population),
        "errors by estimator": table(
            ["estimator", "MAE all", "small", "interval score all", "small", "coverage all", "small"], by_estimator
        ),
        "errors by metric": table(["metric", *list(INGREDIENTS)[2:], "joint", *columns], by_metric),
    }


def held_out(record: Record) -> dict[str, str]:
    """The block of draws that no prior was chosen on."""
    populations = [name for name in dict.fromkeys(key[0] for key in record) if not name.startswith("all")]
    shown = [("**all cells**", "all", "all"), ("**small subgroups**", "all", "small")]
    shown += [(name, name, "all") for name in populations]
    head = ["population", "SureMap", "joint", "interval score", "coverage of `CrossedEffects`", "coverage"]
    rows = [
        [title, _ratio(record[name, "suremap", size]["mae"]), *_joint(record, name, size)]
        for title, name, size in shown
    ]
    return {"errors of the other draws": table(head, rows)}


def ceiling(record: Record) -> dict[str, str]:
    """The block of the joint model that knows the standard deviations of its components."""
    names = [name for name in dict.fromkeys(key[0] for key in record) if "all" not in name]
    shown = [
        ("**all cells**", "all", "all"),
        ("**small subgroups**", "all", "small"),
        *((name, name, "all") for name in names),
    ]
    entrants = [JOINT, "known_components_not_following (bayesian)", "known_components (bayesian)"]
    rows = []
    for title, name, size in shown:
        lines = [record[name, entrant, size] for entrant in entrants]
        errors = [f"{_ratio(line['mae'])} ± {float(line['mae_se']):.3f}" for line in lines]
        rows.append([title, *errors, _ratio(lines[-1]["interval_score"]), _percent(lines[-1]["coverage"])])
    head = ["population", "joint", "known, nothing follows", "known", "interval score", "coverage"]
    return {"errors with known components": table(head, rows)}


def _errors(record: Record, name: str, size: str) -> list[str]:
    return [_ratio(record[name, estimator, size]["mae"]) for estimator in INGREDIENTS.values()]


def _joint(record: Record, name: str, size: str) -> list[str]:
    """Error of the joint model with its own error, interval score, and both coverages."""
    joint, reference = record[name, JOINT, size], record[name, REFERENCE, size]
    return [
        f"{_ratio(joint['mae'])} ± {float(joint['mae_se']):.3f}",
        _ratio(joint["interval_score"]),
        _percent(reference["coverage"]),
        _percent(joint["coverage"]),
    ]


def _ratio(text: str) -> str:
    return f"{float(text):.3f}"


def _percent(text: str) -> str:
    return f"{100 * float(text):.1f}" if text else "-"


def main(arguments: Sequence[str] | None = None) -> None:
    """Fill in the tables of a record."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description="Tables of the page of the joint study.")
    parser.add_argument("--record", type=Path, required=True, help="record of the study")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--held-out", action="store_true", help="the record is of the draws that priors did not see")
    kind.add_argument("--ceiling", action="store_true", help="the record is of the model that knows its components")
    parser.add_argument("--output", type=Path, required=True, help="Markdown page whose numbers to fill in")
    given = parser.parse_args(arguments)
    kept = blocks(given.output.read_text(encoding="utf-8"))
    record = read(given.record)
    made = held_out if given.held_out else ceiling if given.ceiling else numbers
    fill(given.output, kept | made(record))


if __name__ == "__main__":
    main()
