"""The options that say what is in the rows, shared by the commands that read rows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter


class Role(Enum):
    """Role of the path of an option, as metadata of its annotation; any other path is read."""

    WRITTEN = "a file that the command writes"
    TALLY = "a tally that the command writes"
    REPORT = "a report that the command writes"
    PAGE = "a page that the command writes"
    KEPT = "a folder that the command keeps files in"


Imputed = Literal["leave_out", "include"]
"""Whether subgroups without rows take part in a question."""
Larger = Annotated[bool | None, Parameter(negative="--smaller-is-better", show_default=False)]
Names = Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)]
Flag = Annotated[bool, Parameter(negative=())]
Json = Annotated[bool, Parameter(negative=(), help="Print JSON instead of tables.")]
Show = Annotated[int, Parameter(help="Print at most so many subgroups per metric, the largest; 0 prints none.")]
Sort = Literal["answer", "label"]
"""Order of the subgroups of a table."""
Escape = Annotated[
    bool, Parameter(help="Put an apostrophe before texts of a .csv that a spreadsheet would compute as formulas.")
]
SortTable = Annotated[
    Sort,
    Parameter(
        help="Order of the subgroups: as labels have them (label), or by their estimates, largest first (answer)."
    ),
]
"""Order of tables that answer no question of who."""
ORDERS: dict[Sort, Literal["tally", "estimate"]] = {"label": "tally", "answer": "estimate"}
"""Orders of tables of estimates by the words of the option."""
Shown = Annotated[
    Literal["auto", "posterior", "tally", "bayesian", "frequentist"],
    Parameter(
        alias="--approach",
        show_choices=False,
        help="Where the estimates come from: the posterior (auto), or the tally alone, by the frequentist reference. One of: "
        "auto, posterior, tally.",
    ),
]
"""Approach of a report that is shown, with the former words for it, which are understood and not offered."""
Output = Annotated[Path, Parameter(alias="-o"), Role.WRITTEN]
TallyFile = Annotated[Path, Parameter(alias="-o", help="Write the tally to this NetCDF file."), Role.TALLY]
ReportFile = Annotated[Path, Parameter(alias="-o"), Role.REPORT]
PageFile = Annotated[Path, Parameter(alias="-o"), Role.PAGE]
Page = Annotated[Path, Role.PAGE]
Written = Annotated[Path, Role.WRITTEN]
Folder = Annotated[Path, Role.KEPT]


@Parameter(name="*", group="Rows")
@dataclass(frozen=True, kw_only=True)
class RowOptions:
    """Columns and labels of the rows.

    Parameters
    ----------
    by
        Column whose levels form subgroups; repeat it for intersections: --by race --by sex.
    levels
        Levels of a column of --by in their order, those without rows too, as --levels age=18-34,35-64,65+; all others are refused.
        Quote a level that has a comma: --levels 'income="0-9,999","10,000+"'.
    metric
        What to measure; repeat it for several. One of sel acc tpr fnr fpr tnr ppv npv fdr for prev f1 judge_bias correct auc
        mean, or a rate of one class such as 'tpr[cat]'.
    y_true
        Column of the outcome.
    y_pred
        Column of the decision.
    y_score
        Column of the score.
    loss
        Column of a loss, or of any number per row, for the metric mean.
    correct
        Column of answers graded 1 (correct) or 0, for the metric correct.
    threshold
        Decide by score >= threshold.
    selection_rate
        Decide by the threshold that selects this share of all rows.
    positive
        The label that counts as positive, unless labels are 0/1.
    feature
        Numeric column whose subgroup means are kept; can be repeated.
    cluster
        Column of clusters of rows that belong together (patients, speakers).
    cluster_analysis
        With clusters: robust (as rows, with widths that count what a cluster has in common; the default), mean (every
        cluster counts once) or ignore.
    shared_clusters
        Clusters with rows in several subgroups: ignore, or covariance, which keeps how the subgroups' estimates go together.
    weights
        Column of sampling weights.
    missing
        What to do with rows whose attribute is missing.
    unlabelled
        What to do with rows whose outcome is missing: keep them for their decision, as where a judge decides on all rows and few
        have a gold label, or drop them.
    time
        Column of dates as one more attribute, by year, quarter, month, week or day, as --time date=month.
    confusion
        Keep the cells of outcome and decision, for the estimator confusion.
    row_covariate
        Numeric column that explains scores row by row, for the estimator model_based_metrics with
        --set row_covariates=age; repeat it for several.
    larger_is_better
        Direction of metrics whose name does not tell it, such as mean; smaller is taken to be better when left out.
    level_name
        Name of a level that people read, as attribute:level=name, such as --level-name edu:2=college; repeat it for several.
    """

    by: Names = ()
    levels: Names = ()
    metric: Names = ()
    y_true: str | None = None
    y_pred: str | None = None
    y_score: str | None = None
    loss: str | None = None
    correct: str | None = None
    threshold: float | None = None
    selection_rate: float | None = None
    positive: str | None = None
    feature: Names = ()
    cluster: str | None = None
    cluster_analysis: Literal["robust", "mean", "ignore"] | None = None
    shared_clusters: Literal["ignore", "covariance"] = "ignore"
    weights: str | None = None
    missing: Literal["error", "level", "drop"] = "error"
    unlabelled: Literal["error", "keep", "drop"] = "error"
    time: Names = ()
    confusion: Flag = False
    row_covariate: Names = ()
    larger_is_better: Larger = None
    level_name: Names = ()

    def given(self) -> list[str]:
        """Names of the options that differ from their defaults."""
        default = RowOptions()
        return [name for name in vars(default) if getattr(self, name) != getattr(default, name)]


ROWS = RowOptions()
"""No option given."""


@Parameter(name="*", group="Report")
@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """Form in which a report is shown and kept.

    Parameters
    ----------
    level
        Level of the intervals shown: 0.5, 0.8, 0.9 or 0.95. The report has them all.
    output
        Write the report to this NetCDF file, which ArviZ can open.
    html
        Write the report to this page.
    json
        Print JSON instead of tables: estimates and diagnostics of both approaches.
    """

    level: float = 0.95
    output: ReportFile | None = None
    html: Page | None = None
    json: Flag = False
    show: Show = 50
    sort: SortTable = "label"


REPORT = ReportOptions()
"""Tables on the terminal, no file."""


@Parameter(name="*", group="Answer")
@dataclass(frozen=True, kw_only=True)
class AnswerOptions:
    """Form in which the answer is shown and kept.

    Parameters
    ----------
    json
        Print JSON instead of tables: the same shape for every command, null and a reason for what is undefined.
    output
        Write the answer to this file: .nc for all of it, .json, or .csv for its largest table with the
        estimand and the level, kind and method of its limits in every row.
    show
        Print at most so many rows per table; 0 prints none.
    sort
        Order of the subgroups of a table: by what is asked (answer), or as labels have them (label). Files and JSON always have
        the order of the labels, which is that of the levels of the attributes, the first attribute slowest.
    escape_formulas
        Put an apostrophe before texts of a .csv that a spreadsheet would compute as formulas.
    """

    json: Flag = False
    output: Output | None = None
    show: int = 50
    sort: Sort = "answer"
    escape_formulas: bool = True


ANSWER = AnswerOptions()
"""Tables on the terminal, no file."""
