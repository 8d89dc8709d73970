"""The tally: rows reduced once to sufficient statistics per metric and subgroup.

The tally is the seam of the package: data work lies above it, statistics below it. It is an `xarray.Dataset` with
dims ``metric`` and ``subgroup`` (``feature``, ``score_cell``, ``cluster_cell`` where used).

=====================  ====================  ==========================================================================
variable               dims                  meaning
=====================  ====================  ==========================================================================
``rows``               subgroup              number of rows
``count``              metric, subgroup      effective denominator; 0 where the metric is undefined. For ``auc``
                                             n0 n1 / (n0 + n1 + 1); with weights (sum w)^2 / sum w^2
``successes``          metric, subgroup      numerator of a rate; NaN for metrics that are not rates
``estimate``           metric, subgroup      standard estimate; NaN where undefined
``row_variance``       metric, subgroup      variance of the row values, divisor count - 1; NaN below two rows
``sampling_variance``  metric, subgroup      ``pooled_variance / count``: squared standard error of the estimate
``bootstrap_variance`` metric, subgroup      exact variance of the bootstrap of the subgroup's rows, in closed form
``pooled_variance``    metric                row variance pooled over subgroups
``pooled_df``          metric                its degrees of freedom, sum of (count - 1)
``status``             metric, subgroup      ``ok``, ``saturated`` (all rows agree), ``single`` (one row),
                                             ``undefined`` (no row counts)
``reason``             metric, subgroup      why the status is not ``ok``
``kind``               metric                ``rate``, ``mean``, ``f1``, ``auc`` or ``estimate``
``range_lower``, ``range_upper``, ``larger_is_better``, ``undefined_when``, ``ties``: what each metric is
``feature_mean``       subgroup, feature     means of the columns named by ``features=``
``score_*``            score_cell            positives and negatives per subgroup and distinct score, for ``auc``
``cluster_*``          cluster_cell          rows, weights and sums per subgroup and cluster, with ``cluster=``
=====================  ====================  ==========================================================================

Coordinates: ``subgroup`` holds one label per combination of levels, joined by " | "; each attribute is a coordinate
along ``subgroup``. All combinations of observed or declared levels are there, empty ones with count 0.
"""

from bayesgroups.tallies.addition import add_tallies as add_tallies
from bayesgroups.tallies.published import tally_from_counts as tally_from_counts
from bayesgroups.tallies.published import tally_from_estimates as tally_from_estimates
from bayesgroups.tallies.rows import tally as tally
