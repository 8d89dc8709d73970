"""Worst subgroups as rows are left out: the optimist's and the pessimist's value of a system, trained again each time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import BoolArray, FloatArray, IndexArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.questions.certification import certify
from bayesgroups.questions.certification.bounds import Choice
from bayesgroups.studies.judged_rows import Judged, System, check_system

if TYPE_CHECKING:
    import pandas as pd

LeftOut = Literal["critical", "all"]
STATISTICS = ("worst", "optimist", "pessimist")
FRACTIONS = tuple(step / 10 for step in range(1, 11))
"""Fractions of rows that are kept."""


@checked_keywords
def subsampling(
    frame: pd.DataFrame,
    by: Sequence[str],
    metric: str = "acc",
    *,
    y_true: str | None = None,
    y_pred: str | None = None,
    loss: str | None = None,
    positive: object = None,
    model: Any = None,
    features: Sequence[str] = (),
    judged: Judged = "out_of_fold",
    folds: int = 3,
    left_out: LeftOut = "all",
    fractions: Sequence[float] = FRACTIONS,
    repeats: int = 1,
    level: float = 0.95,
    critical_value: float | None = None,
    interval: Choice = "auto",
    larger_is_better: bool | None = None,
    seed: int = 0,
) -> xr.Dataset:
    """Values of the worst subgroup as rows are left out, and as the model is trained again without them.

    Does a definition of fairness reward those who collect less? Estimand: the expectation, over subsamples without
    replacement, of the ``worst``, ``optimist`` and ``pessimist`` of `bayesgroups.certify` when a fraction of the rows is kept.
    A model is trained again on every subsample; decisions or losses of a system that is already there are taken as they are.

    Parameters
    ----------
    frame : pandas DataFrame
        One row per person.
    by : sequence of str
        Columns whose combinations are the subgroups.
    metric : str
        One metric of decisions, as in `bayesgroups.tally`, or ``mean`` of a loss.
    y_true, y_pred, loss : str, optional
        Columns of outcome, decision and loss. With a model ``y_true`` alone; ``mean`` is then of its absolute errors.
    positive : object, optional
        The outcome that counts as positive, as in `bayesgroups.tally`.
    model : estimator, optional
        Not fitted, with ``fit`` and ``predict`` of scikit-learn; a copy is trained for every fold. Give it a ``random_state``.
    features : sequence of str
        Columns that the model is given.
    judged : {"out_of_fold", "in_sample"}
        Each row is judged by the model that has not seen it; or, as published, by all of them, so that decisions are averaged
        and most are of rows that the model was trained on.
    folds : int
        Models of a subsample, each trained without one part of the rows.
    left_out : {"all", "critical"}
        Rows of the whole table are left out; or those of the subgroup alone that is critical when none is, while others stay.
    fractions : sequence of float
        Fractions of these rows that are kept, above 0 and at most 1.
    repeats : int
        Subsamples per fraction. Within a repeat they are nested: more rows are rows that are added.
    level, critical_value, interval, larger_is_better
        As in `bayesgroups.certify`; 1.64 and ``wald`` are published.
    seed : int
        Source of randomness of subsamples and folds. A value depends on neither the other fractions nor the number of repeats.

    Returns
    -------
    xr.Dataset
        Along ``statistic`` (``worst``, ``optimist``, ``pessimist``), ``fraction`` and ``repeat``: ``value``, in the units of the
        metric, clipped to its range; ``subgroup``, the one whose value it is; ``estimate`` and ``count``, its metric and
        denominator; ``groups``, those that take part. NaN where the subgroup has no row left, or no subgroup has. A subgroup
        without rows takes no part in ``left_out="all"``, so that ``groups`` belongs beside the values.

    Raises
    ------
    InputError
        If a column is absent, an outcome is missing, settings of a model come without one or the other way round, a fraction is
        not in (0, 1] or leaves too few rows to train on, folds or repeats are too few, or no subgroup has a value; otherwise as
        `bayesgroups.tally` and `bayesgroups.certify`.

    Notes
    -----
    With more rows limits narrow at any fixed estimate, so that the pessimist gains and the optimist loses whatever the system
    does; ``worst``, which has no width, tells the two apart. The average of models ``in_sample`` is no share of rows; its
    limits have the number of rows for a denominator, as published.

    References
    ----------
    Himmelreich, Hsu, Lum, Veomett, The Intersectionality Problem for Algorithmic Fairness, section 6 and appendix C,
    https://doi.org/10.48550/arXiv.2411.02569.

    Examples
    --------
    >>> import bayesgroups as bg
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"site": ["a"] * 60 + ["b"] * 40, "y": [0, 1] * 50, "guess": [0, 1, 1, 1] * 25})
    >>> answer = bg.subsampling(rows, ["site"], y_true="y", y_pred="guess", fractions=[0.5, 1.0], seed=1)
    >>> answer["value"].sel(statistic="pessimist").values.round(3).tolist()
    [[0.599], [0.613]]
    """
    system = System(frame, tuple(by), metric, y_true, y_pred, loss, positive, model, tuple(features), judged, folds)
    fractions = [float(fraction) for fraction in fractions]
    check_system(system)
    _check(fractions, repeats, len(frame), 1 if model is None else folds)
    limits = _Limits(level, critical_value, interval, larger_is_better)
    levels = {name: sorted(frame[name].unique()) for name in system.by}
    value = np.full((len(STATISTICS), len(fractions), repeats), np.nan)
    estimate, count, groups = value.copy(), np.zeros_like(value), np.zeros(value.shape, dtype=np.int64)
    subgroup = np.full(value.shape, "", dtype=object)
    whole = limits.of(system.tally(np.arange(len(frame)), levels, [seed, 0]))
    if (whole.position < 0).any():
        raise InputError(f"no subgroup has a row that counts for {metric!r}; give rows for which it is defined")
    parts = [(np.ones(len(frame), dtype=bool), np.arange(len(STATISTICS)))]
    if left_out == "critical":
        places = _places(frame, levels)
        parts = [(places == at, np.flatnonzero(whole.position == at)) for at in np.unique(whole.position)]
    for repeat in range(repeats):
        order = np.random.default_rng([seed, repeat]).permutation(len(frame))
        for step, fraction in enumerate(fractions):
            for member, asked in parts:
                kept = _kept(order, member, fraction)
                complete = repeat == 0 and len(kept) == len(frame)
                answer = whole if complete else limits.of(system.tally(kept, levels, [seed, repeat]))
                for k in asked:
                    at = answer.position[k] if left_out == "all" else whole.position[k]
                    groups[k, step, repeat] = answer.groups
                    if at < 0:
                        continue
                    value[k, step, repeat] = answer.values[k, at]
                    estimate[k, step, repeat] = answer.values[0, at]
                    count[k, step, repeat] = answer.count[at]
                    subgroup[k, step, repeat] = whole.labels[at]
    dims = ("statistic", "fraction", "repeat")
    return xr.Dataset(
        {
            "value": (dims, value), "subgroup": (dims, subgroup.astype(str)), "estimate": (dims, estimate),
            "count": (dims, count), "groups": (dims, groups),
        },
        coords={"statistic": list(STATISTICS), "fraction": fractions, "repeat": np.arange(repeats)},
        attrs={
            "metric": metric, "left_out": left_out, "judged": judged if model is not None else "given",
            "folds": folds if model is not None else 0, "rows": len(frame), "interval": whole.method, "seed": seed,
            "critical_value": whole.critical_value,
        },
    )  # fmt: skip


@dataclass(frozen=True)
class _Worst:
    """Three statistics of one subsample.

    ``values`` (statistic, subgroup) are those of every subgroup, ``position`` (statistic,) the worst of each, -1 where there is
    none; ``count`` and ``labels`` (subgroup,) denominators and names; ``groups`` the number that takes part.
    """

    values: FloatArray
    position: IndexArray
    count: FloatArray
    labels: Sequence[str]
    groups: int
    method: str
    critical_value: float


@dataclass(frozen=True)
class _Limits:
    """Settings of `certify`."""

    level: float
    critical_value: float | None
    interval: Choice
    larger_is_better: bool | None

    def of(self, counted: xr.Dataset) -> _Worst:
        """Statistics of one tally."""
        certified = certify(
            counted, level=self.level, critical_value=self.critical_value, interval=self.interval,
            larger_is_better=self.larger_is_better,
        ).isel(metric=0)  # fmt: skip
        only = counted.isel(metric=0)
        larger = bool(only["larger_is_better"]) if self.larger_is_better is None else self.larger_is_better
        ends = (float(only["range_lower"]), float(only["range_upper"]))
        lower, upper = (np.clip(certified[name].values, *ends) for name in ("lower", "upper"))
        labels = certified["subgroup"].values.tolist()
        worst = [str(certified[f"{name}_subgroup"].values) for name in STATISTICS]
        return _Worst(
            np.stack([certified["estimate"].values, *((upper, lower) if larger else (lower, upper))]),
            np.array([labels.index(name) if name else -1 for name in worst]),
            certified["count"].values, labels, int(certified["groups"]),
            str(certified["interval_method"].values), float(certified["critical_value"]),
        )  # fmt: skip


def _places(frame: pd.DataFrame, levels: Mapping[str, Sequence[object]]) -> IndexArray:
    """Position of the subgroup of every row: all combinations of levels, the last attribute fastest, as in a tally."""
    codes = [np.searchsorted(np.asarray(levels[name]), frame[name].to_numpy()) for name in levels]
    return np.asarray(np.ravel_multi_index(codes, [len(each) for each in levels.values()]))


def _kept(order: IndexArray, member: BoolArray, fraction: float) -> IndexArray:
    """Positions of rows that are kept: all but members, and the first members in the order, rising."""
    members = order[member[order]]
    return np.sort(np.concatenate([np.flatnonzero(~member), members[: round(fraction * len(members))]]))


def _check(fractions: Sequence[float], repeats: int, rows: int, fewest: int) -> None:
    if not fractions or not all(0 < fraction <= 1 for fraction in fractions):
        raise InputError(f"fractions={fractions} must be at least one number above 0 and at most 1, such as 0.5")
    kept = round(min(fractions) * rows)
    if kept < fewest:
        raise InputError(f"fraction {min(fractions)} of {rows} rows keeps {kept}; keep at least {fewest}")
    if repeats < 1:
        raise InputError(f"repeats={repeats} must be at least 1")
