"""From a fitted scikit-learn estimator to a tally."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.directions import LargerIsBetter
from bayesgroups.data.frames import Missing
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.data.metrics import Metric
from bayesgroups.errors import InputError, near_misses
from bayesgroups.tallies import tally

if TYPE_CHECKING:
    import pandas as pd

Loss = Callable[[NDArray[Any], NDArray[Any]], ArrayLike]


@checked_keywords
def tally_from_estimator(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    by: Sequence[str] | pd.DataFrame | Mapping[str, ArrayLike],
    metrics: Sequence[str | Metric] | str | Metric | None = None,
    positive: object = None,
    threshold: float | None = None,
    selection_rate: float | None = None,
    loss: Loss | None = None,
    weights: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    missing: Missing = "error",
    larger_is_better: LargerIsBetter = None,
) -> xr.Dataset:
    """Tally how a fitted scikit-learn estimator does in every subgroup of the rows it is asked about.

    Parameters
    ----------
    model : estimator
        Fitted, with ``predict`` and, where scores are needed, ``predict_proba`` or ``decision_function``; a pipeline too.
    X, y : array or dataframe (row, feature), and array (row,)
        Features, as the model is given them, and outcomes of rows it was not fitted on.
    by : sequence of str, pandas.DataFrame or mapping
        Attributes: names of columns of ``X``, or the columns themselves, which the model need not know.
    metrics : sequence of str or Metric, optional
        As in `bayesgroups.tally`; ``acc`` for classifiers and ``mean`` (of the loss) for regressors where left out.
    positive : object, optional
        The class that counts as positive; the second of the model's two classes where left out, as scikit-learn has it.
    threshold, selection_rate : float, optional
        Decide by the score, probabilities of ``positive`` or else ``decision_function``, instead of ``predict``.
    loss : callable, optional
        From outcomes and predictions to a loss per row, for the metric ``mean``; the absolute error where left out.
    weights, cluster : array (row,), optional
        Sampling weights, and clusters of rows that belong together.
    missing : {"error", "level", "drop"}
        Treatment of rows whose attribute is missing.
    larger_is_better : bool or mapping from metrics to bool, optional
        Direction of the metrics, as in `bayesgroups.tally`; say it where larger values of ``loss`` are better.

    Returns
    -------
    xr.Dataset
        The tally.

    Raises
    ------
    InputError
        If lengths differ, a column is absent, the model lacks the response that a metric needs, or its classes do not tell
        which is positive; otherwise as `bayesgroups.tally`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.arange(40.0)[:, None]
    >>> y = (np.arange(40) % 4 > 1) | (np.arange(40) > 30)
    >>> model = LogisticRegression().fit(X, y)
    >>> found = tally_from_estimator(model, X, y, by={"sex": ["f", "m"] * 20}, metrics=["acc", "auc"])
    >>> found["count"].sel(metric="acc").values.tolist()
    [20.0, 20.0]
    """
    try:
        truth = np.asarray(y)
    except TypeError as problem:
        raise InputError(f"y must have one value per row; got a value of type {type(y).__name__}") from problem
    if truth.ndim != 1:
        raise InputError(f"y must have one value per row; its shape is {truth.shape}")
    frame = attributes(X, by, len(truth))
    check_rows(X, len(truth))
    wanted = [metrics] if isinstance(metrics, str | Metric) else list(metrics or ())
    if metrics is None:
        wanted = ["acc"] if hasattr(model, "classes_") else ["mean"]
    taken = {name: _free(name, frame) for name in ("y_true", "y_pred", "y_score", "loss", "weights", "cluster")}
    roles: dict[str, Any] = {}

    def add(role: str, values: Any) -> None:
        column = np.asarray(values)
        if len(column) != len(frame):
            raise InputError(f"{role}: {len(column)} values for {len(frame)} rows; they must be as many")
        frame[taken[role]] = column
        roles[role] = taken[role]

    add("y_true", truth)
    kinds = {metric if isinstance(metric, str) else metric.name for metric in wanted}
    label = positive if positive is not None or kinds <= {"mean"} else _second_class(model, kinds)
    if threshold is not None or selection_rate is not None or "auc" in kinds:
        add("y_score", scores(model, X, label))
    if kinds != {"auc"} and threshold is None and selection_rate is None:
        predicted = np.asarray(_response(model, "predict")(X))
        if "mean" in kinds:
            add("loss", np.abs(truth - predicted) if loss is None else loss(truth, predicted))
        if kinds - {"mean", "auc"}:
            add("y_pred", predicted)
    for role, values in (("weights", weights), ("cluster", cluster)):
        if values is not None:
            add(role, values)
    if kinds <= {"mean"}:
        del roles["y_true"]
    return tally(
        frame, by=[name for name in frame.columns if name not in taken.values()], metrics=wanted, positive=label,
        threshold=threshold, selection_rate=selection_rate, missing=missing,
        larger_is_better=larger_is_better, **roles,
    )  # fmt: skip


def check_rows(X: Any, rows: int) -> None:
    """Refusal, as an InputError, of features that do not have one row per value of y."""
    try:
        size = int(X.shape[0]) if hasattr(X, "shape") else len(X) * (not isinstance(X, str | bytes | Mapping))
    except (TypeError, IndexError):
        size = 0
    if size != rows:
        raise InputError(f"X must have one row per value of y, which has {rows}; it has {size or 'none'}")


def attributes(X: Any, by: Sequence[str] | pd.DataFrame | Mapping[str, ArrayLike], rows: int) -> pd.DataFrame:
    """Attributes of rows as a dataframe of its own; an InputError if one is absent, there is none, or not as many as rows."""
    import pandas as pd

    if isinstance(by, Mapping | pd.DataFrame):
        frame = pd.DataFrame({str(name): np.asarray(by[name]) for name in by})
    else:
        names = [by] if isinstance(by, str) else list(by)
        columns = [str(name) for name in getattr(X, "columns", [])]
        if not columns:
            raise InputError("X has no named columns; give the attributes themselves, as by={'sex': sex}")
        for name in names:
            if name not in columns:
                raise InputError(f"column {name!r} (by=) is not in X; {near_misses(name, columns)}")
        frame = pd.DataFrame({name: np.asarray(X[name]) for name in names})
    if frame.shape[1] == 0:
        raise InputError("name at least one attribute, as by=['sex'] or by={'sex': sex}")
    if len(frame) != rows:
        raise InputError(f"by= has {len(frame)} rows and y has {rows}; they must be as many")
    return frame


def scores(model: Any, X: Any, positive: object) -> FloatArray:
    """Scores of the positive class: probabilities where the model has them, else its decision function.

    An InputError if the model has neither, or not this class.
    """
    classes = list(getattr(model, "classes_", []))
    if positive not in classes:
        raise InputError(
            f"positive={positive!r} is no class of the model; it has {[_plain(label) for label in classes]}"
        )
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), dtype=np.float64)[:, classes.index(positive)]
    if not hasattr(model, "decision_function"):
        raise InputError(
            f"{type(model).__name__} has neither predict_proba nor decision_function, so it gives no scores; "
            "ask for metrics of decisions, or take another model"
        )
    values = np.asarray(model.decision_function(X), dtype=np.float64)
    if values.ndim == 2:
        return values[:, classes.index(positive)]
    return values if positive == classes[1] else -values


def _second_class(model: Any, kinds: set[str]) -> object:
    """The class that scikit-learn takes for positive; nothing where every metric names its class, or needs none."""
    classes = list(getattr(model, "classes_", []))
    if len(classes) == 2:
        return classes[1]
    if all("[" in name or name in ("acc", "mean") for name in kinds):
        return None
    raise InputError(
        f"the model has {len(classes)} classes, so say which one is positive=, or measure single ones, as 'tpr[cat]'"
    )


def _response(model: Any, name: str) -> Callable[[Any], Any]:
    if not hasattr(model, name):
        raise InputError(f"{type(model).__name__} has no {name}(); give a fitted scikit-learn estimator")
    response: Callable[[Any], Any] = getattr(model, name)
    return response


def _free(name: str, frame: pd.DataFrame) -> str:
    """A column name that no attribute has."""
    while name in frame.columns:
        name += "_"
    return name


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value
