"""Model-based metrics: the score is modelled, and every metric is a functional of the model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from bayesgroups.errors import InputError
from bayesgroups.estimators.base import Estimator, check_scale

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

    from bayesgroups.inference.observed_nodes import ObservedNodes
    from bayesgroups.inference.prior_densities import LogPrior
    from bayesgroups.report.diagnostics import Check
    from bayesgroups.report.posterior import Posterior


@dataclass(frozen=True)
class ModelBasedMetrics(Estimator):
    """Hierarchical model of the score given outcome and subgroup, and a bootstrapped score regression as its reference.

    The tally must keep scores: make it with ``auc`` among its metrics.

    Parameters
    ----------
    order : int
        Attributes are crossed at most so often in the effects on the score, beside an effect of every subgroup (Bayesian side
        only); 0 for none of them.
    covariates : tuple of str
        Features of the tally whose subgroup means describe the scores.
    row_covariates : tuple of str
        Covariates of the rows, on which scores depend within a subgroup and outcome; the tally must keep them, see
        `bayesgroups.tallies.score_covariates.keep_covariates`. Scores are then normal given them.
    effect_scale : float, optional
        Half-normal scale of the standard deviations of effects, in pooled standard deviations of the score; by default 0.3.
    residuals : {"auto", "normal", "skewed"}
        Scores of one subgroup and outcome are normal on the modelling scale; normal after a warp common to all, which makes
        them skewed and heavy-tailed; or whichever of the two the Bayesian information criterion prefers.
    population : {"super", "finite"}
        Whether outcomes are as frequent as in the population of each subgroup or as among its rows
        (Bayesian side; the reference takes its rows).
    method : {"fast", "full"}
        Of the bootstrap of the frequentist side: one Newton step per replicate, or a fit of every replicate.
    bootstrap : int
        Number of its replicates, 2 or more.

    Raises
    ------
    InputError
        If a choice is unknown, a number is out of range, a covariate is no name, or covariates of rows go with skewed
        residuals.

    Examples
    --------
    >>> import bayesgroups as bg
    >>> bg.ModelBasedMetrics(order=2).order
    2
    """

    word: ClassVar[str] = "model_based_metrics"
    description: ClassVar[str] = (
        "Model-based metrics: the score itself is modelled given outcome and subgroup, and every metric is computed from that "
        "model, so that small subgroups borrow the shape of scores from large ones; the diagnostics say whether it fits."
    )
    references: ClassVar[tuple[str, ...]] = ("Miller, Gatys, Futoma, Fox (2021), Model-based metrics",)

    order: int = 1
    covariates: tuple[str, ...] = ()
    row_covariates: tuple[str, ...] = ()
    effect_scale: float | None = None
    residuals: Literal["auto", "normal", "skewed"] = "auto"
    population: Literal["super", "finite"] = "super"
    method: Literal["fast", "full"] = "fast"
    bootstrap: int = 500

    def __post_init__(self) -> None:
        word = "ModelBasedMetrics"
        check_scale(word, "effect_scale", self.effect_scale)
        if isinstance(self.order, bool) or not isinstance(self.order, int) or self.order < 0:
            raise InputError(f"{word}: order={self.order!r} must be a whole number, 0 or larger")
        if isinstance(self.bootstrap, bool) or not isinstance(self.bootstrap, int) or self.bootstrap < 2:
            raise InputError(f"{word}: bootstrap={self.bootstrap!r} must be a whole number, 2 or larger")
        for name in ("covariates", "row_covariates"):
            given = getattr(self, name)
            # A list, as settings come back from a file, is the same setting; and so is a single name.
            names = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Iterable) else (None,)
            if not all(isinstance(item, str) for item in names):
                raise InputError(f"{word}: {name}={given!r} must be names of columns, as {name}=('age',)")
            object.__setattr__(self, name, names)
        if self.row_covariates and self.residuals == "skewed":
            from bayesgroups.scores.inputs import NO_WARP

            raise InputError(NO_WARP)

    @property
    def joint(self) -> bool:
        """All metrics are functionals of one fit."""
        return True

    def settings(self) -> dict[str, Any]:
        """The settings by name."""
        return super().settings() | {"covariates": list(self.covariates), "row_covariates": list(self.row_covariates)}

    def reference(self, tally: xr.Dataset, *, seed: int) -> xr.Dataset:
        """The bootstrapped score regression, see `bayesgroups.frequentist.model_based_metrics`."""
        from bayesgroups.frequentist import model_based_metrics

        return model_based_metrics.estimate(
            tally,
            covariates=self.covariates,
            row_covariates=self.row_covariates,
            residuals=self.residuals,
            method=self.method,
            replicates=self.bootstrap,
            seed=seed,
        )

    def model(self, tally: xr.Dataset) -> pm.Model:
        """The PyMC model, see `bayesgroups.models.model_based_metrics`."""
        from bayesgroups.models import model_based_metrics
        from bayesgroups.scores.inputs import is_skewed, with_scores

        source = with_scores(tally)
        return model_based_metrics.build(
            source,
            order=self.order,
            covariates=self.covariates,
            row_covariates=self.row_covariates,
            effect_scale=self._effect_scale(),
            residuals="skewed" if is_skewed(source, self._residuals()) else "normal",
            population=self.population,
        )

    def collapsed(self, tally: xr.Dataset, *, seed: int) -> Posterior:
        """Draws of all metrics, see `bayesgroups.inference.collapsed.model_based_metrics`."""
        from bayesgroups.inference.collapsed import model_based_metrics

        return model_based_metrics.sample(
            tally,
            seed=seed,
            order=self.order,
            covariates=self.covariates,
            row_covariates=self.row_covariates,
            effect_scale=self._effect_scale(),
            residuals=self.residuals,
            population=self.population,
        )

    def describe_priors(self, tally: xr.Dataset) -> str:
        """Prior of the standard deviations of effects."""
        return (
            "a functional of normal scores, in standard units, of each outcome; "
            f"half-normal priors of scale {self._effect_scale():g} on the standard deviations of effects"
        )

    def log_prior(self, draws: xr.Dataset, tally: xr.Dataset) -> LogPrior:
        """None, for its parameters are not in a report."""
        from bayesgroups.inference.prior_densities import LogPrior

        reason = "the report keeps the metrics and not the parameters of the scores, which the priors are of"
        return LogPrior(None, reason)

    def observed_nodes(self, draws: xr.Dataset, tally: xr.Dataset) -> ObservedNodes:
        """Normal scores and binomial outcomes; no node where scores enter through another density."""
        from bayesgroups.inference.latent_nodes import score_nodes
        from bayesgroups.inference.observed_nodes import ObservedNodes
        from bayesgroups.scores.inputs import is_skewed, with_scores

        source = with_scores(tally)
        if self.row_covariates or is_skewed(source, self._residuals()):
            return ObservedNodes(
                (), "warped scores, and scores with covariates of rows, are no observed node of the model"
            )
        return score_nodes(draws, source, finite=self.population == "finite")

    @property
    def hides_parameters(self) -> bool:
        """The laws of the scores."""
        return True

    def fit_checks(self, tally: xr.Dataset, draws: xr.Dataset) -> tuple[Check, ...]:
        """Checks of the scores against the shape that the model assumes, and of the metrics against those observed."""
        from bayesgroups.inference.score_checks import checks

        return checks(tally, draws, residuals=self._residuals())

    def _residuals(self) -> Literal["auto", "normal", "skewed"]:
        return "normal" if self.row_covariates else self.residuals

    def _effect_scale(self) -> float:
        from bayesgroups.models.shared.score_cells import EFFECT_SCALE

        return EFFECT_SCALE if self.effect_scale is None else self.effect_scale
