"""The file of an analysis to start from."""

from __future__ import annotations

_TEMPLATE = """\
# An analysis by bayesgroups. Run it with: bayesgroups run analysis.toml
# The same file and the same rows give the same bytes.

title = "How well does the model work for whom?"
seed = 1                      # source of all randomness
# created_at = "2026-01-31"   # the time that reports carry; none when left out
folder = "results"            # outputs go here; paths are relative to this file
rows = "rows.csv"             # .csv, .parquet, or a pattern such as "rows/*.parquet"

[tally]
# file = "saved.tally.nc"     # a tally instead of rows; then leave out the rest of this table
by = ["race", "sex"]          # columns whose combinations are the subgroups
metrics = ["fnr", "acc"]      # sel acc tpr fnr fpr tnr ppv npv fdr for f1 auc mean
y_true = "outcome"            # column of the outcome
y_score = "risk"              # column of the score; or y_pred = "decision"
threshold = 0.5               # selected are scores of at least this
output = "rows.tally.nc"
# [tally.level_names.sex]     # names that people read in tables, plots and pages
# 2 = "women"

[estimators.alone]
word = "no_pooling"
output = "alone.nc"

[estimators.pooled]
word = "partial_pooling"      # settings of the estimator go below its word
tau_scale = 0.5
output = "pooled.nc"
html = "pooled.html"
json = "pooled.json"
csv = "pooled.csv"

[comparison]
of = ["alone", "pooled"]
output = "comparison.csv"

[questions.disparity]
ask = "disparity"             # a public function; its arguments go below
of = "pooled"                 # the name of an estimator, or "tally"
measures = ["max_min_difference", "worst_group_gap"]
output = "disparity.json"

[questions.worst]
ask = "certify"
of = "pooled"
standards = [0.2, 0.3, 0.4]
output = "worst.json"
"""


def template() -> str:
    """The text of an analysis with comments, which `bayesgroups.cli.analysis_files.read_plan` reads as it is.

    Returns
    -------
    str

    Examples
    --------
    >>> print(template().splitlines()[0])
    # An analysis by bayesgroups. Run it with: bayesgroups run analysis.toml
    """
    return _TEMPLATE
