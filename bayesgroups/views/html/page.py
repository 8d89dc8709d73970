"""Writing the page: the sections give plain data, the templates show it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import xarray as xr

from bayesgroups.data.file_names import check_ending
from bayesgroups.data.files import write_text
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.questions.contrasts.comparisons import Reference
from bayesgroups.report.overlap import overlaps
from bayesgroups.report.schema import check
from bayesgroups.report.view import NAMED, left_out_sentence, percent, plain
from bayesgroups.tallies.labels import shown_left_out
from bayesgroups.tallies.participation import Imputed, check_imputed
from bayesgroups.views.html.sections.checks import diagnostics, priors
from bayesgroups.views.html.sections.context import Context, contexts
from bayesgroups.views.html.sections.contrasts import contrasts
from bayesgroups.views.html.sections.estimates import estimates, pooling, table
from bayesgroups.views.html.sections.orders import orders
from bayesgroups.views.html.sections.overview import question, verdict
from bayesgroups.views.html.sections.population import population as population_section
from bayesgroups.views.html.sections.provenance import method, origin
from bayesgroups.views.html.sections.questions import promise, unequal, worst
from bayesgroups.views.html.sections.targets import Served, asked_targets
from bayesgroups.views.html.templates import filled

NO_DIRECTION = (
    "0 is the fair value, and a value below it is no better than one above: no subgroup is called the worst, and there is no "
    "standard that all are shown to reach. Where one side is worse than the other, say so by larger_is_better= in the tally."
)
"""What stands in the place of the worst subgroups of a metric that has no direction."""


@checked_keywords
def write_html(
    report: xr.DataTree, path: str | Path, *, level: float = 0.95, truth: xr.DataArray | None = None,
    imputed: Imputed = "leave_out", reference: Reference | None = None, population: Any = None,
) -> Path:  # fmt: skip
    """Write a report as one self-contained page.

    The page needs no network and no other file: the verdict first, the question, what was found at a glance; per metric the
    forest plot of both approaches, the curve along ordered attributes, what pooling did, the worst subgroups, how unequal they
    are, what can be promised to all, how much the prior says, and the table of every subgroup (of targets: the shares of rows
    and people instead); then diagnostics, method with references, and how to make it again. Tables can be sorted and filtered by a
    script in the page, and read without it. The same report gives the same bytes with the same version of matplotlib. Very many
    subgroups are drawn in part and listed up to 5,000.

    Parameters
    ----------
    report : xr.DataTree
        A report.
    path : str or Path
        The file; an older one of that name is replaced in one step.
    level : float
        Level of the intervals, one of `bayesgroups.report.levels.LEVELS`.
    truth : xr.DataArray, optional
        True values along ``subgroup`` (and ``metric``), shown where they are known.
    imputed : {"leave_out", "include"}
        Whether subgroups without rows that count for a metric take part in its questions: the worst, the gap, the standard
        that all reach. The page names those it leaves out, and its table and forest plot have all.
    reference : str, float or mapping, optional
        Adds a section with the contrasts to this reference, as in `bayesgroups.contrasts`.
    population : frame, mapping, path, xr.Dataset, PopulationSample, "rows" or xr.DataTree, optional
        Adds a section with the values in this target population beside those of the sample, for everybody and every level of
        the attributes: sizes as in `bayesgroups.poststratify`, or its report of the same subgroups, where other settings are
        wanted.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    SchemaError
        If the tree is not a report.
    InputError
        If the file cannot be written or has the ending of another format, the report lacks the level, the truth does not fit,
        ``imputed`` is something else, or the reference or population is one that `bayesgroups.contrasts` or
        `bayesgroups.poststratify` refuses.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> import bayesgroups as bg
    >>> counts = bg.tally_from_counts([1, 30], [2, 100], pd.DataFrame({"site": ["a", "b"]}), metric="fnr")
    >>> report = bg.estimate(counts, bg.PartialPooling(), seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     "False negative rate" in bg.write_html(report, Path(folder) / "fnr.html").read_text("utf-8")
    True
    """
    check_ending(path, "a page", "HTML")
    page = render(report, level=level, truth=truth, imputed=imputed, reference=reference, population=population)
    return write_text(path, page)


def render(
    report: xr.DataTree, *, level: float = 0.95, truth: xr.DataArray | None = None, imputed: Imputed = "leave_out",
    reference: Reference | None = None, population: Any = None,
) -> str:  # fmt: skip
    """The page as text; parameters and errors as in `write_html`."""
    check(report)
    check_imputed(imputed)
    read = contexts(report, level, truth, imputed)
    served = asked_targets(report, population, level)
    asked = {
        "level": None if level == 0.95 else level, "truth": truth, "imputed": None if imputed == "leave_out" else imputed,
        "reference": reference, "population": population,
    }  # fmt: skip
    content = {
        "level": percent(level),
        "verdict": verdict(report),
        "of_targets": overlaps(report),
        "question": question(report, read),
        "metrics": [_metric(context, reference, served) for context in read],
        "diagnostics": diagnostics(report),
        "method": method(report, level),
        "origin": origin(report, {name: value for name, value in asked.items() if value is not None}),
    }
    return filled("page.html", content)


def _metric(context: Context, reference: Reference | None, served: Served) -> dict[str, Any]:
    words, targets = context.words, overlaps(context.report)
    shown_targets = context if targets else served.contexts.get(context.name)
    heading = words.title if words.title == context.reading.metric else f"{words.title} ({context.reading.metric})"
    return {
        "heading": heading,
        "title": words.title,
        "words": words,
        "estimand": context.reading.headline(),
        "estimates": estimates(context, heading),
        "left_out": None if targets else _left_out(context),
        "contrasts": contrasts(context, reference),
        "population": None if shown_targets is None else population_section(shown_targets),
        "targets": served.section(context.name),
        "no_target": served.missing(context.name),
        "orders": [] if targets else orders(context),
        "pooling": None if targets else pooling(context),
        "worst": None if targets else worst(context),
        "no_direction": NO_DIRECTION if context.defined and not (targets or context.directed) else "",
        "unequal": None if targets else unequal(context),
        "promise": None if targets else promise(context),
        "priors": None if targets else priors(context),
        "table": table(context),
    }


def _left_out(context: Context) -> dict[str, Any] | None:
    """Who takes no part in the questions: a sentence, or a list to open where it would be long."""
    left_out = context.participants.left_out
    if not left_out:
        return None
    if len(left_out) <= NAMED:
        return {"sentence": left_out_sentence(context.participants.names, context.shown), "labels": []}
    return {"sentence": "", "labels": [plain(shown_left_out(label, context.shown)) for label in left_out]}
