"""The published experiment on disagreement feedback: 400 critics of COMPAS, the published bounds and the sharp ones.

    python -m examples.published.disagreement.disagreement --data FOLDER/dressel_farid --output docs/examples/disagreement.md

The system is COMPAS, its label high or low risk; a critic is a participant of Dressel and Farid (2018), who judged 50
defendants; disagreement is that the two differ. Since the critic's own label is on file, so is every rate.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.frequentist.bounds import confidence_sets, disagreement_bounds, disagreement_tally
from bayesgroups.frequentist.bounds.differences import differences, over_labels
from bayesgroups.tallies.disagreement_notions import Form, Notion
from bayesgroups.tallies.disagreement_rates import Bounds
from examples.pages import PAGES, fill
from examples.published.data.dressel_farid import RISKS, load_dressel_farid
from examples.published.disagreement.deciles import read_lines
from examples.published.disagreement.disagreement_page import CONDITIONS, NAMES, Panel, figure, labels_figure, numbers
from examples.published.disagreement.rates_in_mind import INDEFINITE, outside, rates_in_mind
from examples.records import as_csv, write

if TYPE_CHECKING:
    import pandas as pd


PAGE = PAGES / "disagreement.md"
LEVELS = {"race": ["Black", "White"], "sex": ["female", "male"]}
"""The two subgroups of each attribute; 50 defendants hold too few of any other race."""


@dataclass(frozen=True)
class Line:
    """One condition, attribute and notion, over the critics whose rates all exist.

    Attributes
    ----------
    condition, attribute, notion : str
    critics : int
        Critics with all rates of both subgroups.
    truth : float
        Mean over critics of the largest difference between subgroups.
    published_error, sharp_error : float
        Mean absolute error of the middle of the bounds as an estimate of it.
    published_estimate : float
        Mean of the published estimate.
    rates : int
        Rates bounded: critics by labels by subgroups.
    violated_rates, turned_violated_rates, sharp_violated_rates : float
        Share of rates outside their published bounds; with Proposition 5 turned round; outside the sharp ones.
    violated, turned_violated, sharp_violated : float
        The same for the largest difference.
    width : float
        Largest width of the sharp bounds of a rate.
    """

    condition: str
    attribute: str
    notion: str
    critics: int
    truth: float
    published_estimate: float
    published_error: float
    sharp_error: float
    rates: int
    violated_rates: float
    turned_violated_rates: float
    sharp_violated_rates: float
    violated: float
    turned_violated: float
    sharp_violated: float
    width: float


def known_rates(judgements: pd.DataFrame, attribute: str, critics: Sequence[str], notion: Notion) -> FloatArray:
    """The rates themselves, from the labels that critics had in mind.

    Parameters
    ----------
    judgements : pandas DataFrame
        From `examples.published.data.load_dressel_farid`.
    attribute : {"race", "sex"}
        Makes the subgroups.
    critics : sequence of str
        Participants, in order.
    notion : str
        One of `INDEFINITE`.

    Returns
    -------
    array (critic, label, subgroup)
        NaN where a critic had no defendant of the kind.
    """
    levels, who = LEVELS[attribute], {name: i for i, name in enumerate(critics)}
    table = np.zeros((len(critics), len(levels), 2, 2))
    place = (
        [who[name] for name in judgements["participant"]],
        [levels.index(level) for level in judgements[attribute]],
        [RISKS.index(level) for level in judgements["risk"]],
        [RISKS.index(level) for level in judgements["judged"]],
    )
    np.add.at(table, place, 1.0)
    return rates_in_mind(table, notion)


def study(judgements: pd.DataFrame, condition: str) -> list[Line]:
    """Compare published and sharp bounds of every critic with what the critic had in mind.

    Parameters
    ----------
    judgements : pandas DataFrame
        From `examples.published.data.load_dressel_farid`.
    condition : str
        Its name.

    Returns
    -------
    list of Line
        For both attributes and the three notions that the paper bounds.

    Examples
    --------
    >>> from examples.published.data import load_dressel_farid
    >>> from examples.published.disagreement.disagreement import study
    >>> lines = study(load_dressel_farid("data/dressel_farid"), "no_race")  # doctest: +SKIP
    """
    return [
        compare(of_attribute(judgements, attribute), attribute, notion, condition)
        for attribute in LEVELS
        for notion in INDEFINITE
    ]


def of_attribute(judgements: pd.DataFrame, attribute: str) -> pd.DataFrame:
    """Judgements of defendants of the two subgroups of an attribute."""
    return judgements.loc[judgements[attribute].isin(LEVELS[attribute]).to_numpy()]


def tally_of(judgements: pd.DataFrame, attribute: str) -> xr.Dataset:
    """The tally of disagreement with COMPAS."""
    return disagreement_tally(
        judgements, {attribute: LEVELS[attribute]}, "risk", "disagrees",
        critic="participant", item="defendant", labels=RISKS,
    )  # fmt: skip


def compare(judgements: pd.DataFrame, attribute: str, notion: Notion, condition: str) -> Line:
    """One line of the study."""
    tally = tally_of(judgements, attribute)
    rates = known_rates(judgements, attribute, tally["critic"].values.tolist(), notion)
    whole = np.isfinite(rates).all(axis=(1, 2))
    rates = rates[whole]
    printed = _of_critics(tally, notion, "published", whole)
    sharp = _of_critics(tally, notion, "sharp", whole)
    # Proposition 5 bounds 1 - EO, so its lower bound of OMR is an upper one.
    wrong = notion == "overall_misclassification"
    turned = Bounds(np.zeros_like(printed.lower), printed.lower) if wrong else printed
    largest = over_labels(differences(Bounds(rates, rates))).lower
    ends = {
        "published": over_labels(differences(printed, "published")),
        "turned": over_labels(differences(turned, "published")),
        "sharp": over_labels(differences(sharp)),
    }
    return Line(
        condition, attribute, notion, int(whole.sum()), float(largest.mean()),
        float(ends["published"].midpoint.mean()),
        float(np.abs(ends["published"].midpoint - largest).mean()),
        float(np.abs(ends["sharp"].midpoint - largest).mean()),
        rates.size, outside(rates, printed), outside(rates, turned), outside(rates, sharp),
        outside(largest, ends["published"]), outside(largest, ends["turned"]), outside(largest, ends["sharp"]),
        float((sharp.upper - sharp.lower).max()),
    )  # fmt: skip


def _of_critics(tally: xr.Dataset, notion: Notion, form: Form, whole: NDArray[np.bool_]) -> Bounds:
    bounds = disagreement_bounds(tally, notion, form=form, critics="each")
    return Bounds(bounds["lower"].values[whole], bounds["upper"].values[whole])


def panels(judgements: pd.DataFrame) -> list[Panel]:
    """The panels of the figure: the largest difference and its published bounds, for critics whose rates all exist."""
    all_panels = []
    for attribute in LEVELS:
        selected = of_attribute(judgements, attribute)
        tally = tally_of(selected, attribute)
        for notion in INDEFINITE:
            rates = known_rates(selected, attribute, tally["critic"].values.tolist(), notion)
            whole = np.isfinite(rates).all(axis=(1, 2))
            truth = over_labels(differences(Bounds(rates[whole], rates[whole]))).lower
            ends = over_labels(differences(_of_critics(tally, notion, "published", whole), "published"))
            order = np.argsort(truth, kind="stable")
            all_panels.append(
                Panel(f"{NAMES[notion]}, {attribute}", truth[order], Bounds(ends.lower[order], ends.upper[order]))
            )
    return all_panels


def all_critics(judgements: pd.DataFrame, attribute: str, *, seed: int) -> xr.Dataset:
    """Confidence sets of equal opportunity with all critics together.

    Returns
    -------
    xr.Dataset
        As `bayesgroups.frequentist.bounds.confidence_sets`, and ``naive``, the half-width as if judgements were independent.
    """
    tally = tally_of(of_attribute(judgements, attribute), attribute)
    sets = confidence_sets(tally, "equal_opportunity", seed=seed)
    naive = confidence_sets(tally, "equal_opportunity", seed=seed, resample="judgements")
    return sets.assign(naive=(naive["confidence_upper"] - naive["confidence_lower"]) / 2)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the experiment, print its numbers, fill them into its page, and write its record and its figures."""
    program = "python -m examples.published.disagreement.disagreement"
    parser = argparse.ArgumentParser(prog=program, description="Published and sharp bounds of 400 critics.")
    parser.add_argument("--data", required=True, help="folder of the judgements of Dressel and Farid")
    parser.add_argument("--output", type=Path, required=True, help="the Markdown page to write, figures beside it")
    parser.add_argument("--record", type=Path, help="a CSV file for the lines")
    parser.add_argument(
        "--labels", type=Path, default=PAGES / "disagreement_labels.csv", help="the record of the study of more labels"
    )
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    lines: list[Line] = []
    pooled: dict[tuple[str, str], xr.Dataset] = {}
    for condition in CONDITIONS:
        judgements = load_dressel_farid(given.data, condition="race" if condition == "race" else "no_race")
        lines += study(judgements, condition)
        pooled |= {(condition, name): all_critics(judgements, name, seed=given.seed) for name in LEVELS}
        figure(panels(judgements), given.output.with_name(f"disagreement_{condition}.png"))
    labels = read_lines(given.labels)
    labels_figure(labels, given.output.with_name("disagreement_labels.svg"))
    made = numbers(lines, pooled, labels)
    fill(given.output, made, prose=PAGE)
    if given.record is not None:
        write(given.record, as_csv(lines))
    sys.stdout.write("\n\n".join(made.values()) + "\n")


if __name__ == "__main__":
    main()
