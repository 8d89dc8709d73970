"""The page of meta-metrics: published numbers beside ours, from the records of `meta_metrics` and `meta_metric_bias`.

python -m bayesgroups.studies.meta_metrics_page --variances tests/recovery/records/between_group_variance.csv
    --bias tests/recovery/records/meta_metric_bias.csv --output docs/examples/meta_metrics.md
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from bayesgroups.disparities.between_group_variance import between_group_variance
from bayesgroups.studies.published_meta_metrics import COVERAGE, EXAMPLES, LEVELS
from bayesgroups.studies.records import write
from bayesgroups.tallies import tally_from_counts

Row = Mapping[str, str]

PUBLISHED = {
    "uncorrected, percentile": "uncorrected",
    "corrected, percentile (published)": "corrected",
    "double_corrected, percentile (published)": "double_corrected",
}
REFERENCE = "double_corrected, percentile (published)"
DRAWS = 4000
COLUMNS = (5, 25, 50, 100, 150)
INTRODUCTION = (
    "# Meta-metrics: published results and ours\n\n"
    "Lum, Zhang and Bower (2022, doi:10.1145/3531146.3533105) show that measures of disparity grow with sampling noise, and "
    "correct the variance between subgroups. This page repeats their simulations and their example, and adds estimators that "
    "they point to. Made by\n\n"
    "```sh\n"
    "python -m bayesgroups.studies.meta_metrics --output variances.csv\n"
    "python -m bayesgroups.studies.meta_metric_bias --output bias.csv\n"
    "python -m bayesgroups.studies.meta_metrics_page --variances variances.csv --bias bias.csv --output meta_metrics.md\n"
    "```\n\n"
    "The two records lie under `tests/recovery/records`.\n"
)
DESIGNS = (
    "100 subgroups share 5,000 rows, 50 each or 10 to 90; true rates are all 0.8, or 0.1 to 0.9, which go with the sizes. The "
    "truth is the variance of the 100 true rates, 0 or 0.05496. {replications} simulations, 500 bootstrap replicates, 95 % "
    "intervals; Monte Carlo errors of the shares are at most {error:.1f} points."
)
READING = (
    "`corrected, unified` covers within a point of 95 % in all four designs, the two without any variance included. It has 60 and "
    "55 % of the length of the double-corrected bootstrap there, the same length in the third design, and is 4 % longer in the "
    "fourth, where the bootstrap falls short of its level: to cover 95 and not 93 %, a normal interval must be 8 % longer. The "
    "bootstrap covers nearly always where the variance is 0, because it is cut off there: its lower end lies on the truth. That "
    "is no caution that pays elsewhere; its upper end is too far out, for a replicate has the noise of two samples. A two-sided "
    "interval that gives 2.5 % to either end covers 97.5 % at 0, where only one end can miss; `unified` gives all 5 % to that end."
)
"""What the numbers show; a test holds the record to it."""
CLASSIC = (
    "Intervals for tau^2 are for another estimand, the variance of a population of subgroups, so in the designs with unequal "
    "rates, whose subgroups are fixed, they are wide and cover more than 95 %. With each subgroup's own sampling variance they "
    "cover too little at 0: rates near 1 look exact, get large weights, and the weighted spread grows. With the pooled one they "
    "hold (`variances=`, which is why that is the default). Sidik and Jonkman's interval never holds 0."
)
POSTERIOR = (
    "Equal-tailed intervals of a posterior cannot cover a variance that is exactly 0, for they leave out 2.5 % next to it; the "
    "upper limits do. A posterior of the variance of these subgroups is drawn towards what its model takes subgroups for: normal, "
    "or normal logits, with sizes that tell nothing. In the last two designs rates are spread evenly and, in the last one, go "
    "with the sizes; there the binomial posterior is too low. The normal one takes the variance of each rate's own rows as known, "
    "which is why it is too high."
)
WEIGHTED = (
    "Mean of the raw estimate less the truth, times 10,000. Estimates without weights (`corrected`, `he` with own variances) have "
    "no bias. Weighted ones do where weights go with rates: `dl` is off by up to half of the truth, 549.6, where rates differ "
    "widely, so for rates `corrected` and `he` are the safe choice.\n"
)


def page(variances: Sequence[Row], bias: Sequence[Row]) -> str:
    """Write the page.

    Parameters
    ----------
    variances, bias : sequences of mappings
        Lines of the two records.

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
        "are of fewer simulations (250 normal, 40 binomial), so their shares are less exact.\n",
        CLASSIC + "\n",
        POSTERIOR + "\n",
        "## Bias of the estimates\n\n" + WEIGHTED,
        bias_of_variances(variances),
        "## Bias by number of subgroups (figure 2)\n\nAll true rates are 0.9, so that there is no disparity; 5,000 rows are "
        "shared evenly. Mean over 1,000 simulations. As in the authors' programs, and not as in their table 1, the ratio is of "
        "max + 0.05 to min + 0.05, and the entropy has alpha = 0.5. Other true rates are in the record.\n",
        noise_table(bias),
        "## Incomes (figure 6)\n\nDecisions of the authors' boosted trees for 14,653 people. `median`: of the double-corrected "
        "replicates, which the authors print as the estimate; the estimate itself, their equation 2, is beside it. Ours have "
        f"{DRAWS:,} replicates, theirs 500. `unified` is our interval without resampling.\n",
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
    program = "python -m bayesgroups.studies.meta_metrics_page"
    parser = argparse.ArgumentParser(prog=program, description="The page of meta-metrics, from two records.")
    parser.add_argument("--variances", type=Path, required=True, help="the record of meta_metrics")
    parser.add_argument("--bias", type=Path, required=True, help="the record of meta_metric_bias")
    parser.add_argument("--output", type=Path, required=True, help="the Markdown file to write")
    given = parser.parse_args(arguments)
    records = []
    for path in (given.variances, given.bias):
        with path.open(encoding="utf-8", newline="") as file:
            records.append(list(csv.DictReader(file)))
    write(given.output, page(records[0], records[1]))


if __name__ == "__main__":
    main()
