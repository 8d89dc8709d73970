"""Descriptions of the limits of an answer: what is estimated, their level, kind and method, wherever the answer says it."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import xarray as xr

from bayesgroups.report.schema import KINDS
from bayesgroups.report.view import interval_words, percent, plain

DESCRIPTIONS = ("estimand", "level", "interval_kind", "interval_method")
"""Variables, coordinates or attributes of an answer that describe its limits."""


def described(answer: xr.Dataset) -> dict[str, xr.DataArray]:
    """The descriptions that an answer has, each along the dims it varies along; its approach says the kind where nothing else does.

    >>> answer = xr.Dataset({"method": ("approach", ["normal", "t"])}, {"approach": ["bayesian", "frequentist"]}, {"level": 0.9})
    >>> {name: values.values.tolist() for name, values in described(answer).items()}
    {'level': 0.9, 'interval_kind': ['credible', 'confidence'], 'interval_method': ['normal', 't']}
    """
    descriptions: dict[str, xr.DataArray] = {}
    for name in DESCRIPTIONS:
        if name in answer.variables:
            descriptions[name] = answer[name]
        elif name in answer.attrs:
            descriptions[name] = xr.DataArray(answer.attrs[name])
        elif name == "interval_kind" and "approach" in answer.dims:
            kinds = [KINDS[str(approach)] for approach in answer["approach"].values]
            descriptions[name] = xr.DataArray(kinds, {"approach": answer["approach"].values}, "approach")
        elif name == "interval_method" and "method" in answer and answer["method"].dims == ("approach",):
            descriptions[name] = answer["method"]
    return descriptions


def sentences(answer: xr.Dataset) -> list[str]:
    """The estimand and the limits of an answer in a sentence, or one per metric where metrics differ; none without limits."""
    about = described(answer)
    if "level" not in about or "interval_kind" not in about:
        return [_bounds(answer)] if answer.attrs.get("interval_kind") == "bound" else []
    metrics: list[Hashable] = list(answer["metric"].values) if "metric" in answer.dims else [""]
    told = {metric: _sentence(_at(about, "metric", metric), answer) for metric in metrics}
    if len(set(told.values())) == 1:
        return list(told.values())[:1]
    return [f"{plain(str(metric))}: {sentence}" for metric, sentence in told.items()]


def _sentence(about: dict[str, xr.DataArray], answer: xr.Dataset) -> str:
    approaches: list[Hashable] = list(answer["approach"].values) if "approach" in answer.dims else [""]
    intervals = []
    for approach in approaches:
        here = _at(about, "approach", approach)
        methods = _texts(here["interval_method"]) if "interval_method" in here else []
        kinds = [
            "identified-set" if kind == "bound" and "form" in answer.attrs else kind
            for kind in _texts(here["interval_kind"])
        ]
        intervals += [interval_words(kind, methods) for kind in kinds]
    level = about["level"]
    words = f"{' and '.join(dict.fromkeys(intervals))} intervals"
    words = f"{percent(float(level))} {words}" if level.ndim == 0 else f"{words} of the level of each row"
    estimand = [str(answer.attrs["metric"])] if "metric" in answer.attrs else []
    if "estimand" in about and "estimand" not in answer.dims:
        estimand = _texts(about["estimand"])
    return "; ".join([*(" and ".join(map(plain, each)) for each in [estimand] if each), words])


def _bounds(answer: xr.Dataset) -> str:
    """Bounds of what the data leave open, which no level belongs to."""
    form, metric = (str(answer.attrs.get(name, "")) for name in ("form", "metric"))
    return plain(f"{form} bounds of {metric} that the data leave open, without sampling error and so without a level")


def _at(about: dict[str, xr.DataArray], dim: str, label: Hashable) -> dict[str, xr.DataArray]:
    return {name: values.sel({dim: label}) if dim in values.dims else values for name, values in about.items()}


def _texts(values: xr.DataArray) -> list[str]:
    """Different texts of a description, in order; empty ones are none."""
    return [text for text in dict.fromkeys(np.ravel(values.values).astype(str).tolist()) if text]
