"""Questions of what disagreement says of a system."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from bayesgroups.cli import readers
from bayesgroups.cli.questions.question import Question, Table

if TYPE_CHECKING:
    import xarray as xr


def kind(kind: Literal["confidence", "credible"] = "confidence") -> str:
    """The kind of sets.

    Parameters
    ----------
    kind
        Confidence sets by a bootstrap, or credible sets from a posterior.
    """
    return kind


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
        function="tallies.disagreement_rows.disagreement_tally",
        example="disagreement-tally judgements.csv --by race --label decision --disagrees no --critic judge -o d.tally.nc",
        reads={"frame": readers.judgements},
        spelled={"labels": "--class"},
    ),
    Question(
        function="frequentist.bounds.bounds.disagreement_bounds",
        example="disagreement-bounds d.tally.nc --notion equal_opportunity --across subgroups",
        reads={"tally": readers.saved_tally},
        table=Table(
            along=("subgroup", "critic", "critic_group"),
            columns={"lower": "lower", "upper": "upper", "midpoint": "midpoint"},
        ),
    ),
    Question(
        command="disagreement_sets",
        function="frequentist.bounds.sets.confidence_sets",
        example="disagreement-sets d.tally.nc --notion calibration --kind credible",
        reads={"tally": readers.saved_tally, "kind": kind},
        steps=("frequentist.bounds.credible.credible_sets",),
        ask=_sets,
        table=Table(
            along=("level",),
            columns={
                "confidence lower": "confidence_lower", "confidence upper": "confidence_upper",
                "credible lower": "credible_lower", "credible upper": "credible_upper",
            },
            question=_question,
        ),
    ),
)  # fmt: skip
