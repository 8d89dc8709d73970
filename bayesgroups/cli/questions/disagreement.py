"""Questions of what disagreement says of a system."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from bayesgroups.cli import readers
from bayesgroups.cli.questions.question import Question, Table

if TYPE_CHECKING:
    import xarray as xr


def _sets(function: Callable[..., Any], arguments: Mapping[str, Any], credible_sets: partial[Any]) -> xr.Dataset:
    """Sets of the kind that was asked for; an option that only the other kind has is refused."""
    from bayesgroups.errors import InputError

    confidence_sets = partial(function, **{name: value for name, value in arguments.items() if name != "kind"})
    asked, other = confidence_sets, credible_sets
    if arguments["kind"] == "credible":
        asked, other = credible_sets, confidence_sets
    for name, parameter in inspect.signature(other.func).parameters.items():
        if name not in asked.keywords and other.keywords[name] != parameter.default:
            raise InputError(
                f"--{name} is no option of {arguments['kind']} sets; leave it out or choose the other --kind"
            )
    answer: xr.Dataset = asked()
    return answer


def _question(answer: xr.Dataset) -> str:
    return "confidence_sets" if "confidence_lower" in answer else "credible_sets"


DISAGREEMENT = (
    Question(
        "tallies.disagreement_rows.disagreement_tally",
        "disagreement-tally judgements.csv --by race --label decision --disagrees no --critic judge -o d.tally.nc",
        {"frame": readers.judgements}, spelled={"labels": "--class"},
    ),
    Question(
        "frequentist.bounds.bounds.disagreement_bounds",
        "disagreement-bounds d.tally.nc --notion equal_opportunity --across subgroups", {"tally": readers.tally_of_disagreement},
        table=Table(
            "subgroup critic critic_group", {"lower": "lower", "upper": "upper", "midpoint": "midpoint"},
            order=("-upper", "-lower"),
        ),
    ),
    Question(
        "frequentist.bounds.sets.confidence_sets", "disagreement-sets d.tally.nc --notion calibration --kind credible",
        {"tally": readers.tally_of_disagreement, "kind": readers.kind_of_sets}, command="disagreement_sets",
        steps=("frequentist.bounds.credible.credible_sets",), ask=_sets,
        table=Table(
            "level", {"confidence lower": "confidence_lower", "confidence upper": "confidence_upper",
            "credible lower": "credible_lower", "credible upper": "credible_upper"},
            question=_question,
        ),
    ),
)  # fmt: skip
