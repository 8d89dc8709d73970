"""Each pair of systems in every subgroup: sentences, a picture and a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.questions.certification.overlapping import ALL
from bayesgroups.report.view import number, percent, plain
from bayesgroups.views.html.sections.context import DRAWN, picture
from bayesgroups.views.html.sections.questions import chance
from bayesgroups.views.plots.systems_plot import systems as drawn

SIDES = ("bayesian", "frequentist")
LISTED = 5000
"""At most so many subgroups are listed, those with the most items."""
NAMED = 8
"""At most so many subgroups are named in a sentence."""


def shown_better(side: xr.Dataset, sign: int) -> FloatArray:
    """1 where limits that hold for all rows together show the first system to be better, -1 the second, 0 where neither."""
    lower, upper = side["band_lower"].values, side["band_upper"].values
    return np.asarray(sign * np.where(lower > 0, 1.0, np.where(upper < 0, -1.0, 0.0)), dtype=np.float64)


def pair_section(answer: xr.Dataset, pair: str, sign: int, shown: Mapping[str, str]) -> dict[str, Any]:
    """Sentences, picture and table of one pair; ``shown`` has the labels of subgroups as people read them."""
    part = answer.sel(pair=pair)
    sides = [part.sel(approach=name) for name in SIDES]
    better = [shown_better(side, sign) for side in sides]
    names = [plain(str(part[side].values)) for side in ("first", "second")]
    labels = [label_of(str(label), shown) for label in part["subgroup"].values]
    places = decimals(part["difference"].values, part["std_error"].values)
    sentences = [
        _overall(sides[0], names, places, float(answer.attrs["level"])),
        *_told_apart(better[0], labels, names),
    ]
    items = part["items"].values
    listed = np.sort(np.argsort(-items, kind="stable")[:LISTED])
    return {
        "title": f"{names[0]} against {names[1]}",
        "sentences": sentences,
        "picture": _picture(answer, pair, " ".join(sentences), shown),
        "level": percent(float(answer.attrs["level"])),
        "left": len(items) - len(listed),
        "first": names[0],
        "graded": bool(np.isfinite(part["discordant"].values).any()),
        "rows": [_row(part, sides, better, labels[i], names, int(i), places) for i in listed],
    }


def decimals(values: FloatArray, errors: FloatArray) -> int:
    """Decimals that show two digits of a typical error, from 0 to 6; 3 where there is none.

    >>> decimals(np.array([0.1]), np.array([0.021])), decimals(np.array([1200.0]), np.array([40.0]))
    (3, 0)
    """
    some = np.asarray(errors, dtype=np.float64)
    some = some[np.isfinite(some) & (some > 0) & np.isfinite(values)]
    return 3 if not len(some) else int(np.clip(1 - np.floor(np.log10(np.median(some))), 0, 6))


def label_of(label: str, shown: Mapping[str, str]) -> str:
    """A subgroup as people read it."""
    return "Everyone" if label == ALL else plain(shown.get(label, label))


def _overall(side: xr.Dataset, names: list[str], places: int, level: float) -> str:
    """Sentence of everyone together."""
    everyone = side.sel(subgroup=ALL)
    if not np.isfinite(float(everyone["difference"])):
        return f"For everyone together: {plain(str(everyone['reason'].values)) or 'undefined'}."
    ends = " to ".join(number(float(everyone[name]), places) for name in ("lower", "upper"))
    probability = chance(float(everyone["probability_better"]))
    return (
        f"For everyone together the difference {names[0]} - {names[1]} is {number(float(everyone['difference']), places)} "
        f"({percent(level)} credible interval {ends}); {names[0]} is better with a probability of {probability}."
    )


def _told_apart(better: FloatArray, labels: list[str], names: list[str]) -> list[str]:
    """Sentences on who is better in which subgroups, and on those where nothing is shown; everyone, the last, is left out."""
    sentences = []
    within, groups = better[:-1], labels[:-1]
    for side, name in ((1.0, names[0]), (-1.0, names[1])):
        where = [groups[i] for i in np.flatnonzero(within == side)]
        if where:
            sentences.append(f"{name} is shown to be better in {_listed(where)}.")
    tied = [groups[i] for i in np.flatnonzero(within == 0)]
    if tied:
        about = "any subgroup" if len(tied) == len(groups) else _listed(tied)
        sentences.append(f"They cannot be told apart in {about}; that does not show that they are equal.")
    return sentences


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more}"


def _picture(answer: xr.Dataset, pair: str, summary: str, shown: Mapping[str, str]) -> Any:
    """Forest plot of the differences; nothing where none has a value."""
    if not np.isfinite(answer["difference"].sel(pair=pair).values).any():
        return None
    labels = [label_of(str(label), shown) for label in answer["subgroup"].values]
    many = len(labels)
    caption = (
        f"Differences {plain(pair)}; the upright line is no difference. Circle: Bayesian; diamond: frequentist. Each "
        "interval holds for its own row; who is shown to be better goes by wider ones, which hold together as the method says."
    )
    caption += f" Drawn are the {DRAWN} of {many} rows with the most items." if many > DRAWN else ""
    named = answer.assign_coords(subgroup=labels)
    return picture(lambda: drawn(named, pair=pair, limit=DRAWN), f"Forest plot of {plain(pair)}. {summary}", caption)


def _row(
    part: xr.Dataset, sides: list[xr.Dataset], better: list[FloatArray], label: str, names: list[str], i: int, places: int
) -> dict[str, Any]:  # fmt: skip
    """One subgroup of a pair as text."""
    cells = []
    for side in sides:
        ends = [number(float(side[name].values[i]), places) for name in ("lower", "upper")]
        probability, p = float(side["probability_better"].values[i]), float(side["p_adjusted"].values[i])
        evidence = chance(probability) if np.isfinite(probability) else "–"
        if str(side["approach"].values) == "frequentist":
            evidence = "–" if not np.isfinite(p) else "<0.001" if p < 0.001 else f"{p:.3f}"
        cells.append(
            {
                "difference": number(float(side["difference"].values[i]), places) or "–",
                "interval": " to ".join(ends) if all(ends) else "–",
                "width": f"{float(side['upper'].values[i] - side['lower'].values[i]):.6g}" if all(ends) else "",
                "evidence": evidence,
            }
        )
    remarks = [plain(str(side["reason"].values[i])) for side in sides if str(side["reason"].values[i])]
    return {
        "label": label, "count": f"{float(part['items'].values[i]):g}",
        "discordant": number(float(part["discordant"].values[i]), 0) or "–", "sides": cells,
        "verdict": _verdict([side[i] for side in better], names), "remarks": list(dict.fromkeys(remarks)),
    }  # fmt: skip


def _verdict(better: list[float], names: list[str]) -> str:
    """Name of the system that is shown to be better, by both approaches or by one alone."""
    shown = [{1.0: names[0], -1.0: names[1]}.get(float(side), "") for side in better]
    if shown[0] == shown[1]:
        return shown[0] or "not told apart"
    return ", ".join(f"{name} ({side.capitalize()} only)" for name, side in zip(shown, SIDES, strict=True) if name)
