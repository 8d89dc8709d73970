"""Tables 4 and 5 of Han, Baldwin, Cohn (2023), made again: points at one distance, and all 28 selections on both splits.

``table_5.csv`` has what the authors' notebook ``2_comparison/model_comparison.ipynb`` prints, in percent: means over seeds and
their standard deviations, of seven criteria by four methods.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from bayesgroups.questions.tradeoffs.distances import distance_to_optimum
from examples.pages import table
from examples.published.fair_enough.model_selection_page import METHODS

TABLE_5 = Path(__file__).parent / "table_5.csv"
SPLITS = ("test", "dev")
ANGLES = (0, 30, 45, 60, 90)
IDEAL = (0.82, 1.0)
"""Ideal point of table 4, from which all its points are the same distance away."""
RADIUS = 0.2
TABLE_4 = (
    (62.0, 100.0, 20.0, 38.0, 18.0), (64.7, 90.0, 20.0, 36.7, 16.7), (67.9, 85.9, 20.0, 35.1, 15.1),
    (72.0, 82.7, 20.0, 32.9, 12.9), (82.0, 80.0, 20.0, 26.9, 6.9),
)  # fmt: skip
"""Printed: performance, fairness, distance to that point, distance to (1, 1), and their difference, in percent."""


def printed_selections() -> pd.DataFrame:
    """Printed values in percent, by criterion and method.

    Examples
    --------
    >>> round(float(printed_selections()["test_distance"]["DTO", "A-Adv"]), 2)
    36.94
    """
    return pd.read_csv(TABLE_5).set_index(["criterion", "method"])


def selections_again(runs: pd.DataFrame, chosen: Mapping[tuple[str, str], str]) -> pd.DataFrame:
    """The columns of the printed table for the settings that were chosen, from their runs.

    Parameters
    ----------
    runs : pandas DataFrame
        As `examples.published.data.load_bios_runs` gives them.
    chosen : mapping of (criterion, method) to str
        Setting by criterion and method.
    """
    lines = []
    for (criterion, method), config in chosen.items():
        of_setting = runs[(runs["method"] == METHODS[method]) & (runs["config"] == config)]
        line: dict[str, float | str] = {"criterion": criterion, "method": method}
        for split in SPLITS:
            goals = [100 * np.asarray(of_setting[f"{split}_{goal}"], float) for goal in ("performance", "fairness")]
            for goal, values in zip(("performance", "fairness"), goals, strict=True):
                line[f"{split}_{goal}"] = float(values.mean())
                line[f"{split}_{goal}_sd"] = float(values.std(ddof=1)) if len(values) > 1 else 0.0
            line[f"{split}_distance"] = float(np.hypot(100 - goals[0].mean(), 100 - goals[1].mean()))
        lines.append(line)
    return pd.DataFrame(lines).set_index(["criterion", "method"])


def selection_table(again: pd.DataFrame) -> str:
    """A Markdown table: performance and fairness with standard deviations over seeds, and distances, on both splits."""
    head = [f"{split}: {value}" for split in SPLITS for value in ("performance", "fairness", "distance")]
    rows = []
    for line in again.reset_index().to_dict("records"):
        cells = [line["criterion"], line["method"]]
        for split in SPLITS:
            cells += [
                f"{line[f'{split}_{goal}']:.2f} ± {line[f'{split}_{goal}_sd']:.2f}"
                for goal in ("performance", "fairness")
            ]
            cells.append(f"{line[f'{split}_distance']:.2f}")
        rows.append(cells)
    return table(["criterion", "method", *head], rows)


def agreement(again: pd.DataFrame) -> str:
    """A sentence: how many of the printed values come back to half a unit of their last digit, and the largest difference."""
    printed = printed_selections().reindex(index=again.index, columns=again.columns)
    off = (again - printed).abs().to_numpy()
    back = f"{(off < 6e-7).sum()} of {off.size} printed values come back to their sixth decimal"
    return f"{back}; the largest difference is {off.max():.1g} points."


def equal_distances() -> list[tuple[float, ...]]:
    """Table 4: points at one distance of an ideal point, and how far from (1, 1) they are, in percent.

    Examples
    --------
    >>> [round(value, 1) for value in equal_distances()[1]]
    [64.7, 90.0, 20.0, 36.7, 16.7]
    """
    angles = np.radians(ANGLES)
    performance, fairness = IDEAL[0] - RADIUS * np.cos(angles), IDEAL[1] - RADIUS * np.sin(angles)
    points = pd.DataFrame({"performance": performance, "fairness": fairness})
    near, far = (distance_to_optimum(points, utopia=ideal).values for ideal in (IDEAL, (1.0, 1.0)))
    return [tuple(line) for line in (100 * np.stack([performance, fairness, near, far, far - near], axis=1)).tolist()]


def equal_distance_table() -> str:
    """A Markdown table: table 4, printed and ours."""
    head = ["angle", "performance", "fairness", "to (.82, 1)", "to (1, 1)", "difference", "printed"]
    rows = [
        [f"{angle}°", *(f"{value:.1f}" for value in ours), ", ".join(f"{value:.1f}" for value in printed)]
        for angle, ours, printed in zip(ANGLES, equal_distances(), TABLE_4, strict=True)
    ]
    return table(head, rows)
