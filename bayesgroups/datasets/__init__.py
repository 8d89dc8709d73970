"""Data to learn on and to study estimators with: a demonstration with known truth, draws and public data.

Nothing is shipped as a file. `demonstration` generates rows from a law whose metrics are known in closed form;
`load_diabetes` reads the hospital records of the UCI repository, which it downloads once if no path is given;
`draw_evaluation` and `synthetic_metric` turn any labelled population into a study with known truth.
"""

from bayesgroups.datasets.binormal import Binormal as Binormal
from bayesgroups.datasets.binormal import binormal_metrics as binormal_metrics
from bayesgroups.datasets.demonstrations import STUDY_SIZES as STUDY_SIZES
from bayesgroups.datasets.demonstrations import Demonstration as Demonstration
from bayesgroups.datasets.demonstrations import demonstration as demonstration
from bayesgroups.datasets.diabetes import load_diabetes as load_diabetes
from bayesgroups.datasets.draws import draw_evaluation as draw_evaluation
from bayesgroups.datasets.draws import largest_remainder as largest_remainder
from bayesgroups.datasets.synthetic import SyntheticMetric as SyntheticMetric
from bayesgroups.datasets.synthetic import synthetic_metric as synthetic_metric

LEFT = ("load_adult", "load_bios_confusion", "load_bios_runs", "load_common_voice", "load_compas", "load_dressel_farid")
"""Loaders of data that the package does not fetch, which reproductions of papers need: `examples/published/data`."""


def __getattr__(name: str) -> object:
    if name in LEFT:
        raise AttributeError(
            f"bayesgroups.datasets.{name} reads files that the package does not fetch, and has left it; "
            "take it from examples/published/data in the repository"
        )
    raise AttributeError(f"module 'bayesgroups.datasets' has no attribute {name!r}")
