"""The model of disagreement feedback: its log density and its metrics, written out from the docstring."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr
from pytensor.compile.mode import Mode
from scipy import stats
from scipy.special import expit

from bayesgroups.data.arrays import FloatArray
from bayesgroups.models import disagreement

FAST = Mode(linker="py", optimizer="fast_compile")

# The same tolerance as for the other models: PyTensor holds some constants in float32.
RTOL = 1e-7
LABELS = ["a", "b", "c"]
NOTIONS = ["calibration", "equal_opportunity", "predictive_equality", "overall_misclassification"]
NAMES = {
    "calibration": "ppv",
    "equal_opportunity": "tpr",
    "predictive_equality": "fpr",
    "overall_misclassification": "fnr",
}
AGREE = np.array([[[5.0, 2.0], [1.0, 0.0], [3.0, 0.0]], [[4.0, 1.0], [0.0, 0.0], [2.0, 0.0]]])
DISAGREE = np.array([[[2.0, 1.0], [3.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [2.0, 2.0], [1.0, 0.0]]])
"""By critic, label and subgroup."""
A, T, U = np.array([-0.5, 0.3, 0.1]), np.array([0.4, 0.6, 0.2]), np.array([0.3, 0.5, 0.7])
Z = np.array([[0.2, -1.0], [0.5, 0.1], [-0.3, 0.8]])
W = np.array([[0.4, -0.2], [1.0, 0.3], [-0.6, 0.1]])
SHARE = np.array([[0.5, 0.3, 0.2], [0.2, 0.7, 0.1]])
SENT = np.array([[[0.3, 0.7], [0.9, 0.1]], [[0.5, 0.5], [0.2, 0.8]], [[0.6, 0.4], [0.45, 0.55]]])
"""From label, subgroup, to the others in their order."""


def tally(labels: int = 3, *, critics: bool = False) -> xr.Dataset:
    names = LABELS[:labels]
    metric = ["acc", *(f"{NAMES[notion]}[{label}]" for notion in NOTIONS for label in names)]
    cell = ("label", "subgroup")
    data: dict[str, Any] = {
        "agreements": (cell, AGREE.sum(axis=0)[:labels]),
        "disagreements": (cell, DISAGREE.sum(axis=0)[:labels]),
        "notion": ("metric", ["accuracy_equality", *(notion for notion in NOTIONS for _ in names)]),
        "metric_label": ("metric", ["all", *(names * len(NOTIONS))]),
    }
    if critics:
        data["critic_agreements"] = (("critic", *cell), AGREE[:, :labels])
        data["critic_disagreements"] = (("critic", *cell), DISAGREE[:, :labels])
    coords = {"metric": metric, "label": names, "subgroup": ["f", "m"]}
    return xr.Dataset(data, coords=coords | ({"critic": ["x", "y"]} if critics else {}))


def _density(model: Any, point: dict[str, FloatArray]) -> float:
    """Log density without Jacobians, at values on the scale of the variables."""
    logp = model.compile_logp(jacobian=False, mode=Mode(linker="py", optimizer="fast_run"))
    start = {}
    for variable in model.free_RVs:
        value = np.asarray(point[variable.name], dtype=np.float64)
        name = model.rvs_to_values[variable].name
        if name.endswith("_log__"):
            value = np.log(value)
        elif name.endswith("_simplex__"):
            logs = np.log(value)
            value = logs[..., :-1] - logs.mean(axis=-1, keepdims=True)
        start[name] = value
    return float(logp(start))


def _priors() -> float:
    return float(
        stats.norm.logpdf(A, 0, 1.5).sum()
        + stats.halfnorm.logpdf(T, scale=0.5).sum()
        + stats.norm.logpdf(Z).sum()
        + sum(stats.dirichlet.logpdf(share, np.full(3, 0.5)) for share in SHARE)
        + sum(stats.dirichlet.logpdf(law, np.ones(2)) for law in SENT.reshape(-1, 2))
    )


def _labels() -> float:
    total = (AGREE + DISAGREE).sum(axis=0)
    return float(sum(stats.multinomial.logpmf(total[:, g], total[:, g].sum(), SHARE[g]) for g in range(2)))


POINT = {"z_overall": A, "z_tau": T, "z": Z, "z_share": SHARE, "z_destination": SENT}


def test_the_density_without_critics() -> None:
    total, disagree = (AGREE + DISAGREE).sum(axis=0), DISAGREE.sum(axis=0)
    p = expit(A[:, None] + T[:, None] * Z)
    expected = _priors() + _labels() + stats.binom.logpmf(disagree, total, p)[total > 0].sum()
    np.testing.assert_allclose(_density(disagreement.build(tally()), POINT), expected, rtol=RTOL)
    with_critics = disagreement.build(tally(critics=True), critics=False)
    np.testing.assert_allclose(_density(with_critics, POINT), expected, rtol=RTOL)


def test_the_density_with_critics() -> None:
    total = AGREE + DISAGREE
    p = expit((A[:, None] + T[:, None] * Z)[None] + (U[:, None] * W).T[:, :, None])
    expected = _priors() + _labels() + stats.halfnorm.logpdf(U, scale=0.5).sum() + stats.norm.logpdf(W).sum()
    expected += stats.binom.logpmf(DISAGREE, total, p)[total > 0].sum()
    model = disagreement.build(tally(critics=True))
    assert model.named_vars_to_dims["z_critic"] == ("label", "critic")
    np.testing.assert_allclose(_density(model, POINT | {"z_leniency": U, "z_critic": W}), expected, rtol=RTOL)


def _mu(model: Any, point: dict[str, FloatArray]) -> FloatArray:
    import pytensor

    inputs = [model[name] for name in point]
    function = pytensor.function(inputs, model["mu"], mode=FAST, on_unused_input="ignore")
    return np.asarray(function(*point.values()))


def _by_hand(rate: FloatArray) -> FloatArray:
    """From the whole joint law of label and label in mind."""
    found = []
    for g in range(2):
        joint = np.zeros((3, 3))  # in mind, given
        for given in range(3):
            joint[given, given] = (1 - rate[given, g]) * SHARE[g, given]
            for law, mind in zip(SENT[given, g], [k for k in range(3) if k != given], strict=True):
                joint[mind, given] = rate[given, g] * SHARE[g, given] * law
        right, meant, said = np.diag(joint), joint.sum(axis=1), joint.sum(axis=0)
        columns = [right / said, right / meant, (said - right) / (1 - meant), (meant - right) / meant]
        found.append(np.concatenate([[right.sum()], *columns]))
    return np.array(found).T


def test_the_metrics_are_those_of_the_joint_law() -> None:
    point = {"z_overall": A, "z_tau": T, "z": Z, "z_share": SHARE, "z_destination": SENT}
    rate = expit(A[:, None] + T[:, None] * Z)
    np.testing.assert_allclose(_mu(disagreement.build(tally()), point), _by_hand(rate), rtol=1e-6)


def test_with_critics_the_rate_is_that_of_their_population() -> None:
    point = POINT | {"z_leniency": U}
    normal = np.random.default_rng(1).normal(size=400_000)
    eta = A[:, None] + T[:, None] * Z
    rate = np.array([[expit(eta[k, g] + U[k] * normal).mean() for g in range(2)] for k in range(3)])
    np.testing.assert_allclose(_mu(disagreement.build(tally(critics=True)), point), _by_hand(rate), atol=2e-3)


def test_two_labels_have_one_destination() -> None:
    model = disagreement.build(tally(2))
    assert [variable.name for variable in model.free_RVs] == ["z_overall", "z_tau", "z", "z_share"]
    share = np.array([[0.6, 0.4], [0.5, 0.5]])
    mu = _mu(model, {"z_overall": A[:2], "z_tau": T[:2], "z": Z[:2], "z_share": share})
    rate = expit(A[:2, None] + T[:2, None] * Z[:2])
    agree, disagree = (1 - rate) * share.T, rate * share.T
    names = model.coords["metric"]
    np.testing.assert_allclose(mu[names.index("tpr[a]")], agree[0] / (agree[0] + disagree[1]), rtol=1e-6)
    np.testing.assert_allclose(mu[names.index("fpr[a]")], disagree[0] / (disagree[0] + agree[1]), rtol=1e-6)


def test_names_dims_and_an_empty_tally() -> None:
    model = disagreement.build(tally(critics=True), overall_scale=2.0, tau_scale=0.3, destination=0.5)
    assert model.named_vars_to_dims["mu"] == ("metric", "subgroup")
    assert all(model.named_vars_to_dims[variable.name] for variable in model.basic_RVs)
    assert {variable.name for variable in model.observed_RVs} == {"judgements", "disagreements"}
    empty = tally(critics=True).assign(
        {name: tally(critics=True)[name] * 0 for name in tally(critics=True) if "agreements" in str(name)}
    )
    assert not disagreement.build(empty).observed_RVs
    assert not disagreement.build(empty, critics=False).observed_RVs


def test_what_is_wrong_is_named(rates: xr.Dataset) -> None:
    with pytest.raises(ValueError, match="the tally has no agreements and disagreements per label"):
        disagreement.build(rates)
    for name in ("destination", "overall_scale", "tau_scale"):
        with pytest.raises(ValueError, match=f"{name} must be a positive number; got 0"):
            disagreement.build(tally(), **{name: 0})  # type: ignore[arg-type]
