"""Data to learn on and to study estimators with: a demonstration with known truth, draws and public data.

Nothing is shipped as a file. `demonstration` generates rows from a law whose metrics are known in closed form;
`load_diabetes`, `load_adult`, `load_compas`, `load_common_voice`, `load_dressel_farid`, `load_bios_runs` and
`load_bios_confusion` read public data from a path (the first downloads them once if no path is given);
`draw_evaluation` and `synthetic_metric` turn any labelled population into a study with known truth.
"""

from bayesgroups.datasets.adult import load_adult as load_adult
from bayesgroups.datasets.binormal import Binormal as Binormal
from bayesgroups.datasets.binormal import binormal_metrics as binormal_metrics
from bayesgroups.datasets.bios import load_bios_confusion as load_bios_confusion
from bayesgroups.datasets.bios import load_bios_runs as load_bios_runs
from bayesgroups.datasets.common_voice import load_common_voice as load_common_voice
from bayesgroups.datasets.compas import load_compas as load_compas
from bayesgroups.datasets.demonstrations import STUDY_SIZES as STUDY_SIZES
from bayesgroups.datasets.demonstrations import Demonstration as Demonstration
from bayesgroups.datasets.demonstrations import demonstration as demonstration
from bayesgroups.datasets.diabetes import load_diabetes as load_diabetes
from bayesgroups.datasets.draws import draw_evaluation as draw_evaluation
from bayesgroups.datasets.draws import largest_remainder as largest_remainder
from bayesgroups.datasets.dressel_farid import load_dressel_farid as load_dressel_farid
from bayesgroups.datasets.synthetic import SyntheticMetric as SyntheticMetric
from bayesgroups.datasets.synthetic import synthetic_metric as synthetic_metric
