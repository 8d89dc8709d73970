"""James-Stein: every subgroup is drawn the same share of the way to the centre."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from bayesgroups.estimators.base import Estimator, likelihood_words
from bayesgroups.estimators.known_centres import checked, known_centres

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
class JamesStein(Estimator):
    """James and Stein's estimator in the form of Bock, and the normal hierarchy with flat priors that stands behind it.

    Parameters
    ----------
    positive_part : bool
        Of the frequentist side: stop at the centre. The plain estimator goes past it where subgroups differ by less
        than chance alone would have them.
    interval : {"morris", "robust", "fab", "bootstrap"}
        Of the frequentist side, which has none of its own: at their own estimates, Morris's, the robust one of Armstrong,
        Kolesar and Plagborg-Moller, or FAB, exact per subgroup; or around the estimate, as wide as its resampled errors.
    centre : float or mapping of str to float, optional
        What all subgroups are drawn to, where it was known before these data: a target, or the value of an earlier
        study. One number for every metric, or numbers by the names of metrics, of which the others keep the
        estimated centre that all have by default. It stands on both sides, and three subgroups are enough to shrink.

    Raises
    ------
    InputError
        If the interval is unknown, or a centre is not a finite number. When a tally is asked: if a centre lies outside
        the range of its metric, or its name is that of no metric.

    Examples
    --------
    >>> import bayesgroups as bg
    >>> bg.JamesStein(interval="fab")
    JamesStein(positive_part=True, interval='fab', centre=None)
    >>> bg.JamesStein(centre={"fnr": 0.2}).settings()["centre"]
    {'fnr': 0.2}
    """

    word: ClassVar[str] = "james_stein"
    description: ClassVar[str] = (
        "James-Stein: every subgroup is pulled the same share of the way to the overall value, the more so the less "
        "the subgroups differ beyond chance; small ones no more than large ones."
    )
    references: ClassVar[tuple[str, ...]] = (
        "Efron, Morris (1975), Data analysis using Stein's estimator, doi:10.1080/01621459.1975.10479864",
    )

    positive_part: bool = True
    interval: Literal["morris", "robust", "fab", "bootstrap"] = "morris"
    centre: float | Mapping[str, float] | None = field(default=None, hash=False)  # a mapping has no hash

    def __post_init__(self) -> None:
        object.__setattr__(self, "centre", checked("JamesStein", self.centre))

    def reference(self, tally: xr.Dataset, *, seed: int) -> xr.Dataset:
        """Bock's form of James-Stein, see `bayesgroups.frequentist.james_stein`."""
        from bayesgroups.frequentist import james_stein

        centre = known_centres("JamesStein", self.centre, tally, whole=True)
        return james_stein.estimate(
            tally, positive_part=self.positive_part, interval=self.interval, centre=centre, seed=seed
        )

    def takes_variances_as_known(self, tally: xr.Dataset) -> bool:
        """Always: its likelihood is normal."""
        return True

    def model(self, tally: xr.Dataset) -> pm.Model:
        """The PyMC model, see `bayesgroups.models.james_stein`."""
        from bayesgroups.models import james_stein

        return james_stein.build(tally, centre=known_centres("JamesStein", self.centre, tally))

    def collapsed(self, tally: xr.Dataset, *, seed: int) -> Posterior:
        """Exact draws of one metric, see `bayesgroups.inference.collapsed.james_stein`."""
        from bayesgroups.inference.collapsed import james_stein

        centres = known_centres("JamesStein", self.centre, tally)
        return james_stein.sample(tally, seed=seed, centre=None if centres is None else float(centres[0]))

    def describe_priors(self, tally: xr.Dataset) -> str:
        """Flat priors of the spread, and of the centre where it is not known."""
        centres = known_centres("JamesStein", self.centre, tally)
        place = "centre" if centres is None else f"{centres[0]:.3g}"
        around = "" if centres is None else " around a known centre"
        flat = (
            "flat priors of the centre and of the square of tau"
            if centres is None
            else "a flat prior of the square of tau"
        )
        return (
            f"{likelihood_words(binomial=False)}; subgroups are Normal({place}, tau){around}, with {flat}; "
            f"with {'three' if centres is None else 'two'} estimates or fewer each subgroup stands alone, with a flat prior"
        )

    def log_prior(self, draws: xr.Dataset, tally: xr.Dataset) -> LogPrior:
        """None, for flat priors do not change with their power."""
        from bayesgroups.inference.prior_densities import LogPrior

        return LogPrior(None, "its priors are flat, and a flat prior to any power is the same")

    def observed_nodes(self, draws: xr.Dataset, tally: xr.Dataset) -> ObservedNodes:
        """Normal, at values before they are brought into the range of the metric."""
        from bayesgroups.inference.value_nodes import latent_value_nodes

        return latent_value_nodes(draws, tally)

    def left_out(self, draws: xr.Dataset, tally: xr.Dataset) -> LeftOut:
        """Values of subgroups and the centre integrated out, given tau."""
        from bayesgroups.inference.left_out.population import population_estimates

        centres = known_centres("JamesStein", self.centre, tally)
        return population_estimates(draws, tally, flat=True, centre=None if centres is None else float(centres[0]))

    @property
    def hides_parameters(self) -> bool:
        """Values beyond the range of the metric."""
        return True

    def log_likelihood(self, draws: xr.Dataset, tally: xr.Dataset) -> NDArray[np.float64]:
        """Normal."""
        from bayesgroups.inference.value_likelihoods import value_likelihood

        return value_likelihood(draws, tally, binomial=False)
