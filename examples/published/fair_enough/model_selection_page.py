"""Numbers that Han, Baldwin, Cohn (2023) published about Bios, and those of the page that has ours beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayesgroups.questions.disparities.aggregation_steps import Unit
from examples.pages import table

METHODS: Mapping[str, str] = {"INLP": "INLP", "Adv": "Adv", "DAdv": "DAdv", "A-Adv": "BTGAdv"}
"""The four methods of the paper, and what the files call them."""
ANCHOR = 0.3
"""Performance of the anchor that reproduces the published areas; the paper does not mention it."""
AUC: Mapping[str, float] = {"INLP": 0.3983, "Adv": 0.4357, "DAdv": 0.4450, "A-Adv": 0.4401}
"""Table 3."""
THRESHOLDS: Mapping[str, float] = {"P@F+5%": 0.65, "P@F+10%": 0.70, "F@P-5%": 0.78, "F@P-10%": 0.73}
"""What the published numbers use; the text has .63, .68, .77 and .72."""
AGGREGATES: Mapping[tuple[Unit, float, float], float] = {
    ("score", 2, 2): 0.734121, ("gap", 2, 2): 0.165357, ("gap", 2, 1): 0.137867, ("gap", 1, 1): 0.106174,
    ("gap", 1, 2): 0.127403, ("ratio", 2, 2): 0.999036,
}  # fmt: skip
"""Published aggregates of one checkpoint on development data, by unit and exponents over groups and classes."""


@dataclass(frozen=True)
class AreaLine:
    """Area under the frontier of one method: published, ours on test data, of settings chosen on development data, draws."""

    method: str
    published: float
    test: float
    efficient: int
    chosen_on_dev: float
    lower: float
    upper: float
    probability_best: float


@dataclass(frozen=True)
class SelectionLine:
    """One method and criterion: the setting and its distance on test data in percent, as published, and ours."""

    criterion: str
    method: str
    setting: str
    pipeline: float
    published: float
    feasible: bool
    performance: float
    fairness: float
    dto: float
    probability: float
    regret: float


@dataclass(frozen=True)
class AggregateLine:
    """One aggregate: published, recomputed with the published constant, and without it and without absent classes."""

    unit: Unit
    group_power: float
    class_power: float
    published: float
    smoothed: float
    plain: float


@dataclass(frozen=True)
class PictureTables:
    """Tables that go with the figures."""

    iterations: str
    parts: str
    ideals: str
    gaps: str
    posterior: str


def numbers(
    areas: Sequence[AreaLine], selections: Sequence[SelectionLine], aggregates: Sequence[AggregateLine], *,
    plain: tuple[float, float], tried: Mapping[str, int], pictures: PictureTables,
) -> dict[str, str]:  # fmt: skip
    """Texts of the page by the name of their block."""
    return {
        "settings": ", ".join(f"{name} {number}" for name, number in tried.items()) + ".",
        "areas": table(
            ["method", "published", "ours", "efficient", "dev", "interval", "P(largest)"],
            [
                [
                    line.method, f"{100 * line.published:.2f}", f"{100 * line.test:.2f}", line.efficient,
                    f"{100 * line.chosen_on_dev:.2f}", f"{100 * line.lower:.2f} to {100 * line.upper:.2f}",
                    f"{line.probability_best:.2f}",
                ]
                for line in areas
            ],
        ),
        "parts": pictures.parts,
        "ideal points": pictures.ideals,
        "gaps": pictures.gaps,
        "iterations": pictures.iterations,
        "plain model": f"Performance {plain[0]:.4f}, fairness {plain[1]:.4f}.",
        "selections": table(
            [
                "criterion", "method", "published", "their way", "ours", "performance", "fairness", "P(same)", "regret",
            ],
            [_selection(line, selections) for line in selections],
        ),
        "aggregates": table(
            ["unit", "group power", "class power", "published", "their way", "ours"],
            [
                [
                    line.unit, f"{line.group_power:g}", f"{line.class_power:g}", f"{line.published:.6f}",
                    f"{line.smoothed:.6f}", f"{line.plain:.6f}",
                ]
                for line in aggregates
            ],
        ),
        "posterior": pictures.posterior,
    }  # fmt: skip


def _selection(line: SelectionLine, lines: Sequence[SelectionLine]) -> list[str]:
    def shown(value: float, digits: int = 2) -> str:
        return "none" if np.isnan(value) else f"{value:.{digits}f}"

    best = min(other.published for other in lines if other.criterion == line.criterion)
    published = f"**{line.published:.2f}**" if line.published == best else f"{line.published:.2f}"
    star = "" if line.feasible else " \\*"
    return [
        line.criterion, line.method, published, f"{line.pipeline:.2f}{star}", shown(line.dto), shown(line.performance),
        shown(line.fairness), shown(line.probability), shown(line.regret),
    ]  # fmt: skip
