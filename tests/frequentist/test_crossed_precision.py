"""Inverses of many matrices at once: those of NumPy for each."""

from __future__ import annotations

import numpy as np
import pytest

from bayesgroups.frequentist.crossed.precision import inverse_and_log_determinant

RNG = np.random.default_rng(7)


@pytest.mark.parametrize("size", [1, 5, 40])
def test_inverses_are_symmetric_and_those_of_each_matrix(size: int) -> None:
    root = RNG.normal(size=(2, 3, size, size + 2)) * np.exp(RNG.normal(0, 3, (2, 3, size, 1)))
    matrices = root @ np.swapaxes(root, -1, -2)
    before = matrices.copy()
    inverse, log_determinant = inverse_and_log_determinant(matrices)
    np.testing.assert_array_equal(matrices, before)
    np.testing.assert_array_equal(inverse, np.swapaxes(inverse, -1, -2))
    scale = np.sqrt(np.diagonal(matrices, axis1=-2, axis2=-1))
    identity = (
        inverse * scale[..., :, None] * scale[..., None, :] @ (matrices / scale[..., :, None] / scale[..., None, :])
    )
    np.testing.assert_allclose(identity, np.broadcast_to(np.eye(size), matrices.shape), atol=1e-8)
    np.testing.assert_allclose(log_determinant, np.linalg.slogdet(matrices)[1], rtol=1e-10, atol=1e-10)


def test_a_matrix_that_has_no_factor_leaves_the_others_as_they_are() -> None:
    """Errors that correlations tie together, to rounding: an eigenvalue may come out below 0."""
    good = np.array([[2.0, 1.0], [1.0, 2.0]])
    tied = np.array([[1.0, 1.0], [1.0, 1.0 - 2e-16]])
    inverse, log_determinant = inverse_and_log_determinant(np.stack([good, tied, good]))
    alone, log_alone = inverse_and_log_determinant(good[None])
    for place in (0, 2):
        np.testing.assert_array_equal(inverse[place], alone[0])
        assert log_determinant[place] == log_alone[0]
    np.testing.assert_allclose(inverse[1], np.linalg.inv(tied), rtol=1e-12)
    np.testing.assert_array_equal(inverse[1], inverse[1].T)
    assert log_determinant[1] == pytest.approx(np.linalg.slogdet(tied)[1])
