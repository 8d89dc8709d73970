"""Published results of Han, Baldwin, Cohn (2023) about Bios, and the page that has them beside ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayesgroups.questions.disparities.aggregation_steps import Unit

METHODS: Mapping[str, str] = {"INLP": "INLP", "Adv": "Adv", "DAdv": "DAdv", "A-Adv": "BTGAdv"}
"""The four methods of the paper, and what the files call them."""
ANCHOR = 0.3
"""Performance of the anchor that reproduces the published areas; the paper does not mention it."""
AUC: Mapping[str, float] = {"INLP": 0.3983, "Adv": 0.4357, "DAdv": 0.4450, "A-Adv": 0.4401}
"""Table 3."""
BEST: Mapping[str, tuple[str, float]] = {
    "DTO": ("A-Adv", 36.94), "P": ("INLP", 41.93), "P@F+5%": ("A-Adv", 39.46), "P@F+10%": ("A-Adv", 39.03),
    "F": ("DAdv", 39.87), "F@P-5%": ("DAdv", 40.39), "F@P-10%": ("Adv", 41.22),
}  # fmt: skip
"""Per criterion the best method on test data and its distance to (1, 1), in percent."""
THRESHOLDS: Mapping[str, float] = {"P@F+5%": 0.65, "P@F+10%": 0.70, "F@P-5%": 0.78, "F@P-10%": 0.73}
"""What the published numbers use; the text has .63, .68, .77 and .72."""
AGGREGATES: Mapping[tuple[Unit, float, float], float] = {
    ("score", 2, 2): 0.734121, ("gap", 2, 2): 0.165357, ("gap", 2, 1): 0.137867, ("gap", 1, 1): 0.106174,
    ("gap", 1, 2): 0.127403, ("ratio", 2, 2): 0.999036,
}  # fmt: skip
"""Published aggregates of one checkpoint on development data, by unit and exponents over groups and classes."""
NOTES = (
    "Selecting among settings that are efficient on test data lets test data into the selection: without it, INLP has a "
    "distance of 47.48 by the criterion DTO instead of 41.93. The area with straight lines between settings is not monotone: "
    "a further efficient setting that lies below the line between its neighbours lowers it, which is why the fewer settings "
    "of INLP that are efficient on development data have the larger area (40.21 instead of 39.83); "
    '`reading="steps"` is monotone. Areas rest on the best of many noisy settings on the data that score them, and the '
    "bootstrap over seeds repeats that error, so that its intervals reach further up than down. INLP has one run per setting "
    "and so no interval. DAdv and A-Adv cannot be told apart by their areas."
)
"""What the page says about its numbers; a test holds the committed page to it."""
POSTERIOR = (
    "Fairness from counts alone is some 10 points lower. A gap in a profession of which a subgroup has a handful of people is "
    "in part chance, and sums of gaps add chance up over 28 professions. The model takes the logit rates of the four "
    "subgroups of a profession for draws from one normal law and leaves as much of their gaps as the counts support. The "
    "order of the checkpoints is the same."
)
"""What the posterior shows."""


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
    """One method and criterion: distances on test data in percent, as published and on development data alone."""

    criterion: str
    method: str
    pipeline: float
    published: float
    infeasible: int
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
class Pictures:
    """Lines of the tables that go with the figures, and the names of the files beside the page, by figure."""

    iterations: Sequence[str]
    parts: Sequence[str]
    posterior: Sequence[str]
    files: Mapping[str, str]


def page(
    areas: Sequence[AreaLine], selections: Sequence[SelectionLine], aggregates: Sequence[AggregateLine], *,
    plain: tuple[float, float], tried: Mapping[str, int], draws: int, seed: int, pictures: Pictures,
) -> str:  # fmt: skip
    """Write the comparison as a Markdown page."""
    settings = ", ".join(f"{name} {number}" for name, number in tried.items())
    text = [
        "# Model selection: published trade-offs and ours",
        "",
        f"Made by `python -m examples.published.fair_enough.model_selection --data FOLDER/bios_pfc --draws {draws} --seed {seed} "
        "--output docs/examples/model_selection.md`. Four methods "
        "that debias a classifier of professions from biographies (Bios), fairness between four subgroups of gender and "
        f"economy. Settings tried: {settings}; five runs per setting, one for INLP. Performance is accuracy, fairness is 1 "
        "less the quadratic mean over 28 professions of the sum over subgroups of gaps in the true positive rate.",
        "",
        "## Area under the frontier",
        "",
        f"`bg.auc_pfc(points, anchor={ANCHOR})` in percent, on test data; `efficient`: settings on the frontier, copies "
        "counted once; `dev`: test values of the settings that are efficient on development data; then the 95 % interval "
        f"and the probability of the largest area, from {draws} bootstrap draws over seeds (`bg.compare_auc_pfc`).",
        "",
        "| method | published | ours | efficient | dev | interval | P(largest) |",
        "|---|---|---|---|---|---|---|",
        *(
            f"| {line.method} | {100 * line.published:.2f} | {100 * line.test:.2f} | {line.efficient} | "
            f"{100 * line.chosen_on_dev:.2f} | {100 * line.lower:.2f} to {100 * line.upper:.2f} | "
            f"{line.probability_best:.2f} |"
            for line in areas
        ),
        "",
        "## Frontiers and parts of their areas",
        "",
        f"![Candidates and frontiers of the four methods]({pictures.files['4']})",
        "",
        "*Figure 4. Test data; faint: all settings, full: the efficient ones, with 95 % bands from seeds, from the anchor on.*",
        "",
        f"![Area under the frontier of INLP, whole and in part]({pictures.files['5']})",
        "",
        "*Figure 5. The frontier of INLP on test data and the part of its area that meets each constraint.*",
        "",
        "Whole and partial areas in percent (`within=`), with the performance that is integrated over:",
        "",
        *pictures.parts,
        "",
        "## INLP by iteration",
        "",
        f"![Performance, fairness and distance of INLP by iteration]({pictures.files['3']})",
        "",
        "*Figure 3. Development data. INLP removes one direction after the other; every iteration is a setting to select.*",
        "",
        "In percent; bold: the smallest distance to (1, 1).",
        "",
        *pictures.iterations,
        "",
        "## Seven criteria",
        "",
        "Distance to (1, 1) on test data, in percent. `published`: the best method by each criterion. `their way`: only "
        "settings that are efficient on test data, thresholds .65, .70, .78, .73, all settings where none is feasible "
        "(starred). `ours`: `bg.select_model` on development data alone, thresholds from the plain model (performance "
        f"{plain[0]:.4f}, fairness {plain[1]:.4f} on development data); `none` where no setting is feasible. `P(same)`: share "
        "of bootstrap draws over seeds in which the criterion selects the same setting; `regret`: mean distance beyond the "
        "smallest of the draw, on development data, in points.",
        "",
        "| criterion | method | published | their way | ours | performance | fairness | P(same) | regret |",
        "|---|---|---|---|---|---|---|---|---|",
        *(_selection(line) for line in selections),
        "",
        "## Aggregation from confusion counts",
        "",
        "The plain model at one checkpoint, true positive rates on development data, pooled reference values. `their way` "
        "adds 0.00001 to counts, which gives two empty cells (a profession that a subgroup lacks) a rate of one half; `ours` "
        'adds nothing and leaves those cells out (`undefined="drop"`).',
        "",
        "| unit | group power | class power | published | their way | ours |",
        "|---|---|---|---|---|---|",
        *(
            f"| {line.unit} | {line.group_power:g} | {line.class_power:g} | {line.published:.6f} | {line.smoothed:.6f} | "
            f"{line.plain:.6f} |"
            for line in aggregates
        ),
        "",
        "## A frontier with a posterior",
        "",
        "Checkpoints of the plain model as candidates. Each is a report of `bg.estimate(tally, bg.PartialPooling())` on "
        "the test data, a metric per profession and its four subgroups pooled; "
        "`bayesgroups.questions.tradeoffs.points_from_reports` makes points of the "
        "draws, with the accuracy and the fairness of the experiments as functions of them. In percent, with 95 % intervals. "
        "P(efficient): probability that no other checkpoint is better in both.",
        "",
        *pictures.posterior,
        "",
        f"![Checkpoints with their posterior]({pictures.files['posterior']})",
        "",
        POSTERIOR,
        "",
        "## What to make of it",
        "",
        NOTES,
    ]
    return "\n".join(text) + "\n"


def _selection(line: SelectionLine) -> str:
    def shown(value: float, digits: int = 2) -> str:
        return "none" if np.isnan(value) else f"{value:.{digits}f}"

    published = "" if np.isnan(line.published) else f"{line.published:.2f}"
    star = " \\*" if line.infeasible else ""
    cells = [
        line.criterion, line.method, published, f"{line.pipeline:.2f}{star}", shown(line.dto), shown(line.performance),
        shown(line.fairness), shown(line.probability), shown(line.regret),
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"
