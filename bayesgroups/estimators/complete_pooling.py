"""Complete pooling: one value for all subgroups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from bayesgroups.estimators.base import (
    Estimator,
    Likelihood,
    is_binomial,
    likelihood_words,
    weak_prior_words,
)

if TYPE_CHECKING:
    import numpy as np
    import pymc as pm
    import xarray as xr
    from numpy.typing import NDArray

    from bayesgroups.inference.left_out.answer import LeftOut
    from bayesgroups.inference.observed_nodes import ObservedNodes
    from bayesgroups.inference.prior_densities import LogPrior
    from bayesgroups.report.posterior import Posterior


@dataclass(frozen=True)
class CompletePooling(Estimator):
    """One value shared by all subgroups, and the mean weighted by effective numbers of rows as reference.

    Without weights and clusters it is the value over everybody. With them it is so only if subgroups are alike, as the model has
    it: effective numbers of rows say how much a subgroup tells, not how many people it stands for. A note of the report says so.

    Parameters
    ----------
    likelihood : {"auto", "binomial", "normal"}
        Of the Bayesian side: for rates binomial with the Jeffreys prior, otherwise normal with a weak prior.

    Raises
    ------
    InputError
        If the choice is unknown.

    Examples
    --------
    >>> import bayesgroups as bg
    >>> bg.CompletePooling()
    CompletePooling(likelihood='auto')
    """

    word: ClassVar[str] = "complete_pooling"
    description: ClassVar[str] = "Complete pooling: all subgroups get one value, as if they did not differ."

    likelihood: Likelihood = "auto"

    def reference(self, tally: xr.Dataset, *, seed: int) -> xr.Dataset:
        """The weighted mean, see `bayesgroups.frequentist.complete_pooling`."""
        from bayesgroups.frequentist import complete_pooling

        return complete_pooling.estimate(tally)

    def takes_variances_as_known(self, tally: xr.Dataset) -> bool:
        """Wherever the likelihood is not binomial."""
        return not is_binomial(tally, self.likelihood)

    def model(self, tally: xr.Dataset) -> pm.Model:
        """The PyMC model, see `bayesgroups.models.complete_pooling`."""
        from bayesgroups.models import complete_pooling

        return complete_pooling.build(tally, likelihood=self.likelihood)

    def collapsed(self, tally: xr.Dataset, *, seed: int) -> Posterior:
        """Exact draws of one metric, see `bayesgroups.inference.collapsed.complete_pooling`."""
        from bayesgroups.inference.collapsed import complete_pooling

        return complete_pooling.sample(tally, seed=seed, binomial_likelihood=is_binomial(tally, self.likelihood))

    def describe_priors(self, tally: xr.Dataset) -> str:
        """Jeffreys' prior for rates, else a weak normal one."""
        binomial = is_binomial(tally, self.likelihood)
        return f"{likelihood_words(binomial=binomial)}; the prior of the one value is {weak_prior_words(tally, binomial=binomial)}"

    def notes(self, tally: xr.Dataset) -> list[str]:
        """Where effective numbers of rows weigh subgroups by other shares than rows or their weights do."""
        names = [str(name) for i, name in enumerate(tally["metric"].values) if _weighs_otherwise(tally.isel(metric=i))]
        if not names:
            return []
        return [
            f"{', '.join(names)}: subgroups count by their effective numbers of rows, so that the one value is not the value over "
            "everybody unless subgroups are alike; for that ask bg.poststratify(tally, 'rows'), or the report of another estimator"
        ]

    def log_prior(self, draws: xr.Dataset, tally: xr.Dataset) -> LogPrior:
        """Of the one value."""
        from bayesgroups.inference.prior_densities import LogPrior, value_density

        values = draws["overall"].values
        return LogPrior(value_density(values, tally, binomial=is_binomial(tally, self.likelihood)))

    def observed_nodes(self, draws: xr.Dataset, tally: xr.Dataset) -> ObservedNodes:
        """Binomial or normal, at the values."""
        from bayesgroups.inference.value_nodes import subgroup_values, value_nodes

        return value_nodes(subgroup_values(draws), tally, binomial=is_binomial(tally, self.likelihood))

    def left_out(self, draws: xr.Dataset, tally: xr.Dataset) -> LeftOut:
        """Given the totals of the others, in closed form."""
        from bayesgroups.inference.left_out.conjugate import in_common

        return in_common(tally, binomial=is_binomial(tally, self.likelihood))

    def log_likelihood(self, draws: xr.Dataset, tally: xr.Dataset) -> NDArray[np.float64]:
        """Binomial or normal."""
        from bayesgroups.inference.value_likelihoods import value_likelihood

        return value_likelihood(draws, tally, binomial=is_binomial(tally, self.likelihood))


def _weighs_otherwise(metric: xr.Dataset) -> bool:
    """True if the counts of one metric share out weight among subgroups otherwise than their rows do."""
    import numpy as np

    from bayesgroups.tallies.denominators import denominators

    used = np.isfinite(metric["estimate"].values)
    count, rows = metric["count"].values[used], denominators(metric)[used]
    if not used.any() or not np.isfinite(rows).all():
        return False
    return not np.allclose(count / count.sum(), rows / rows.sum(), rtol=1e-6, atol=0)
