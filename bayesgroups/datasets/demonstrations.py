"""Rows to learn on: admissions with the sizes and structure of a published study, and known truth."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.keywords import checked_keywords
from bayesgroups.datasets.binormal import Binormal, binormal_metrics
from bayesgroups.datasets.draws import generator
from bayesgroups.tallies.subgroups import Subgroups

if TYPE_CHECKING:
    import pandas as pd


BY = ("race", "gender", "age")
AGES = ("20-39", "40-59", "60-79", "80-99")

# The published sizes of the evaluation set, sorted. Which subgroup has which size is not published: the k-th
# smallest size goes to the k-th smallest subgroup of the full data (98,650 admissions, race in four levels).
_SIZES = {
    ("African American", "Female"): (58, 202, 244, 80),
    ("African American", "Male"): (34, 153, 157, 31),
    ("Caucasian", "Female"): (94, 432, 946, 525),
    ("Caucasian", "Male"): (66, 482, 956, 330),
    ("Hispanic", "Female"): (6, 19, 23, 5),
    ("Hispanic", "Male"): (6, 18, 21, 3),
    ("Other", "Female"): (3, 15, 27, 9),
    ("Other", "Male"): (2, 20, 28, 5),
}
_TABLE = tuple((race, gender, age) for race, gender in _SIZES for age in AGES)

STUDY_SIZES: tuple[int, ...] = tuple(size for sizes in _SIZES.values() for size in sizes)
"""Rows of each of the 32 subgroups (race x gender x age, in that order), 5,000 in all.

Sizes of the diabetes evaluation set of Herlihy, Truong, Chouldechova and Dudik (2024): 14 subgroups have
fewer than 25 rows, 8 fewer than 10. A standard design for simulation studies.
"""

# Effects on the log odds of the outcome; on what the risk model adds to them (its bias); on the separation of
# its scores between outcomes, in standard deviations.
_OUTCOME = {"African American": 0.08, "Hispanic": -0.04, "Other": -0.06, "Female": 0.05, "Male": -0.05,
            "20-39": -0.12, "40-59": -0.10, "60-79": 0.04, "80-99": 0.10}  # fmt: skip
_BIAS = {"African American": -0.10, "Hispanic": -0.06, "Other": 0.06, "Female": 0.05, "Male": -0.05,
         "20-39": -0.12, "40-59": -0.10, "60-79": 0.03, "80-99": 0.12}  # fmt: skip
_SEPARATION = {"African American": -0.05, "Hispanic": -0.04, "Other": 0.04, "20-39": 0.08, "80-99": -0.08}
_PAIRS = {("African American", "20-39"): 0.12, ("Hispanic", "80-99"): -0.12, ("Female", "20-39"): 0.06}
_BASE_LOG_ODDS = -2.08
_SCORE_SD = 0.6
_THRESHOLD = 0.158
_PATIENT_CORRELATION = 0.2
_NEW_PATIENT = 0.7  # 1.43 admissions per patient on average


@dataclass(frozen=True, eq=False)
class Demonstration:
    """Rows of a demonstration and what is true of the population they come from.

    ``rows`` has the attributes ``race``, ``gender`` and ``age``, the cluster id ``patient``, the outcome ``readmitted``
    (0/1), the ``score`` of a risk model (a probability), and the explanatory columns ``number_inpatient``,
    ``number_outpatient``, ``number_emergency``, ``number_diagnoses`` and ``heart_failure``. ``truth`` (metric, subgroup)
    holds the population value of every metric for decisions ``score >= threshold``; ``by`` names the attributes.
    """

    rows: pd.DataFrame
    truth: xr.DataArray
    by: list[str]
    threshold: float


@checked_keywords
def demonstration(seed: int = 0) -> Demonstration:
    """Generate 5,000 admissions in 32 subgroups, with the true value of every metric of every subgroup.

    Parameters
    ----------
    seed : int
        The same seed gives the same rows (with the same NumPy); the truth does not depend on it.

    Returns
    -------
    Demonstration
        ``truth`` (metric: 12, subgroup: 32) of ``sel acc tpr fnr fpr tnr ppv npv fdr for f1 auc``.

    Raises
    ------
    InputError
        If the seed is not a whole number, 0 or larger.

    Notes
    -----
    Each subgroup has its own `Binormal` law: attribute effects on a logit scale plus a few interactions and small
    deviations of each subgroup, so pooling helps but does not explain all. The risk model is nearly calibrated overall
    but underestimates the risk of younger patients and overestimates that of the oldest, among others. Small subgroups
    are not far worse or better than large ones, as exchangeable models assume. Admissions of one patient are correlated
    (latent correlation 0.2 in outcome and in score); each row by itself follows the law of its subgroup exactly. Sizes
    and attributes follow the diabetes study of Herlihy, Truong, Chouldechova and Dudik (2024); the rows are no one's.

    Examples
    --------
    >>> from bayesgroups.datasets import demonstration
    >>> shown = demonstration(seed=0)
    >>> len(shown.rows), shown.by
    (5000, ['race', 'gender', 'age'])
    >>> round(float(shown.truth.sel(metric="fnr", subgroup="Hispanic | Male | 80-99")), 3)
    0.773
    """
    rng = generator(seed)
    law = population()
    values = binormal_metrics(law, _THRESHOLD)
    truth = xr.DataArray(
        np.stack(list(values.values())),
        dims=("metric", "subgroup"),
        coords={"metric": list(values), **Subgroups(BY, _TABLE).coordinates()},
        name="truth",
    )
    return Demonstration(draw_rows(law, np.array(STUDY_SIZES), rng), truth, list(BY), _THRESHOLD)


def population() -> Binormal:
    """The law of outcome and score in each of the 32 subgroups, in the order of `STUDY_SIZES`.

    The score of a subgroup has its mean at the log odds of the outcome plus the bias of the risk model.
    """
    log_odds = _BASE_LOG_ODDS + _effects(_OUTCOME) + _pairs() + 0.06 * _normal_quantiles(step=5)
    middle = log_odds + _effects(_BIAS) + 0.06 * _normal_quantiles(step=7)
    half_gap = _SCORE_SD * (0.55 + _effects(_SEPARATION) + 0.04 * _normal_quantiles(step=29)) / 2
    sd = np.full(len(_TABLE), _SCORE_SD)
    return Binormal(1 / (1 + np.exp(-log_odds)), middle - half_gap, middle + half_gap, sd, sd)


def draw_rows(law: Binormal, sizes: NDArray[np.int64], rng: np.random.Generator) -> pd.DataFrame:
    """Rows of the 32 subgroups in random order, as ``Demonstration.rows``; ``sizes`` (subgroup,) says how many of each."""
    import pandas as pd

    group = np.repeat(np.arange(len(_TABLE)), sizes)
    first = np.r_[True, group[1:] != group[:-1]]
    patient = np.cumsum(first | (rng.random(len(group)) < _NEW_PATIENT))
    cut = np.array([NormalDist().inv_cdf(p) for p in law.prevalence])
    readmitted = _shared_normal(patient, rng) < cut[group]
    noise = _shared_normal(patient, rng)
    logit = np.where(
        readmitted,
        law.mean_positive[group] + law.sd_positive[group] * noise,
        law.mean_negative[group] + law.sd_negative[group] * noise,
    )
    # What the risk model sees: visits and diagnoses grow with the score, so group means are informative.
    risk = logit - _BASE_LOG_ODDS
    old = np.array([AGES.index(age) for _, _, age in _TABLE])[group] - 2.0
    attributes = np.array(_TABLE, dtype=object)[group]
    rows = pd.DataFrame(
        {
            **{name: attributes[:, i] for i, name in enumerate(BY)},
            "patient": patient,
            "readmitted": readmitted.astype(np.int64),
            "score": 1 / (1 + np.exp(-logit)),
            "number_inpatient": rng.poisson(np.exp(-0.75 + 0.8 * risk)),
            "number_outpatient": rng.poisson(np.exp(-1.1 + 0.3 * risk)),
            "number_emergency": rng.poisson(np.exp(-1.8 + 0.6 * risk - 0.3 * old)),
            "number_diagnoses": 1 + rng.binomial(8, 1 / (1 + np.exp(-(1.2 + 0.3 * risk + 0.5 * old)))),
            "heart_failure": rng.binomial(1, 1 / (1 + np.exp(-(-1.5 + 0.5 * risk + 0.6 * old)))),
        }
    )
    return rows.iloc[rng.permutation(len(rows))].reset_index(drop=True)


def _shared_normal(patient: NDArray[np.int64], rng: np.random.Generator) -> FloatArray:
    """Draw standard normals that rows of one patient share in part."""
    shared = rng.standard_normal(int(patient[-1]) + 1)[patient]
    noise = rng.standard_normal(len(patient))
    together: FloatArray = np.sqrt(_PATIENT_CORRELATION) * shared + np.sqrt(1 - _PATIENT_CORRELATION) * noise
    return together


def _effects(effects: dict[str, float]) -> FloatArray:
    return np.array([sum(effects.get(level, 0.0) for level in levels) for levels in _TABLE])


def _pairs() -> FloatArray:
    return np.array([sum(_PAIRS[pair] for pair in _PAIRS if set(pair) <= set(levels)) for levels in _TABLE])


def _normal_quantiles(step: int) -> FloatArray:
    """Deal the 32 mid-quantiles of a normal to the subgroups in odd steps: spread without randomness."""
    count = len(_TABLE)
    return np.array([NormalDist().inv_cdf(((i * step) % count + 0.5) / count) for i in range(count)])
