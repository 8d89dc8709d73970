"""From and to neighbours: scikit-learn, fairlearn, Inspect, lm-evaluation-harness, PyMC and Bambi, Great Tables.

Nothing of theirs is needed unless it is used: every import waits for its function.
"""

from bayesgroups.interop.draws import report_from_draws as report_from_draws
from bayesgroups.interop.evaluation_logs import read_logs as read_logs
from bayesgroups.interop.inspect_logs import read_inspect as read_inspect
from bayesgroups.interop.lm_eval import read_lm_eval as read_lm_eval
from bayesgroups.interop.metric_frames import metric_frame as metric_frame
from bayesgroups.interop.metric_frames import tally_from_metric_frame as tally_from_metric_frame
from bayesgroups.interop.scikit_learn import tally_from_estimator as tally_from_estimator
from bayesgroups.interop.scorers import tally_from_scorer as tally_from_scorer
from bayesgroups.interop.transcripts import word_errors as word_errors
from bayesgroups.views.tables.exports import export_report as export_report
from bayesgroups.views.tables.exports import great_table as great_table
