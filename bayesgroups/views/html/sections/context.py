"""Context that every section of the page starts from: one metric of a report, its attributes, and pictures."""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import IndexArray
from bayesgroups.report.view import Reading, number, read
from bayesgroups.tallies.labels import shown_labels
from bayesgroups.tallies.notes import assumed_directions, undirected
from bayesgroups.tallies.participation import Imputed, Participants, participants
from bayesgroups.views.html.words import MetricWords, metric_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Picture:
    """Address of the data, the text in its place, and the caption below it."""

    source: str
    alternative: str
    caption: str


def picture(draw: Callable[[], Axes], alternative: str, caption: str) -> Picture:
    """A drawing, as an address, in our own style, whatever the reader's; ``draw`` makes the axes on a figure of its own."""
    return Picture(f"data:image/svg+xml;base64,{_drawing(draw)}", alternative, caption)


def _drawing(draw: Callable[[], Axes]) -> str:
    import matplotlib as mpl

    buffer = io.BytesIO()
    with mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()  # the reader's own styles would change the bytes
        # Text stays text: browsers have fonts for scripts that matplotlib's own lacks (and warns about).
        mpl.rcParams.update({"svg.hashsalt": "bayesgroups", "svg.fonttype": "none"})
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = draw().get_figure(root=True)
        assert figure is not None
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # the layout is found; to save it would be to look for it twice more
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return base64.b64encode(buffer.getvalue()).decode("ascii")


DRAWN = 40
"""At most so many subgroups are drawn in a forest plot."""


@dataclass(frozen=True)
class Context:
    """One metric of a report: its tally, its place and name (not escaped), what there is to say of it, and the truth if known.

    ``imputed`` decides if subgroups without rows take part in the questions of the page; ``directed`` is False of a metric with
    neither a better nor a worse side.
    """

    report: xr.DataTree
    tally: xr.Dataset
    place: int
    name: str
    reading: Reading
    words: MetricWords
    level: float
    truth: xr.DataArray | None
    larger_is_better: bool
    imputed: Imputed
    directed: bool = True

    @property
    def participants(self) -> Participants:
        """Subgroups that the Bayesian side answers for and that take part."""
        answered = np.isfinite(self.reading.bayesian.estimate)
        return participants(self.tally.isel(metric=self.place), answered, self.imputed)

    @property
    def assumed(self) -> bool:
        """True if smaller values are taken to be better because nobody gave a direction."""
        return self.directed and self.name in assumed_directions(self.tally)

    @property
    def defined(self) -> bool:
        """True if the Bayesian side has an answer for any subgroup that takes part."""
        return bool(self.participants.included.any())

    def text(self, value: float) -> str:
        """A value of the metric as text; a dash where there is none."""
        return number(float(value), self.reading.decimals()) or "–"

    def span(self, lower: float, upper: float) -> str:
        """An interval as text; a dash where there is none."""
        bounds = [number(float(bound), self.reading.decimals()) for bound in (lower, upper)]
        return " to ".join(bounds) if all(bounds) else "–"

    @property
    def labels(self) -> list[str]:
        """Labels of the subgroups as the report has them, for asking; ``reading.subgroups`` are for showing."""
        return [str(label) for label in self.report["estimates"].to_dataset()["subgroup"].values]

    @property
    def shown(self) -> dict[str, str]:
        """Labels as people read them, by the labels of the report."""
        return shown_labels(self.tally)

    def drawn(self) -> IndexArray:
        """Positions of the subgroups to draw: all, or half the worst (or farthest from 0) and half the largest of very many."""
        many = len(self.reading.subgroups)
        if many <= DRAWN:
            return np.arange(many, dtype=np.intp)
        side = self.reading.bayesian if self.defined else self.reading.frequentist
        estimate = np.where(self.participants.included, side.estimate, np.nan) if self.defined else side.estimate
        bad = np.abs(estimate) if not self.directed else -estimate if self.larger_is_better else estimate
        worst = np.argsort(-np.nan_to_num(bad, nan=-np.inf), kind="stable")[: DRAWN // 2]
        largest = [i for i in self.reading.order("size") if i not in set(worst.tolist())][: DRAWN - len(worst)]
        return np.array([*worst, *largest], dtype=np.intp)


def contexts(
    report: xr.DataTree, level: float, truth: xr.DataArray | None, imputed: Imputed = "leave_out"
) -> list[Context]:
    """The metrics of a report, in order."""
    tally = report["constant_data"].to_dataset()
    names = [str(name) for name in report["estimates"].to_dataset()["metric"].values]
    return [
        Context(
            report, tally, place, name, read(report, name, level=level, truth=truth), metric_words(tally, name), level, truth,
            bool(int(tally["larger_is_better"].sel(metric=name))), imputed, name not in undirected(tally),
        )
        for place, name in enumerate(names)
    ]  # fmt: skip


def only(context: Context) -> xr.DataTree:
    """The report with the metric of the context alone."""
    kept = {}
    for name, group in context.report.children.items():
        data = group.to_dataset()
        kept[name] = data.isel(metric=[context.place]) if "metric" in data.dims else data
    tree = xr.DataTree.from_dict(kept)
    tree.attrs = dict(context.report.attrs)
    return tree
