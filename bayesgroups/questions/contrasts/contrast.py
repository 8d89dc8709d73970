"""Contrasts of subgroups with a reference: differences, ratios and odds ratios, from draws and from the tally."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.frequentist.intervals.interval import tail
from bayesgroups.questions.certification.overlapping import ADDITIVE
from bayesgroups.questions.contrasts.answers import (
    Answer,
    Asked,
    from_draws,
    from_replicates,
    from_tally,
)
from bayesgroups.questions.contrasts.assembly import assemble
from bayesgroups.questions.contrasts.cells import Cells, open_cells, population_of
from bayesgroups.questions.contrasts.common import Across, check_across
from bayesgroups.questions.contrasts.comparisons import Comparison, Reference, plan
from bayesgroups.questions.contrasts.estimates import read_cells
from bayesgroups.questions.contrasts.limits import Choice
from bayesgroups.questions.contrasts.scales import FOUR_FIFTHS, Scale, check_scales, check_thresholds
from bayesgroups.questions.contrasts.targets import is_overlapping, target_answers
from bayesgroups.questions.contrasts.weighing import Weighted, weigh
from bayesgroups.questions.subgroup_values import Values
from bayesgroups.questions.values import Source, Using
from bayesgroups.report.posterior import generator
from bayesgroups.tallies.participation import Imputed


@checked_keywords
def contrasts(
    source: xr.Dataset | xr.DataTree, reference: Reference = "overall", *, of: Sequence[str] | str | None = None,
    within: Sequence[str] | str | None = None, across: Across = "standardised",
    scale: Sequence[Scale] | Scale = ("difference", "ratio"),
    contrasts: Mapping[str, Mapping[str, float]] | None = None, population: pd.DataFrame | None = None,
    margins: bool = False, order: int | None = None, thresholds: Mapping[str, Sequence[float]] = FOUR_FIFTHS,
    interval: Choice = "auto", simultaneous: bool = True, level: float = 0.95, using: Using = "auto",
    imputed: Imputed = "leave_out", larger_is_better: bool | None = None, seed: int = 0,
) -> xr.Dataset:  # fmt: skip
    """Compare subgroups with a reference: by how much, how surely, and all of them together.

    Estimand: the difference a - b, the ratio a / b or the odds ratio [a / (1 - a)] / [b / (1 - b)] of the values of a metric in a
    subgroup (a) and in its reference (b), in the superpopulation behind the rows.

    Parameters
    ----------
    source : xr.Dataset or xr.DataTree
        A tally, margins, or a report, also one of target populations.
    reference : str, float or mapping
        ``"overall"``: everyone, the subgroup among them; ``"rest"``: everyone else; ``"best"``: the best subgroup, which nobody
        knows; the label of a subgroup or of a margin; levels such as ``{"sex": "male"}``, with which the other levels of the same
        attributes are compared; or a value of the metric.
    of : sequence of str, optional
        Labels of the subgroups that are compared, or levels of the attributes of the reference; all when left out.
    within : sequence of str, optional
        Attributes that are held equal: the contrasts within each of their strata, and before them their average over the people
        of the strata ("women against men at equal age and race"). The reference has levels then.
    across : {"standardised", "mantel_haenszel"}
        With ``within``: the average over the people of the strata, which needs no common effect, or the one common effect of
        Mantel and Haenszel, of a rate: strata weighted by n1 n2 / (n1 + n2), with errors by Greenland and Robins.
    scale : sequence of {"difference", "ratio", "odds_ratio"}
        Scales of the contrasts.
    contrasts : mapping, optional
        In place of a reference: coefficients of labels by the name of the contrast, each summing to 0, such as a difference of
        differences. On the scale of ratios they are exponents.
    population : DataFrame, optional
        Number of people in every intersection, with a column per attribute and ``count``: weights of margins, of everyone and of
        strata, in place of the rows that count for the metric.
    margins : bool
        Compare every margin besides the intersections.
    order : int, optional
        Most attributes of a margin.
    thresholds : mapping from scales to numbers
        Contrasts beyond which probabilities and p-values are given: below a threshold that is smaller than equality, above
        one that is larger. The ratio .8 of the four-fifths rule when left out.
    interval : {"auto", "score", "mid_p", "delta"}
        Limits of a tally. ``auto`` and ``score``, of two rates: Newcombe or Miettinen-Nurminen (difference), Koopman
        (ratio), score (odds ratio); of weighted sums of rates MOVER. ``mid_p``: MOVER from mid-p limits of the cells, which
        hold with few rows and rare rates too; tests are those of ``auto``. ``delta``: normal with gradients, Katz, Woolf.
        Rates of weighted or clustered rows have the same from effective counts. Means, and rates of subgroups that share
        clusters, have Welch's.
    simultaneous : bool
        Add limits that hold for all contrasts of a metric and scale together, and adjusted p-values.
    level : float
        Probability of the intervals.
    using : {"auto", "tally", "posterior", "bootstrap"}
        Where the values come from. ``auto``: of a report its posterior and, beside it, its bootstrap where it has one or its
        tally; a tally where there is no report.
    imputed : {"leave_out", "include"}
        Treatment of subgroups without rows that count for the metric, for which a report's answer comes from the model alone.
    larger_is_better : bool, optional
        Replaces the direction of all metrics.
    seed : int
        Source of randomness of simulated critical values.

    Returns
    -------
    xr.Dataset
        Along ``approach`` (``bayesian``, ``frequentist``), ``scale``, ``metric`` and ``contrast``, which has the coordinates
        ``subgroup`` and ``reference`` and those of the attributes held equal: ``estimate`` (posterior mean of differences,
        median of ratios), ``median``, ``std_error`` (of the log of ratios), ``lower``, ``upper``, ``lower_simultaneous``,
        ``upper_simultaneous``; ``status`` (``ok``, ``imputed``, ``not estimable``) with ``reason``; ``overlap_share``, the
        share of the people at whom the contrast looks that it can compare; ``imputed_share``, the weight of subgroups without
        rows; ``interval_method``. Bayesian: ``probability_worse``, ``probability_best``, ``probability_beyond`` (along
        ``threshold``). Frequentist: ``p_value`` (two-sided), ``p_value_adjusted`` (Holm), ``p_value_threshold`` (one-sided),
        ``may_be_best``. Along ``approach``, ``scale`` and ``metric``: ``interval_kind``, ``critical_value``, ``worse_is``
        (``below`` or ``above`` equality). Along ``metric``: ``estimand``, ``usable``, ``left_out``. NaN where there is no such
        number.

    Raises
    ------
    InputError
        If a setting names what does not exist, the odds ratio of a metric that is no rate or the ratio of one whose range goes
        below 0 is asked for, coefficients do not sum to 0, people are given for a metric that not all rows count for, a common
        effect is asked for without strata, of people or of a metric that is no rate, a reference lies outside the range of the
        metric, or nothing is left to compare.
    SchemaError
        If ``source`` is neither a tally, margins nor a report.

    Notes
    -----
    Draws of both sides are compared draw by draw, with the correlation that they have; two marginal intervals must never be
    put together. Ratios of draws have no mean. Everyone contains the subgroup: its sampling error counts on both sides once.

    The best subgroup is that of each draw (Bayesian), so that no gap is on its good side and ``probability_worse`` is left out
    for ``probability_best``; the frequentist contrast is with the best of the *others*, with Hsu's limits, whose estimate may
    lead. P-values of weighted sums rest on the standard error that the limit facing equality implies, so that they agree with
    the limits. A contrast describes a gap, it does not explain it: values at equal age and race are standardised, they are
    not effects.

    References
    ----------
    Newcombe (1998), doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I; Koopman (1984),
    doi:10.2307/2531405; Miettinen, Nurminen (1985), doi:10.1002/sim.4780040211; Zou, Donner (2008),
    doi:10.1002/sim.3095; Hsu (1996), Multiple Comparisons; Dunnett (1955), doi:10.1080/01621459.1955.10501294;
    Greenland, Robins (1985), doi:10.2307/2530643; Sato, Greenland, Robins (1989),
    doi:10.2307/2531784; Robins, Breslow, Greenland (1986), doi:10.2307/2531052.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> who = pd.DataFrame({"race": ["A", "A", "B", "B"], "sex": ["f", "m"] * 2})
    >>> counts = bg.tally_from_counts([18, 30, 18, 6], [60, 150, 40, 25], who, metric="sel")
    >>> gap = bg.contrasts(counts, {"sex": "m"}, within="race").sel(scale="difference", metric="sel").isel(approach=0, contrast=0)
    >>> str(gap["contrast"].values), [round(float(gap[name]), 3) for name in ("estimate", "lower", "upper")]
    ('sex=f against sex=m at equal race', [0.126, 0.016, 0.241])
    """
    tail(level)  # refuses a level outside (0, 1)
    check_across(across, within=within is not None, people=population is not None)
    scales, limits = check_scales(scale), check_thresholds(thresholds)
    along = np.array(sorted({number for name in scales for number in limits.get(name, ())}))
    best = isinstance(reference, str) and reference == "best" and contrasts is None
    attrs: dict[str, object] = {
        "level": level,
        "using": using,
        "imputed": imputed,
        "reference": _in_words(reference, contrasts),
        "across": across,
    }

    def asked(name: Scale, sign: int, ends: tuple[float, float]) -> Asked:
        wanted = np.where(np.isin(along, limits.get(name, ())), along, np.nan)
        return Asked(name, level, sign, wanted, simultaneous, best, interval, ends)

    if is_overlapping(source):
        parts = target_answers(
            source, reference, of, within, contrasts, scales, asked, using=using, larger_is_better=larger_is_better,
            refused={"population": population is not None, "margins": margins},
        )  # fmt: skip
        return assemble(*parts, scales, along, attrs)
    sources = _sources(source, using, imputed, larger_is_better)
    opened, cells, overlapping = sources[0]
    comparisons = plan(
        cells, reference, of, within, contrasts, margins=margins or (overlapping and of is None), order=order
    )
    best = best and all(comparison.kind == "best" for comparison in comparisons)
    people = None if population is None else population_of(population, cells)
    answers: dict[str, dict[tuple[int, int], Answer]] = {}
    weights: dict[int, tuple[Values, Weighted]] = {}
    for each, _, _ in sources:
        approach = "bayesian" if each.using == "posterior" else "frequentist"
        for j, values in enumerate(each.metrics):
            _check_scales(values, scales)
            _check_value(values, comparisons)
            weighted = _weighted(values, comparisons, people, across, weights.get(j))
            weights[j] = values, weighted
            every = _answers(
                each, values, j, weighted, [asked(name, values.sign, values.range) for name in scales], seed
            )
            answers.setdefault(approach, {}).update({(i, j): answer for i, answer in enumerate(every)})
    first = opened.metrics
    about: dict[str, list[object]] = {
        "estimand": [values.estimand for values in first], "left_out": [values.left_out for values in first],
        "usable": [int(values.usable) for values in first], "sign": [values.sign for values in first],
    }  # fmt: skip
    # Only comparisons with the best take errors of a tally for independent.
    noted = next((each for each, _, _ in sources if each.using == "tally"), opened).noted if best else opened.direction
    return assemble(comparisons, opened.coordinates["metric"], answers, about, scales, along, attrs | noted)


def _sources(
    source: object, using: Using, imputed: Imputed, larger_is_better: bool | None
) -> list[tuple[Source, Cells, bool]]:
    """Every place that numbers come from: posterior and frequentist side of a report, or the one that is asked for."""
    places: list[Using] = [using]
    if using == "auto" and isinstance(source, xr.DataTree):
        places = ["posterior"] if "posterior" in source.children else []
        places.append("bootstrap" if "bootstrap" in source.children else "tally")
    return [open_cells(source, place, imputed, larger_is_better) for place in places]


def _check_scales(values: Values, scales: Sequence[Scale]) -> None:
    for scale in scales:
        if scale == "odds_ratio" and values.kind != "rate" and values.range != (0.0, 1.0):
            raise InputError(
                f"metric {values.metric!r} is no rate, so it has no odds ratio; leave 'odds_ratio' out of scale="
            )
        if scale != "difference" and values.range[0] < 0:
            raise InputError(
                f"metric {values.metric!r} can be below 0 (its range starts at {values.range[0]:g}), so ratios have no meaning; "
                "give scale='difference'"
            )


def _check_value(values: Values, comparisons: Sequence[Comparison]) -> None:
    lowest, highest = values.range
    for comparison in comparisons:
        if comparison.value < lowest or comparison.value > highest:
            raise InputError(
                f"reference={comparison.value:g} lies outside the range of metric {values.metric!r}, {lowest:g} to {highest:g}"
            )


def _weighted(
    values: Values, comparisons: Sequence[Comparison], people: FloatArray | None, across: Across,
    before: tuple[Values, Weighted] | None,
) -> Weighted:  # fmt: skip
    """Weights of the comparisons of one metric, by their denominators or by people; those ``before`` where cells are the same."""
    if before is not None and _same_cells(before[0], values):
        return before[1]
    if across == "mantel_haenszel" and values.kind != "rate":
        raise InputError(
            f"metric {values.metric!r} is no rate of rows, so it has no effect of Mantel and Haenszel; leave across= out"
        )
    count = np.nan_to_num(values.sample.count)
    rows, additive = values.table["rows"].values, values.kind in ADDITIVE
    if (
        people is not None
        and "weight" not in values.table
        and (count < rows).any()
        and np.isfinite(values.sample.count).all()
    ):
        raise InputError(
            f"population= counts people, and metric {values.metric!r} looks at some of them only ({count.sum():g} of "
            f"{rows.sum():g} rows); give the number of those people, with a metric of all rows, or leave population= out"
        )
    published = values.kind == "estimate"
    weights = np.nan_to_num(values.denominators) if people is None else people
    return weigh(
        comparisons, weights, np.where(np.isfinite(values.table["estimate"].values), np.inf, 0.0) if published else count,
        values.included, additive=additive or (published and people is not None),
        across=across,
    )  # fmt: skip


def _same_cells(first: Values, second: Values) -> bool:
    """True for values of a metric that weigh the same rows of the same cells."""
    return first.kind == second.kind and all(
        np.array_equal(before, now, equal_nan=True)
        for before, now in (
            (first.included, second.included),
            (first.sample.count, second.sample.count),
            (first.denominators, second.denominators),
            (first.table["rows"].values, second.table["rows"].values),
            (first.table["estimate"].values, second.table["estimate"].values),
        )
    )


def _answers(
    opened: Source, values: Values, position: int, weighted: Weighted, asked: Sequence[Asked], seed: int
) -> list[Answer]:
    """Answers about one metric, one for every scale that is asked for."""
    rngs = [generator(seed, values.metric, f"contrasts {each.scale}") for each in asked]
    if opened.using == "tally":
        cells = read_cells(opened.tally, position)
        return [from_tally(weighted, cells, each, rng) for each, rng in zip(asked, rngs, strict=True)]
    if opened.using == "bootstrap":
        return [
            from_replicates(values.spread(rng)[0], values.sample.estimate, weighted, each)
            for each, rng in zip(asked, rngs, strict=True)
        ]
    assert values.draws is not None, "a posterior has draws"
    draws = np.asfortranarray(values.draws)
    return [from_draws(draws, weighted, each) for each in asked]


def _in_words(reference: object, vectors: object) -> str:
    if vectors is not None:
        return "coefficients"
    if isinstance(reference, Mapping):
        return ", ".join(f"{name}={level}" for name, level in reference.items())
    return str(reference)
