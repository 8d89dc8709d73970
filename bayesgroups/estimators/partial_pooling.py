"""Partial pooling: subgroups are drawn from one population, and so borrow strength from one another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from bayesgroups.estimators.base import Estimator, Likelihood, check_choice, check_logit_scale, check_scale, is_binomial

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

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
        does not and under-covers; the robust one of Armstrong, Kolesar and Plagborg-Moller; or FAB, exact per subgroup.

    Raises
    ------
    InputError
        If a choice is unknown, a scale is not positive, or clusters are to have random effects and the tally has no clusters
        that can.

    Examples
    --------
    >>> import bayesgroups as bg
    >>> bg.PartialPooling(tau_scale=1.0)
    PartialPooling(likelihood='auto', overall_scale=None, tau_scale=1.0, clusters='effective_counts', interval='morris')
    """

    word: ClassVar[str] = "partial_pooling"

    likelihood: Likelihood = "auto"
    overall_scale: float | None = None
    tau_scale: float | None = None
    clusters: Literal["effective_counts", "random_effects"] = "effective_counts"
    interval: Literal["morris", "plug_in", "robust", "fab"] = "morris"

    def __post_init__(self) -> None:
        check_choice("PartialPooling", "likelihood", self.likelihood, ("auto", "binomial", "normal"))
        check_choice("PartialPooling", "clusters", self.clusters, ("effective_counts", "random_effects"))
        check_choice("PartialPooling", "interval", self.interval, ("morris", "plug_in", "robust", "fab"))
        check_scale("PartialPooling", "overall_scale", self.overall_scale)
        check_scale("PartialPooling", "tau_scale", self.tau_scale)

    def reference(self, tally: xr.Dataset, *, seed: int) -> xr.Dataset:
        """Empirical Bayes, see `bayesgroups.frequentist.partial_pooling`."""
        from bayesgroups.frequentist import partial_pooling

        return partial_pooling.estimate(tally, interval=self.interval)

    def takes_variances_as_known(self, tally: xr.Dataset) -> bool:
        """Wherever the likelihood is not binomial."""
        return not is_binomial(tally, self.likelihood)

    def model(self, tally: xr.Dataset) -> pm.Model:
        """The PyMC model, see `bayesgroups.models.partial_pooling` and `bayesgroups.models.clustered`."""
        from bayesgroups.models import clustered, partial_pooling

        if self.clusters == "random_effects":
            return clustered.build_with_clusters(
                tally, likelihood=self.likelihood, overall_scale=self.overall_scale, tau_scale=self.tau_scale
            )
        return partial_pooling.build(
            tally, likelihood=self.likelihood, overall_scale=self.overall_scale, tau_scale=self.tau_scale
        )

    def fit_checks(self, tally: xr.Dataset, draws: xr.Dataset) -> tuple[Check, ...]:
        """Conflict of the prior of the spread with the data."""
        from bayesgroups.inference.prior_conflict import SpreadPrior, conflict_check, subgroup_draws
        from bayesgroups.models.shared.scales import LOGIT_TAU_SCALE, natural_scale

        binomial = is_binomial(tally, self.likelihood)
        default = LOGIT_TAU_SCALE if binomial else float(natural_scale(tally)["tau_scale"][0])
        prior = SpreadPrior("half_normal", (self.tau_scale or default,), (tally.sizes["subgroup"],))
        predictor = subgroup_draws(draws, tally, binomial=binomial)
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
        return partial_pooling.sample(
            tally,
            seed=seed,
            binomial_likelihood=binomial,
            overall_scale=self.overall_scale,
            tau_scale=self.tau_scale,
        )
