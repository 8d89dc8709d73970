"""Numbers of the page of meta-metrics: published ones beside ours, from three records.

python -m examples.published.debiasing.meta_metrics_page \
        --variances tests/recovery/records/between_group_variance.csv \
        --bias tests/recovery/records/meta_metric_bias.csv \
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
from examples.pages import PAGES, fill, table
from examples.published.debiasing.meta_metrics_samples import FIGURES, estimates, replicates, sample_table
from examples.published.debiasing.published_meta_metrics import COVERAGE, EXAMPLES, LEVELS

Row = Mapping[str, str]

PAGE = PAGES / "meta_metrics.md"
PUBLISHED = {
    "uncorrected, percentile": "uncorrected",
    "corrected, percentile (published)": "corrected",
    "double_corrected, percentile (published)": "double_corrected",
}
REFERENCE = "double_corrected, percentile (published)"
DRAWS = 4000
COLUMNS = (5, 25, 50, 100, 150)
LOWEST_SHOWN = ("0.1", "0.3", "0.5", "0.7", "0.9")


def numbers(variances: Sequence[Row], bias: Sequence[Row], shortest: Sequence[Row]) -> dict[str, str]:
    """Texts of the page by the name of their block.

    Parameters
    ----------
    variances, bias, shortest : sequences of mappings
        Lines of the three records.
    """
    return {
        "simulations": simulations(variances),
        "coverage": coverage_table(variances),
        "methods": methods_table(variances),
        "posteriors": posteriors(variances),
        "lengths": shortest_table(shortest),
        "bias of variances": bias_of_variances(variances),
        "no disparity": noise_table(bias),
        "unequal rates": spread_table(bias),
        "estimates": sample_table(estimates(), FIGURES[3]),
        "replicates": sample_table(replicates(), FIGURES[5]),
        "incomes": incomes_table(),
    }


def simulations(variances: Sequence[Row]) -> str:
    """The number of simulations and the largest Monte Carlo error, as a line."""
    replications = max(int(line["replications"]) for line in variances)
    error = max(100 * float(line["mc_error"]) for line in variances if int(line["replications"]) == replications)
    return f"{replications:,} simulations; Monte Carlo errors of the shares are at most {error:.1f} points."


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
    return table(["design", "uncorrected", "corrected", "double-corrected"], rows)


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
    return table(["method, interval", *COVERAGE], rows)


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
    return table(["estimate", *COVERAGE], rows)


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
    return table(["measure", *(f"{number} subgroups" for number in COLUMNS)], rows)


def spread_table(bias: Sequence[Row]) -> str:
    """Bias of the measures with 100 subgroups, by lowest true rate.

    Returns
    -------
    str
        Markdown, a line per measure.
    """
    rows = []
    for name in dict.fromkeys(line["measure"] for line in bias):
        biases = {
            line["lowest"]: float(line["mean"]) - float(line["truth"])
            for line in bias
            if line["measure"] == name and line["subgroups"] == "100"
        }
        rows.append([name, *(f"{biases[low]:.5f}" for low in LOWEST_SHOWN)])
    return table(["measure", *(f"rates from {low}" for low in LOWEST_SHOWN)], rows)


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
    return table(["interval", "level", *designs], rows)


def posteriors(variances: Sequence[Row]) -> str:
    """The numbers of posteriors, as a line."""
    replications = {
        kind: next(line["replications"] for line in variances if line["method"].startswith(f"{kind} posterior"))
        for kind in ("normal", "binomial")
    }
    return ", ".join(f"{number} {kind}" for kind, number in replications.items()) + "."


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
    return table(head, rows)


def _limits(lower: float, upper: float) -> str:
    return f"{lower:.4f}-{upper:.4f}"


def _find(lines: Iterable[Row], design: str, method: str) -> Row:
    return next(line for line in lines if line["design"] == design and line["method"] == method)


def main(arguments: Sequence[str] | None = None) -> None:
    """Fill in the numbers of the page."""
    program = "python -m examples.published.debiasing.meta_metrics_page"
    parser = argparse.ArgumentParser(
        prog=program, description="Numbers of the page of meta-metrics, from three records."
    )
    parser.add_argument("--variances", type=Path, required=True, help="the record of meta_metrics")
    parser.add_argument("--bias", type=Path, required=True, help="the record of meta_metric_bias")
    parser.add_argument("--shortest", type=Path, required=True, help="the record of shortest_intervals")
    parser.add_argument("--output", type=Path, required=True, help="the Markdown file to write")
    given = parser.parse_args(arguments)
    records = []
    for path in (given.variances, given.bias, given.shortest):
        with path.open(encoding="utf-8", newline="") as file:
            records.append(list(csv.DictReader(file)))
    fill(given.output, numbers(*records), prose=PAGE)


if __name__ == "__main__":
    main()
