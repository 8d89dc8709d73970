"""Curves per subgroup and the areas under them: metrics along thresholds, ROC, calibration, both approaches side by side.

Everything is computed from the score cells of a tally (`bayesgroups.questions.curves.scores`), so cost does not grow with rows.

=================  ==========================================================================================
file               content
=================  ==========================================================================================
``thresholds``     `threshold_curve`: metrics as functions of the threshold
``roc``            `roc_curve`: ROC curves
``calibration``    `calibration_curve`: shares of positives per bin of the score
``areas``          `auc_intervals`: the AUC with an interval of choice
``scores``         scores of a tally or of rows
``histograms``     counts between thresholds, and their bootstrap
``rates``          metrics from confusion cells
``bands``          pointwise limits, and bands by calibration
``trees``          posterior of score distributions, from the three below
``tilts``          smooth differences between distributions
``hierarchy``      what is left, shrunk
``recalibration``  smooth differences between calibration curves
=================  ==========================================================================================
"""

from bayesgroups.questions.curves.areas import auc_intervals as auc_intervals
from bayesgroups.questions.curves.calibration import calibration_curve as calibration_curve
from bayesgroups.questions.curves.roc import roc_curve as roc_curve
from bayesgroups.questions.curves.thresholds import threshold_curve as threshold_curve

__all__ = ["auc_intervals", "calibration_curve", "roc_curve", "threshold_curve"]
