"""James-Stein: every subgroup is drawn the same share of the way to the centre."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from bayesgroups.estimators.base import Estimator, check_choice

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

    from bayesgroups.inference.posterior import Posterior


@dataclass(frozen=True)
class JamesStein(Estimator):
    """James and Stein's estimator in the form of Bock, and the normal hierarchy with flat priors that stands behind it.

    Parameters
    ----------
    positive_part : bool
        Of the frequentist side: stop at the centre. The plain estimator goes past it where subgroups differ by less
        than chance alone would have them.
    interval : {"morris", "robust", "fab", "bootstrap"}
        Of the frequentist side, which has none of its own: at their own estimates, Morris's, the robust one of
        Armstrong, Kolesar and Plagborg-Moller, or FAB, exact per subgroup; or around the estimate, as wide as its
        resampled errors.

    Raises
    ------
    InputError
        If the interval is unknown.

    Examples
    --------
    >>> import bayesgroups as bg
    >>> bg.JamesStein(interval="fab")
    JamesStein(positive_part=True, interval='fab')
    """

    word: ClassVar[str] = "james_stein"

    positive_part: bool = True
    interval: Literal["morris", "robust", "fab", "bootstrap"] = "morris"

    def __post_init__(self) -> None:
        check_choice("JamesStein", "interval", self.interval, ("morris", "robust", "fab", "bootstrap"))

    def reference(self, tally: xr.Dataset, *, seed: int) -> xr.Dataset:
        """Bock's form of James-Stein, see `bayesgroups.frequentist.james_stein`."""
        from bayesgroups.frequentist import james_stein

        return james_stein.estimate(tally, positive_part=self.positive_part, interval=self.interval, seed=seed)

    def model(self, tally: xr.Dataset) -> pm.Model:
        """The PyMC model, see `bayesgroups.models.james_stein`."""
        from bayesgroups.models import james_stein

        return james_stein.build(tally)

    def collapsed(self, tally: xr.Dataset, *, seed: int) -> Posterior:
        """Exact draws of one metric, see `bayesgroups.inference.collapsed.james_stein`."""
        from bayesgroups.inference.collapsed import james_stein

        return james_stein.sample(tally, seed=seed)
