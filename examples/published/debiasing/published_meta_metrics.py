"""Published results of Lum, Zhang, Bower (2022) on variances between subgroups: table 3, and the counts behind figure 6."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

COVERAGE: Mapping[str, Mapping[str, float]] = {
    "equal sizes, equal rates": {"uncorrected": 0.0, "corrected": 0.0, "double_corrected": 99.7},
    "unequal sizes, equal rates": {"uncorrected": 0.0, "corrected": 0.0, "double_corrected": 99.3},
    "equal sizes, unequal rates": {"uncorrected": 15.4, "corrected": 67.6, "double_corrected": 94.9},
    "unequal sizes, unequal rates": {"uncorrected": 10.4, "corrected": 60.4, "double_corrected": 93.0},
}
"""Coverage in percent of 95 % percentile intervals of 500 bootstrap replicates, 1,000 simulations, by design."""


@dataclass(frozen=True)
class Example:
    """One attribute and metric of the income example: denominators, counts and the authors' results.

    ``variance`` is uncorrected, ``corrected`` has the published correction; limits are of 500 replicates. ``medians`` are
    what the authors print as point estimates: medians of uncorrected, corrected and double-corrected replicates.
    """

    attribute: str
    metric: str
    trials: tuple[int, ...]
    successes: tuple[int, ...]
    variance: float
    corrected: float
    uncorrected_limits: tuple[float, float]
    double_corrected_limits: tuple[float, float]
    medians: tuple[float, float, float]


LEVELS: Mapping[str, tuple[str, ...]] = {
    "race": ("Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"),
    "age": ("16-25", "26-35", "36-45", "46-55", "56-65", "66-75", "76-85", "86-95"),
}
EXAMPLES = (
    Example(
        "race", "tpr", (16, 99, 149, 14, 3167), (7, 71, 85, 8, 2066),
        0.01101, 0.00368, (0.0028, 0.052), (0.0, 0.0407), (0.0155, 0.0084, 0.0018),
    ),
    Example(
        "race", "fpr", (109, 302, 1198, 101, 9498), (3, 28, 29, 0, 596),
        0.00132, 0.00121, (0.0007, 0.0025), (0.0005, 0.0022), (0.0014, 0.0012, 0.0011),
    ),
    Example(
        "race", "sel", (125, 401, 1347, 115, 12665), (10, 99, 114, 8, 2662),
        0.00699, 0.00665, (0.0045, 0.0108), (0.0037, 0.0103), (0.0072, 0.0068, 0.0065),
    ),
    Example(
        "age", "tpr", (47, 703, 1202, 957, 427, 89, 14, 6), (16, 364, 838, 688, 263, 53, 10, 5),
        0.02267, 0.01686, (0.0118, 0.0477), (0.0, 0.0431), (0.0286, 0.0227, 0.0176),
    ),
    Example(
        "age", "fpr", (2798, 3195, 2313, 1547, 906, 349, 85, 15), (0, 127, 239, 206, 67, 14, 1, 2),
        0.00274, 0.00172, (0.0017, 0.0116), (0.0003, 0.0079), (0.0028, 0.0021, 0.0013),
    ),
    Example(
        "age", "sel", (2845, 3898, 3515, 2504, 1333, 438, 99, 21), (16, 491, 1077, 894, 330, 67, 11, 7),
        0.0156, 0.01407, (0.0122, 0.0287), (0.0098, 0.0255), (0.0157, 0.0142, 0.0128),
    ),
)  # fmt: skip
"""Test rows of a census of incomes, decisions of the authors' boosted trees at 0.5: rates by race and by age band."""
