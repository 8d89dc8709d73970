"""Crossed effects: subgroups borrow strength from those that share some of their attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from bayesgroups.errors import InputError
from bayesgroups.estimators.base import (
    Estimator,
    Likelihood,
    check_logit_scale,
    is_binomial,
    likelihood_words,
)
from bayesgroups.estimators.level_orders import (
    cyclic_among,
    levels_in_order,
    order_settings,
    order_words,
    orders_by_attribute,
)
from bayesgroups.estimators.scales_by_order import ScaleByOrder, by_order, orders, scale_words
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
class CrossedEffects(Estimator):
    """One variance component per subset of the attributes, and SureMap as its reference.

    Parameters
    ----------
    likelihood : {"auto", "binomial", "normal"}
        Of the Bayesian side. ``auto`` is binomial, with a predictor of logits, for every rate, and normal with known sampling
        variances for means, F1, AUC and published estimates; those of means follow ``row_variances``.
    order : int, optional
        Cross at most so many attributes, beside all of them together; by default every subset is a component.
    covariates : tuple of str
        Features of the tally that enter the Bayesian predictor, standardised.
    prior : {"half_t", "half_normal", "r2d2"}
        Of the components' standard deviations; half-t has 3 degrees of freedom.
    tau_scale : float, sequence of float, or mapping from int to float, optional
        Its scale, on the logit scale for rates and in units of the metric otherwise; by default 0.25 logits, or 0.09 of the
        standard deviation of a row. A sequence or a mapping by order has one for the components that cross 1, 2, ...
        attributes, such as ``{1: 2.5}`` for wide main effects; the others keep the default.
    own_effects : {"floored", "fixed", "learned"}
        What sets a single subgroup apart has a known standard deviation, 0.5 of ``tau_scale`` (``fixed``), one that is learned
        like those of the other components (``learned``), or both beside each other; with one attribute it is always learned.
    ordered : mapping from str to sequence of str, or tuple of str
        Attributes whose levels have an order, such as ``{"age": ["18-24", "25-44", "45-64", "65+"]}``: a share of the variance of
        every component that crosses one, learned, follows it. Levels that are not named stand alone. Named without levels, as
        ``("age",)``, they are in the order of the tally: that of an ordered categorical column, of dates, or of levels declared in
        ``by``; ``(missing)`` stands alone.
    cyclic : tuple of str
        Which of them have the last level beside the first, as months have.
    tasks : bool
        Whether the metrics of the tally are tasks (systems, say) that share hyper-parameters and effects.
    method : {"suremap", "marginal_likelihood"}
        Of the frequentist side: SureMap, tuned by an unbiased estimate of its risk, or empirical Bayes by maximum marginal
        likelihood on the same family.
    row_variances : {"shrunk", "pooled"}
        Of means, on the Bayesian side: each subgroup's own, drawn towards the others', see `bayesgroups.models.shared.variances`;
        or one for all subgroups, which covers more where a few rows in a hundred are huge and costs where spreads differ.

    Raises
    ------
    InputError
        If a choice is unknown, a scale is not positive, ``order`` is negative, scales by order are given to the R2-D2 prior, a
        cyclic attribute is not ordered, or an order names fewer than two levels or one of them twice.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> who = pd.DataFrame({"race": ["a", "a", "b", "b"], "sex": ["f", "m", "f", "m"]})
    >>> counts = bg.tally_from_counts([1, 30, 9, 0], [2, 100, 60, 0], who)
    >>> report = bg.estimate(counts, bg.CrossedEffects(), seed=1)
    >>> report["estimates"]["status"].sel(approach="bayesian").values.tolist()
    [['ok', 'ok', 'ok', 'imputed']]
    """

    word: ClassVar[str] = "crossed_effects"
    description: ClassVar[str] = (
        "Crossed effects: a subgroup is the sum of what every subset of its attributes contributes, so that it borrows "
        "strength from the subgroups that share some of its attributes."
    )
    references: ClassVar[tuple[str, ...]] = (
        "Khodak, Mackey, Chouldechova, Dudik (2024), SureMap, doi:10.48550/arXiv.2411.09730",
        "Gelman (2006), Prior distributions for variance parameters, doi:10.1214/06-BA117A",
    )

    likelihood: Likelihood = "auto"
    order: int | None = None
    covariates: tuple[str, ...] = ()
    prior: Literal["half_t", "half_normal", "r2d2"] = "half_t"
    tau_scale: float | tuple[float | None, ...] | Mapping[int, float] | None = None
    own_effects: Literal["floored", "fixed", "learned"] = "floored"
    ordered: tuple[str, ...] | Mapping[str, Sequence[str]] = ()
    cyclic: tuple[str, ...] = ()
    tasks: bool = False
    method: Literal["suremap", "marginal_likelihood"] = "suremap"
    row_variances: Literal["shrunk", "pooled"] = "shrunk"

    @property
    def in_processes(self) -> bool:
        """True: chains take a large part of a second and more."""
        return True

    def __post_init__(self) -> None:
        object.__setattr__(self, "tau_scale", by_order("CrossedEffects", self.tau_scale))
        if self.prior == "r2d2" and isinstance(self.tau_scale, tuple):
            raise InputError(
                "CrossedEffects: prior='r2d2' has one scale, which its components share out; give tau_scale as one number"
            )
        if self.order is not None and self.order < 0:
            raise InputError(f"CrossedEffects: order={self.order} must be 0 or more, or None for every subset")
        object.__setattr__(self, "covariates", tuple(self.covariates))
        object.__setattr__(self, "ordered", levels_in_order("CrossedEffects", self.ordered))
        object.__setattr__(self, "cyclic", cyclic_among("CrossedEffects", self.cyclic, self.ordered))

    @property
    def _scales(self) -> ScaleByOrder:
        return self.tau_scale if not isinstance(self.tau_scale, Mapping) else by_order("CrossedEffects", self.tau_scale)

    @property
    def _orders(self) -> Mapping[str, Sequence[str] | None]:
        return orders_by_attribute(self.ordered)

    @property
    def joint(self) -> bool:
        """Tasks are fitted together."""
        return self.tasks

    def settings(self) -> dict[str, Any]:
        """The settings by name."""
        return super().settings() | {
            "covariates": list(self.covariates),
            "tau_scale": list(self._scales) if isinstance(self._scales, tuple) else self._scales,
            **order_settings(self.ordered, self.cyclic),
        }

    def reference(self, tally: xr.Dataset, *, seed: int) -> xr.Dataset:
        """SureMap or marginal likelihood, see `bayesgroups.frequentist.crossed_effects`."""
        from bayesgroups.frequentist import crossed_effects

        return crossed_effects.estimate(
            tally,
            method=self.method,
            order=self.order,
            tasks="metamap" if self.tasks else None,
            ordered=self._orders,
            cyclic=self.cyclic,
            seed=seed,
        )

    def takes_variances_as_known(self, tally: xr.Dataset) -> bool:
        """Wherever the likelihood is not binomial."""
        return not is_binomial(tally, self.likelihood)

    def takes_covariance(self, tally: xr.Dataset) -> Taken:
        """Both sides do, wherever the likelihood is normal."""
        taken = not is_binomial(tally, self.likelihood) and not self.tasks
        return "both" if taken else "neither"

    def model(self, tally: xr.Dataset) -> pm.Model:
        """The PyMC model, see `bayesgroups.models.crossed_effects`."""
        refuse_sampling(self, tally)
        from bayesgroups.models import crossed_effects

        return crossed_effects.build(
            tally,
            likelihood=self.likelihood,
            order=self.order,
            covariates=self.covariates,
            prior=self.prior,
            tau_scale=self._scales,
            own_effects=self.own_effects,
            ordered=self._orders,
            cyclic=self.cyclic,
            tasks=self.tasks,
            row_variances=self.row_variances,
        )

    def describe_priors(self, tally: xr.Dataset) -> str:
        """Family and scale of the prior of the components' standard deviations."""
        from bayesgroups.models.shared.component_scales import LOGIT_SCALE, ROW_SHARE

        binomial = is_binomial(tally, self.likelihood)
        family = {"half_normal": "half-normal", "half_t": "half-t", "r2d2": "R2-D2"}[self.prior]
        default = f"{LOGIT_SCALE:g} logits" if binomial else f"{ROW_SHARE:g} of the standard deviation of a row"
        scale = scale_words(self._scales, default)
        return (
            f"{likelihood_words(binomial=binomial)}; "
            f"{family} priors of scale {scale} on the standard deviations of the components{order_words(self.ordered, tally)}"
        )

    def log_prior(self, draws: xr.Dataset, tally: xr.Dataset) -> LogPrior:
        """Of the centre, the components' standard deviations and the coefficients of covariates."""
        from bayesgroups.inference.prior_densities import LogPrior, component_density
        from bayesgroups.models.shared.tasks import stack

        binomial = is_binomial(tally.sel(metric=[draws["metric"].item()]), self.likelihood)
        source = stack(tally) if self.tasks else tally
        return LogPrior(
            component_density(
                draws, source, binomial=binomial, prior=self.prior, tau_scale=self._scales, order=self.order
            )
        )

    def observed_nodes(self, draws: xr.Dataset, tally: xr.Dataset) -> ObservedNodes:
        """Binomial, or normal with the chosen row variances; tasks are the subgroups of one metric."""
        if correlates(self, tally):
            return no_nodes()
        from bayesgroups.inference.value_nodes import value_nodes
        from bayesgroups.models.shared.tasks import stack
        from bayesgroups.models.shared.variances import with_shrunk_variances

        source = with_shrunk_variances(stack(tally) if self.tasks else tally, self.row_variances)
        mu = draws["mu"].transpose("sample", "metric", "subgroup").values
        return value_nodes(mu.reshape(len(mu), -1), source, binomial=is_binomial(source, self.likelihood))

    def left_out(self, draws: xr.Dataset, tally: xr.Dataset) -> LeftOut:
        """Effects of the subgroup integrated out, given the other subgroups; tasks are left out one at a time too."""
        if correlates(self, tally):
            return super().left_out(draws, tally)
        from bayesgroups.inference.left_out.crossed import crossed_effects
        from bayesgroups.models.shared.tasks import stack
        from bayesgroups.models.shared.variances import with_shrunk_variances

        source = with_shrunk_variances(stack(tally) if self.tasks else tally, self.row_variances)
        return crossed_effects(
            draws,
            tally,
            source,
            binomial=is_binomial(source, self.likelihood),
            order=self.order,
            covariates=self.covariates,
            tau_scale=self._scales,
            residual=self.own_effects,
            ordered=self._orders,
            cyclic=self.cyclic,
        )

    def log_likelihood(self, draws: xr.Dataset, tally: xr.Dataset) -> NDArray[np.float64]:
        """Binomial, or normal with the chosen row variances."""
        if correlates(self, tally):
            from bayesgroups.inference.correlated_errors import log_density

            return log_density(draws["mu"].transpose("sample", "subgroup").values, tally)
        from bayesgroups.inference.value_likelihoods import value_likelihood
        from bayesgroups.models.shared.variances import with_shrunk_variances

        metric = tally.sel(metric=[draws["metric"].item()])
        binomial = is_binomial(metric, self.likelihood)
        source = metric if binomial else with_shrunk_variances(metric, self.row_variances)
        return value_likelihood(draws, source, binomial=binomial)

    def fit_checks(self, tally: xr.Dataset, draws: xr.Dataset) -> tuple[Check, ...]:
        """Conflict of the prior of the components' standard deviations with the data."""
        from bayesgroups.inference.prior_conflict import crossed_conflict

        return crossed_conflict(
            tally,
            draws,
            binomial=is_binomial(tally, self.likelihood),
            order=self.order,
            covariates=self.covariates,
            prior=self.prior,
            tau_scale=self._scales,
            tasks=self.tasks,
        )

    def collapsed(self, tally: xr.Dataset, *, seed: int) -> Posterior:
        """Exact draws of one metric or of all tasks, see `bayesgroups.inference.collapsed.crossed_effects`."""
        from bayesgroups.inference.collapsed import crossed_effects

        binomial = is_binomial(tally, self.likelihood)
        if binomial:
            for scale in orders(self._scales):
                check_logit_scale("CrossedEffects", "tau_scale", scale)
        return crossed_effects.sample(
            tally,
            seed=seed,
            binomial_likelihood=binomial,
            order=self.order,
            covariates=self.covariates,
            prior=self.prior,
            tau_scale=self._scales,
            own_effects=self.own_effects,
            tasks=self.tasks,
            ordered=self._orders,
            cyclic=self.cyclic,
            row_variances=self.row_variances,
        )
