"""Figures 2 to 6 of Lum, Zhang, Bower (2022), drawn from our own runs.

    python -m examples.published.debiasing.meta_metrics_figures --bias tests/recovery/records/meta_metric_bias.csv \
        --output docs/examples

writes ``meta_metrics_2.svg`` to ``meta_metrics_6.svg``.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from bayesgroups.questions.disparities.between_group_variance import between_group_variance
from bayesgroups.tallies import tally_from_counts
from examples.pictures import panels, save, style
from examples.published.debiasing.meta_metric_bias import MEASURES
from examples.published.debiasing.meta_metrics_samples import FIGURES, Sample, estimates, replicates
from examples.published.debiasing.published_meta_metrics import EXAMPLES, LEVELS, Example

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = Mapping[str, str]

COLOURS = {"uncorrected": "#999999", "corrected": "#0072B2", "double_corrected": "#D55E00", "unified": "#009E73"}
BINS = 30
DRAWS = 4000


def bias_figure(bias: Sequence[Row]) -> Figure:
    """Figure 2: bias of the six measures by number of subgroups, a line per lowest true rate.

    Parameters
    ----------
    bias : sequence of mappings
        Lines of the record of `examples.published.debiasing.meta_metric_bias`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib as mpl

    figure, axes = panels(2, 3, (8.4, 4.8))
    lowest = sorted({float(line["lowest"]) for line in bias})
    colour = mpl.colormaps["viridis"]
    for axis, name in zip(axes, MEASURES, strict=True):
        for i, low in enumerate(lowest):
            lines = [line for line in bias if line["measure"] == name and float(line["lowest"]) == low]
            x = [int(line["subgroups"]) for line in lines]
            y = [float(line["mean"]) - float(line["truth"]) for line in lines]
            axis.plot(x, y, color=colour(i / len(lowest)), lw=1.0, label=f"{low:.1f}")
        axis.axhline(0.0, color="black", lw=0.6)
        axis.set_title(name.replace("_", " "))
    for axis in axes[3:]:
        axis.set_xlabel("subgroups")
    for axis in axes[::3]:
        axis.set_ylabel("mean less truth")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", title="lowest rate", frameon=False)
    return figure


def histograms(samples: Sequence[Sample], corrections: Sequence[str], *, limits: bool) -> Figure:
    """Figures 3 to 5: histograms of variances, a panel per design, with the truth.

    Parameters
    ----------
    samples : sequence of Sample
        From `examples.published.debiasing.meta_metrics_samples`.
    corrections : sequence of str
        Which to show.
    limits : bool
        Whether to mark the middle 95 % of each, the percentile interval of replicates.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = panels(2, 2, (6.4, 4.6))
    for axis, sample in zip(axes, samples, strict=True):
        shown = [sample.values[name] for name in corrections]
        edges = np.histogram_bin_edges(np.concatenate(shown), BINS).tolist()
        for name, values in zip(corrections, shown, strict=True):
            label = name.replace("_", "-")
            axis.hist(values, edges, color=COLOURS[name], alpha=0.55, label=label, histtype="stepfilled")
        if limits:
            top = axis.get_ylim()[1]
            for i, (name, values) in enumerate(zip(corrections, shown, strict=True)):
                low, high = np.quantile(values, [0.025, 0.975])
                height = top * (1.06 + 0.07 * i)
                axis.plot([low, high], [height, height], color=COLOURS[name], lw=2.0, marker="|", markersize=5)
        axis.axvline(sample.truth, color="black", lw=1.0, ls="--")
        axis.set_title(sample.design.name)
        axis.set_yticks([])
        axis.locator_params(axis="x", nbins=5)
    for axis in axes[2:]:
        axis.set_xlabel("variance between subgroups")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    return figure


def incomes_figure(draws: int) -> Figure:
    """Figure 6: variances of the income example with their intervals, uncorrected, double-corrected and unified."""
    figure, axes = panels(2, 3, (7.6, 3.6))
    forms = ("uncorrected", "double_corrected", "unified")
    for axis, example in zip(axes, EXAMPLES, strict=True):
        for i, name in enumerate(forms):
            point, low, high = income_interval(example, name, draws)
            axis.plot([low, high], [-i, -i], color=COLOURS[name], lw=2.0, label=name.replace("_", "-"))
            axis.plot(point, -i, "o", color=COLOURS[name], markersize=4)
        axis.axvline(0.0, color="black", lw=0.6)
        axis.set_title(f"{example.attribute}, {example.metric}")
        axis.set_ylim(-2.6, 0.6)
        axis.set_yticks([])
        axis.locator_params(axis="x", nbins=5)
    for axis in axes[3:]:
        axis.set_xlabel("variance between subgroups")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    return figure


def income_interval(example: Example, form: str, draws: int) -> tuple[float, float, float]:
    """The truncated estimate and 95 % limits of one attribute and metric.

    Parameters
    ----------
    example : Example
        Counts.
    form : {"uncorrected", "double_corrected", "unified"}
        The first two as published; the last unbiased, with its own interval.
    draws : int
        Bootstrap replicates.

    Examples
    --------
    >>> point, low, high = income_interval(EXAMPLES[1], "unified", 100)
    >>> round(point, 5), round(low, 4), round(high, 4)
    (0.00121, 0.0005, 0.0022)
    """
    who = pd.DataFrame({example.attribute: LEVELS[example.attribute]})
    tally = tally_from_counts(example.successes, example.trials, who, metric=example.metric)
    if form == "unified":
        variances = between_group_variance(tally, "corrected", interval="unified")
    elif form == "uncorrected":
        variances = between_group_variance(tally, "uncorrected", form="published", draws=draws)
    else:
        variances = between_group_variance(tally, form="published", draws=draws)
    variance = variances.isel(metric=0)
    return float(variance["truncated"]), float(variance["lower"]), float(variance["upper"])


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw the five figures."""
    program = "python -m examples.published.debiasing.meta_metrics_figures"
    parser = argparse.ArgumentParser(prog=program, description="Figures of variances between subgroups.")
    parser.add_argument("--bias", type=Path, required=True, help="the record of meta_metric_bias")
    parser.add_argument("--output", type=Path, required=True, help="the folder for the figures")
    given = parser.parse_args(arguments)
    with given.bias.open(encoding="utf-8", newline="") as file:
        bias = list(csv.DictReader(file))
    with style():
        drawn = {2: bias_figure(bias), 6: incomes_figure(DRAWS)}
        for number, corrections in FIGURES.items():
            samples = estimates() if number == 3 else replicates()
            drawn[number] = histograms(samples, corrections, limits=number != 3)
    save({f"meta_metrics_{number}.svg": figure for number, figure in drawn.items()}, given.output)


if __name__ == "__main__":
    main()
