"""The order of systems for everyone, which of them are tied, and their values in every subgroup."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from bayesgroups.questions.certification.overlapping import ALL
from bayesgroups.report.view import number, percent, plain
from bayesgroups.views.html.sections.questions import chance
from bayesgroups.views.html.sections.system_pairs import LISTED, SIDES, decimals, label_of


def leaderboard_section(board: xr.Dataset, shown: Mapping[str, str]) -> dict[str, Any]:
    """The order of systems for everyone, and their values with letters in every subgroup."""
    order = np.argsort(board["rank"].sel(approach="bayesian", subgroup=ALL).values, kind="stable")
    everyone = board.sel(subgroup=ALL).isel(system=order)
    sides = [everyone.sel(approach=name) for name in SIDES]
    places = decimals(board["estimate"].values, (board["upper"] - board["lower"]).values / 4)
    names = [plain(str(name)) for name in everyone["system"].values]
    groups = [str(label) for label in board["subgroup"].values if str(label) != ALL]
    within = board.isel(system=order).sel(approach="bayesian")
    return {
        "level": percent(float(board.attrs["level"])),
        "count": f"{float(everyone['items']):g}",
        "sentences": _tied(sides[0], names),
        "systems": names,
        "rows": [{"name": name, "sides": [_ranked(side, i, places) for side in sides]} for i, name in enumerate(names)],
        "groups": [
            {"label": label_of(group, shown), "reason": _reason(within.sel(subgroup=group)),
             "count": f"{float(within['items'].sel(subgroup=group)):g}",
             "cells": [_lettered(within.sel(subgroup=group), i, places) for i in range(len(names))]}
            for group in groups[:LISTED]
        ],
    }  # fmt: skip


def _tied(side: xr.Dataset, names: list[str]) -> list[str]:
    """Sentences on which systems may be the best, and which nobody can order."""
    letters = [str(text) for text in side["tie"].values]
    best = [name for name, may in zip(names, side["may_be_best"].values, strict=True) if may == 1]
    if not best:
        return []
    first = f"{best[0]} is shown to be the best for everyone together."
    sentences = [first if len(best) == 1 else f"May be the best for everyone together: {', '.join(best)}."]
    for letter in dict.fromkeys("".join(char for text in letters for char in text if char.isalpha())):
        tied = [name for name, text in zip(names, letters, strict=True) if letter in text]
        if len(tied) > 1:
            sentences.append(f"Cannot be told apart by these items ({letter}): {', '.join(tied)}.")
    return sentences


def _ranked(side: xr.Dataset, i: int, places: int) -> dict[str, str]:
    """Value and rank of one system for everyone."""
    ends = [number(float(side[name].values[i]), places) for name in ("lower", "upper")]
    limits = [number(float(side[name].values[i]), 0) for name in ("rank_lower", "rank_upper")]
    best = float(side["probability_best"].values[i])
    return {
        "value": number(float(side["estimate"].values[i]), places) or "–",
        "interval": " to ".join(ends) if all(ends) else "–",
        "rank": f"{float(side['rank'].values[i]):g}" + (f" ({' to '.join(dict.fromkeys(limits))})" if all(limits) else ""),
        "best": chance(best) if np.isfinite(best) else "",
        "tie": str(side["tie"].values[i]),
    }  # fmt: skip


def _reason(side: xr.Dataset) -> str:
    """Remark on the values of a subgroup, which all systems have in common."""
    return plain("; ".join(dict.fromkeys(text for text in side["reason"].values.astype(str).tolist() if text)))


def _lettered(side: xr.Dataset, i: int, places: int) -> dict[str, str]:
    """Value of one system in a subgroup with its letters."""
    return {
        "value": number(float(side["estimate"].values[i]), places) or "–",
        "tie": str(side["tie"].values[i]),
    }
