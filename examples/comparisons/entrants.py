"""The estimators that enter the shared study, by name: references alone, and words with both sides."""

from __future__ import annotations

from functools import partial

import xarray as xr

from bayesgroups.estimators import (
    CompletePooling,
    CrossedEffects,
    JamesStein,
    NoPooling,
    PartialPooling,
    StructuredRegression,
)
from bayesgroups.frequentist import crossed_effects, james_stein, no_pooling, partial_pooling, structured_regression
from bayesgroups.studies.resampling import Entry

STANDARD = "standard"
"""The estimate of each subgroup by itself with the pooled normal interval; everything is relative to it."""

REFERENCES = ("standard", "js", "eb_plug_in", "eb_morris", "sr", "suremap", "eb_ml")
BAYESIAN = (
    "no_pooling", "complete_pooling", "partial_pooling", "james_stein", "structured_regression", "crossed_effects",
)  # fmt: skip


def competitors() -> dict[str, Entry]:
    """All of them.

    Returns
    -------
    dict
        ``standard`` (pooled normal), ``js`` (James-Stein), ``eb_plug_in`` and ``eb_morris`` (empirical Bayes), ``sr``
        (structured regression), ``suremap``, ``eb_ml`` (maximum marginal likelihood on the same family), and the words
        of the package with their default settings.

    Examples
    --------
    >>> list(competitors())[:3]
    ['standard', 'js', 'eb_plug_in']
    """
    return {
        "standard": standard,
        "js": james_stein.estimate,
        "eb_plug_in": partial(partial_pooling.estimate, interval="plug_in"),
        "eb_morris": partial_pooling.estimate,
        "sr": partial(structured_regression.estimate, seed=0),
        "suremap": partial(crossed_effects.estimate, method="suremap"),
        "eb_ml": partial(crossed_effects.estimate, method="marginal_likelihood", interval="plug_in"),
        "no_pooling": NoPooling(),
        "complete_pooling": CompletePooling(),
        "partial_pooling": PartialPooling(),
        "james_stein": JamesStein(),
        "structured_regression": StructuredRegression(),
        "crossed_effects": CrossedEffects(),
    }


# Checkpoints name this function by its module, which therefore keeps its name.
def standard(tally: xr.Dataset) -> xr.Dataset:
    """The standard estimate with the pooled normal interval."""
    return no_pooling.estimate(tally, interval="pooled_normal")
