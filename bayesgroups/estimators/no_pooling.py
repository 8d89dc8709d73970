"""No pooling: every subgroup stands alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from bayesgroups.errors import InputError
from bayesgroups.estimators.base import (
    Estimator,
    Likelihood,
    is_binomial,
    likelihood_words,
    weak_prior_words,
)
from bayesgroups.estimators.shared_clusters import Taken, correlates, no_nodes, refuse_sampling

if TYPE_CHECKING:
    import numpy as np
    import pymc as pm
    import xarray as xr
    from numpy.typing import NDArray

    from bayesgroups.frequentist.anytime import Anytime
    from bayesgroups.inference.left_out.answer import LeftOut
    from bayesgroups.inference.observed_nodes import ObservedNodes
    from bayesgroups.inference.prior_densities import LogPrior
    from bayesgroups.report.posterior import Posterior

Interval = Literal[
    "auto",
    "wilson",
    "jeffreys",
    "clopper_pearson",
    "wald",
    "percentile",
    "pooled_normal",
    "pooled_t",
    "separate_normal",
    "t",
    "cluster_robust",
    "anytime",
]


@dataclass(frozen=True)
class NoPooling(Estimator):
    """Independent subgroups, and the standard estimator as reference.

    Parameters
    ----------
    interval : str
        Of the frequentist side: ``auto`` is Wilson for rates and pooled t for everything else; or ``wilson``,
        ``jeffreys``, ``clopper_pearson``, ``wald``, ``percentile`` (rates only), ``pooled_normal``, ``pooled_t``,
        ``separate_normal``, ``t``, ``cluster_robust`` (tallies with clusters only),
        ``anytime`` (rates and means), which holds at all looks at a growing tally together.
    likelihood : {"auto", "binomial", "normal"}
        Of the Bayesian side: for rates binomial with the Jeffreys prior, otherwise normal with a weak prior.
    bootstrap : int
        Number of bootstrap replicates of every metric to keep in the report.
    anytime_prior : tuple of two floats
        Shapes of the Beta prior of ``anytime`` limits of rates, fixed before the first look; Jeffreys' by default.
    anytime_optimal_n : float
        Rows, or clusters, at which ``anytime`` limits of means are shortest, fixed before the first look.

    Raises
    ------
    InputError
        If a choice is unknown or the number of replicates negative; if the prior or the number of rows of ``anytime`` limits is
        not positive, or is given with another interval.

    Examples
    --------
    >>> import bayesgroups as bg
    >>> bg.NoPooling(interval="jeffreys")
    NoPooling(interval='jeffreys', likelihood='auto', bootstrap=0, anytime_prior=(0.5, 0.5), anytime_optimal_n=1000)
    """

    word: ClassVar[str] = "no_pooling"
    description: ClassVar[str] = "No pooling: every subgroup is estimated from its own rows alone."

    interval: Interval = "auto"
    likelihood: Likelihood = "auto"
    bootstrap: int = 0
    anytime_prior: tuple[float, float] = (0.5, 0.5)
    anytime_optimal_n: float = 1000

    def __post_init__(self) -> None:
        if self.bootstrap < 0:
            raise InputError(f"NoPooling: bootstrap={self.bootstrap} must be 0 or larger")
        object.__setattr__(self, "anytime_prior", tuple(self.anytime_prior))
        fixed = self._fixed()
        if self.interval != "anytime" and fixed != type(fixed)():
            raise InputError(
                "NoPooling: anytime_prior= and anytime_optimal_n= are for interval='anytime'; leave them out"
            )

    def settings(self) -> dict[str, Any]:
        """The settings by name; those of anytime-valid limits only where there are any."""
        every = super().settings()
        return {name: value for name, value in every.items() if self.interval == "anytime" or "anytime" not in name}

    def _fixed(self) -> Anytime:
        """Choices made before the first look, checked."""
        from bayesgroups.frequentist.anytime import Anytime

        return Anytime(self.anytime_prior, self.anytime_optimal_n)

    def replicates(self, tally: xr.Dataset, *, seed: int) -> xr.Dataset | None:
        """Replicates of the standard estimator, see `bayesgroups.inference.bootstrap`."""
        from bayesgroups.inference import bootstrap

        return bootstrap.replicates(tally, seed=seed, draws=self.bootstrap) if self.bootstrap else None

    def reference(self, tally: xr.Dataset, *, seed: int) -> xr.Dataset:
        """The standard estimator, see `bayesgroups.frequentist.no_pooling`."""
        from bayesgroups.frequentist import no_pooling

        return no_pooling.estimate(tally, interval=self.interval, fixed=self._fixed())

    def takes_variances_as_known(self, tally: xr.Dataset) -> bool:
        """Wherever the likelihood is not binomial."""
        return not is_binomial(tally, self.likelihood)

    def takes_covariance(self, tally: xr.Dataset) -> Taken:
        """Both sides do, wherever the likelihood is normal."""
        taken = not is_binomial(tally, self.likelihood)
        return "both" if taken else "neither"

    def model(self, tally: xr.Dataset) -> pm.Model:
        """The PyMC model, see `bayesgroups.models.no_pooling`."""
        refuse_sampling(self, tally)
        from bayesgroups.models import no_pooling

        return no_pooling.build(tally, likelihood=self.likelihood)

    def collapsed(self, tally: xr.Dataset, *, seed: int) -> Posterior:
        """Exact draws of one metric, see `bayesgroups.inference.collapsed.no_pooling`."""
        from bayesgroups.inference.collapsed import no_pooling

        return no_pooling.sample(tally, seed=seed, binomial_likelihood=is_binomial(tally, self.likelihood))

    def describe_priors(self, tally: xr.Dataset) -> str:
        """Jeffreys' prior for rates, else a weak normal one."""
        binomial = is_binomial(tally, self.likelihood)
        return f"{likelihood_words(binomial=binomial)}; the prior of each subgroup is {weak_prior_words(tally, binomial=binomial)}"

    def log_prior(self, draws: xr.Dataset, tally: xr.Dataset) -> LogPrior:
        """Of every value on its own."""
        from bayesgroups.inference.prior_densities import LogPrior, value_density

        values = draws["mu"].transpose("sample", "subgroup").values
        return LogPrior(value_density(values, tally, binomial=is_binomial(tally, self.likelihood)))

    def observed_nodes(self, draws: xr.Dataset, tally: xr.Dataset) -> ObservedNodes:
        """Binomial or normal, at the values."""
        if correlates(self, tally):
            return no_nodes()
        from bayesgroups.inference.value_nodes import subgroup_values, value_nodes

        return value_nodes(subgroup_values(draws), tally, binomial=is_binomial(tally, self.likelihood))

    def left_out(self, draws: xr.Dataset, tally: xr.Dataset) -> LeftOut:
        """Prior predictive, in closed form."""
        if correlates(self, tally):
            return super().left_out(draws, tally)
        from bayesgroups.inference.left_out.conjugate import alone

        return alone(tally, binomial=is_binomial(tally, self.likelihood))

    def log_likelihood(self, draws: xr.Dataset, tally: xr.Dataset) -> NDArray[np.float64]:
        """Binomial or normal."""
        from bayesgroups.inference.value_likelihoods import value_likelihood

        return value_likelihood(draws, tally, binomial=is_binomial(tally, self.likelihood))
