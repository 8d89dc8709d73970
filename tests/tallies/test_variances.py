"""The mean inverse of a random denominator, against sums over its binomial law."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from bayesgroups.tallies.variances import mean_inverse_count


@pytest.mark.parametrize(
    ("rows", "count"), [(3, 1), (10, 1), (10, 4), (500, 2), (5000, 100), (5000, 101), (9000, 4000)]
)
def test_mean_inverse_of_a_count_given_that_there_is_one(rows: int, count: int) -> None:
    size = np.arange(1, rows + 1)
    law = binom(rows, count / rows)
    expected = (law.pmf(size) / size).sum() / law.sf(0)
    answer = mean_inverse_count(np.array([float(rows)]), np.array([float(count)]))
    np.testing.assert_allclose(answer, expected, rtol=1e-9, atol=1e-9)


def test_a_fixed_denominator_and_none() -> None:
    values = mean_inverse_count(np.array([7.0, 7.0]), np.array([7.0, 0.0]))
    np.testing.assert_allclose(values, [1 / 7, np.nan])
