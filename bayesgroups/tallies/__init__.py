"""The tally: rows reduced once to sufficient statistics per metric and subgroup.

The tally is the seam of the package: data work lies above it, statistics below it. It is an `xarray.Dataset` with
dims ``metric`` and ``subgroup`` (``feature``, ``score_cell``, ``cluster_cell`` where used).

``rows`` (subgroup)
    Number of rows.
``count`` (metric, subgroup)
    Effective denominator, 0 where the metric is undefined. For ``auc`` n0 n1 / (n0 + n1 + 1); with weights
    (sum w)^2 / sum w^2.
``successes`` (metric, subgroup)
    Numerator of a rate; NaN for metrics that are not rates.
``estimate`` (metric, subgroup)
    Standard estimate; NaN where undefined.
``row_variance`` (metric, subgroup)
    Variance of the row values, divisor count - 1; NaN below two rows.
``sampling_variance`` (metric, subgroup)
    ``pooled_variance / count``: squared standard error of the estimate.
``bootstrap_variance`` (metric, subgroup)
    Exact variance of the bootstrap of the subgroup's rows, in closed form.
``pooled_variance``, ``pooled_df`` (metric)
    Row variance pooled over subgroups and its degrees of freedom, sum of (count - 1).
``status``, ``reason`` (metric, subgroup)
    ``ok``, ``saturated`` (all rows agree), ``single`` (one row) or ``undefined`` (no row counts), and why.
``kind``, ``range_lower``, ``range_upper``, ``larger_is_better``, ``undefined_when``, ``ties`` (metric)
    What each metric is; the kinds are ``rate``, ``mean``, ``f1``, ``auc`` and ``estimate``. Whatever tells better subgroups from
    worse ones asks ``larger_is_better`` and never the name; ``bayesgroups.tallies.notes`` knows which directions were assumed.
``cell_*`` (subgroup, outcome, decision)
    Rows per confusion cell with ``confusion=True``, see `bayesgroups.tallies.confusion`.
``judged``, ``labelled``, ``decision_count`` (subgroup, decision)
    Rows by decision, those of them with an outcome, and effective rows, with ``unlabelled="keep"``, see
    `bayesgroups.tallies.partial_labels`.
``feature_mean`` (subgroup, feature)
    Means of the columns named by ``features=``.
``score_*`` (score_cell)
    Positives and negatives per subgroup and distinct score, for ``auc``.
``packet_*`` (score_packet, score_covariate)
    Sums of products of scores and covariates of rows, with ``row_covariates=``, see `bayesgroups.tallies.score_covariates`.
``cluster_subgroup``, ``cluster_label``, ``cluster_rows``, ``cluster_weight``, ``cluster_sum`` (cluster_cell)
    Rows, weights and sums per subgroup and cluster, with ``cluster=``; so are all variables below.
``cluster_analysis`` (metric)
    ``robust``, ``mean`` or ``ignore``, see `bayesgroups.tallies.analyses`; an AUC is always analysed by rows.
``icc`` (metric)
    Correlation of two rows of one cluster, pooled over subgroups; NaN where the rows cannot tell.
``sampling_covariance`` (metric, subgroup, subgroup_other)
    Covariance of the estimates of subgroups that share clusters, where ``shared_clusters="covariance"`` asked for it; its diagonal
    is ``sampling_variance``.
``clusters`` (subgroup), ``cluster_count``, ``cluster_robust_variance`` (metric, subgroup)
    Clusters; those with a row that counts; variance of the estimate from the subgroup's own clusters, NaN below two.
``row_weight``, ``row_weight_squares``, ``row_mean``, ``row_scatter`` (metric, subgroup), ``row_kind`` (metric)
    Sums of the rows by themselves and the kind of the metric before its clusters are analysed.

Coordinates: ``subgroup`` holds one label per combination of levels, joined by " | "; each attribute is a coordinate
along ``subgroup``. All combinations of observed or declared levels are there, empty ones with count 0.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from bayesgroups.tallies.published import tally_from_counts as tally_from_counts
from bayesgroups.tallies.published import tally_from_estimates as tally_from_estimates

if TYPE_CHECKING:
    from bayesgroups.tallies.addition import add_tallies as add_tallies
    from bayesgroups.tallies.auc_variances import auc_as_rate as auc_as_rate
    from bayesgroups.tallies.auc_variances import with_auc_variance as with_auc_variance
    from bayesgroups.tallies.rows import tally as tally
    from bayesgroups.tallies.score_histograms import auc_error_bound as auc_error_bound
    from bayesgroups.tallies.score_histograms import bin_scores as bin_scores

__all__ = [
    "add_tallies", "auc_as_rate", "auc_error_bound", "bin_scores", "tally", "tally_from_counts", "tally_from_estimates",
    "with_auc_variance",
]  # fmt: skip


_HOME = {
    "tally": "rows",
    "add_tallies": "addition",
    "auc_as_rate": "auc_variances",
    "auc_error_bound": "score_histograms",
    "bin_scores": "score_histograms",
    "with_auc_variance": "auc_variances",
}


def __getattr__(name: str) -> object:
    # Rows need a dataframe library, published tables do not: a process that only has counts starts without it.
    if name in _HOME:
        return getattr(import_module(f"bayesgroups.tallies.{_HOME[name]}"), name)
    raise AttributeError(f"module 'bayesgroups.tallies' has no attribute {name!r}")
