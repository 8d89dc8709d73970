"""Questions of which model predicts subgroups that it has not seen."""

from __future__ import annotations

from bayesgroups.cli import readers
from bayesgroups.cli.questions.question import Question, Table

PREDICTION = (
    Question(
        "questions.loo.loo", "loo fnr.nc", {"report": readers.report},
        table=Table("subgroup", {"elpd": "elpd_i", "k-hat": "pareto_k", "method": "method"},
                    order=("elpd_i",)),
    ),
)  # fmt: skip
