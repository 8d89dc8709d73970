"""The closed form against quadrature and its identities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from bayesgroups import datasets
from bayesgroups.data.arrays import FloatArray
from bayesgroups.errors import InputError


def _law(**changes: FloatArray) -> datasets.Binormal:
    plain = {
        "prevalence": np.array([0.1, 0.6]), "mean_negative": np.array([-2.3, 0.1]),
        "mean_positive": np.array([-1.9, 1.4]),
        "sd_negative": np.array([0.7, 1.1]), "sd_positive": np.array([0.5, 1.6]),
    }  # fmt: skip
    return datasets.Binormal(**(plain | changes))


def test_binormal_metrics_agree_with_quadrature() -> None:
    law = _law()
    values = datasets.binormal_metrics(law, threshold=0.3)
    cut = np.log(0.3 / 0.7)
    for g in range(2):
        negative: Any = stats.norm(law.mean_negative[g], law.sd_negative[g])
        positive: Any = stats.norm(law.mean_positive[g], law.sd_positive[g])
        miss = integrate.quad(positive.pdf, -12, cut, epsabs=1e-12)[0]
        alarm = integrate.quad(negative.pdf, cut, 12, epsabs=1e-12)[0]
        auc = integrate.quad(lambda x, p=positive, n=negative: p.pdf(x) * n.cdf(x), -12, 12, epsabs=1e-12)[0]
        assert values["fnr"][g] == pytest.approx(miss, abs=1e-10)
        assert values["fpr"][g] == pytest.approx(alarm, abs=1e-10)
        assert values["auc"][g] == pytest.approx(auc, abs=1e-10)


def test_binormal_metrics_obey_their_identities() -> None:
    law = _law()
    m = datasets.binormal_metrics(law, threshold=0.3)
    for metric, complement in (("tpr", "fnr"), ("fpr", "tnr"), ("ppv", "fdr"), ("npv", "for")):
        np.testing.assert_allclose(m[metric] + m[complement], 1, rtol=1e-14)
    np.testing.assert_allclose(m["ppv"] * m["sel"] + m["for"] * (1 - m["sel"]), law.prevalence, rtol=1e-13)
    np.testing.assert_allclose(m["acc"], law.prevalence * m["tpr"] + (1 - law.prevalence) * m["tnr"], rtol=1e-13)
    np.testing.assert_allclose(m["f1"], 2 / (1 / m["ppv"] + 1 / m["tpr"]), rtol=1e-13)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sd_positive": np.array([1.0])}, r"sd_positive has shape \(1,\); expected \(2,\)"),
        ({"mean_negative": np.array([0.0, np.inf])}, "mean_negative has a number that is not finite"),
        ({"prevalence": np.array([0.0, 0.5])}, "prevalence must lie strictly between 0 and 1"),
        ({"sd_negative": np.array([0.0, 1.0])}, "sd_negative and sd_positive must be positive"),
    ],
)
def test_binormal_refuses(changes: dict[str, FloatArray], message: str) -> None:
    with pytest.raises(InputError, match=message):
        _law(**changes)


@pytest.mark.parametrize("threshold", [0.0, 1.0, float("nan")])
def test_binormal_threshold_is_a_score(threshold: float) -> None:
    with pytest.raises(InputError, match="threshold must lie strictly between 0 and 1"):
        datasets.binormal_metrics(_law(), threshold)
