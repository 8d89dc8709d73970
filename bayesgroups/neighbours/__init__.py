"""From and to neighbours: scikit-learn, fairlearn, Inspect, lm-evaluation-harness, PyMC and Bambi, Great Tables.

Nothing of theirs is needed unless it is used: every import waits for its function.
"""

from bayesgroups.neighbours.draws import report_from_draws as report_from_draws
from bayesgroups.neighbours.exports import export_report as export_report
from bayesgroups.neighbours.exports import great_table as great_table
from bayesgroups.neighbours.inspect_logs import read_inspect as read_inspect
from bayesgroups.neighbours.lm_eval import read_lm_eval as read_lm_eval
from bayesgroups.neighbours.metric_frames import metric_frame as metric_frame
from bayesgroups.neighbours.metric_frames import tally_from_metric_frame as tally_from_metric_frame
from bayesgroups.neighbours.scikit_learn import tally_from_estimator as tally_from_estimator
from bayesgroups.neighbours.scorers import tally_from_scorer as tally_from_scorer
