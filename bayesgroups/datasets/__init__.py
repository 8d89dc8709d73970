"""Data to learn on and to study estimators with: a demonstration with known truth, draws and public data.

Nothing is shipped as a file. `demonstration` generates rows from a law whose metrics are known in closed
form; `load_diabetes`, `load_adult` and `load_common_voice` read public data from a path (the first downloads
them once if no path is given); `draw_evaluation` and `synthetic_metric` turn any labelled population into a
study with known truth.
"""

from bayesgroups.datasets.adult import load_adult as load_adult
from bayesgroups.datasets.binormal import Binormal as Binormal
from bayesgroups.datasets.binormal import binormal_metrics as binormal_metrics
from bayesgroups.datasets.common_voice import load_common_voice as load_common_voice
from bayesgroups.datasets.demonstrations import STUDY_SIZES as STUDY_SIZES
from bayesgroups.datasets.demonstrations import Demonstration as Demonstration
from bayesgroups.datasets.demonstrations import demonstration as demonstration
from bayesgroups.datasets.diabetes import load_diabetes as load_diabetes
from bayesgroups.datasets.draws import draw_evaluation as draw_evaluation
from bayesgroups.datasets.draws import largest_remainder as largest_remainder
from bayesgroups.datasets.synthetic import SyntheticMetric as SyntheticMetric
from bayesgroups.datasets.synthetic import synthetic_metric as synthetic_metric
