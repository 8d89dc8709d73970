"""Estimator interface: a name, settings, and two sides to ask."""

from __future__ import annotations

import dataclasses
import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import wraps
from inspect import signature
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from bayesgroups.data.argument_types import annotations_of, fits, mismatch
from bayesgroups.data.keywords import refuse
from bayesgroups.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import pymc as pm
    import xarray as xr
    from numpy.typing import NDArray

    from bayesgroups.estimators.shared_clusters import Taken
    from bayesgroups.inference.left_out.answer import LeftOut
    from bayesgroups.inference.observed_nodes import ObservedNodes
    from bayesgroups.inference.prior_densities import LogPrior
    from bayesgroups.report.diagnostics import Check
    from bayesgroups.report.posterior import Posterior

Likelihood = Literal["auto", "binomial", "normal"]


class Estimator(ABC):
    """Frozen settings of an estimator under its name.

    An estimator class joins a frequentist reference, a PyMC model and, where the model allows it, an exact engine; it holds
    settings and nothing else. `bayesgroups.estimate` does the work.
    """

    word: ClassVar[str]
    description: ClassVar[str] = ""
    """What it assumes, in one sentence of a report."""
    references: ClassVar[tuple[str, ...]] = ()
    """The papers behind it: authors (year), title, doi."""

    @property
    def subgroups_in_threads(self) -> int:
        """Most subgroups of metrics whose exact fits run beside one another on threads, 0 if none do.

        No state is shared; filters of warnings, which are, stay as they are; and NumPy computes without the interpreter's lock for
        most of the time.
        """
        return 0

    @property
    def in_processes(self) -> bool:
        """True if exact fits and the reference beside them run on processes where not on threads.

        They take a large part of a second and more, and can be pickled.
        """
        return False

    def __new__(cls, *_: Any, **settings: Any) -> Self:
        """Refuse settings that the estimator lacks, with the one to give."""
        parameters = signature(cls.__init__).parameters
        for name in settings:
            if name not in parameters and not any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
                refuse(cls, name, tuple(parameters)[1:])
        return super().__new__(cls)

    def __init_subclass__(cls, **keywords: Any) -> None:
        """Hold settings against their annotations, after the class itself has looked at them."""
        super().__init_subclass__(**keywords)
        cls.__post_init__ = _with_types(cls.__post_init__)  # type: ignore[method-assign, assignment]

    def __post_init__(self) -> None:  # noqa: B027
        """Settings that cannot be used are an `InputError`."""

    @abstractmethod
    def reference(self, tally: xr.Dataset, *, seed: int) -> xr.Dataset:
        """Answer of the frequentist side, see `bayesgroups.frequentist`; ``seed`` is for estimators whose reference is random."""

    @abstractmethod
    def model(self, tally: xr.Dataset) -> pm.Model:
        """The PyMC model, see `bayesgroups.models`."""

    @abstractmethod
    def collapsed(self, tally: xr.Dataset, *, seed: int) -> Posterior | None:
        """Draws of one metric from the exact engine; ``None`` where there is none."""

    def replicates(self, tally: xr.Dataset, *, seed: int) -> xr.Dataset | None:
        """Bootstrap replicates of the frequentist side, see `bayesgroups.inference.bootstrap`; ``None`` where not asked for."""
        return None

    def estimands(self, tally: xr.Dataset) -> NDArray[np.str_]:
        """Estimand of either approach in words, (approach, metric); by default the value behind the rows, on both sides."""
        import numpy as np

        from bayesgroups.tallies.estimands import superpopulation_values

        return np.stack([superpopulation_values(tally)] * 2)

    def fit_checks(self, tally: xr.Dataset, draws: xr.Dataset) -> tuple[Check, ...]:
        """Checks of the fit of the model to its data, whichever engine made the draws; by default nothing is checked."""
        return ()

    def describe_priors(self, tally: xr.Dataset) -> str:
        """Likelihood and priors of the Bayesian side in words, of a tally with one metric; by default nothing is said."""
        return ""

    def notes(self, tally: xr.Dataset) -> list[str]:
        """Sentences for the notes of a report on what its answers are not; by default there are none."""
        return []

    def log_prior(self, draws: xr.Dataset, tally: xr.Dataset) -> LogPrior:
        """Log density of the hyper-priors at draws of one metric, or the reason why there is none, as by default.

        Parameters
        ----------
        draws : xr.Dataset
            The posterior of a report at one metric, chains and draws along ``sample``.
        tally : xr.Dataset
            What `collapsed` was given: a tally with that metric alone, or with all metrics where these are fitted together.
        """
        from bayesgroups.inference.prior_densities import LogPrior

        return LogPrior(None, f"{type(self).__name__} does not say what the density of its priors is")

    def log_likelihood(self, draws: xr.Dataset, tally: xr.Dataset) -> NDArray[np.float64] | None:
        """Log likelihood (draw, subgroup) at the same draws; ``None``, as by default, where it is not one of the values."""
        return None

    def observed_nodes(self, draws: xr.Dataset, tally: xr.Dataset) -> ObservedNodes:
        """Observed nodes of `model` at draws, from which the report's data and log likelihood come; by default a reason.

        Parameters
        ----------
        draws : xr.Dataset
            The posterior of a report, chains and draws along ``sample``, of one metric or, where metrics are fitted together,
            of all; with the latent parameters of the engine where it has some.
        tally : xr.Dataset
            A tally with these metrics.
        """
        from bayesgroups.inference.observed_nodes import ObservedNodes

        return ObservedNodes((), f"{type(self).__name__} does not say what its observed nodes are")

    def left_out(self, draws: xr.Dataset, tally: xr.Dataset) -> LeftOut:
        """Densities of the data of every subgroup for `bayesgroups.loo`; by default those of `observed_nodes`, at plain draws.

        An estimator class whose subgroups have effects of their own integrates these out here, for draws with the data of a
        subgroup do not reach those without. Parameters are those of `observed_nodes`.
        """
        from bayesgroups.inference.left_out.values import at_draws

        return at_draws(self.observed_nodes(draws, tally), tally)

    @property
    def hides_parameters(self) -> bool:
        """True if the likelihood has parameters that a report does not keep."""
        return False

    def takes_variances_as_known(self, tally: xr.Dataset) -> bool:
        """True if the Bayesian side takes the sampling variances of the tally for known; by default it has a likelihood of rows."""
        return False

    def takes_covariance(self, tally: xr.Dataset) -> Taken:
        """Sides that take the covariance of the errors of subgroups that share clusters; by default neither does."""
        return "neither"

    @property
    def only_sampled(self) -> str:
        """Reason why NUTS alone answers these settings, and those with an exact engine; empty where none asks for it."""
        return ""

    @property
    def joint(self) -> bool:
        """True if all metrics are fitted together rather than one by one."""
        return False

    def settings(self) -> dict[str, Any]:
        """The settings by name."""
        return dataclasses.asdict(self)  # type: ignore[call-overload, no-any-return]


def _with_types(own_check: Callable[[Estimator], None]) -> Callable[[Estimator], None]:
    @wraps(own_check)
    def check(self: Estimator) -> None:
        word, space = type(self).__name__, vars(sys.modules[type(self).__module__])
        annotations = annotations_of(type(self).__annotations__, space)
        given = {name: getattr(self, name) for name in annotations if name in type(self).__dataclass_fields__}  # type: ignore[attr-defined]
        wrong = next((name for name, value in given.items() if not fits(value, annotations[name])), None)
        try:
            own_check(self)
        except (TypeError, ValueError, AttributeError, OverflowError) as problem:
            if wrong is None or isinstance(problem, InputError):
                raise
            raise InputError(mismatch(word, wrong, annotations[wrong], given[wrong])) from problem
        if wrong is not None and not fits(getattr(self, wrong), annotations[wrong]):  # a class may accept other forms
            raise InputError(mismatch(word, wrong, annotations[wrong], given[wrong]))

    return check


def check_scale(word: str, name: str, value: float | None) -> None:
    """Refuse a scale that is not positive and finite, or so near 0 that its inverse is not."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if value is not None and not (number and math.isfinite(value) and value > 0):
        raise InputError(f"{word}: {name}={value!r} must be a positive number")
    if value is not None and math.isinf(1 / value):
        raise InputError(f"{word}: {name}={value!r} is so near 0 that its inverse is infinite; choose a larger scale")


def check_logit_scale(word: str, name: str, value: float | None) -> None:
    """Refuse a scale that is not positive and finite, or spans more logits than a double can tell from 0 and 1."""
    from bayesgroups.models.shared.scales import check_scale as check

    if value is None:
        return
    try:
        check(value, name, logit=True)
    except ValueError as problem:
        raise InputError(f"{word}: {problem}") from problem


def is_binomial(tally: xr.Dataset, likelihood: Likelihood) -> bool:
    """True if the one metric of a tally has a binomial likelihood; an error if one is asked for that is not a rate."""
    kind, metric = str(tally["kind"].values[0]), str(tally["metric"].values[0])
    if likelihood == "binomial" and kind != "rate":
        raise InputError(
            f"metric {metric!r} is not a rate (kind {kind!r}), so it has no binomial likelihood; use likelihood='auto'"
        )
    return kind == "rate" and likelihood != "normal"


def likelihood_words(*, binomial: bool) -> str:
    """The likelihood of one metric, in words."""
    return "binomial likelihood" if binomial else "normal likelihood with known sampling variances"


def weak_prior_words(tally: xr.Dataset, *, binomial: bool) -> str:
    """The prior of a value without a population, in words."""
    from bayesgroups.models.shared.scales import JEFFREYS, WEAK, natural_scale

    if binomial:
        return f"Beta({JEFFREYS:g}, {JEFFREYS:g}) (Jeffreys)"
    natural = natural_scale(tally).isel(metric=0)
    return f"Normal({float(natural['centre']):.3g}, {WEAK * float(natural['scale']):.3g})"
