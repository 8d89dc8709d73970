"""Disagreement feedback: critics say whether they disagree, never with which label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from bayesgroups.errors import InputError
from bayesgroups.estimators.base import Estimator, check_logit_scale, check_scale, likelihood_words

if TYPE_CHECKING:
    import numpy as np
    import pymc as pm
    import xarray as xr
    from numpy.typing import NDArray

    from bayesgroups.inference.observed_nodes import ObservedNodes
    from bayesgroups.inference.prior_densities import LogPrior
    from bayesgroups.report.posterior import Posterior


@dataclass(frozen=True)
class DisagreementModel(Estimator):
    """Latent labels of critics with a stated prior, and bounds that need none as the reference.

    For tallies of `bayesgroups.disagreement_tally` only. All metrics are fitted together.

    Parameters
    ----------
    destination : float
        Of the Bayesian side: parameter of the Dirichlet prior of the label that a disagreeing critic has in mind. 1 takes
        every law for equally likely, less favours a single label, more an even spread. No data change it: vary it.
    overall_scale, tau_scale : float, optional
        Prior scales of the logits of disagreement rates: centre ~ Normal(0, overall_scale), spreads of subgroups and of
        critics ~ HalfNormal(tau_scale); by default 1.5 and 0.5.
    critics : bool
        Give critics a leniency of their own where the tally has them, which needs NUTS; or take judgements for
        independent, which has an exact engine.
    form : {"sharp", "published"}
        Of the frequentist side: the identified set, or the formulas of the paper, errors included.
    resample : {"all", "judgements", "critics", "items"}
        Of the frequentist side: what the bootstrap draws anew, by default all that the tally knows.

    Raises
    ------
    InputError
        If a choice is unknown or a number is not positive.

    Examples
    --------
    >>> import bayesgroups as bg
    >>> bg.DisagreementModel(destination=0.5).settings()["destination"]
    0.5
    """

    word: ClassVar[str] = "disagreement"
    description: ClassVar[str] = (
        "Disagreement feedback: critics say whether they disagree and not with which label, so that rates are known within "
        "bounds; where in them a rate lies is a stated prior on the Bayesian side, and left open on the other."
    )
    references: ClassVar[tuple[str, ...]] = (
        "Gustafson (2010), Partially identified models, doi:10.2202/1557-4679.1206",
    )

    destination: float = 1.0
    overall_scale: float | None = None
    tau_scale: float | None = None
    critics: bool = True
    form: Literal["sharp", "published"] = "sharp"
    resample: Literal["all", "judgements", "critics", "items"] = "all"

    def __post_init__(self) -> None:
        check_scale("DisagreementModel", "destination", self.destination)
        check_scale("DisagreementModel", "overall_scale", self.overall_scale)
        check_logit_scale("DisagreementModel", "overall_scale", self.overall_scale)
        check_scale("DisagreementModel", "tau_scale", self.tau_scale)
        check_logit_scale("DisagreementModel", "tau_scale", self.tau_scale)

    @property
    def joint(self) -> bool:
        """Always: every metric comes from the same shares and rates."""
        return True

    def estimands(self, tally: xr.Dataset) -> NDArray[np.str_]:
        """The rate where disagreement tells it; else the rate under the stated prior, and the set of rates that are possible."""
        import numpy as np

        from bayesgroups.tallies.disagreement_notions import DEFINITE

        exact = np.isin(tally["notion"].values, list(DEFINITE)) | (tally.sizes["label"] <= 2)
        rates = super().estimands(tally)
        opened = ("superpopulation rate under the stated prior", "identified set of the superpopulation rate")
        return np.where(exact, rates, np.array(opened)[:, None])

    def describe_priors(self, tally: xr.Dataset) -> str:
        """Priors of disagreement rates, and of the label that a disagreeing critic has in mind."""
        from bayesgroups.models.shared.scales import LOGIT_OVERALL_SCALE, LOGIT_TAU_SCALE

        overall, tau = self.overall_scale or LOGIT_OVERALL_SCALE, self.tau_scale or LOGIT_TAU_SCALE
        return (
            f"{likelihood_words(binomial=True)}; logits of disagreement are Normal(centre, tau), with priors "
            f"centre ~ Normal(0, {overall:.3g}) and tau ~ HalfNormal({tau:.3g}); "
            f"the label that a disagreeing critic has in mind has the prior Dirichlet({self.destination:.3g})"
        )

    def log_prior(self, draws: xr.Dataset, tally: xr.Dataset) -> LogPrior:
        """None, for no data change the prior that matters."""
        from bayesgroups.inference.prior_densities import LogPrior

        reason = (
            "where disagreement goes is known from the prior alone, whatever the data; "
            "the bounds say what any other prior could do"
        )
        return LogPrior(None, reason)

    def observed_nodes(self, draws: xr.Dataset, tally: xr.Dataset) -> ObservedNodes:
        """Multinomial judgements and binomial disagreements; with critics the PyMC model's alone."""
        from bayesgroups.inference.latent_nodes import HIDDEN, disagreement_nodes
        from bayesgroups.inference.observed_nodes import ObservedNodes

        if self.critics and "critic_agreements" in tally.data_vars:
            return ObservedNodes((), HIDDEN, hidden=True)
        return disagreement_nodes(draws, tally)

    @property
    def hides_parameters(self) -> bool:
        """Shares of labels and rates of disagreement."""
        return True

    def reference(self, tally: xr.Dataset, *, seed: int) -> xr.Dataset:
        """Bounds and their confidence sets, see `bayesgroups.frequentist.disagreement`."""
        from bayesgroups.frequentist import disagreement

        _check_tally(tally)
        return disagreement.estimate(tally, seed=seed, form=self.form, resample=self.resample)

    def model(self, tally: xr.Dataset) -> pm.Model:
        """The PyMC model, see `bayesgroups.models.disagreement`."""
        from bayesgroups.models import disagreement

        _check_tally(tally)
        return disagreement.build(
            tally,
            destination=self.destination,
            overall_scale=self.overall_scale,
            tau_scale=self.tau_scale,
            critics=self.critics,
        )

    def collapsed(self, tally: xr.Dataset, *, seed: int) -> Posterior | None:
        """Exact draws, see `bayesgroups.inference.collapsed.disagreement`; none with critics of their own."""
        from bayesgroups.inference.collapsed import disagreement

        _check_tally(tally)
        if self.critics and "critic_agreements" in tally.data_vars:
            return None
        return disagreement.sample(
            tally, seed=seed, destination=self.destination, overall_scale=self.overall_scale, tau_scale=self.tau_scale
        )


def _check_tally(tally: xr.Dataset) -> None:
    if "agreements" not in tally.data_vars:
        raise InputError(
            "DisagreementModel needs agreements and disagreements; make the tally with bg.disagreement_tally()"
        )
