"""Confusion cells: every metric of outcome and decision from one joint model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from bayesgroups.errors import InputError
from bayesgroups.estimators.base import Estimator, check_logit_scale, check_scale, likelihood_words
from bayesgroups.estimators.level_orders import (
    cyclic_among,
    levels_in_order,
    order_settings,
    order_words,
    orders_by_attribute,
)

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
class ConfusionModel(Estimator):
    """Joint model of outcome and decision in every subgroup, and plug-in shares of the cells as its reference.

    All metrics of the tally come from the same draws, ``report["posterior"]["cell_share"]``, so that they agree with each
    other in every draw and none is undefined; so does any function of the cells of one's own.

    Parameters
    ----------
    order : int, optional
        Cross at most so many attributes, beside all of them together; by default every subset is a component.
    tau_scale : float, optional
        Scale of the priors of the components' standard deviations, on the logit scale; by default 0.5 for decisions,
        0.2 for outcomes given a decision, and 0.15 for what these have besides where they follow the selection rate; 0.4 for
        outcomes that depend on the judged rate.
    own_effects : {"floored", "fixed", "learned"}, optional
        Whether what sets a single subgroup apart has a known standard deviation, half of the scale (for outcomes 0.8 of it, 0.5
        where they depend on the judged rate), a learned one, or both beside each other; by default fixed, and floored where
        outcomes depend on the judged rate. With one attribute it is always learned.
    follow_selection : bool
        Whether outcomes given the more frequent decision follow the selection rate of the attributes; with two classes, two
        attributes or more, and fixed residual effects.
    correlated : bool
        Whether effects are correlated across all factors of the model instead; sampled by NUTS.
    score_offsets : bool
        Whether the mean recalibrated scores of the subgroups inform their outcomes, where there are two classes and a score.
    judged_rate : bool, optional
        Whether outcomes given a decision depend on the judged rate of the subgroup and have the priors of few labels; nothing
        follows the selection rate then, and scores do not inform outcomes. By default where the tally keeps rows without an
        outcome, ``bg.tally(..., unlabelled="keep")``.
    ordered : mapping from str to sequence of str, or tuple of str
        Attributes whose levels have an order, as in `bayesgroups.CrossedEffects`: in every factor a share of the variance of every
        component that crosses one, learned, follows it. The frequentist side, which pools nothing, has no use of it.
    cyclic : tuple of str
        Which of them have the last level beside the first, as months have.
    interval : {"wilson", "delta", "mover", "multinomial_bootstrap"}, optional
        Of the frequentist side: Wilson's (of rates and F1; ``delta`` for any other metric), normal with the standard error of the
        delta method, square-and-add of Wilson limits (for tallies that keep rows without an outcome), or percentiles of the
        multinomial bootstrap. By default ``wilson``, and ``mover`` for such tallies.
    bootstrap : int
        Number of multinomial bootstrap replicates to keep in the report.

    Raises
    ------
    InputError
        If a choice is unknown, a scale is not positive, a number is negative or not whole, attributes are ordered while effects are
        correlated, a cyclic attribute is not ordered, or an order names fewer than two levels or one of them twice.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> rows = pd.DataFrame({"sex": ["f", "m"] * 20, "y": [1, 0, 0, 1] * 10, "d": [1, 0, 0, 0] * 10})
    >>> tally = bg.tally(rows, ["sex"], ["fnr", "acc"], y_true="y", y_pred="d", confusion=True)
    >>> report = bg.estimate(tally, bg.ConfusionModel(), seed=1)
    >>> report["posterior"]["cell_share"].sizes["outcome"], report.attrs["usable"]
    (2, 1)
    """

    word: ClassVar[str] = "confusion"
    description: ClassVar[str] = (
        "Confusion cells: decision and outcome of every subgroup are modelled together, with effects of every subset of its "
        "attributes, and every metric is computed from the same cells, so that the metrics agree with each other."
    )
    references: ClassVar[tuple[str, ...]] = (
        "Gelman (2006), Prior distributions for variance parameters, doi:10.1214/06-BA117A",
    )

    order: int | None = None
    tau_scale: float | None = None
    own_effects: Literal["floored", "fixed", "learned"] | None = None
    follow_selection: bool = True
    correlated: bool = False
    score_offsets: bool = False
    interval: Literal["wilson", "delta", "mover", "multinomial_bootstrap"] | None = None
    bootstrap: int = 0
    judged_rate: bool | None = None
    ordered: tuple[str, ...] | Mapping[str, Sequence[str]] = ()
    cyclic: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.judged_rate is not None and not isinstance(self.judged_rate, bool):
            raise InputError(
                f"ConfusionModel: judged_rate={self.judged_rate!r} must be True, False, or None for where outcomes are missing"
            )
        if self.judged_rate and self.correlated:
            raise InputError(
                "ConfusionModel: correlated effects have no judged rate; leave correlated=True or judged_rate=True out"
            )
        object.__setattr__(self, "ordered", levels_in_order("ConfusionModel", self.ordered))
        object.__setattr__(self, "cyclic", cyclic_among("ConfusionModel", self.cyclic, self.ordered))
        if self.ordered and self.correlated:
            raise InputError(
                "ConfusionModel: correlated effects have no ordered attributes; leave correlated=True or ordered= out"
            )
        check_scale("ConfusionModel", "tau_scale", self.tau_scale)
        check_logit_scale("ConfusionModel", "tau_scale", self.tau_scale)
        for name in ("follow_selection", "correlated", "score_offsets"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"ConfusionModel: {name}={getattr(self, name)!r} must be True or False")
        if self.order is not None and not _whole(self.order):
            raise InputError(
                f"ConfusionModel: order={self.order!r} must be 0 or more, a whole number, or None for every subset"
            )
        if not _whole(self.bootstrap):
            raise InputError(f"ConfusionModel: bootstrap={self.bootstrap!r} must be 0 or larger, a whole number")

    def settings(self) -> dict[str, Any]:
        """The settings by name."""
        return super().settings() | order_settings(self.ordered, self.cyclic)

    @property
    def only_sampled(self) -> str:
        """Factors with correlated effects are not independent, so they cannot be drawn one by one."""
        reason = (
            "effects that are correlated across factors are drawn by NUTS alone, correlated=False has an exact engine"
        )
        return reason if self.correlated else ""

    @property
    def joint(self) -> bool:
        """All metrics come from the same cells."""
        return True

    def reference(self, tally: xr.Dataset, *, seed: int) -> xr.Dataset:
        """Plug-in shares of the cells, see `bayesgroups.frequentist.confusion`."""
        from bayesgroups.frequentist import confusion, judged_confusion
        from bayesgroups.tallies.partial_labels import is_partial

        chosen = self.interval
        if is_partial(tally):
            if chosen == "wilson":
                raise InputError(
                    "ConfusionModel: interval='wilson' is for tallies whose rows all have an outcome; take 'mover', 'delta' or "
                    "'multinomial_bootstrap'"
                )
            return judged_confusion.estimate(tally, interval=chosen or "mover", seed=seed)
        if chosen == "mover":
            raise InputError(
                "ConfusionModel: interval='mover' is for tallies that keep rows without an outcome; take 'wilson', 'delta' or "
                "'multinomial_bootstrap'"
            )
        return confusion.estimate(tally, interval=chosen or "wilson", seed=seed)

    def replicates(self, tally: xr.Dataset, *, seed: int) -> xr.Dataset | None:
        """Multinomial bootstrap, see `bayesgroups.frequentist.confusion`."""
        from bayesgroups.frequentist import confusion, judged_confusion
        from bayesgroups.tallies.partial_labels import is_partial

        if not self.bootstrap:
            return None
        if is_partial(tally):
            return judged_confusion.replicates(tally, seed=seed, draws=self.bootstrap)
        return confusion.replicates(tally, seed=seed, draws=self.bootstrap)

    def model(self, tally: xr.Dataset) -> pm.Model:
        """The PyMC model, see `bayesgroups.models.confusion`."""
        self._check_correlated(tally)
        from bayesgroups.inference.collapsed.confusion_factors import decided
        from bayesgroups.models import confusion

        shares = None
        if self._judged(tally):
            shares = decided(
                tally,
                order=self.order,
                tau_scale=self.tau_scale,
                own_effects=self.own_effects,
                ordered=orders_by_attribute(self.ordered),
                cyclic=self.cyclic,
            )
        return confusion.build(
            tally,
            order=self.order,
            tau_scale=self.tau_scale,
            own_effects=self.own_effects,
            follow_selection=self.follow_selection,
            correlated=self.correlated,
            score_offsets=self.score_offsets,
            judged_rate=self.judged_rate,
            decision_share=shares,
            ordered=orders_by_attribute(self.ordered),
            cyclic=self.cyclic,
        )

    def describe_priors(self, tally: xr.Dataset) -> str:
        """Priors of the components' standard deviations, and of the slope of outcomes that follow the selection rate."""
        from bayesgroups.estimators.factor_priors import factor_prior_words
        from bayesgroups.models.shared.confusion_tree import follower, tree
        from bayesgroups.models.shared.subsets import subsets

        judged = self._judged(tally)
        factors, fixed = tree(tally), self.own_effects in (None, "fixed") and len(subsets(tally, self.order).names) > 1
        follows_any = self.follow_selection and not (self.correlated or judged)
        followed = follower(factors, own_fixed=fixed) if follows_any else None
        follows = None if followed is None else factors.names[followed]
        words = factor_prior_words(self.tau_scale, follows=follows, correlated=self.correlated, judged=judged)
        return f"{likelihood_words(binomial=True)}; {words}{order_words(self.ordered, tally)}"

    def log_prior(self, draws: xr.Dataset, tally: xr.Dataset) -> LogPrior:
        """Of centres, spreads and slopes of the factors."""
        from bayesgroups.inference.prior_densities import LogPrior, factor_density

        return LogPrior(factor_density(draws, tally, tau_scale=self.tau_scale, judged_rate=self.judged_rate))

    def observed_nodes(self, draws: xr.Dataset, tally: xr.Dataset) -> ObservedNodes:
        """Binomial, of the factors of the cells."""
        from bayesgroups.inference.value_nodes import confusion_nodes

        return confusion_nodes(draws, tally)

    def left_out(self, draws: xr.Dataset, tally: xr.Dataset) -> LeftOut:
        """Cells of a subgroup, with its effects on all factors integrated out; at plain draws where factors are correlated."""
        from bayesgroups.inference.left_out import confusion

        if self.correlated:
            return confusion.at_shares(draws, tally)
        return confusion.confusion_cells(
            draws,
            tally,
            order=self.order,
            tau_scale=self.tau_scale,
            own_effects=self.own_effects,
            follow_selection=self.follow_selection,
            score_offsets=self.score_offsets,
            judged_rate=self.judged_rate,
            ordered=orders_by_attribute(self.ordered),
            cyclic=self.cyclic,
        )

    def log_likelihood(self, draws: xr.Dataset, tally: xr.Dataset) -> NDArray[np.float64]:
        """Multinomial, of the cells."""
        from bayesgroups.inference.value_likelihoods import cell_likelihood

        return cell_likelihood(draws, tally)

    def fit_checks(self, tally: xr.Dataset, draws: xr.Dataset) -> tuple[Check, ...]:
        """Conflict of the priors of the factors' standard deviations with the data."""
        from bayesgroups.inference.prior_conflict import factor_conflict

        return factor_conflict(
            tally,
            draws,
            order=self.order,
            tau_scale=self.tau_scale,
            follow_selection=self.follow_selection and not self.correlated,
            own_effects=self.own_effects,
            judged_rate=self.judged_rate,
        )

    def collapsed(self, tally: xr.Dataset, *, seed: int) -> Posterior | None:
        """Exact draws of all metrics, see `bayesgroups.inference.collapsed.confusion`; none with correlations."""
        if self.correlated:
            return None
        from bayesgroups.inference.collapsed import confusion

        return confusion.sample(
            tally,
            seed=seed,
            order=self.order,
            tau_scale=self.tau_scale,
            own_effects=self.own_effects,
            follow_selection=self.follow_selection,
            score_offsets=self.score_offsets,
            judged_rate=self.judged_rate,
            ordered=orders_by_attribute(self.ordered),
            cyclic=self.cyclic,
        )

    def _judged(self, tally: xr.Dataset) -> bool:
        """True if outcomes depend on the judged rate."""
        from bayesgroups.models.shared.judged_rate import uses_judged_rate

        return uses_judged_rate(tally, self.judged_rate)

    def _check_correlated(self, tally: xr.Dataset) -> None:
        if self.correlated and self._judged(tally):
            raise InputError(
                "ConfusionModel: correlated=True is for tallies with all outcomes, and this one keeps rows without; "
                "leave it out, or say judged_rate=False"
            )


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
