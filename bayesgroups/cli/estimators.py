"""The estimator that a command names, by its word or by its class."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Literal

from bayesgroups.cli.hidden_dask import show_dask
from bayesgroups.estimators import ESTIMATORS

if TYPE_CHECKING:
    from bayesgroups.estimators.base import Estimator

    Word = str
else:  # the words are shown and completed as choices; any other text names a class
    Word = Literal[*(each.word for each in ESTIMATORS)] | str


def chosen(name: str, settings: tuple[str, ...] = ()) -> Estimator:
    """The estimator of ``--estimator`` and ``--set``, the latter as name=value.

    ``name`` is a word, or ``module:Class`` of a module that Python finds: one that is installed, or lies in a folder of PYTHONPATH.

    >>> chosen("no_pooling", ("interval=jeffreys",))
    NoPooling(interval='jeffreys', likelihood='auto', bootstrap=0, anytime_prior=(0.5, 0.5), anytime_optimal_n=1000)
    """
    from bayesgroups.cli.estimate import parsed
    from bayesgroups.errors import InputError
    from bayesgroups.estimators.named import estimator_named

    module, colon, _ = name.partition(":")
    if colon:
        show_dask()
        try:
            import_module(module)
        except (ImportError, TypeError, ValueError) as problem:  # also of an empty or a relative name
            raise InputError(
                f"--estimator {name}: the module {module!r} cannot be imported ({problem}); "
                "install it, or name its folder in PYTHONPATH"
            ) from problem
    return estimator_named(name, parsed(settings))
