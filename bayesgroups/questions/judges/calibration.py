"""Rates corrected by a sensitivity and a specificity of other rows."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals.interval import Interval
from bayesgroups.frequentist.intervals.rogan_gladen import Calibration, rogan_gladen, rogan_gladen_interval
from bayesgroups.questions.judges.answers import Corrected
from bayesgroups.report.levels import LEVELS
from bayesgroups.tallies.partial_labels import is_partial, read_partial


def rogan_gladen_answer(tally: xr.Dataset, calibration: xr.Dataset) -> Corrected:
    """Prevalence (1, subgroup) from the judged rate and the judge's shares of right decisions in the same subgroup."""
    if "cell_count" not in calibration:
        raise InputError(
            "calibration= has no cells of outcome and decision; make it with bg.tally(..., confusion=True)"
        )
    if is_partial(calibration):
        raise InputError(
            "calibration= keeps rows without an outcome; sensitivity and specificity of labelled rows alone would be those of the "
            "rows that were picked. Take method='post_stratified' for such rows"
        )
    if calibration["outcome"].values.tolist() != ["0", "1"]:
        raise InputError(
            f"calibration= has the classes {calibration['outcome'].values.tolist()}; two are needed, 0 and 1"
        )
    selected, rows = _judged(tally)
    labels = calibration["subgroup"].values.tolist()
    place = [labels.index(label) if label in labels else -1 for label in tally["subgroup"].values.tolist()]
    cells = np.concatenate(
        [calibration["cell_count"].transpose("subgroup", "outcome", "decision").values, np.zeros((1, 2, 2))]
    )
    cells = cells[place]
    totals = cells.sum(axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        given = Calibration(
            selected / rows,
            cells[:, 0, 0] / totals[:, 0],
            cells[:, 1, 1] / totals[:, 1],
            rows,
            totals[:, 0],
            totals[:, 1],
        )
    estimate, error = rogan_gladen(given)
    status, reason = np.full(len(rows), "ok", dtype="<U10"), np.full(len(rows), "", dtype="<U200")
    informed = given.sensitivity + given.specificity
    for wrong, why in (
        (informed <= 1, "sensitivity + specificity is not above 1: the judge tells nothing of the outcome"),
        (totals[:, 1] == 0, "no row with a positive outcome in the calibration of this subgroup"),
        (totals[:, 0] == 0, "no row with a negative outcome in the calibration of this subgroup"),
        (totals.sum(axis=1) == 0, "no row of this subgroup in the calibration"),
        (rows == 0, "no rows"),
    ):
        status[wrong], reason[wrong] = "undefined", why
    below, above = estimate < 0, estimate > 1
    status[below | above] = "degenerate"
    reason[below], reason[above] = "judged rate below 1 - specificity", "judged rate above sensitivity"
    limits = [rogan_gladen_interval(given, level) for level in LEVELS]
    sides = (np.stack([getattr(each, side) for each in limits], axis=-1)[None] for side in ("lower", "upper"))
    return Corrected(estimate[None], error[None], Interval(*sides), status[None], reason[None], ["smoothed_delta"])


def _judged(tally: xr.Dataset) -> tuple[FloatArray, FloatArray]:
    """Rows judged positive and all rows, (subgroup,) each."""
    if "cell_count" in tally.data_vars:
        decisions, _ = read_partial(tally).effective
        if decisions.shape[1] != 2:
            raise InputError(f"the tally has {decisions.shape[1]} decisions; method='rogan_gladen' needs two")
        return decisions[:, 1], decisions.sum(axis=1)
    names = [str(name) for name in tally["metric"].values]
    if "sel" not in names:
        raise InputError(
            f"method='rogan_gladen' needs the judged rate: a tally with the metric 'sel'; this one has {names}"
        )
    chosen = tally.sel(metric="sel")
    return chosen["successes"].values, chosen["count"].values
