"""Single-line mutations of central formulas, and the ordinary tests that must notice each of them.

    python3 -m uv run pytest -m slow tests/test_mutations.py

A mutation replaces one piece of text by another that computes something wrong; its tests have to fail on a copy of the
package that has it. Doctests do not count.
"""

from __future__ import annotations

from typing import NamedTuple


class Mutation(NamedTuple):
    """A wrong formula: the file, the text that stands there once, the text in its place, and the tests that notice."""

    name: str
    path: str
    right: str
    wrong: str
    tests: str


FREQUENTIST = "bayesgroups/frequentist"
QUESTIONS = "bayesgroups/questions"
TALLIES = "bayesgroups/tallies"
COLLAPSED = "bayesgroups/inference/collapsed"

MUTATIONS = (
    Mutation(
        "James-Stein factor",
        f"{FREQUENTIST}/intervals/bock.py",
        "1.0, 1 - (free - 2) / q)",
        "1.0, 1 - (free - 1) / q)",
        "tests/frequentist/test_james_stein.py",
    ),
    Mutation(
        "positive part of the James-Stein factor",
        f"{FREQUENTIST}/intervals/bock.py",
        "factor = np.maximum(factor, 0.0)",
        "factor = np.maximum(factor, -1.0)",
        "tests/frequentist/test_james_stein.py",
    ),
    Mutation(
        "shrinkage of Morris",
        f"{FREQUENTIST}/intervals/morris.py",
        " b = (free - 2) / free * s2 / (s2 + a)",
        " b = s2 / (s2 + a)",
        "tests/frequentist/test_morris.py",
    ),
    Mutation(
        "variance of Morris",
        f"{FREQUENTIST}/intervals/morris.py",
        "+ uncertain * (y - m) ** 2",
        "+ 0 * uncertain * (y - m) ** 2",
        "tests/frequentist/test_morris.py",
    ),
    Mutation(
        "pooled variance",
        f"{TALLIES}/variances.py",
        "freedom = np.where(use, count - 1, 0.0)",
        "freedom = np.where(use, count, 0.0)",
        "tests/tallies/test_tally.py tests/frequentist/test_worked_examples.py",
    ),
    Mutation(
        "published pooled variance",
        f"{TALLIES}/variances.py",
        "(size[use] ** 2 * bootstrap_variance[use])",
        "(size[use] * bootstrap_variance[use])",
        "tests/tallies/test_tally.py tests/frequentist/test_worked_examples.py",
    ),
    Mutation(
        "inverse moment of a binomial count",
        f"{TALLIES}/variances.py",
        "/ -np.expm1(n * np.log1p(-p))",
        "",
        "tests/tallies/test_variances.py",
    ),
    Mutation(
        "residual of a cluster",
        f"{TALLIES}/clusters.py",
        "self.total - self.weight * np.nan_to_num(mean)[self.subgroup]",
        "self.total - np.nan_to_num(mean)[self.subgroup]",
        "tests/tallies/test_clusters.py tests/frequentist/test_cluster_robust.py",
    ),
    Mutation(
        "Wilson limits",
        f"{FREQUENTIST}/intervals/proportions.py",
        "rate * (1 - rate) / trials + z**2 / (4 * trials**2)",
        "rate * (1 - rate) / trials",
        "tests/frequentist/test_proportions.py",
    ),
    Mutation(
        "Wilson centre",
        f"{FREQUENTIST}/intervals/proportions.py",
        "(rate + z**2 / (2 * trials)) / shrink",
        "rate / shrink",
        "tests/frequentist/test_proportions.py",
    ),
    Mutation(
        "between-group variance by moments",
        f"{FREQUENTIST}/intervals/moments.py",
        "scatter = (w * (y - mean) ** 2).sum",
        "scatter = (w * np.abs(y - mean)).sum",
        "tests/frequentist/test_moments.py",
    ),
    Mutation(
        "Q-profile limits",
        f"{QUESTIONS}/disparities/q_profile.py",
        "y.shape[-1] - 1, tail(level)",
        "y.shape[-1] - 1, 2 * tail(level)",
        "tests/questions/disparities",
    ),
    Mutation(
        "one-sided Q-profile limit",
        f"{QUESTIONS}/disparities/q_profile.py",
        "near = float(chdtri(y.shape[-1] - 1, 1 - tail(level)))",
        "near = float(chdtri(y.shape[-1], 1 - tail(level)))",
        "tests/questions/disparities/test_q_profile.py",
    ),
    Mutation(
        "Hedges-Olkin variance",
        f"{QUESTIONS}/disparities/heterogeneity.py",
        "y.var(axis=-1, ddof=1) - v.mean(axis=-1)",
        "y.var(axis=-1, ddof=0) - v.mean(axis=-1)",
        "tests/questions/disparities",
    ),
    Mutation(
        "I squared",
        f"{QUESTIONS}/disparities/heterogeneity.py",
        "np.maximum(0.0, 1 - (y.shape[-1] - 1) / q)",
        "np.maximum(0.0, 1 - y.shape[-1] / q)",
        "tests/questions/disparities",
    ),
    Mutation(
        "Sidak critical value",
        f"{QUESTIONS}/certification/multiplicity.py",
        "np.expm1(np.log(level) / max(groups, 1))",
        "np.expm1(np.log(level) / max(groups - 1, 1))",
        "tests/questions/certification/test_multiplicity.py",
    ),
    Mutation(
        "Bonferroni critical value",
        f"{QUESTIONS}/certification/multiplicity.py",
        "error /= max(groups, 1)",
        "error /= max(groups - 1, 1)",
        "tests/questions/certification/test_certify.py tests/questions/certification/test_selection.py",
    ),
    Mutation(
        "trace of SURE",
        f"{FREQUENTIST}/crossed/sure.py",
        "- 2 * (v @ np.diagonal(w) + empty)",
        "- (v @ np.diagonal(w) + empty)",
        "tests/frequentist/test_crossed_sure.py",
    ),
    Mutation(
        "rBLPR interval",
        f"{FREQUENTIST}/structured/rblpr.py",
        "return Interval(centre - high, centre - low)",
        "return Interval(centre + low, centre + high)",
        "tests/frequentist/test_structured_arrays.py tests/frequentist/test_structured_regression.py",
    ),
    Mutation(
        "rBLPR centre",
        f"{FREQUENTIST}/structured/rblpr.py",
        "centre = bootstrap.ridge + bootstrap.ols",
        "centre = 2 * bootstrap.ridge",
        "tests/frequentist/test_structured_arrays.py tests/frequentist/test_structured_regression.py",
    ),
    Mutation(
        "sharp bounds of equal opportunity",
        f"{TALLIES}/disagreement_rates.py",
        "lower = _ratio(agree, agree + sent)",
        "lower = _ratio(agree, agree + disagree + sent)",
        "tests/frequentist/bounds",
    ),
    Mutation(
        "sharp bounds of predictive equality",
        f"{TALLIES}/disagreement_rates.py",
        "lower = _ratio(disagree, disagree + sum_others(agree + disagree))",
        "lower = _ratio(disagree, disagree + sum_others(agree))",
        "tests/frequentist/bounds",
    ),
    Mutation(
        "polar area",
        f"{QUESTIONS}/tradeoffs/curves.py",
        "np.abs(ax * by - ay * bx).sum(axis=-1) / 2",
        "np.abs(ax * by - ay * bx).sum(axis=-1)",
        "tests/questions/tradeoffs",
    ),
    Mutation(
        "distance to the optimum",
        f"{QUESTIONS}/tradeoffs/distances.py",
        "weights[0] * apart[0] ** 2 + weights[1] * apart[1] ** 2",
        "weights[0] * apart[0] + weights[1] * apart[1]",
        "tests/questions/tradeoffs",
    ),
    Mutation(
        "Dirichlet prior of labels",
        f"{COLLAPSED}/disagreement.py",
        "np.broadcast_to(JEFFREYS + total,",
        "np.broadcast_to(1.0 + total,",
        "tests/inference/test_collapsed_disagreement.py",
    ),
    Mutation(
        "half-normal prior of tau",
        f"{COLLAPSED}/binomial.py",
        "- 0.5 * (tau / tau_scale) ** 2",
        "- 0.5 * (tau / (2 * tau_scale)) ** 2",
        "tests/inference/test_collapsed_binomial.py",
    ),
    Mutation(
        "prior of the overall logit",
        f"{COLLAPSED}/binomial.py",
        "- 0.5 * (alpha / overall_scale) ** 2",
        "- 0.5 * (alpha / (2 * overall_scale)) ** 2",
        "tests/inference/test_collapsed_binomial.py",
    ),
    Mutation(
        "half-t prior of crossed effects",
        f"{COLLAPSED}/crossed/prior.py",
        "return np.asarray(-scale * stdtrit(DEGREES, 0.5 * ndtr(-u)))",
        "return np.asarray(-scale * stdtrit(DEGREES + 3, 0.5 * ndtr(-u)))",
        "tests/inference/test_collapsed_crossed_spreads.py tests/inference/test_collapsed_crossed.py",
    ),
    Mutation(
        "effective number of weights",
        "bayesgroups/inference/importance.py",
        "weight.sum() ** 2 / (weight**2).sum()",
        "weight.sum() ** 2 / weight.sum()",
        "tests/inference/test_importance.py",
    ),
    Mutation(
        "shrinkage of Pareto's k-hat",
        "bayesgroups/inference/importance.py",
        "(len(x) * k + 5) / (len(x) + 10)",
        "k",
        "tests/inference/test_importance.py",
    ),
    Mutation(
        "one-sided credible limit",
        "bayesgroups/report/credible.py",
        "np.quantile(part, levels if from_below",
        "np.quantile(part, np.sqrt(levels) if from_below",
        "tests/report/test_credible.py",
    ),
    Mutation(
        "rows that narrow an interval",
        f"{QUESTIONS}/certification/sample_sizes.py",
        "np.ceil(variance / (factor**2 * widest) - 1e-9)",
        "np.ceil(variance / (factor * widest) - 1e-9)",
        "tests/questions/certification",
    ),
)
