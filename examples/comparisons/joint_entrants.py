"""The estimators that enter the joint study, by name: words that see one metric, and the joint model in its variants."""

from __future__ import annotations

import xarray as xr

from bayesgroups.estimators import ConfusionModel
from bayesgroups.estimators.estimate import estimate
from bayesgroups.studies.resampling import Entry
from examples.comparisons.entrants import competitors as single_metric_competitors
from examples.comparisons.shared_cells import SEED


def competitors() -> dict[str, Entry]:
    """All that see one metric, the joint model with each ingredient switched off in turn, and with correlated effects.

    Examples
    --------
    >>> list(competitors())[-1]
    'confusion_correlated'
    """
    return {
        **single_metric_competitors(),
        "confusion": ConfusionModel(),
        "confusion_not_following": ConfusionModel(follow_selection=False),
        "confusion_scores": ConfusionModel(score_offsets=True),
        "confusion_scores_alone": ConfusionModel(follow_selection=False, score_offsets=True),
        "confusion_learned": ConfusionModel(own_effects="learned"),
        "confusion_exchangeable": ConfusionModel(order=0),
        "confusion_by_outcome": by_outcome,
        "confusion_correlated": ConfusionModel(correlated=True),
    }


# Checkpoints name this function by its module, which therefore keeps its name.
def by_outcome(tally: xr.Dataset) -> xr.Dataset:
    """The joint model cut the other way, prevalence first and then the decision given the outcome, and nothing follows.

    Parameters
    ----------
    tally : xr.Dataset
        A tally with confusion cells.

    Returns
    -------
    xr.Dataset
        Posterior medians ``estimate`` (metric, subgroup) and limits ``lower`` and ``upper`` (metric, subgroup, level).

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> rows = pd.DataFrame({"sex": ["f", "m"] * 20, "y": [1, 0, 0, 1] * 10, "d": [1, 0, 0, 0] * 10})
    >>> tally = bg.tally(rows, ["sex"], ["fnr"], y_true="y", y_pred="d", confusion=True)
    >>> sorted(by_outcome(tally).data_vars)
    ['estimate', 'lower', 'upper']
    """
    swap = {"outcome": "decision", "decision": "outcome"}
    cells = {
        name: tally[name].rename(swap).transpose(..., "outcome", "decision")
        for name in ("cell_count", "cell_numerator", "cell_denominator")
    }
    report = estimate(tally.assign(cells), ConfusionModel(follow_selection=False), seed=SEED)
    table = report["estimates"].to_dataset().sel(approach="bayesian")
    return xr.Dataset(
        {"estimate": table["median"], "lower": table["lower_unclipped"], "upper": table["upper_unclipped"]}
    )
