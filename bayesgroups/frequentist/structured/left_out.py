"""How far subgroups are from what others predict of them: the interval of a subgroup without data.

The lasso at its penalty is fitted without some subgroups, and predicts them. Subgroup a has the error d_a = z_a - prediction,

    d_a ~ Normal(0, v_a + A),   A = mean square of mu_a - prediction,

which counts how far subgroups depart from the line, what the lasso has shrunk away, and the error of the line itself. A subgroup
without data is predicted in the same way, and so lies as far away. A is estimated by Morris's weighted moments around the known
centre 0. He adds 2 (A + V) / (K - 2) for its uncertainty, V the average sampling variance and K the number of subgroups. Here

    mu = prediction +- t_f sqrt(A + 2 V / (K - 2)),   f = K - 1 - p,

p the number of columns that the lasso has selected, those of single subgroups not counted, its degrees of freedom. The second
term keeps the interval from collapsing where A is estimated as 0, and t stands for the uncertainty of A where it is large: for
least squares and V = 0 a subgroup of leverage h = (1 + p) / K is left out with the mean square error s^2 / (1 - h), s^2 the
residual variance on f degrees of freedom, and predicted with variance s^2 (1 + h), which is the same but for a share h^2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesgroups.frequentist.intervals import morris
from bayesgroups.frequentist.intervals.interval import Interval, around, t_quantile
from bayesgroups.frequentist.structured import lasso

FloatArray = NDArray[np.float64]

PARTS = 20
"""Parts that subgroups are left out in, at most; with as many subgroups or fewer each is left out by itself."""


@dataclass(frozen=True)
class Unseen:
    """Law of a subgroup without data around its prediction: t, with a ``variance`` in squared units of the metric.

    ``freedom`` is its number of degrees of freedom.
    """

    variance: float
    freedom: float

    def interval(self, prediction: FloatArray, level: float) -> Interval:
        """Interval around predictions, arrays (subgroup,).

        Raises
        ------
        InputError
            If the level is not strictly between 0 and 1.

        Examples
        --------
        >>> import numpy as np
        >>> Unseen(0.01, 4.0).interval(np.array([0.5]), 0.95).upper.round(3).tolist()
        [0.778]
        """
        half = t_quantile(level, np.array([self.freedom])) * np.sqrt(self.variance)
        return around(prediction, np.broadcast_to(half, prediction.shape))


def predict(x: FloatArray, z: FloatArray, w: FloatArray, penalty: float, rng: np.random.Generator) -> FloatArray:
    """Predictions of subgroups by the lasso of the others.

    Parameters
    ----------
    x, z, w : arrays (subgroup, column), (subgroup,), (subgroup,)
        Features, estimates, and weights 1 / sampling variance; two subgroups or more.
    penalty : float
        Of the lasso, the same in every fit.
    rng : numpy Generator
        Source of randomness, of the parts.

    Returns
    -------
    array (subgroup,)
        In the units of the metric.

    Raises
    ------
    InputError
        If an argument does not fit, see `bayesgroups.frequentist.structured.lasso.fit`.

    References
    ----------
    Stone (1974), doi:10.1111/j.2517-6161.1974.tb00994.x, on errors of prediction by leaving out.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.array([0.1, 0.3, 0.5])
    >>> predict(np.eye(3), z, np.ones(3), 100.0, np.random.default_rng(1)).round(3).tolist()
    [0.4, 0.3, 0.2]
    """
    part = rng.permutation(len(z)) % min(PARTS, len(z))
    predicted = np.empty(len(z))
    for number in range(int(part.max()) + 1):
        left = part == number
        predicted[left] = lasso.fit(x[~left], z[~left], w[~left], penalty).at(x[left])
    return predicted


def unseen(errors: FloatArray, v: FloatArray, selected: int) -> Unseen:
    """Law of a subgroup without data, from the errors of prediction of subgroups left out.

    Parameters
    ----------
    errors, v : arrays (subgroup,)
        Errors d_a and the sampling variances of the estimates; those whose sampling variance is 0 are not used.
    selected : int
        Columns p that the lasso has selected, without those of single subgroups.

    Returns
    -------
    Unseen
        With at least one degree of freedom; NaN where fewer than three sampling variances are positive.

    References
    ----------
    Morris (1983), doi:10.1080/01621459.1983.10477920, see `bayesgroups.frequentist.intervals.morris.fit`. Zou, Hastie,
    Tibshirani (2007), doi:10.1214/009053607000000127, on the degrees of freedom of the lasso. Their combination is our choice.

    Examples
    --------
    >>> found = unseen(np.array([0.1, -0.1, 0.2, -0.2]), np.full(4, 0.01), 1)
    >>> round(found.variance, 6), found.freedom  # A = 0.025 - 0.01, V = 0.01, K = 4
    (0.025, 2.0)
    """
    shrunk = morris.fit(np.append(errors, np.nan), np.append(v, np.nan), centre=0.0)
    number = float(shrunk.number)
    if number < morris.FEWEST - 1:
        return Unseen(float("nan"), float("nan"))
    variance = float(shrunk.variance[-1]) - 2 * float(shrunk.tau_squared) / (number - 2)
    return Unseen(variance, max(number - 1 - selected, 1.0))
