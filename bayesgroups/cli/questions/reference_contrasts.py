"""Questions of how far subgroups are from a reference, and from the most selected category."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesgroups.cli import readers
from bayesgroups.cli.questions import contrast_readers
from bayesgroups.cli.questions.question import Question, Table

if TYPE_CHECKING:
    import xarray as xr


def _shown(answer: xr.Dataset) -> xr.Dataset:
    """The answer with the numbers of its threshold along the contrasts, where a scale has one."""
    if "threshold" not in answer.dims:
        return answer
    single = answer["probability_beyond"].notnull() | answer["p_value_threshold"].notnull()
    if int(single.any(["approach", "metric", "contrast"]).sum("threshold").max()) > 1:
        return answer.drop_dims("threshold")
    beyond = answer[["probability_beyond", "p_value_threshold"]].max("threshold")
    asked = single.any(["approach", "metric", "contrast"])
    words = [
        f"{str(scale).replace('_', ' ')} {'below' if threshold < (str(scale) != 'difference') else 'above'} {threshold:g}"
        for scale in answer["scale"].values
        for threshold in answer["threshold"].values[asked.sel(scale=scale).values].tolist()
    ]
    return answer.drop_dims("threshold").assign(beyond).assign_attrs(beyond="; ".join(words))


def _meaning(answer: xr.Dataset) -> list[str]:
    """The line that says beyond what contrasts are, where a probability of that is shown."""
    if not answer.attrs.get("beyond") or not answer["probability_beyond"].notnull().any():
        return []
    return [f"P(beyond): posterior probability of a {answer.attrs['beyond']}"]


CONTRASTS = (
    Question(
        "questions.contrasts.contrast.contrasts",
        "contrasts fnr.nc --reference sex=male --within age --within race\ncontrasts sel.tally.nc --reference best --scale ratio",
        {
            "source": readers.directed_source, "larger_is_better": readers.direction,
            "reference": contrast_readers.reference, "contrasts": contrast_readers.coefficients,
            "population": contrast_readers.population, "thresholds": contrast_readers.thresholds,
        },
        table=Table(
            "contrast", {"contrast": ("estimate", "lower", "upper"),
            "P(worse)": "probability_worse", "P(best)": "probability_best", "P(beyond)": "probability_beyond", "p": "p_value",
            "p, Holm": "p_value_adjusted"},
            prepare=_shown, notes=_meaning,
        ),
    ),
    Question(
        "questions.contrasts.impact_ratios.impact_ratios", "impact-ratios sel.tally.nc --smallest-share 0.02",
        {"source": readers.source},
        table=Table(
            "category", {"rows": "rows", "rate": "rate", "impact ratio": ("impact_ratio", "lower", "upper"),
            "P(best)": "probability_best", "P(below)": "probability_below"},
        ),
    ),
)  # fmt: skip
