"""Structured regression: subgroups are described by features, and few effects of features are expected to matter."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from bayesgroups.errors import InputError
from bayesgroups.estimators.base import Estimator, check_scale, likelihood_words

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
class StructuredRegression(Estimator):
    """Sparse regression across subgroups, and the weighted lasso as its reference.

    Parameters
    ----------
    formula : str, optional
        Terms over attributes and features of the tally, such as ``"race + age + race:age"``; by default all attributes
        and all features. An indicator of each subgroup is always added, see `bayesgroups.data.features`.
    prior : {"horseshoe", "laplace"}
        Of the coefficients, on the Bayesian side: the regularised horseshoe, or that of the Bayesian lasso.
    expected_effects : float, optional
        Number of coefficients expected to matter, for the horseshoe; by default the number of attributes.
    slab_scale : float, optional
        Standard deviation of a coefficient that matters, for the horseshoe, in units of the metric; by default its
        scale as in `bayesgroups.models.shared.scales`, 0.5 for a rate.
    local_df : float
        Degrees of freedom of the local scales of the horseshoe; 1 is the half-Cauchy, with stronger contrasts.
    penalty : "cv" or float
        Of the lasso, on the frequentist side: by cross-validation, or a share of the penalty that pools completely.
    errors : {"known_variance", "residual"}
        What the bootstrap of the frequentist side draws.
    bootstrap : int
        Number of its replicates, 2 or more.

    Raises
    ------
    InputError
        If a choice is unknown or a number is out of range.

    Examples
    --------
    >>> import bayesgroups as bg
    >>> bg.StructuredRegression(prior="laplace").prior
    'laplace'
    """

    word: ClassVar[str] = "structured_regression"
    description: ClassVar[str] = (
        "Structured regression: a subgroup is the sum of the effects of its features, its attributes among them, and an "
        "effect of its own; few of all these effects are expected to matter, and the others are pulled to nothing."
    )
    references: ClassVar[tuple[str, ...]] = (
        "Piironen, Vehtari (2017), Sparsity information and regularization, doi:10.1214/17-EJS1337SI",
        "Herlihy et al. (2024), Structured regression for disaggregated evaluation",
    )

    formula: str | None = None
    prior: Literal["horseshoe", "laplace"] = "horseshoe"
    expected_effects: float | None = None
    slab_scale: float | None = None
    local_df: float = 3.0
    penalty: Literal["cv"] | float = "cv"
    errors: Literal["known_variance", "residual"] = "known_variance"
    bootstrap: int = 500

    @property
    def in_processes(self) -> bool:
        """True: chains take a large part of a second and more."""
        return True

    def __post_init__(self) -> None:
        word = "StructuredRegression"
        check_scale(word, "expected_effects", self.expected_effects)
        check_scale(word, "slab_scale", self.slab_scale)
        check_scale(word, "local_df", self.local_df)
        if self.penalty != "cv" and not (isinstance(self.penalty, int | float) and 0 <= self.penalty < math.inf):
            raise InputError(f"{word}: penalty={self.penalty!r} must be 'cv' or a number, 0 or larger")
        if self.bootstrap < 2:
            raise InputError(f"{word}: bootstrap={self.bootstrap} must be 2 or larger")

    def reference(self, tally: xr.Dataset, *, seed: int) -> xr.Dataset:
        """The weighted lasso, see `bayesgroups.frequentist.structured_regression`."""
        from bayesgroups.frequentist import structured_regression

        return structured_regression.estimate(
            tally, formula=self.formula, penalty=self.penalty, errors=self.errors, replicates=self.bootstrap, seed=seed
        )

    def takes_variances_as_known(self, tally: xr.Dataset) -> bool:
        """Always: its likelihood is normal."""
        return True

    def model(self, tally: xr.Dataset) -> pm.Model:
        """The PyMC model, see `bayesgroups.models.structured_regression`."""
        from bayesgroups.models import structured_regression

        return structured_regression.build(
            tally,
            features=self._features(tally),
            prior=self.prior,
            expected_effects=self._expected(tally),
            slab_scale=self.slab_scale,
            local_df=self.local_df,
        )

    def collapsed(self, tally: xr.Dataset, *, seed: int) -> Posterior:
        """Draws of one metric, see `bayesgroups.inference.collapsed.structured_regression`."""
        from bayesgroups.inference.collapsed import structured_regression

        return structured_regression.sample(
            tally,
            seed=seed,
            features=self._features(tally),
            prior=self.prior,
            expected_effects=self._expected(tally),
            slab_scale=self.slab_scale,
            local_df=self.local_df,
        )

    def describe_priors(self, tally: xr.Dataset) -> str:
        """Weak prior of the centre, and sparse ones of the coefficients."""
        from bayesgroups.models.shared.scales import natural_scale

        centre, scale, half = (float(values[0]) for values in natural_scale(tally).data_vars.values())
        coefficients = (
            f"Laplace(0, tau) priors of coefficients with tau ~ HalfNormal({half / 2**0.5:.3g})"
            if self.prior == "laplace"
            else f"a regularised horseshoe prior of coefficients with a slab of {self.slab_scale or scale:.3g}"
        )
        return f"{likelihood_words(binomial=False)}; overall ~ Normal({centre:.3g}, {scale:.3g}), and {coefficients}"

    def log_prior(self, draws: xr.Dataset, tally: xr.Dataset) -> LogPrior:
        """Of the centre and the scale that all coefficients share."""
        from bayesgroups.inference.prior_densities import LogPrior, coefficient_density

        features, expected = self._features(tally).values, self._expected(tally)
        density = coefficient_density(draws, tally, prior=self.prior, features=features, expected_effects=expected)
        return LogPrior(density)

    def observed_nodes(self, draws: xr.Dataset, tally: xr.Dataset) -> ObservedNodes:
        """Normal, at values before they are brought into the range of the metric."""
        from bayesgroups.inference.value_nodes import latent_value_nodes

        return latent_value_nodes(draws, tally)

    def left_out(self, draws: xr.Dataset, tally: xr.Dataset) -> LeftOut:
        """The coefficient of the indicator of the subgroup integrated out."""
        from bayesgroups.inference.left_out.structured import structured_regression

        if tally.sizes["subgroup"] == 1:  # no indicator
            return super().left_out(draws, tally)
        return structured_regression(
            draws,
            tally,
            self._features(tally).values,
            prior=self.prior,
            slab_scale=self.slab_scale,
            local_df=self.local_df,
        )

    @property
    def hides_parameters(self) -> bool:
        """Values beyond the range of the metric."""
        return True

    def log_likelihood(self, draws: xr.Dataset, tally: xr.Dataset) -> NDArray[np.float64]:
        """Normal."""
        from bayesgroups.inference.value_likelihoods import value_likelihood

        return value_likelihood(draws, tally, binomial=False)

    def _features(self, tally: xr.Dataset) -> xr.DataArray:
        import xarray as xr

        from bayesgroups.data.features import feature_matrix

        features = feature_matrix(tally, self.formula, identities=True)
        return xr.DataArray(
            features.values, {"subgroup": tally["subgroup"].values, "coefficient": list(features.names)}
        )

    def _expected(self, tally: xr.Dataset) -> float:
        from bayesgroups.tallies.subgroups import attributes_of

        return float(len(attributes_of(tally))) if self.expected_effects is None else self.expected_effects
