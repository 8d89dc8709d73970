"""Figures 1 and 6 of Han, Baldwin, Cohn (2023): true positive rates by profession and subgroup, and confusion counts."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesgroups.questions.disparities.aggregation import aggregate
from bayesgroups.questions.disparities.class_scores import confusion_scores
from examples.pages import table
from examples.pictures import panels
from examples.published.data.bios import PROFESSIONS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MODELS = {"model 1": "9.00", "model 2": "5.00"}
"""Checkpoints of one training that the paper shows as two models."""
WIDEST = 6
"""Professions in the table of gaps."""


def rates_figure(counts: xr.DataArray) -> Figure:
    """Figure 1: true positive rates of both models by profession and subgroup; a cross where there is nobody.

    Parameters
    ----------
    counts : xr.DataArray
        Confusion counts (epoch, subgroup, label, predicted).
    """
    figure, parts = panels(1, len(MODELS), (6.2, 5.6), shared=True)
    meshes = []
    for axes, (name, epoch) in zip(parts, MODELS.items(), strict=True):
        rates = _rates(counts, epoch)
        meshes.append(axes.pcolormesh(rates.values, cmap="cividis", vmin=0, vmax=1))
        nobody = np.argwhere(np.isnan(rates.values))
        axes.plot(nobody[:, 1] + 0.5, nobody[:, 0] + 0.5, "x", color="black", markersize=5, lw=0)
        axes.set_title(f"{name} (epoch {float(epoch):g})")
        axes.set_xticks(np.arange(4) + 0.5, [subgroup.replace(" | ", ",\n") for subgroup in rates["subgroup"].values])
        axes.set_yticks(np.arange(rates.sizes["label"]) + 0.5, _professions(rates))
    parts[0].invert_yaxis()
    figure.colorbar(meshes[-1], ax=parts, label="true positive rate", fraction=0.05)
    return figure


def confusion_figure(counts: xr.DataArray) -> Figure:
    """Figure 6: people by true and predicted profession, per subgroup, coloured by their share of the profession.

    Parameters
    ----------
    counts : xr.DataArray
        Confusion counts (epoch, subgroup, label, predicted).
    """
    of_model = counts.sel(epoch=MODELS["model 1"], drop=True)
    figure, parts = panels(2, 2, (10.0, 9.2), shared=True)
    for axes, subgroup in zip(parts, of_model["subgroup"].values, strict=True):
        people = of_model.sel(subgroup=subgroup).transpose("label", "predicted")
        true, predicted = np.nonzero(people.values)
        number = people.values[true, predicted]
        share = number / people.values.sum(axis=1)[true]
        axes.scatter(predicted + 0.5, true + 0.5, c=share, s=42, marker="s", cmap="Blues", vmin=0, vmax=1, linewidths=0)
        for x, y, text, part in zip(predicted, true, number, share, strict=True):
            colour = "white" if part > 0.6 else "black"
            axes.text(
                x + 0.5, y + 0.5, str(text), ha="center", va="center", fontsize=4, family="DejaVu Sans", color=colour
            )
        axes.set_title(subgroup.replace(" | ", ", "))
        places = np.arange(people.sizes["label"]) + 0.5
        axes.set_xticks(places, _professions(people), rotation=90)
        axes.set_yticks(places, _professions(people))
        axes.tick_params(labelsize=6)
    parts[0].set_xlim(0, of_model.sizes["predicted"])
    parts[0].set_ylim(of_model.sizes["label"], 0)
    figure.supxlabel("predicted", fontsize=8)
    figure.supylabel("true", fontsize=8)
    return figure


def gap_table(counts: xr.DataArray) -> str:
    """A Markdown table: the professions with the largest sums of gaps of model 1, and how few people these rest on.

    Parameters
    ----------
    counts : xr.DataArray
        Confusion counts (epoch, subgroup, label, predicted).
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # subgroups without a profession: said in the table
        sums = {
            name: aggregate(_rates(counts, epoch), group_power="sum_gap", class_power=None, undefined="drop")
            for name, epoch in MODELS.items()
        }
    rates = _rates(counts, MODELS["model 1"])
    rows = []
    for label in np.argsort(-sums["model 1"].values, kind="stable")[:WIDEST]:
        people, of_label = rates["count"].isel(label=label).values, rates.isel(label=label).values
        cells = [
            f"{rate:.2f} ({number:.0f})" if number else "nobody"
            for rate, number in zip(of_label, people, strict=True)
        ]  # fmt: skip
        gaps = [f"{float(gap.isel(label=label)):.2f}" for gap in sums.values()]
        rows.append([_professions(rates)[label], *cells, *gaps])
    head = [subgroup.replace(" | ", ", ") for subgroup in rates["subgroup"].values]
    return table(["profession", *head, *(f"sum of gaps, {name}" for name in MODELS)], rows)


def _rates(counts: xr.DataArray, epoch: str) -> xr.DataArray:
    return confusion_scores(counts.sel(epoch=epoch, drop=True), "tpr").transpose("label", "subgroup")


def _professions(array: xr.DataArray) -> list[str]:
    return [PROFESSIONS[int(label)].replace("_", " ") for label in array["label"].values]
