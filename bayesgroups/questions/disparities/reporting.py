"""The reporting checklist: what has to be said so that an aggregate can be checked and compared."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.questions.disparities.class_scores import check_confusion
from bayesgroups.questions.tradeoffs.points import pair

NOT_STATED = "not stated"
_UNITS = {"score": "score", "gap": "absolute gap to the reference value", "ratio": "ratio to the reference value"}


@checked_keywords
def reporting_checklist(
    confusion: xr.DataArray,
    aggregated: xr.DataArray,
    *,
    metric: str,
    why_group_power: str | None = None,
    why_class_power: str | None = None,
    criterion: str | None = None,
    split: str | None = None,
    anchor: tuple[float, float] | None = None,
    utopia: tuple[float, float] | None = None,
    settings_tried: Mapping[str, int] | None = None,
    seeds: int | None = None,
    uncertainty: str | None = None,
) -> xr.Dataset:
    """Complete the checklist for one analysis.

    Parameters
    ----------
    confusion : xr.DataArray
        Whole numbers of rows by ``subgroup``, ``label`` (true class) and ``predicted``.
    aggregated : xr.DataArray
        Answer of `bayesgroups.aggregate`; its attributes answer the questions about the definition.
    metric : str
        What was measured per class and subgroup, such as ``tpr``.
    why_group_power, why_class_power : str, optional
        The reasons for the two steps.
    criterion, split : str, optional
        How the model was selected, and on which rows.
    anchor, utopia : (performance, fairness), optional
        Of areas under frontiers and distances to the optimum.
    settings_tried : mapping, optional
        Number of hyper-parameter settings per method.
    seeds : int, optional
        Runs per setting.
    uncertainty : str, optional
        Where the uncertainty of the numbers comes from; draws in ``aggregated`` answer by themselves.

    Returns
    -------
    xr.Dataset
        ``answer(item)`` and ``given(item)``, 1 or 0, where ``item`` is the question and an unanswered one says "not
        stated"; ``cell_rows(label, subgroup)``, the joint table of the data; and ``confusion(subgroup, label, predicted)``,
        from which all rates, F scores and predictive parity follow.

    Raises
    ------
    InputError
        If the counts are no confusion counts or not whole, or ``aggregated`` is not from `aggregate`.

    References
    ----------
    Han, Baldwin, Cohn (2023), https://doi.org/10.18653/v1/2023.eacl-main.23, recommendations of sections 3 and 4.

    Examples
    --------
    >>> import xarray as xr
    >>> import bayesgroups as bg
    >>> from bayesgroups.questions.disparities.class_scores import confusion_scores
    >>> from bayesgroups.questions.disparities.reporting import reporting_checklist
    >>> counts = xr.DataArray(
    ...     [[[8, 2], [1, 9]], [[3, 1], [2, 4]]],
    ...     {"subgroup": ["a", "b"], "label": ["no", "yes"], "predicted": ["no", "yes"]},
    ... )
    >>> gap = bg.aggregate(confusion_scores(counts, "tpr"))
    >>> listed = reporting_checklist(counts, gap, metric="tpr", seeds=5)
    >>> str(listed["answer"].sel(item="seeds").values), str(listed["answer"].sel(item="selection criterion").values)
    ('5 runs per setting', 'not stated')
    """
    counts = check_confusion(confusion).transpose("subgroup", "label", "predicted", ...)
    if counts.ndim > 3 or (counts != np.round(counts)).any():
        raise InputError("the checklist wants one table of whole numbers per subgroup; give the counts of one data set")
    settings = aggregated.attrs
    if not {"unit", "group_power", "class_power", "center", "better"} <= set(settings):
        raise InputError("aggregated is not from bayesgroups.aggregate: it does not say how it was made")
    cells = counts.sum("predicted").transpose("label", "subgroup")
    tolerance = f", threshold {settings['threshold']:g}" if "threshold" in settings else ""
    draws = int(np.prod([aggregated.sizes.get(dim, 1) for dim in ("chain", "draw")]))
    answers = {
        "data": (
            f"{int(cells.sum())} rows, {cells.sizes['label']} classes by {cells.sizes['subgroup']} subgroups; cells of "
            f"{int(cells.min())} to {int(cells.max())} rows, {int((cells == 0).sum())} empty; joint table: cell_rows"
        ),
        "metric": metric,
        "unit": f"{_UNITS[str(settings['unit'])]}; better: {settings['better']}",
        "reference value": None if settings["center"] == "none" else str(settings["center"]),
        "group-wise step": f"{_step(settings['group_power'])}{tolerance}",
        "why this group-wise step": why_group_power,
        "class-wise step": _step(settings["class_power"]),
        "why this class-wise step": why_class_power,
        "undefined cells": f"{int(aggregated['undefined_cells'].sum())}, handled as {settings['undefined']!r}",
        "confusion matrices": f"{cells.sizes['subgroup']} of {cells.sizes['label']} x {cells.sizes['label']}: confusion",
        "selection criterion": criterion,
        "selection split": split,
        "anchor": _point(anchor, "anchor"),
        "utopia": _point(utopia, "utopia"),
        "settings tried": settings_tried and ", ".join(f"{name} {number}" for name, number in settings_tried.items()),
        "seeds": None if seeds is None else f"{seeds} runs per setting",
        "uncertainty": uncertainty or (f"{draws} draws" if draws > 1 else None),
    }
    if settings["unit"] == "score":
        answers["reference value"] = "not needed for scores"
    words = [answer or NOT_STATED for answer in answers.values()]
    return xr.Dataset(
        {
            "answer": ("item", np.array(words, dtype=str)),
            "given": ("item", np.array([int(word != NOT_STATED) for word in words], dtype=np.int8)),
            "cell_rows": cells.astype(np.int64),
            "confusion": counts.astype(np.int64),
        },
        {"item": np.array(list(answers), dtype=str)},
    )


def _point(given: tuple[float, float] | None, argument: str) -> str | None:
    if given is None:
        return None
    performance, fairness = pair(given, argument)
    return f"performance {performance:g}, fairness {fairness:g}"


def _step(power: object) -> str:
    if isinstance(power, str):
        return power.replace("_", " ")
    return f"generalised mean with exponent {power:g}"
