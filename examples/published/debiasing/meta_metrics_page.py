"""The page of meta-metrics: published numbers beside ours, from the records of `meta_metrics` and `meta_metric_bias`.

python -m examples.published.debiasing.meta_metrics_page --variances tests/recovery/records/between_group_variance.csv
    --bias tests/recovery/records/meta_metric_bias.csv
    --shortest tests/recovery/records/shortest_intervals.csv --output docs/examples/meta_metrics.md
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from bayesgroups.questions.disparities.between_group_variance import between_group_variance
from bayesgroups.tallies import tally_from_counts
from examples.published.debiasing.meta_metrics_samples import FIGURES, estimates, replicates, sample_table
from examples.published.debiasing.meta_metrics_words import (
    BOUND,
    CLASSIC,
    DESIGNS,
    INTRODUCTION,
    PICTURES,
    POSTERIOR,
    READING,
    WEIGHTED,
)
from examples.published.debiasing.published_meta_metrics import COVERAGE, EXAMPLES, LEVELS
from examples.records import write

Row = Mapping[str, str]

PUBLISHED = {
    "uncorrected, percentile": "uncorrected",
    "corrected, percentile (published)": "corrected",
    "double_corrected, percentile (published)": "double_corrected",
}
REFERENCE = "double_corrected, percentile (published)"
DRAWS = 4000
COLUMNS = (5, 25, 50, 100, 150)
LOWEST_SHOWN = ("0.1", "0.3", "0.5", "0.7", "0.9")


def page(variances: Sequence[Row], bias: Sequence[Row], shortest: Sequence[Row]) -> str:
    """Write the page.

    Parameters
    ----------
    variances, bias, shortest : sequences of mappings
        Lines of the three records.

    Returns
    -------
    str
        Markdown.
    """
    replications = max(int(line["replications"]) for line in variances)
    error = max(100 * float(line["mc_error"]) for line in variances if int(line["replications"]) == replications)
    parts = [
        INTRODUCTION,
        "## Coverage (table 3)\n\n" + DESIGNS.format(replications=f"{replications:,}", error=error) + "\n",
        coverage_table(variances),
        "Published / ours, in percent. All twelve agree to the error of simulation. The published corrections plug in "
        "y (1 - y) / n, whose mean is too small by the factor (n - 1) / n.\n",
        "## Every method\n\n" + READING + "\n",
        methods_table(variances),
        "Coverage in percent and, in brackets, mean length relative to the double-corrected bootstrap as published. Posteriors "
        f"are of fewer simulations ({_posteriors(variances)}), so their shares are less exact.\n",
        CLASSIC + "\n",
        POSTERIOR + "\n",
        "## How short can it be?\n\n" + BOUND + "\n",
        shortest_table(shortest),
        "Coverage in percent, and mean length times 10,000, of simulations other than those above.\n",
        "## Bias of the estimates\n\n" + WEIGHTED,
        bias_of_variances(variances),
        "## Bias by number of subgroups (figure 2)\n\nAll true rates are 0.9, so that there is no disparity; 5,000 rows are "
        "shared evenly. Mean over 1,000 simulations. As in the authors' programs, and not as in their table 1, the ratio is of "
        "max + 0.05 to min + 0.05, and the entropy has alpha = 0.5.\n",
        noise_table(bias),
        "The picture has rates that are evenly spaced from the lowest to 0.9; the table their bias with 100 subgroups.\n",
        "![Bias of six measures of disparity by number of subgroups](meta_metrics_2.svg)\n",
        spread_table(bias),
        *_pictures(),
        "## Incomes (figure 6)\n\nDecisions of the authors' boosted trees for 14,653 people. `median`: of the double-corrected "
        "replicates, which the authors print as the estimate; the estimate itself, their equation 2, is beside it. Ours have "
        f"{DRAWS:,} replicates, theirs 500. `unified` is our interval without resampling.\n",
        "![Variances of the income example with their intervals](meta_metrics_6.svg)\n",
        incomes_table(),
        "Where a subgroup has a handful of rows (14 and 16 people of race Other and Amer-Indian-Eskimo with a high income, 6 of "
        "the oldest), the discrete law of its rate shows in the ends of bootstrap intervals. Subgroups of which all rows agree "
        "(0 of 101, 0 of 2,798) count as exact in every plug-in variance, which they are not.\n",
    ]
    return "\n".join(parts).rstrip() + "\n"


def coverage_table(variances: Sequence[Row]) -> str:
    """Table 3, published and ours.

    Returns
    -------
    str
        Markdown, a line per design.
    """
    rows = []
    for design, published in COVERAGE.items():
        cells = [
            f"{published[word]:.1f} / {100 * float(_find(variances, design, name)['coverage']):.1f}"
            for name, word in PUBLISHED.items()
        ]
        rows.append([design, *cells])
    return _table(["design", "uncorrected", "corrected", "double-corrected"], rows)


def methods_table(variances: Sequence[Row]) -> str:
    """Coverage and relative length of every method in every design.

    Returns
    -------
    str
        Markdown, a line per method.
    """
    rows = []
    for name in dict.fromkeys(line["method"] for line in variances):
        cells = []
        for design in COVERAGE:
            line = _find(variances, design, name)
            width = float(line["width"]) / float(_find(variances, design, REFERENCE)["width"])
            cells.append(f"{100 * float(line['coverage']):.1f} ({width:.2f})")
        rows.append([name, *cells])
    return _table(["method, interval", *COVERAGE], rows)


def bias_of_variances(variances: Sequence[Row]) -> str:
    """Bias of the point estimates.

    Returns
    -------
    str
        Markdown, a line per estimate.
    """
    rows = []
    for name in dict.fromkeys(line["method"] for line in variances):
        if name.endswith(("upper", "unified", "basic")) or name.startswith(
            ("double_corrected, percentile (p", "pm, unified (o")
        ):
            continue
        label = name.replace(", percentile", "").replace(", q_profile", "").replace(", profile_likelihood", "")
        label = label.replace(", sidik_jonkman", "").replace(", upper", "").replace(", unified", "")
        label = "corrected" if label == "double_corrected" else label.replace(", equal_tailed", " (median)")
        cells = [f"{10_000 * float(_find(variances, design, name)['bias']):.2f}" for design in COVERAGE]
        rows.append([label, *cells])
    return _table(["estimate", *COVERAGE], rows)


def noise_table(bias: Sequence[Row]) -> str:
    """Measures of disparity where there is none, by number of subgroups.

    Returns
    -------
    str
        Markdown, a line per measure.
    """
    rows = []
    for name in dict.fromkeys(line["measure"] for line in bias):
        cells = []
        for number in COLUMNS:
            line = next(
                each
                for each in bias
                if each["measure"] == name and each["lowest"] == "0.9" and each["subgroups"] == str(number)
            )
            cells.append(f"{float(line['mean']):.5f}")
        rows.append([name, *cells])
    return _table(["measure", *(f"{number} subgroups" for number in COLUMNS)], rows)


def spread_table(bias: Sequence[Row]) -> str:
    """Bias of the measures with 100 subgroups, by lowest true rate.

    Returns
    -------
    str
        Markdown, a line per measure.
    """
    rows = []
    for name in dict.fromkeys(line["measure"] for line in bias):
        found = {
            line["lowest"]: float(line["mean"]) - float(line["truth"])
            for line in bias
            if line["measure"] == name and line["subgroups"] == "100"
        }
        rows.append([name, *(f"{found[low]:.5f}" for low in LOWEST_SHOWN)])
    return _table(["measure", *(f"rates from {low}" for low in LOWEST_SHOWN)], rows)


def shortest_table(shortest: Sequence[Row]) -> str:
    """Lengths of intervals, and the shortest possible ones.

    Returns
    -------
    str
        Markdown, a line per interval and level.
    """
    designs = list(dict.fromkeys(line["design"] for line in shortest))
    rows = []
    for name, level in dict.fromkeys((line["interval"], line["level"]) for line in shortest):
        cells = []
        for design in designs:
            line = next(
                each for each in shortest if (each["design"], each["interval"], each["level"]) == (design, name, level)
            )
            covers = "" if name == "least" else f"{100 * float(line['coverage']):.1f}, "
            cells.append(f"{covers}{10_000 * float(line['length']):.1f}")
        rows.append([name, f"{100 * float(level):.0f} %", *cells])
    return _table(["interval", "level", *designs], rows)


def _pictures() -> list[str]:
    """Figures 3 to 5 with their numbers."""
    parts = []
    for number, text in PICTURES.items():
        parts += [text, f"![Variances in the four designs](meta_metrics_{number}.svg)\n"]
        if number == 3:
            parts.append(sample_table(estimates(), FIGURES[number]))
    return [*parts, sample_table(replicates(), FIGURES[5])]


def _posteriors(variances: Sequence[Row]) -> str:
    found = {
        kind: next(line["replications"] for line in variances if line["method"].startswith(f"{kind} posterior"))
        for kind in ("normal", "binomial")
    }
    return ", ".join(f"{number} {kind}" for kind, number in found.items())


def incomes_table() -> str:
    """The example of section 6, published and ours.

    Returns
    -------
    str
        Markdown, a line per attribute and metric.
    """
    rows = []
    for example in EXAMPLES:
        who = pd.DataFrame({example.attribute: LEVELS[example.attribute]})
        tally = tally_from_counts(example.successes, example.trials, who, metric=example.metric)
        plain = between_group_variance(tally, "uncorrected", form="published", draws=DRAWS).isel(metric=0)
        double = between_group_variance(tally, form="published", draws=DRAWS).isel(metric=0)
        ours = between_group_variance(tally, "corrected", interval="unified").isel(metric=0)
        rows.append(
            [
                f"{example.attribute} {example.metric}",
                f"{example.corrected:.5f} / {float(double['raw']):.5f}",
                f"{example.medians[2]:.4f}",
                f"{_limits(*example.uncorrected_limits)} / {_limits(float(plain['lower']), float(plain['upper']))}",
                f"{_limits(*example.double_corrected_limits)} / {_limits(float(double['lower']), float(double['upper']))}",
                f"{float(ours['raw']):.5f}, {_limits(float(ours['lower']), float(ours['upper']))}",
            ]
        )
    head = ["", "equation 2", "median", "uncorrected 95 %", "double-corrected 95 %", "unbiased, unified 95 %"]
    return _table(head, rows)


def _limits(lower: float, upper: float) -> str:
    return f"{lower:.4f}-{upper:.4f}"


def _find(lines: Iterable[Row], design: str, method: str) -> Row:
    return next(line for line in lines if line["design"] == design and line["method"] == method)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page."""
    program = "python -m examples.published.debiasing.meta_metrics_page"
    parser = argparse.ArgumentParser(prog=program, description="The page of meta-metrics, from three records.")
    parser.add_argument("--variances", type=Path, required=True, help="the record of meta_metrics")
    parser.add_argument("--bias", type=Path, required=True, help="the record of meta_metric_bias")
    parser.add_argument("--shortest", type=Path, required=True, help="the record of shortest_intervals")
    parser.add_argument("--output", type=Path, required=True, help="the Markdown file to write")
    given = parser.parse_args(arguments)
    records = []
    for path in (given.variances, given.bias, given.shortest):
        with path.open(encoding="utf-8", newline="") as file:
            records.append(list(csv.DictReader(file)))
    write(given.output, page(*records))


if __name__ == "__main__":
    main()
