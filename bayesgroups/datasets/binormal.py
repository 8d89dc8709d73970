"""Every metric of a binormal risk score in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError

_phi = np.vectorize(NormalDist().cdf, otypes=[np.float64])


@dataclass(frozen=True, eq=False)
class Binormal:
    """Outcome ~ Bernoulli(prevalence); logit score given the outcome ~ Normal(mean, sd), in each subgroup.

    Parameters
    ----------
    prevalence : array (subgroup,)
        P(outcome = 1), strictly between 0 and 1.
    mean_negative, mean_positive : array (subgroup,)
        Mean of the logit score of rows with outcome 0 and 1.
    sd_negative, sd_positive : array (subgroup,)
        Its standard deviation, positive.

    Raises
    ------
    InputError
        If the arrays differ in shape, a prevalence is outside (0, 1), a sd is not positive or a number not finite.
    """

    prevalence: FloatArray
    mean_negative: FloatArray
    mean_positive: FloatArray
    sd_negative: FloatArray
    sd_positive: FloatArray

    def __post_init__(self) -> None:
        for name, values in vars(self).items():
            if np.shape(values) != np.shape(self.prevalence):
                expected = np.shape(self.prevalence)
                raise InputError(f"{name} has shape {np.shape(values)}; expected {expected}, as prevalence")
            if not np.isfinite(values).all():
                raise InputError(f"{name} has a number that is not finite")
        if np.any((self.prevalence <= 0) | (self.prevalence >= 1)):
            raise InputError("prevalence must lie strictly between 0 and 1")
        if np.any(self.sd_negative <= 0) or np.any(self.sd_positive <= 0):
            raise InputError("sd_negative and sd_positive must be positive")


def binormal_metrics(law: Binormal, threshold: float) -> dict[str, FloatArray]:
    """Compute the population value of every metric of decisions ``score >= threshold``.

    Parameters
    ----------
    law : Binormal
        The law of outcome and score per subgroup.
    threshold : float
        On the scale of the score, strictly between 0 and 1.

    Returns
    -------
    dict of array (subgroup,)
        ``sel acc tpr fnr fpr tnr ppv npv fdr for f1 auc``, exact up to double precision.

    Raises
    ------
    InputError
        If the threshold is outside (0, 1).

    Notes
    -----
    With t = logit(threshold): TPR = Phi((mean_positive - t) / sd_positive), FPR likewise, AUC =
    Phi((mean_positive - mean_negative) / sqrt(sd_positive^2 + sd_negative^2)); the others by Bayes' rule.

    References
    ----------
    Pepe (2003), The Statistical Evaluation of Medical Tests for Classification and Prediction, section 4.4.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesgroups.datasets import Binormal, binormal_metrics
    >>> half, zero, one = np.array([0.5]), np.array([0.0]), np.array([1.0])
    >>> values = binormal_metrics(Binormal(half, -half, half, one, one), threshold=0.5)
    >>> round(float(values["fnr"][0]), 6), round(float(values["auc"][0]), 6)
    (0.308538, 0.76025)
    """
    if not 0 < threshold < 1:
        raise InputError(f"threshold must lie strictly between 0 and 1; got {threshold}")
    cut = float(np.log(threshold / (1 - threshold)))
    tpr = _phi((law.mean_positive - cut) / law.sd_positive)
    fpr = _phi((law.mean_negative - cut) / law.sd_negative)
    true_positive = law.prevalence * tpr
    false_negative = law.prevalence - true_positive
    false_positive = (1 - law.prevalence) * fpr
    true_negative = (1 - law.prevalence) - false_positive
    selected = true_positive + false_positive
    ppv = true_positive / selected
    npv = true_negative / (1 - selected)
    return {
        "sel": selected,
        "acc": true_positive + true_negative,
        "tpr": tpr,
        "fnr": 1 - tpr,
        "fpr": fpr,
        "tnr": 1 - fpr,
        "ppv": ppv,
        "npv": npv,
        "fdr": 1 - ppv,
        "for": 1 - npv,
        "f1": 2 * true_positive / (2 * true_positive + false_positive + false_negative),
        "auc": _phi((law.mean_positive - law.mean_negative) / np.hypot(law.sd_positive, law.sd_negative)),
    }
