"""Partial pooling: subgroups are drawn from one population, and so borrow strength from one another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from bayesgroups.errors import InputError
from bayesgroups.estimators.base import (
    Estimator,
    Likelihood,
    check_logit_scale,
    check_scale,
    is_binomial,
    likelihood_words,
)
from bayesgroups.estimators.shared_clusters import Taken, correlates, no_nodes, refuse_sampling

if TYPE_CHECKING:
    import numpy as np
    import pymc as pm
    import xarray as xr
    from numpy.typing import NDArray

    from bayesgroups.inference.left_out.answer import LeftOut
    from bayesgroups.inference.observed_nodes import ObservedNodes
    from bayesgroups.inference.prior_densities import LogPrior
    from bayesgroups.report.diagnostics import Check
    from bayesgroups.report.posterior import Posterior


@dataclass(frozen=True)
class PartialPooling(Estimator):
    """Exchangeable hierarchy, and empirical Bayes as its reference.

    Parameters
    ----------
    likelihood : {"auto", "binomial", "normal"}
        Of the Bayesian side. ``auto`` is binomial, with a hierarchy of logits, for every rate, and normal with known
        sampling variances for means, F1, AUC and published estimates.
    overall_scale, tau_scale : float, optional
        Prior scales: overall ~ Normal(centre, overall_scale), tau ~ HalfNormal(tau_scale). For rates on the logit
        scale, by default 1.5 and 0.5; otherwise in units of the metric, by default as in `bayesgroups.models.shared.scales`.
    clusters : {"effective_counts", "random_effects"}
        How the Bayesian side takes rows in clusters, where the tally has them: through the effective counts of the tally, or
        with a random effect of every cluster and their correlation learned, sampled by NUTS (rates and means). The
        frequentist side always takes the effective counts.
    interval : {"morris", "plug_in", "robust", "fab"}
        Of the frequentist side: Morris's, which counts the uncertainty of the hyper-parameters; the plug-in one, which
        does not and under-covers; the robust one of Armstrong, Kolesar and Plagborg-Moller; or FAB, exact per subgroup. With
        covariates it stays ``morris``, and intervals are normal ones with the errors of Prasad and Rao.
    covariates : tuple of str
        Attributes (a dummy for every level but the first) and features of the tally (in units of their standard deviation over
        subgroups) that the centre of the population is a regression on: of logits on the Bayesian side of rates, in the units
        of the metric otherwise. The posterior then has ``beta(metric, covariate)``, and ``overall`` is the centre of a subgroup
        with average covariates.
    coefficient_scale : float, optional
        Prior scale of their coefficients, Normal(0, coefficient_scale). By default 2.5 for rates on the logit scale; otherwise
        flat, as is ``overall`` unless it is given a scale.
    method : {"reml", "ml", "moment"}
        Of the frequentist side with covariates: how the variance around the regression is estimated.

    Raises
    ------
    InputError
        If a choice is unknown, a scale is not positive, clusters are to have random effects and the tally has no clusters
        that can, a setting of the regression is given without covariates, or with one that does not go with it; and on
        estimation if the tally does not have a covariate, or too few subgroups to tell the coefficients apart.

    Examples
    --------
    >>> import bayesgroups as bg
    >>> bg.PartialPooling(tau_scale=1.0)
    PartialPooling(likelihood='auto', overall_scale=None, tau_scale=1.0, clusters='effective_counts', interval='morris', \
covariates=(), coefficient_scale=None, method='reml')
    """

    word: ClassVar[str] = "partial_pooling"
    description: ClassVar[str] = (
        "Partial pooling: subgroups are taken to be drawn from one population, so that small ones borrow "
        "strength from the others and are pulled towards the overall value, large ones hardly at all."
    )
    references: ClassVar[tuple[str, ...]] = (
        "Gelman et al. (2013), Bayesian Data Analysis, 3rd edition, chapter 5",
        "Morris (1983), Parametric empirical Bayes inference, doi:10.1080/01621459.1983.10477920",
        "Fay, Herriot (1979), Estimates of income for small places, doi:10.1080/01621459.1979.10482505 (with covariates)",
        "Prasad, Rao (1990), The estimation of the mean squared error of small-area estimators, "
        "doi:10.1080/01621459.1990.10475320 (with covariates)",
    )

    likelihood: Likelihood = "auto"
    overall_scale: float | None = None
    tau_scale: float | None = None
    clusters: Literal["effective_counts", "random_effects"] = "effective_counts"
    interval: Literal["morris", "plug_in", "robust", "fab"] = "morris"
    covariates: tuple[str, ...] = ()
    coefficient_scale: float | None = None
    method: Literal["reml", "ml", "moment"] = "reml"

    @property
    def subgroups_in_threads(self) -> int:
        """A thousand, for each fit has the memory of its draws for itself; none with covariates."""
        return 0 if self.covariates else 1000

    @property
    def in_processes(self) -> bool:
        """True with covariates: rates then have chains, whose short steps wait for the interpreter's lock."""
        return bool(self.covariates)

    def __post_init__(self) -> None:
        check_scale("PartialPooling", "overall_scale", self.overall_scale)
        check_scale("PartialPooling", "tau_scale", self.tau_scale)
        check_scale("PartialPooling", "coefficient_scale", self.coefficient_scale)
        object.__setattr__(
            self, "covariates", (self.covariates,) if isinstance(self.covariates, str) else tuple(self.covariates)
        )
        self._check_covariates()

    def _check_covariates(self) -> None:
        """Refuse settings that do not go with covariates, or with none."""
        if not self.covariates:
            given = (
                "coefficient_scale" if self.coefficient_scale is not None else "method" if self.method != "reml" else ""
            )
            if given:
                raise InputError(
                    f"PartialPooling: {given}={getattr(self, given)!r} is a setting of the regression on covariates; name some "
                    f"in covariates=, or leave it out"
                )
            return
        for name, only in (("interval", "morris"), ("clusters", "effective_counts")):
            if getattr(self, name) != only:
                raise InputError(
                    f"PartialPooling: {name}={getattr(self, name)!r} has no version with covariates; leave it out, or name no "
                    f"covariates"
                )

    def settings(self) -> dict[str, Any]:
        """The settings by name."""
        return super().settings() | {"covariates": list(self.covariates)}

    def reference(self, tally: xr.Dataset, *, seed: int) -> xr.Dataset:
        """Empirical Bayes, see `bayesgroups.frequentist.partial_pooling`."""
        from bayesgroups.frequentist import partial_pooling

        return partial_pooling.estimate(tally, interval=self.interval, covariates=self.covariates, method=self.method)

    def takes_variances_as_known(self, tally: xr.Dataset) -> bool:
        """Wherever the likelihood is not binomial."""
        return not is_binomial(tally, self.likelihood)

    def takes_covariance(self, tally: xr.Dataset) -> Taken:
        """The Bayesian side does, wherever the likelihood is normal."""
        taken = not is_binomial(tally, self.likelihood) and not self.covariates and self.clusters == "effective_counts"
        return "bayesian" if taken else "neither"

    def model(self, tally: xr.Dataset) -> pm.Model:
        """The PyMC model, see `bayesgroups.models.partial_pooling` and `bayesgroups.models.clustered`."""
        refuse_sampling(self, tally)
        from bayesgroups.models import clustered, partial_pooling

        if self.clusters == "random_effects":
            return clustered.build_with_clusters(
                tally, likelihood=self.likelihood, overall_scale=self.overall_scale, tau_scale=self.tau_scale
            )
        return partial_pooling.build(
            tally,
            likelihood=self.likelihood,
            overall_scale=self.overall_scale,
            tau_scale=self.tau_scale,
            covariates=self.covariates,
            coefficient_scale=self.coefficient_scale,
        )

    def describe_priors(self, tally: xr.Dataset) -> str:
        """Normal population, with priors of its centre and spread, and of coefficients."""
        from bayesgroups.models.shared.area_design import COEFFICIENT_LOGIT
        from bayesgroups.models.shared.scales import LOGIT_OVERALL_SCALE, LOGIT_TAU_SCALE, natural_scale

        binomial = is_binomial(tally, self.likelihood)
        centre, scale, half = (float(values[0]) for values in natural_scale(tally).data_vars.values())
        defaults = (0.0, LOGIT_OVERALL_SCALE, LOGIT_TAU_SCALE) if binomial else (centre, scale, half)
        overall, tau = self.overall_scale or defaults[1], self.tau_scale or defaults[2]
        words = f"{likelihood_words(binomial=binomial)}; {'logits of ' if binomial else ''}subgroups are Normal("
        weak = f"Normal({defaults[0]:.3g}, {overall:.3g})"
        if not self.covariates:
            return f"{words}centre, tau), with priors centre ~ {weak} and tau ~ HalfNormal({tau:.3g})"
        steep = self.coefficient_scale or (COEFFICIENT_LOGIT if binomial else None)
        return (
            f"{words}centre + x . beta, tau), where x are {', '.join(self.covariates)}, with priors "
            f"centre ~ {weak if binomial or self.overall_scale else 'flat'}, "
            f"beta ~ {f'Normal(0, {steep:.3g})' if steep else 'flat'} and tau ~ HalfNormal({tau:.3g})"
        )

    def log_prior(self, draws: xr.Dataset, tally: xr.Dataset) -> LogPrior:
        """Of the centre, the spread and the coefficients of the population."""
        from bayesgroups.inference.prior_densities import LogPrior, population_density

        binomial = is_binomial(tally, self.likelihood)
        scales = {
            "overall_scale": self.overall_scale,
            "tau_scale": self.tau_scale,
            "coefficient_scale": self.coefficient_scale,
        }
        return LogPrior(population_density(draws, tally, binomial=binomial, **scales))

    def observed_nodes(self, draws: xr.Dataset, tally: xr.Dataset) -> ObservedNodes:
        """Binomial or normal, at the values; with random effects clusters have a likelihood of their own."""
        if correlates(self, tally):
            return no_nodes()
        from bayesgroups.inference.observed_nodes import ObservedNodes
        from bayesgroups.inference.value_nodes import subgroup_values, value_nodes

        if self.clusters == "random_effects":
            return ObservedNodes((), "the likelihood of clusters is the PyMC model's alone", hidden=True)
        return value_nodes(subgroup_values(draws), tally, binomial=is_binomial(tally, self.likelihood))

    def left_out(self, draws: xr.Dataset, tally: xr.Dataset) -> LeftOut:
        """Effects of subgroups integrated out; with random effects of clusters there is no answer."""
        if correlates(self, tally):
            return super().left_out(draws, tally)
        from bayesgroups.inference.left_out.population import population_estimates, population_rates

        if self.clusters == "random_effects":
            return super().left_out(draws, tally)
        if is_binomial(tally, self.likelihood):
            return population_rates(draws, tally)
        return population_estimates(draws, tally, overall_scale=self.overall_scale)

    @property
    def hides_parameters(self) -> bool:
        """With random effects of clusters."""
        return self.clusters == "random_effects"

    def log_likelihood(self, draws: xr.Dataset, tally: xr.Dataset) -> NDArray[np.float64]:
        """Binomial or normal."""
        if correlates(self, tally):
            from bayesgroups.inference.correlated_errors import log_density

            return log_density(draws["mu"].transpose("sample", "subgroup").values, tally)
        from bayesgroups.inference.value_likelihoods import value_likelihood

        return value_likelihood(draws, tally, binomial=is_binomial(tally, self.likelihood))

    def fit_checks(self, tally: xr.Dataset, draws: xr.Dataset) -> tuple[Check, ...]:
        """Conflict of the prior of the spread with the data."""
        from bayesgroups.inference.prior_conflict import SpreadPrior, conflict_check, explained, subgroup_draws
        from bayesgroups.models.shared.scales import LOGIT_TAU_SCALE, natural_scale

        binomial = is_binomial(tally, self.likelihood)
        default = LOGIT_TAU_SCALE if binomial else float(natural_scale(tally)["tau_scale"][0])
        prior = SpreadPrior("half_normal", (self.tau_scale or default,), (tally.sizes["subgroup"],))
        predictor = subgroup_draws(draws, tally, binomial=binomial)
        if self.covariates:
            predictor = predictor - explained(draws, tally, self.covariates)
        unit = " logits" if binomial else ""
        return (conflict_check(str(tally["metric"].values[0]), predictor, prior, unit=unit, setting="tau_scale"),)

    def collapsed(self, tally: xr.Dataset, *, seed: int) -> Posterior | None:
        """Exact draws of one metric, see `bayesgroups.inference.collapsed.partial_pooling`; none with random effects."""
        from bayesgroups.inference.collapsed import partial_pooling

        if self.clusters == "random_effects":
            return None
        binomial = is_binomial(tally, self.likelihood)
        if binomial:
            check_logit_scale("PartialPooling", "overall_scale", self.overall_scale)
            check_logit_scale("PartialPooling", "tau_scale", self.tau_scale)
            check_logit_scale("PartialPooling", "coefficient_scale", self.coefficient_scale)
        return partial_pooling.sample(
            tally,
            seed=seed,
            binomial_likelihood=binomial,
            overall_scale=self.overall_scale,
            tau_scale=self.tau_scale,
            covariates=self.covariates,
            coefficient_scale=self.coefficient_scale,
        )
