"""Metrics: the value of a row, the rows that count, the range and the direction of each.

A metric of a subgroup is a mean of row values over the rows that count, so its sufficient statistics
are sums and can be taken by any dataframe engine. Three metrics are more than such a mean: ``auc`` is a mean
over pairs of rows, ``f1`` is a monotone function of a rate, and ``mean`` is the mean of a column of real values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import narwhals.stable.v2 as nw

from bayesgroups.data.directions import direction_of
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError, near_misses

Kind = Literal["rate", "mean", "f1", "auc"]
"""``rate``: mean of 0/1 values; ``mean``: mean of real values; ``f1``: 2 rate / (1 + rate); ``auc``: mean over pairs."""

Role = Literal["y_true", "y_pred", "y_score", "loss", "correct"]

Y_TRUE = nw.col("__y_true__")
"""The outcome of a row as an expression, for metrics of one's own (1 where positive, 0 otherwise)."""
Y_PRED = nw.col("__y_pred__")
"""The decision on a row as an expression (1 where positive, 0 otherwise)."""
Y_SCORE = nw.col("__y_score__")
"""The score of a row as an expression."""
LOSS = nw.col("__loss__")
"""The loss of a row as an expression."""
CORRECT = nw.col("__correct__")
"""Whether the answer of a row is correct (1 or 0), as graded, as an expression."""
AGREES = nw.col("__agrees__")
"""Whether decision and outcome are the same (1 or 0), for two classes or more."""
LABEL_TRUE = nw.col("__label_true__")
"""The outcome of a row as text, for metrics of one class."""
LABEL_PRED = nw.col("__label_pred__")
"""The decision on a row as text, for metrics of one class."""


@dataclass(frozen=True, eq=False)
class Metric:
    """A metric: what is averaged, over which rows, and where its values can lie.

    Estimand: ``E[value | where]`` in each subgroup.

    Parameters
    ----------
    name : str
        The name under which the metric appears in every table.
    value : narwhals expression or str
        The value of a row, over the columns of the frame and the expressions ``Y_TRUE``, ``Y_PRED``, ``Y_SCORE``,
        ``LOSS`` and ``CORRECT`` of this module; a string names a column.
    where : narwhals expression, optional
        The rows that count (the denominator); all rows when left out.
    kind : {"rate", "mean", "f1", "auc"}
        ``rate`` promises that every value is 0 or 1.
    lower, upper : float
        The range of the values and so of the metric; values outside are an error.
    larger_is_better : bool, optional
        The direction of the metric. When left out it is that of the metric known by this name; of any other name smaller
        values are taken to be better, and tallies note that nobody said so.
    needs : frozenset of str
        The columns by role (``y_true``, ``y_pred``, ``y_score``, ``loss``, ``correct``) that must be given.
    undefined : str
        Why the metric has no value in a subgroup where no row counts.
    ties : float
        What a tied pair adds to the AUC: 0.5 (Mann-Whitney) or 0 (the strict definition).

    Raises
    ------
    InputError
        If the name is empty, the range is empty, or a rate has a range other than [0, 1].

    Examples
    --------
    A miss that costs: the mean cost of the positives that were not selected.

    >>> import narwhals.stable.v2 as nw
    >>> from bayesgroups.data.metrics import Metric, Y_PRED, Y_TRUE
    >>> Metric("miss_cost", value=nw.col("cost") * (1 - Y_PRED), where=Y_TRUE == 1, lower=0.0).name
    'miss_cost'
    """

    name: str
    value: nw.Expr | str
    where: nw.Expr | None = None
    kind: Kind = "mean"
    lower: float = -math.inf
    upper: float = math.inf
    larger_is_better: bool | None = None
    needs: frozenset[Role] = frozenset()
    undefined: str = "no row counts"
    ties: float = 0.5

    def __post_init__(self) -> None:
        if not self.name:
            raise InputError("a Metric needs a name; got an empty string")
        if self.kind == "rate" and math.isinf(self.lower) and math.isinf(self.upper):
            object.__setattr__(self, "lower", 0.0)
            object.__setattr__(self, "upper", 1.0)
        if not self.lower < self.upper:
            raise InputError(f"metric {self.name!r}: lower must be below upper; got [{self.lower}, {self.upper}]")
        if self.kind == "rate" and (self.lower, self.upper) != (0.0, 1.0):
            raise InputError(
                f"metric {self.name!r} is a rate, so its range is [0, 1]; got [{self.lower}, {self.upper}]"
            )
        if self.ties not in (0.0, 0.5):
            raise InputError(f"metric {self.name!r}: ties must be 0.5 or 0; got {self.ties}")


@dataclass(frozen=True, eq=False)
class _Rate:
    """A confusion-matrix rate as a function of the truth and the decision (both 0/1 expressions)."""

    value: Callable[[nw.Expr, nw.Expr], nw.Expr]
    where: Callable[[nw.Expr, nw.Expr], nw.Expr] | None
    needs: frozenset[Role]
    undefined: str


_BOTH: frozenset[Role] = frozenset({"y_true", "y_pred"})
_RATES: dict[str, _Rate] = {
    "sel": _Rate(lambda y, d: d, None, frozenset({"y_pred"}), "no rows"),
    "acc": _Rate(lambda y, d: AGREES, None, _BOTH, "no rows"),
    "tpr": _Rate(lambda y, d: d, lambda y, d: y == 1, _BOTH, "no positives"),
    "fnr": _Rate(lambda y, d: 1 - d, lambda y, d: y == 1, _BOTH, "no positives"),
    "fpr": _Rate(lambda y, d: d, lambda y, d: y == 0, _BOTH, "no negatives"),
    "tnr": _Rate(lambda y, d: 1 - d, lambda y, d: y == 0, _BOTH, "no negatives"),
    "ppv": _Rate(lambda y, d: y, lambda y, d: d == 1, _BOTH, "nothing selected"),
    "fdr": _Rate(lambda y, d: 1 - y, lambda y, d: d == 1, _BOTH, "nothing selected"),
    "npv": _Rate(lambda y, d: 1 - y, lambda y, d: d == 0, _BOTH, "everything selected"),
    "for": _Rate(lambda y, d: y, lambda y, d: d == 0, _BOTH, "everything selected"),
    "prev": _Rate(lambda y, d: y, None, frozenset({"y_true"}), "no rows"),
    "f1": _Rate(lambda y, d: y * d, lambda y, d: (y + d) > 0, _BOTH, "no positives and nothing selected"),
}

NAMES: tuple[str, ...] = (*_RATES, "judge_bias", "correct", "auc", "mean")
"""The metrics known by name; those of outcome and decision but ``acc`` also per class, as ``tpr[label]``."""

_PER_CLASS = re.compile(r"(?P<rate>[a-z0-9]+)\[(?P<label>.+)\]", re.DOTALL)


@checked_keywords
def named(name: str) -> Metric:
    """The metric known under a name.

    Parameters
    ----------
    name : str
        One of `NAMES`, or a rate of one class against the rest such as ``tpr[cat]``.

    Returns
    -------
    Metric

    Raises
    ------
    InputError
        If no metric has that name; the message proposes those that come close.

    Notes
    -----
    SEL, ACC, TPR, FNR, FPR, TNR, PPV, NPV, FDR, FOR as in a confusion matrix; ``prev`` is the share of rows with a positive
    outcome, and ``judge_bias`` is ``sel`` minus ``prev``; F1 is TP / (TP + (FP + FN) / 2);
    AUC counts ties one half; ``correct`` is the share of rows graded correct, ``mean`` the mean of the column of losses.
    Undefined denominators give NaN, never 0.

    Examples
    --------
    >>> from bayesgroups.data.metrics import named
    >>> named("fnr").larger_is_better, named("tpr[cat]").name
    (False, 'tpr[cat]')
    """
    if name == "auc":
        return Metric(
            "auc", value=Y_SCORE, kind="auc", lower=0.0, upper=1.0, larger_is_better=direction_of(name),
            needs=frozenset({"y_true", "y_score"}), undefined="one class only",
        )  # fmt: skip
    if name == "correct":
        return Metric(
            "correct", value=CORRECT, kind="rate", larger_is_better=direction_of(name), needs=frozenset({"correct"}),
            undefined="no rows",
        )  # fmt: skip
    if name == "judge_bias":
        return Metric(
            "judge_bias", value=Y_PRED - Y_TRUE, lower=-1.0, upper=1.0, needs=_BOTH, undefined="no rows",
        )  # fmt: skip
    if name == "mean":
        return Metric("mean", value=LOSS, needs=frozenset({"loss"}), undefined="no rows")
    if name in _RATES:
        return _rate(name, name, Y_TRUE, Y_PRED)
    match = _PER_CLASS.fullmatch(name)
    if match and match["rate"] == "auc":
        raise InputError(
            f"metric {name!r}: scores are about one class; tally 'auc' with a column that is 1 for {match['label']!r} and 0 for "
            "all others as y_true= and the score of that class as y_score="
        )
    if match and match["rate"] in _RATES:
        label = match["label"]
        if match["rate"] == "acc":
            raise InputError(
                f"metric {name!r}: accuracy is over all classes; use 'acc', or 'tpr[{label}]' for one class"
            )
        truth = (LABEL_TRUE == label).cast(nw.Float64)
        decision = (LABEL_PRED == label).cast(nw.Float64)
        return _rate(match["rate"], name, truth, decision)
    raise InputError(f"unknown metric {name!r}; {near_misses(name, NAMES)}")


@checked_keywords
def net_benefit(threshold: float) -> Metric:
    """Net benefit of the decisions at hand where a false positive costs the odds of a threshold in true positives.

    Parameters
    ----------
    threshold : float
        Risk at which one would be indifferent, in [0, 1). A decision curve moves it together with the threshold of the decision,
        see `bayesgroups.threshold_curve`; here the decision stays as it is.

    Returns
    -------
    Metric
        A mean of row values: 1 for a true positive, minus the odds for a false one, 0 for all others.

    Raises
    ------
    InputError
        If the threshold is not in [0, 1).

    Notes
    -----
    Its value depends on the prevalence of a subgroup, so that equal values are not equal treatment.

    References
    ----------
    Vickers, Elkin (2006), doi:10.1177/0272989X06295361.

    Examples
    --------
    >>> from bayesgroups.data.metrics import net_benefit
    >>> net_benefit(0.2).name, net_benefit(0.2).lower
    ('net_benefit_0.2', -0.25)
    """
    if not 0 <= threshold < 1:
        raise InputError(f"net_benefit: threshold={threshold!r} must be in [0, 1), such as 0.2")
    odds = threshold / (1 - threshold)
    return Metric(
        f"net_benefit_{threshold:g}", value=Y_PRED * Y_TRUE - odds * Y_PRED * (1 - Y_TRUE), lower=-odds, upper=1.0,
        larger_is_better=True, needs=_BOTH, undefined="no rows",
    )  # fmt: skip


def class_of(metric: Metric) -> str | None:
    """The class a one-against-rest metric is about, ``None`` for any other.

    Examples
    --------
    >>> from bayesgroups.data.metrics import class_of, named
    >>> class_of(named("ppv[dog]")), class_of(named("ppv"))
    ('dog', None)
    """
    match = _PER_CLASS.fullmatch(metric.name)
    return match["label"] if match and match["rate"] in _RATES else None


def _rate(rate: str, name: str, truth: nw.Expr, decision: nw.Expr) -> Metric:
    definition = _RATES[rate]
    return Metric(
        name,
        value=definition.value(truth, decision),
        where=None if definition.where is None else definition.where(truth, decision),
        kind="f1" if rate == "f1" else "rate",
        lower=0.0,
        upper=1.0,
        larger_is_better=direction_of(name),
        needs=definition.needs,
        undefined=definition.undefined,
    )
