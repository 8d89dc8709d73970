"""Commands for judgements that disagree: ``bayesgroups disagreement-tally | disagreement-bounds``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from bayesgroups.cli.options import ANSWER, AnswerOptions, Imputed, Names

Notion = Literal[
    "accuracy_equality", "calibration", "equal_opportunity", "predictive_equality", "overall_misclassification"
]


def disagreement_tally(
    judgements: Path,
    *,
    by: Names,
    label: str,
    disagrees: str,
    output: Annotated[Path, Parameter(alias="-o")],
    critic: str | None = None,
    critic_group: str | None = None,
    item: str | None = None,
    labels: Annotated[tuple[str, ...], Parameter(name="--class", negative=(), show_default=False)] = (),
    missing: Literal["error", "level", "drop"] = "error",
) -> int:
    """Reduce judgements to agreements and disagreements per label and subgroup.

    For example:

        bayesgroups disagreement-tally judgements.csv --by race --label decision --disagrees no --critic judge -o d.tally.nc

    Parameters
    ----------
    judgements
        One row per judgement (.csv, .parquet).
    by
        Column whose levels form subgroups; repeat it for intersections.
    label
        Column of the label that the system gave.
    disagrees
        Column that is 1 where the critic disagrees.
    output
        Write the tally to this NetCDF file.
    critic
        Column of the critic.
    critic_group
        Column of a group of critics.
    item
        Column of the item.
    labels
        A label that a critic can have in mind; name them all. Those that the system gave when left out.
    missing
        What to do with rows whose attribute is missing.
    """
    from bayesgroups.cli.tally import wrote
    from bayesgroups.frequentist.bounds import disagreement_tally as reduce

    found = reduce(
        judgements, by=list(by), label=label, disagrees=disagrees, critic=critic, critic_group=critic_group, item=item,
        labels=list(labels) or None, missing=missing,
    )  # fmt: skip
    return wrote(found, output)


def disagreement_bounds(
    tally: Path,
    *,
    notion: Notion,
    form: Literal["sharp", "published"] = "sharp",
    across: Literal["subgroups"] | None = None,
    critics: Literal["pooled", "each", "groups"] = "pooled",
    answer: AnswerOptions = ANSWER,
) -> int:
    """Bound the rate that a notion of fairness compares, or its largest difference between subgroups.

    For example:

        bayesgroups disagreement-bounds d.tally.nc --notion equal_opportunity --across subgroups

    Parameters
    ----------
    tally
        From disagreement-tally (.nc).
    notion
        Which notion of fairness.
    form
        The identified set, or the published formula.
    across
        Bound the largest difference between subgroups.
    critics
        Take all judgements together, or answer for each critic or group of critics.
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.results import publish
    from bayesgroups.frequentist.bounds import disagreement_bounds as ask
    from bayesgroups.tallies.files import open_tally

    found = ask(open_tally(tally), notion, form=form, across=across, critics=critics)
    shown = {"lower": "lower", "upper": "upper", "midpoint": "midpoint"}
    rows = next((str(dim) for dim in ("subgroup", "critic", "critic_group") if dim in found["lower"].dims), None)
    return publish(found, "disagreement_bounds", answer, rows=rows, columns=shown)


def disagreement_sets(
    tally: Path,
    *,
    notion: Notion,
    kind: Literal["confidence", "credible"] = "confidence",
    across: Literal["subgroups"] | None = None,
    imputed: Imputed = "leave_out",
    draws: int = 1000,
    seed: int = 0,
    answer: AnswerOptions = ANSWER,
) -> int:
    """Give sets that hold the rate of a notion, or its bounds, for all that sampling may have done.

    For example:

        bayesgroups disagreement-sets d.tally.nc --notion calibration --kind credible

    Parameters
    ----------
    tally
        From disagreement-tally (.nc).
    notion
        Which notion of fairness.
    kind
        Confidence sets by a bootstrap, or credible sets from a posterior.
    across
        Of the largest difference between subgroups.
    imputed
        Whether a subgroup of which the prior alone speaks counts for the largest difference of credible sets.
    draws
        Replicates of the bootstrap, or draws of the posterior.
    seed
        Source of all randomness.
    answer
        How the answer is shown.
    """
    from bayesgroups.cli.results import publish
    from bayesgroups.frequentist.bounds import confidence_sets, credible_sets
    from bayesgroups.tallies.files import open_tally

    opened = open_tally(tally)
    if kind == "confidence":
        found = confidence_sets(opened, notion, seed=seed, across=across, draws=draws)
    else:
        found = credible_sets(opened, notion, seed=seed, across=across, imputed=imputed, draws=draws)
    shown = {"lower": f"{kind}_lower", "upper": f"{kind}_upper"}
    return publish(found, f"{kind}_sets", answer, rows="level", columns=shown)
