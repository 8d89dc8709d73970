"""The tally of a table of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import narwhals.stable.v2 as nw
import numpy as np
import xarray as xr

from bayesgroups.data.columns import Roles, no_label
from bayesgroups.data.dated_columns import Time, check_time, dated
from bayesgroups.data.directions import Direction, LargerIsBetter, choose_directions
from bayesgroups.data.frames import Missing
from bayesgroups.data.given_columns import Column, with_given_columns
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.data.lazy_columns import absent
from bayesgroups.data.metric_words import resolve_metrics
from bayesgroups.data.metrics import LOSS, Metric, class_of
from bayesgroups.data.periods import Period
from bayesgroups.data.sources import Source, is_stream, open_source
from bayesgroups.errors import InputError, near_misses
from bayesgroups.tallies.analyses import ClusterAnalysis, choose
from bayesgroups.tallies.assembly import Description, assemble
from bayesgroups.tallies.confusion import check_cells, check_partial, with_cells
from bayesgroups.tallies.notes import BINARY, direction_settings, is_binary
from bayesgroups.tallies.pushdown import Pushed, push_down
from bayesgroups.tallies.reduction import Unlabelled
from bayesgroups.tallies.shared_clusters import SharedClusters, check_shared, with_covariance
from bayesgroups.tallies.subgroups import check_attributes
from bayesgroups.tallies.variances import Pooling


@checked_keywords
def tally(
    frame: object,
    by: Sequence[str] | Mapping[str, Sequence[object] | None],
    metrics: Sequence[str | Metric] | str | Metric,
    *,
    y_true: Column | None = None,
    y_pred: Column | None = None,
    y_score: Column | None = None,
    loss: Column | None = None,
    correct: Column | None = None,
    threshold: float | None = None,
    selection_rate: float | None = None,
    positive: object = None,
    features: Sequence[str] = (),
    cluster: Column | None = None,
    cluster_analysis: ClusterAnalysis | None = None,
    shared_clusters: SharedClusters = "ignore",
    weights: Column | None = None,
    missing: Missing = "error",
    pooled_variance: Pooling = "corrected",
    confusion: bool = False,
    row_covariates: Sequence[str] = (),
    larger_is_better: LargerIsBetter = None,
    unlabelled: Unlabelled = "error",
    time: Time | None = None,
) -> xr.Dataset:
    """Reduce rows to sufficient statistics per metric and intersectional subgroup.

    Parameters
    ----------
    frame : dataframe, dict, str or Path
        Rows: pandas, polars, pyarrow or any frame that narwhals knows, a dictionary of columns such as
        ``{"race": [...], "y": [...]}``, or the path of a CSV or Parquet file. Lazy frames (DuckDB, polars, Dask, Spark),
        a directory or pattern of files such as ``"rows/*.parquet"`` (with DuckDB), and iterators of frames are summed where
        they are: rows are never collected.
    by : sequence of str, or mapping
        Columns whose combinations are the subgroups. A mapping declares levels, ``{"age": ["18-34", "35-64"]}``
        (``None`` declares nothing); so does a categorical column. Declared levels are kept when no row has them. A series, a
        list of them or a frame of attributes is taken by the names of its columns, and its values with them.
    metrics : sequence of str or Metric
        Names of `bayesgroups.data.metrics.NAMES` (``sel acc tpr fnr fpr tnr ppv npv fdr for f1 correct auc mean``), rates of one
        class such as ``tpr[cat]``, or `bayesgroups.Metric`. Case does not matter.
    y_true, y_pred, y_score, loss : str or array, optional
        Columns of outcome, decision, score and loss (or any other number per row, for ``mean``): the name of each, or, beside a
        frame in memory, its values, one per row.
    correct : str or array, optional
        Column of answers graded 1 (correct) or 0, or booleans, for the metric ``correct``.
    threshold : float, optional
        Turns the score into the decision ``score >= threshold``.
    selection_rate : float, optional
        Sets the threshold so that this share of all rows is selected (ties can select more; see ``attrs``).
    positive : object, optional
        The label that counts as positive; needed unless labels are 0/1 or boolean.
    features : sequence of str
        Numeric columns whose subgroup means are kept.
    cluster : str or array, optional
        Column of clusters of rows that are not independent (patients, speakers); sums per cluster are kept. A cluster
        with rows in several subgroups counts as one cluster in each.
    cluster_analysis : {"robust", "mean", "ignore"}, optional
        With ``cluster``: the estimates of rows with widths that count what rows of a cluster have in common (the default);
        means of cluster means, where every cluster counts once; or rows as if independent. See
        `bayesgroups.tallies.analyses`. An AUC is always analysed by rows.
    shared_clusters : {"ignore", "covariance"}
        With ``cluster``, where clusters have rows in several subgroups (one template with every name, one person at several
        ages): ``covariance`` keeps the covariance of the subgroups' estimates, ``sampling_covariance``, which contrasts of
        subgroups and estimators with a normal likelihood then use. See `bayesgroups.tallies.cluster_covariance`.
    weights : str or array, optional
        Column of sampling weights: estimates are weighted means and counts effective numbers of rows, (sum w)^2 / sum w^2.
    missing : {"error", "level", "drop"}
        What to do with rows whose attribute is missing: refuse, make a level of them, or drop and count them.
    pooled_variance : {"corrected", "published", "published_rows"}
        How row variances are pooled, see `bayesgroups.tallies.variances.pooled`.
    confusion : bool
        Keep the rows per subgroup, outcome and decision, for `bayesgroups.ConfusionModel`; see `bayesgroups.tallies.confusion`.
    row_covariates : sequence of str
        Numeric columns whose products with the score are kept, for `bayesgroups.ModelBasedMetrics`; with ``auc`` among the
        metrics, see `bayesgroups.tallies.score_covariates.keep_covariates`.
    larger_is_better : bool or mapping from metrics to bool, optional
        Direction of the metrics, for whatever tells better subgroups from worse ones. When left out it is that of the name
        (`bayesgroups.data.directions.KNOWN`) or of the `Metric`; where neither has one, as for ``mean``, smaller values are taken
        to be better, and answers note that nobody said so.
    unlabelled : {"error", "keep", "drop"}
        What to do with rows whose outcome ``y_true`` is missing: refuse, keep them for what their decision says (as where a judge
        has decided on all rows and few have a gold label; implies ``confusion=True``, see `bayesgroups.tallies.partial_labels`), or
        drop and count them. A threshold by ``selection_rate`` is set on all rows.
    time : {"year", "quarter", "month", "week", "day"} or mapping from str to these, optional
        Turns a column of dates into an attribute whose levels are periods, in time and without gaps: ``{"date": "month"}``, or
        ``"month"`` where one attribute of ``by`` holds dates. A column that ``by`` does not name comes last. Levels are ISO 8601's
        (``2026-03``, ``2026-W09``; quarters ``2026-Q1``), so `bayesgroups.CrossedEffects` takes them in order with
        ``ordered=("date",)``, and `bayesgroups.add_tallies` makes the calendar longer. Times with a zone count for the day that
        they have in that zone.

    Returns
    -------
    xr.Dataset
        The tally, described in `bayesgroups.tallies`. Every combination of levels is present, empty ones with count 0.

    Raises
    ------
    InputError
        If columns, labels, values or arguments cannot be used; the message names the offending input and the fix.
    EngineError
        If the engine of a lazy frame gives up, as on a full disk.

    References
    ----------
    Herlihy, Truong, Chouldechova, Dudik (2024), sections 3 and 4.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesgroups as bg
    >>> rows = pd.DataFrame({"sex": ["f", "f", "m", "m", "m"], "y": [1, 0, 1, 0, 1], "score": [0.9, 0.4, 0.35, 0.2, 0.6]})
    >>> found = bg.tally(rows, by=["sex"], metrics=["acc", "fnr"], y_true="y", y_score="score", threshold=0.5)
    >>> found["estimate"].sel(metric="fnr").values.tolist()
    [0.0, 0.5]
    """
    wanted = resolve_metrics(metrics)
    frame, by, columns = with_given_columns(
        frame, by,
        {"y_true": y_true, "y_pred": y_pred, "y_score": y_score, "loss": loss, "correct": correct, "cluster": cluster,
         "weights": weights},
    )  # fmt: skip
    names = _names(by, "by")
    declared = dict(by) if isinstance(by, Mapping) else dict.fromkeys(names)
    if time is not None:
        check_time(time, names)
        names = (*names, *(name for name in (time if isinstance(time, Mapping) else ()) if name not in names))
        if is_stream(frame):
            raise InputError(
                "time= needs the first and the last date, and frame= is an iterator of frames; tally them one by one and add them "
                "up with bg.add_tallies(), which makes the calendar longer"
            )
    roles = Roles(
        names, columns["y_true"], columns["y_pred"], columns["y_score"], columns["loss"], columns["correct"], threshold,
        selection_rate, positive, _names(features, "features"), columns["cluster"], columns["weights"],
    )  # fmt: skip
    check_attributes(roles.by)
    directions = choose_directions(
        [metric.name for metric in wanted],
        larger_is_better,
        {metric.name: metric.larger_is_better for metric in wanted},
    )
    _check_needs(wanted, roles)
    if unlabelled == "drop" and roles.y_true is None:
        raise InputError("unlabelled='drop' drops rows without an outcome, and needs y_true=, which is not given")
    if unlabelled == "keep":
        check_partial(roles, wanted)
        confusion = True
    analysis = choose(cluster_analysis, roles.cluster, pooled_variance)
    check_shared(shared_clusters, roles.cluster, analysis)
    if confusion:
        check_cells(roles, analysis)
    if confusion and is_stream(frame):
        asked = "unlabelled='keep'" if unlabelled == "keep" else "confusion=True"
        raise InputError(
            f"{asked} counts cells of one frame, and frame= is an iterator of several; "
            "tally them one by one and add them up with bg.add_tallies()"
        )
    decides = any(_decides(metric) for metric in wanted)
    explained = _names(row_covariates, "row_covariates")
    if explained and is_stream(frame):
        raise InputError(
            "row_covariates= needs the rows twice, and frame= is an iterator; tally its frames one by one and add the tallies "
            "up with bg.add_tallies()"
        )
    if explained and not any(metric.kind == "auc" for metric in wanted):
        raise InputError(
            "row_covariates= is about scores; put auc among the metrics and name the column of scores, y_score="
        )
    source = frame if is_stream(frame) else open_source(frame)
    periods: dict[str, Period] = {}
    if time is not None and isinstance(source, Source):
        source, periods, calendars = dated(source, time, names)
        declared |= calendars
    if unlabelled == "keep" and isinstance(source, Source):
        unlabelled = _kept(source, str(roles.y_true))
    with np.errstate(over="ignore", invalid="ignore"):  # numbers that are too large are refused by their extremes
        pushed = push_down(
            source, roles, wanted, declared, missing, decides=decides, confusion=confusion, unlabelled=unlabelled
        )
    for metric in wanted:
        label = class_of(metric)
        if label is not None and label not in pushed.classes:
            raise InputError(
                f"metric {metric.name!r}: no row has the label {label!r}; the labels are {list(pushed.classes)}"
            )
    settings = {
        "source": "rows",
        "y_true": roles.y_true,
        "y_pred": roles.y_pred,
        "y_score": roles.y_score,
        "loss": roles.loss,
        **({} if correct is None else {"correct": roles.correct}),
        **({} if larger_is_better is None else {"larger_is_better": larger_is_better}),
        "cluster": roles.cluster,
        **({} if cluster is None else {"cluster_analysis": analysis}),
        "weights": roles.weights,
        **({"time": periods} if periods else {}),
        **pushed.notes,
        **direction_settings([metric.name for metric in wanted], directions),
        **_binary_means(wanted, pushed, roles.loss),
    }
    described = [_describe(*each) for each in zip(wanted, pushed.lowest, directions, strict=True)]
    whole = assemble(
        pushed.subgroups, described, pushed.sums, pooling=pooled_variance, cluster_analysis=analysis, settings=settings
    )
    if shared_clusters == "covariance":
        whole = with_covariance(whole)
    if confusion:
        whole = with_cells(whole, pushed.label_cells, wanted, pushed.classes, pushed.notes.get("positive"))
    if not explained:
        return whole
    from bayesgroups.tallies.score_covariates import keep_covariates

    return keep_covariates(whole, source, explained)


def _kept(source: Source, name: str) -> Unlabelled:
    """``keep`` where some outcomes are missing, ``error`` where none is; an error where all are."""
    schema = source.frame.collect_schema()
    if name not in schema:
        raise InputError(f"column {name!r} (y_true=) is not in the frame; {near_misses(name, list(schema))}")
    without = absent(source.frame, name).cast(nw.Float64).alias("without")
    counts = source.collect(source.frame.select(without).select(nw.len().alias("rows"), nw.col("without").sum()))
    rows, missing = counts["rows"].to_list()[0], counts["without"].to_list()[0]
    if rows and missing == rows:
        raise no_label(name)
    return "keep" if missing else "error"


def _binary_means(metrics: Sequence[Metric], pushed: Pushed, loss: str | None) -> dict[str, dict[str, str]]:
    """The setting that tells which means are of columns that hold only 0 and 1; nothing where none is."""
    columns: dict[str, str] = {}
    for i, metric in enumerate(metrics):
        column = loss if metric.value is LOSS else metric.value
        binary = metric.kind == "mean" and is_binary(pushed.sums.moments, i, pushed.lowest[i], pushed.highest[i])
        if binary and isinstance(column, str):
            columns[metric.name] = column
    return {BINARY: columns} if columns else {}


def _names(names: Iterable[str], argument: str) -> tuple[str, ...]:
    several = (names,) if isinstance(names, str) else tuple(names)
    if len(set(several)) < len(several):
        raise InputError(f"{argument}= names a column twice: {list(several)}")
    return several


def _decides(metric: Metric) -> bool:
    """True if a metric needs one of two labels to be the positive one."""
    return bool({"y_true", "y_pred"} & metric.needs) and class_of(metric) is None and metric.name != "acc"


def _check_needs(metrics: Sequence[Metric], roles: Roles) -> None:
    given = {role for role in ("y_true", "y_pred", "y_score", "loss", "correct") if getattr(roles, role) is not None}
    if roles.threshold is not None or roles.selection_rate is not None:
        given.add("y_pred")
    for metric in metrics:
        for role in sorted(metric.needs - given):
            plain = role == "y_pred" and class_of(metric) is None
            hint = " (or y_score= with threshold= or selection_rate=)" if plain else ""
            hint = " (the column of answers graded 1 or 0)" if role == "correct" else hint
            fix = ""
            if metric.kind == "auc" and role == "y_score" and "y_pred" in given:
                fix = (
                    "; y_pred= holds classes, which do not order the rows: give the column of scores or probabilities that "
                    "they come from, or take metrics of classes, such as acc, tpr and fpr"
                )
            if "correct" in given and "correct" not in {each.name for each in metrics}:
                fix = "; correct= names graded answers, whose metric is 'correct'"
            raise InputError(f"metric {metric.name!r} needs {role}={hint}, which is not given{fix}")
        if class_of(metric) is not None and roles.y_pred is None:
            raise InputError(
                f"metric {metric.name!r} is about one class of a decision and needs y_pred=, which is not given; for decisions "
                f"by a threshold take {metric.name.partition('[')[0]!r}, with a column that is 1 for the class as y_true="
            )


def _describe(metric: Metric, lowest: float, direction: Direction) -> Description:
    lower = metric.lower
    if metric.kind == "mean" and lower == -np.inf and lowest >= 0:
        lower = 0.0  # a loss that is never negative is bounded below, as word error rates and absolute errors are
    return Description(
        metric.name, metric.kind, lower, metric.upper, direction.larger_is_better, metric.undefined, metric.ties
    )
