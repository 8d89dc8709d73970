"""View of a report for a reader: one metric, both approaches, one level, as plain arrays.

Tables, plots and pages all start here, so they show the same numbers in the same order.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import BoolArray, FloatArray, IndexArray
from bayesgroups.errors import InputError, near_misses
from bayesgroups.report.levels import LEVELS
from bayesgroups.report.overlap import overlaps
from bayesgroups.report.schema import check
from bayesgroups.tallies.denominators import denominators
from bayesgroups.tallies.labels import shown_labels, shown_left_out

Order = Literal["tally", "size", "estimate"]
ORDERS: tuple[str, ...] = ("tally", "size", "estimate")

_SAID = (
    ("undefined", "undefined"), ("not estimable", "not estimable"), ("imputed", "imputed"), ("degenerate", "zero variance"),
)  # fmt: skip
"""Statuses that go by approach, in words; the others follow from the rows and are told by their reason."""
NAMED = 8
"""Most subgroups that a sentence about those left out names."""
_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(frozen=True)
class Side:
    """Answer of one approach for every subgroup, arrays (subgroup,) on the metric's own scale.

    ``inner_lower`` and ``inner_upper`` are the 50 % interval. Limits of the frequentist side are clipped to the range of
    the metric.
    """

    approach: str
    estimate: FloatArray
    lower: FloatArray
    upper: FloatArray
    inner_lower: FloatArray
    inner_upper: FloatArray
    status: tuple[str, ...]
    interval_kind: str
    interval_method: tuple[str, ...]
    estimand: str

    @property
    def methods(self) -> str:
        """Methods of the intervals, see `interval_methods`."""
        return interval_methods(self.interval_method)


@dataclass(frozen=True)
class Reading:
    """One metric of a report at one level.

    ``count`` and ``truth`` have shape (subgroup,); ``overall`` is the centre of the subgroups, or the value of all rows or of a
    target, ``overall_is`` says which one, and ``bounds`` are those of the metric. ``overlapping`` is True of targets that share
    people, of which an imputed one has some people without rows; ``usable`` is False where the report failed its diagnostics.
    """

    metric: str
    level: float
    subgroups: tuple[str, ...]
    count: FloatArray
    reason: tuple[str, ...]
    bayesian: Side
    frequentist: Side
    overall: float
    overall_is: str
    bounds: tuple[float, float]
    truth: FloatArray | None
    overlapping: bool = False
    usable: bool = True

    def headline(self) -> str:
        """The estimand and the intervals of both approaches, in a sentence that says where they are not usable."""
        sides = (self.bayesian, self.frequentist)
        answers = [(side.estimand, side.interval_kind, side.interval_method) for side in sides]
        return marked(headline(self.metric, self.level, answers), usable=self.usable)

    def order(self, by: Order) -> IndexArray:
        """Positions of the subgroups: as tallied, largest first, or largest Bayesian estimate first."""
        if by == "tally":
            return np.arange(len(self.subgroups), dtype=np.intp)
        key = self.count if by == "size" else self.bayesian.estimate
        return np.argsort(-np.nan_to_num(key, nan=-np.inf), kind="stable").astype(np.intp)

    def inside(self, side: Side) -> BoolArray:
        """True where the truth lies in the interval of the subgroup; false where either is missing."""
        truth = np.full(len(self.subgroups), np.nan) if self.truth is None else self.truth
        return (side.lower <= truth) & (truth <= side.upper)

    def remarks(self) -> list[str]:
        """Remarks on each subgroup, in words; empty where there is none."""
        return [self._remark(i) for i in range(len(self.subgroups))]

    def _remark(self, i: int) -> str:
        sides = (self.bayesian, self.frequentist)
        parts = [self.reason[i]] if self.reason[i] else []
        for status, words in _SAID:
            having = [side.approach for side in sides if side.status[i] == status]
            if having and not (status in ("undefined", "not estimable") and parts):
                parts.append(words if len(having) == len(sides) else f"{words} ({having[0].capitalize()})")
        return "; ".join(parts)

    def decimals(self) -> int:
        """Decimals that keep the numbers of this metric apart: 3 on [0, 1], three figures otherwise."""
        if np.isfinite(self.bounds).all() and max(map(abs, self.bounds)) <= 1:
            return 3
        sides = (self.bayesian, self.frequentist)
        values = [value for side in sides for value in (side.estimate, side.lower, side.upper)]
        largest = float(np.max(np.abs(np.nan_to_num(values, posinf=0.0, neginf=0.0)), initial=0.0))
        return 3 if largest == 0 else min(max(2 - math.floor(math.log10(largest)), 0), 12)


def read(
    report: xr.DataTree, metric: str | None = None, *, level: float = 0.95, truth: xr.DataArray | None = None
) -> Reading:
    """View of one metric of a report, by default its first; the level is one of `bayesgroups.report.levels.LEVELS`.

    ``truth`` has true values along ``subgroup``, and ``metric`` where it knows several, matched by label. InputError if
    the report lacks the metric or the level, or the truth has other dims or other subgroups; SchemaError if the tree is
    not a report.
    """
    check(report)
    table, tally = report["estimates"].to_dataset(), report["constant_data"].to_dataset()
    names = metrics_of(report)
    name = names[0] if metric is None else metric
    if name not in names:
        raise InputError(f"the report has no metric {name!r}; {near_misses(name, names)}")
    check_level(level)
    estimates, facts = table.sel(metric=name), tally.sel(metric=name)
    labels = [str(label) for label in table["subgroup"].values]
    shown = shown_labels(tally)
    overall, overall_is = _overall(report, name, facts)
    return Reading(
        metric=plain(name),
        level=level,
        subgroups=tuple(plain(shown[label]) for label in labels),
        count=_floats(facts["count"]),
        reason=tuple(str(reason) for reason in facts["reason"].values),
        bayesian=_side(estimates, "bayesian", level),
        frequentist=_side(estimates, "frequentist", level),
        overall=overall,
        overall_is=overall_is,
        bounds=(float(facts["range_lower"]), float(facts["range_upper"])),
        truth=None if truth is None else _truth(truth, name, labels),
        overlapping=overlaps(report),
        usable=usable(report),
    )


def marked(sentence: str, *, usable: bool) -> str:
    """A sentence about a fit, with a mark where that failed its diagnostics.

    >>> marked("fnr of 4 subgroups", usable=False)
    'fnr of 4 subgroups; NOT usable: the Bayesian fit failed its diagnostics'
    """
    return sentence if usable else f"{sentence}; NOT usable: the Bayesian fit failed its diagnostics"


_NAMES = {
    "benjamini": "Benjamini", "bock": "Bock", "clopper-pearson": "Clopper-Pearson", "dirichlet": "Dirichlet", "fab": "FAB",
    "hochberg": "Hochberg", "hsu": "Hsu", "imbens": "Imbens", "jeffreys": "Jeffreys", "katz": "Katz", "koopman": "Koopman",
    "manski": "Manski", "miettinen": "Miettinen", "morris": "Morris", "mover": "MOVER", "newcombe": "Newcombe",
    "nurminen": "Nurminen", "satterthwaite": "Satterthwaite", "wald": "Wald", "welch": "Welch", "wilson": "Wilson",
    "woolf": "Woolf", "yekutieli": "Yekutieli",
}  # fmt: skip
_PERSONS = re.compile(rf"\b({'|'.join(_NAMES)})\b")


def interval_methods(methods: Iterable[str]) -> str:
    """Names of the methods of some intervals, the commonest first.

    >>> interval_methods(["equal_tailed", "one_sided", "equal_tailed"])
    'equal-tailed or one-sided'
    """
    counted = Counter(_method_words(method) for method in methods)
    return " or ".join(method for method, _ in counted.most_common())


def headline(metric: str, level: float, answers: Sequence[tuple[str, str, Iterable[str]]], quantity: str = "") -> str:
    """Estimand and intervals of some answers about one metric, in a sentence.

    Answers are (estimand, interval kind, interval methods of the subgroups) as in ``/estimates``; an estimand is empty
    where a report of an older version does not say it, and an answer of the kind ``none`` has no interval. ``quantity``
    is the function of all subgroups that is asked for; by default the value of every one of them.

    >>> rate = "superpopulation rate"
    >>> headline("fnr", 0.95, [(rate, "credible", ["equal_tailed"]), (rate, "confidence", ["jeffreys"])])
    'fnr: superpopulation rate per subgroup; 95% credible (equal-tailed) and confidence (Jeffreys) intervals'
    >>> headline("fnr", 0.95, [(rate, "credible", ["equal_tailed"])], "gap between 3 subgroups")
    'fnr: gap between 3 subgroups in the superpopulation rate; 95% credible (equal-tailed) intervals'
    """
    estimands = " and ".join(dict.fromkeys(plain(estimand) for estimand, _, _ in answers if estimand))
    intervals = dict.fromkeys(interval_words(kind, methods) for _, kind, methods in answers if kind != "none")
    what = _quantity_words(quantity, estimands)
    limits = f"{percent(level)} {' and '.join(intervals)} intervals" if intervals else "no intervals"
    return f"{metric}: {'; '.join(part for part in (what, limits) if part)}"


def error_headline(metric: str, estimand: str, quantity: str, error: float, method: str) -> str:
    """Estimand of a list without intervals, and the error it is held to: the most expected share of false entries, and how.

    >>> error_headline("fnr", "superpopulation rate", "gap of each subgroup", 0.05, "benjamini_hochberg")
    'fnr: gap of each subgroup in the superpopulation rate; at most 5% of entries expected to be false (Benjamini-Hochberg)'
    """
    what = _quantity_words(quantity, plain(estimand))
    return f"{metric}: {what}; at most {percent(error)} of entries expected to be false ({_method_words(method)})"


def _quantity_words(quantity: str, estimands: str) -> str:
    """A function of all subgroups in an estimand, or that of every subgroup."""
    if quantity:
        return f"{quantity} in the {estimands}" if estimands else quantity
    return f"{estimands} per subgroup" if estimands else ""


def interval_words(kind: str, methods: Iterable[str]) -> str:
    """The kind of intervals and, in brackets, their methods, where they have any."""
    words = interval_methods(method for method in methods if method)
    return f"{plain(kind)} ({words})" if words else plain(kind)


def _method_words(method: str) -> str:
    """A method with its remark, which methods carry in brackets, and names of persons as such."""
    word, _, remark = method.partition(" (")
    words = plain(word.replace("_", "-") + (f"; {remark.removesuffix(')')}" if remark else ""))
    return _PERSONS.sub(lambda name: _NAMES[name.group()], words)


def metrics_of(report: xr.DataTree) -> list[str]:
    """Names of the metrics of a report, in order; a SchemaError if the tree is none."""
    check(report)
    return [str(name) for name in report["estimates"].to_dataset()["metric"].values]


def failures(report: xr.DataTree) -> list[str]:
    """Sentences of the checks that a report failed; empty for one that is usable."""
    checks = report["diagnostics"].to_dataset()
    return [plain(str(sentence)) for sentence in checks["sentence"].values[checks["passed"].values == 0]]


def usable(report: xr.DataTree) -> bool:
    """True if a report says of itself that it can be used."""
    return bool(int(report.attrs.get("usable", 0)))


def check_level(level: float) -> None:
    """Check that reports carry this level; the message lists the levels there are."""
    if level not in LEVELS:
        raise InputError(f"level {level:g} is not in a report; choose one of {', '.join(map(str, LEVELS))}")


def check_order(order: str) -> None:
    """Check that there is this order of subgroups; the message lists the orders there are."""
    if order not in ORDERS:
        raise InputError(f"order {order!r} is not one of {', '.join(map(repr, ORDERS))}")


def plain(text: str) -> str:
    r"""A label as it can be shown anywhere: control characters, line ends, changes of direction escaped.

    Examples
    --------
    >>> print(plain("a\nb\x1b[31m"))
    a\x0ab\x1b[31m
    """
    return "".join(char if _shown(char) else f"\\x{ord(char):02x}" for char in text)


def number(value: float, decimals: int = 3) -> str:
    """Number with fixed decimals; nothing for NaN, no negative zero.

    >>> number(0.12345), number(-0.0001), number(float("nan")), number(3.2e9, 0), number(2e-30, 12)
    ('0.123', '0.000', '', '3200000000', '2e-30')
    """
    if math.isnan(value):
        return ""
    tiny = value != 0 and decimals >= 12 and abs(value) < 1e-9  # fixed decimals would show nothing but zeros
    return f"{value:.3g}" if tiny or abs(value) >= 1e12 else f"{value:z.{decimals}f}"


def left_out_sentence(left_out: str, shown: Mapping[str, str] | None = None) -> str:
    """Sentence that names who takes no part in an answer, by the labels that people read; empty where everyone does.

    >>> left_out_sentence("a | f (no rows); b | f (no positives)"), left_out_sentence("")
    ('Left out, without rows: a | f (no rows); b | f (no positives).', '')
    """
    labels = shown_left_out(left_out, shown or {}).split("; ") if left_out else []
    more = f" and {len(labels) - NAMED} more" if len(labels) > NAMED else ""
    return f"Left out, without rows: {plain('; '.join(labels[:NAMED]))}{more}." if labels else ""


def whole(count: float) -> str:
    """Number of rows: whole where it is, one decimal where weights made it fractional, nothing for NaN.

    >>> whole(1204.0), whole(17.25), whole(float("nan"))
    ('1204', '17.2', '')
    """
    if math.isnan(count):
        return ""
    return f"{count:.0f}" if float(count).is_integer() else f"{count:.1f}"


def percent(level: float) -> str:
    """Level in words, such as 95%."""
    return f"{100 * level:g}%"


def _shown(char: str) -> bool:
    return char not in _DIRECTIONS and unicodedata.category(char) not in ("Cc", "Cs", "Zl", "Zp")


def _side(estimates: xr.Dataset, approach: str, level: float) -> Side:
    answer = estimates.sel(approach=approach)
    return Side(
        approach=approach,
        estimate=_floats(answer["estimate"]),
        lower=_floats(answer["lower"].sel(level=level)),
        upper=_floats(answer["upper"].sel(level=level)),
        inner_lower=_floats(answer["lower"].sel(level=LEVELS[0])),
        inner_upper=_floats(answer["upper"].sel(level=LEVELS[0])),
        status=tuple(str(status) for status in answer["status"].values),
        interval_kind=str(answer["interval_kind"].values),
        interval_method=tuple(
            str(method) for method in answer["interval_method"].broadcast_like(answer["lower"]).sel(level=level).values
        ),
        estimand=str(answer["estimand"].values) if "estimand" in answer else "",
    )


def _overall(report: xr.DataTree, metric: str, facts: xr.Dataset) -> tuple[float, str]:
    """The posterior mean of the population's centre where there is one, otherwise the value over all rows."""
    if "posterior" in report.children and "overall" in report["posterior"].data_vars:
        centre = float(report["posterior"].to_dataset()["overall"].sel(metric=metric).mean())
        if math.isfinite(centre):
            return centre, "the target population" if overlaps(report) else "centre of the subgroups (posterior mean)"
    if overlaps(report):
        return float(facts["estimate"].values[0]), "the target population"
    weight, estimate = denominators(report["constant_data"].to_dataset().sel(metric=metric)), _floats(facts["estimate"])
    if not np.isfinite(weight).any():
        weight = np.ones_like(estimate)
    used = np.isfinite(estimate) & (weight > 0)
    if not used.any():
        return math.nan, "overall"
    return float(np.average(estimate[used], weights=weight[used])), "all rows"


def _truth(truth: xr.DataArray, metric: str, labels: Iterable[str]) -> FloatArray | None:
    if not isinstance(truth, xr.DataArray) or "subgroup" not in truth.dims:
        raise InputError("truth must be an xarray.DataArray with dim 'subgroup' (and 'metric' for several)")
    if "metric" in truth.dims:
        if metric not in truth["metric"].values:
            return None
        truth = truth.sel(metric=metric)
    if truth.ndim != 1:
        raise InputError(f"truth must have dims 'metric' and 'subgroup' alone; got {truth.dims}")
    values = {str(label): float(value) for label, value in zip(truth["subgroup"].values, truth.values, strict=True)}
    wanted = list(labels)
    if not set(values) & set(wanted):
        raise InputError(f"truth knows none of the subgroups of the report; it has {list(values)[:3]} ...")
    return np.array([values.get(label, math.nan) for label in wanted])


def _floats(values: xr.DataArray) -> FloatArray:
    return np.asarray(values.values, dtype=np.float64)
