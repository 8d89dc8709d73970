"""Writing the page of systems that answered the same items: their order, and each pair in every subgroup."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import xarray as xr

from bayesgroups import __version__
from bayesgroups.data.files import write_text
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.estimators.level_orders import Orders
from bayesgroups.frequentist.paired_systems import PairedInterval
from bayesgroups.questions.systems.comparison import ESTIMAND, compare_systems
from bayesgroups.questions.systems.differences import SystemCorrection
from bayesgroups.questions.systems.leaderboard import board_of
from bayesgroups.report.view import percent, plain
from bayesgroups.tallies.labels import shown_labels
from bayesgroups.tallies.subgroups import attributes_of
from bayesgroups.views.html.sections.code import tally_lines
from bayesgroups.views.html.sections.leaderboard import leaderboard_section
from bayesgroups.views.html.sections.system_pairs import pair_section
from bayesgroups.views.html.templates import filled

POSTERIORS = {
    "crossed_binomial": "crossed effects with a binomial likelihood for the share of items on which two systems differ, and for "
    "the share of these that the first one has right (or, of rates of decisions, counted)",
    "crossed_normal": "crossed effects with a normal likelihood for the values of all systems, whose errors are correlated as "
    "the items show",
}
"""What the Bayesian side assumes, by the method of the answer."""
TESTS = {
    "newcombe": "McNemar's mid-p test and limits of Newcombe (method 10)",
    "tango": "McNemar's mid-p test and limits of Tango's score test",
    "wald": "McNemar's mid-p test and limits for large samples",
    "t": "t tests and t limits of the differences per item or cluster",
}
"""What the frequentist side does, by the method of the answer."""
CORRECTIONS = {
    "holm_all": "{} of all subgroups together",
    "holm": "{} of each subgroup together",
    "none": "{} of each subgroup together",
}
"""What limits hold for together, by the correction of the p-values; everyone is no further subgroup."""
REFERENCES = (
    "Fagerland, Lydersen, Laake (2013), McNemar tests for paired binary data, doi:10.1186/1471-2288-13-91",
    "Fagerland, Lydersen, Laake (2014), Intervals for paired differences, doi:10.1002/sim.6148",
    "Holm (1979), A simple sequentially rejective multiple test procedure, https://www.jstor.org/stable/4615733",
    "Mogstad, Romano, Shaikh, Wilhelm (2024), Inference for ranks, doi:10.1093/restud/rdad006",
)


@checked_keywords
def write_systems_html(
    source: xr.Dataset, path: str | Path, *, level: float = 0.95, correction: SystemCorrection = "holm_all",
    interval: PairedInterval = "newcombe", seed: int = 0,
) -> Path:  # fmt: skip
    """Write which of several systems is better, by how much and for whom, as one self-contained page.

    The page needs no network and no other file: the order of the systems for everyone with those that cannot be told apart,
    their values in every subgroup, and per pair a picture and a table of the paired differences by both approaches. The
    same tally gives the same bytes with the same version of matplotlib.

    Parameters
    ----------
    source : xr.Dataset
        A tally of systems, see `bayesgroups.paired_tally`.
    path : str or Path
        The file; an older one of that name is replaced in one step.
    level : float
        Probability of the intervals.
    correction : {"holm_all", "holm", "none"}
        What p-values and bands hold for together, as in `bayesgroups.compare_systems`: all pairs and subgroups, for a page is read
        for the subgroup that stands out.
    interval : {"newcombe", "tango", "wald"}
        Frequentist limits of right and wrong answers.
    seed : int
        Source of all randomness.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    SchemaError
        If ``source`` is no tally of systems.
    InputError
        If a setting does not exist, or the file cannot be written.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> import bayesgroups as bg
    >>> rows = pd.DataFrame({"sex": list("fm") * 20, "new": [1] * 36 + [0] * 4, "old": [1, 0, 0, 1] * 10})
    >>> tally = bg.paired_tally(rows, by=["sex"], systems=["new", "old"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = bg.write_systems_html(tally, Path(folder) / "systems.html").read_text("utf-8")
    >>> "new is shown to be the best for everyone together" in page
    True
    """
    return write_text(path, render(source, level=level, correction=correction, interval=interval, seed=seed))


def render(
    source: xr.Dataset, *, level: float = 0.95, correction: SystemCorrection = "holm_all",
    interval: PairedInterval = "newcombe", seed: int = 0,
) -> str:  # fmt: skip
    """The page as text; parameters and errors as in `write_systems_html`."""
    answer = compare_systems(source, level=level, correction=correction, interval=interval, overall=True, seed=seed)
    board, shown = board_of(source, level, correction, interval, Orders({}, ()), seed), shown_labels(source)
    sign = 1 if int(board.attrs["larger_is_better"]) else -1
    names = [plain(str(name)) for name in source["system"].values]
    content: dict[str, Any] = {
        "title": f"{', '.join(names)}: which is better, and for whom?",
        "level": percent(level),
        "usable": bool(answer["usable"].values.all() and board["usable"].values.all()),
        "note": plain(str(answer.attrs.get("note", board.attrs.get("note", "")))),
        "asked": f"{_quantity(source)} of {len(names)} systems on the same items, by "
        f"{' and '.join(map(plain, attributes_of(source)))}.",
        "direction": "larger is better" if sign > 0 else "smaller is better",
        "estimand": f"{ESTIMAND[:1].upper()}{ESTIMAND[1:]}.",
        "board": leaderboard_section(board, shown),
        "letters": CORRECTIONS[correction].format("all pairs"),
        "pairs": [pair_section(answer, str(pair), sign, shown) for pair in answer["pair"].values],
        "method": _method(answer, json.loads(source.attrs["settings"]).get("baseline")),
        "references": REFERENCES,
        "origin": {"code": _code(source, level, correction, interval, seed), "facts": _facts(source, seed)},
    }
    return filled("systems.html", content)


def _method(answer: xr.Dataset, baseline: str | None) -> list[str]:
    """Sentences on both approaches, on what holds together, and on items that are left out."""
    together, pairs = CORRECTIONS[str(answer.attrs["correction"])], "all pairs"
    lettered = "Letters rest on the same limits."
    if baseline is not None:
        pairs = f"the pairs with {plain(baseline)}"
        lettered = (
            f"Letters rest on limits that hold for {together.format('all pairs')}, which are more, so that two systems can share a "
            "letter where their own table tells them apart."
        )
    bayesian, frequentist = (str(answer["method"].sel(approach=name).values) for name in ("bayesian", "frequentist"))
    return [
        "Systems are compared item by item: items on which two systems have the same value say nothing about which is better.",
        f"Bayesian: {POSTERIORS[bayesian]}; the estimate is the posterior mean. Subgroups borrow strength from one another, so "
        "that the difference in a small subgroup leans on those of the others.",
        f"Frequentist: {TESTS[frequentist]}, each subgroup by itself.",
        f"A system is shown to be better where limits that hold for {together.format(pairs)} leave out 0; of everyone they hold "
        f"for {pairs} of everyone. Sentences are those of the Bayesian side. {lettered} Limits of a Bayesian rank are quantiles "
        "that hold for the system by itself, so that one with ranks from 2 on may be among those that may be the best.",
        "Systems that cannot be told apart are not shown to be equal. Whether the intervals of two systems overlap does not "
        "matter; their difference does.",
    ]


def _quantity(source: xr.Dataset) -> str:
    """The values that are compared, by their name where they have one."""
    rate = json.loads(source.attrs["settings"]).get("metric")
    return "Values" if rate is None else f"Values of {rate}"


def _facts(source: xr.Dataset, seed: int) -> dict[str, str]:
    facts = {
        "Command": plain(str(source.attrs.get("command", ""))),
        "Seed": str(seed),
        "Version": f"bayesgroups {__version__}",
    }
    return {name: fact for name, fact in facts.items() if fact}


def _code(source: xr.Dataset, level: float, correction: str, interval: str, seed: int) -> str:
    """Python that makes the page of the same rows."""
    page = f"level={level!r}, correction={correction!r}, interval={interval!r}, seed={seed}"
    lines = ["import bayesgroups as bg", *tally_lines(source), f'bg.write_systems_html(tally, "systems.html", {page})']
    return "\n".join(plain(line) for line in lines)
