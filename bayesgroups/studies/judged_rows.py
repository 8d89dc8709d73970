"""Rows that a system has judged: one that is there, or models that are trained on the rows first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import xarray as xr

from bayesgroups.data.arrays import IndexArray
from bayesgroups.errors import InputError, near_misses
from bayesgroups.tallies import tally

if TYPE_CHECKING:
    import pandas as pd

Judged = Literal["out_of_fold", "in_sample"]
_DECISION = "decision of the models"
_LOSS = "loss of the models"


@dataclass(frozen=True, eq=False)
class System:
    """Rows and what judges them: a model to be trained, or columns of a system that is there."""

    frame: pd.DataFrame
    by: tuple[str, ...]
    metric: str
    y_true: str | None
    y_pred: str | None
    loss: str | None
    positive: object
    model: Any
    features: tuple[str, ...]
    judged: Judged
    folds: int

    def tally(self, kept: IndexArray, levels: Mapping[str, Sequence[object]], key: Sequence[int]) -> xr.Dataset:
        """Tally of the rows that are kept; those that a model judges, after training on them."""
        rows = self.frame.iloc[kept]
        if self.model is None:
            return tally(
                rows, levels, self.metric, y_true=self.y_true, y_pred=self.y_pred, loss=self.loss, positive=self.positive
            )  # fmt: skip
        import pandas as pd

        decisions = self._decisions(rows, key)
        attributes = rows[list(self.by)]
        truth = rows[self.y_true]
        if self.metric == "mean":
            errors = np.abs(decisions - truth.to_numpy(dtype=np.float64)).mean(axis=0)
            return tally(attributes.assign(**{_LOSS: errors}), levels, "mean", loss=_LOSS)
        judgements = pd.concat(
            [attributes.assign(**{str(self.y_true): truth, _DECISION: decided}) for decided in decisions]
        )
        counted = tally(
            judgements, levels, self.metric, y_true=self.y_true, y_pred=_DECISION, positive=self.positive
        )  # fmt: skip
        # Decisions of several models about a row are shares of one: as published, rows are the denominator.
        shares = {name: counted[name] / len(decisions) for name in ("count", "successes")}
        variances = {name: counted[name] * len(decisions) for name in ("sampling_variance", "bootstrap_variance")}
        return counted.assign({**shares, **variances})

    def _decisions(self, rows: pd.DataFrame, key: Sequence[int]) -> Any:
        """Predictions (model, row) of every model, or (1, row) of the one that has not seen the row."""
        from sklearn.base import clone

        fold = np.random.default_rng([*key, len(rows)]).permutation(len(rows)) % self.folds
        truth, given = rows[self.y_true].to_numpy(), rows[list(self.features)]
        predicted = []
        for number in range(self.folds):
            train = fold != number
            if len(np.unique(truth[train])) == 1:  # classifiers refuse to be trained on a single class
                predicted.append(np.full(len(rows), truth[train][0]))
            else:
                copy: Any = clone(self.model)
                predicted.append(np.asarray(copy.fit(given[train], truth[train]).predict(given)))
        every = np.stack(predicted)
        return every if self.judged == "in_sample" else every[fold, np.arange(len(rows))][None]


def check_system(system: System) -> None:
    """Refusal, as an InputError with the fix, of columns and settings that do not belong together."""
    if not hasattr(system.frame, "iloc"):
        kind = type(system.frame).__name__
        raise InputError(
            f"rows of a {kind} cannot be left out one by one; give a pandas DataFrame, as from to_pandas()"
        )
    columns = [str(name) for name in system.frame.columns]
    given = [system.y_true, system.y_pred, system.loss]
    for name in (*system.by, *system.features, *given):
        if name is not None and name not in columns:
            raise InputError(f"column {name!r} is not in the frame; {near_misses(name, columns)}")
    for name in system.by:
        if np.any(system.frame[name].isna().to_numpy()):
            raise InputError(
                f"column {name!r} (by=) has no value in some rows; drop them or give them a level of their own"
            )
    if system.model is None:
        if system.features:
            raise InputError("features= are of a model that is trained; give model= too, or leave them out")
        if system.y_pred is None and system.loss is None:
            raise InputError("name decisions (y_pred=) or losses (loss=) of a system, or give a model= to train")
    else:
        _check_model(system)


def _check_model(system: System) -> None:
    if system.y_pred is not None or system.loss is not None:
        raise InputError("a model= makes its own decisions; leave y_pred= and loss= out, or the model")
    if system.y_true is None or not system.features:
        raise InputError("a model= needs the outcome (y_true=) and the columns it is given (features=)")
    if system.y_true in system.features:
        raise InputError(f"y_true={system.y_true!r} is among features=; the model must not be given the outcome")
    if not (hasattr(system.model, "fit") and hasattr(system.model, "predict")):
        raise InputError(f"{type(system.model).__name__} has no fit() and predict(); give an estimator of scikit-learn")
    missing = int(np.sum(system.frame[system.y_true].isna().to_numpy()))
    if missing:
        raise InputError(f"column {system.y_true!r} has no value in {missing} rows; a model needs every outcome")
    if system.folds < 2:
        raise InputError(f"folds={system.folds} must be at least 2, so that every row has a model that has not seen it")
