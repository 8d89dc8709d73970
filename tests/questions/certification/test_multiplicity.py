"""Critical values of several statements at once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from bayesgroups.questions.certification.multiplicity import correlated_critical_value, critical_value


@pytest.mark.parametrize("groups", [1, 2, 4, 30])
@pytest.mark.parametrize("sides", [1, 2])
def test_independent_statements_hold_together_at_the_level(groups: int, sides: int) -> None:
    z = critical_value("simultaneous", 0.95, groups, sides=sides)
    each = 1 - sides * stats.norm.sf(z)
    assert each**groups == pytest.approx(0.95, abs=1e-12)


@pytest.mark.parametrize("factor", [np.zeros((0, 4)), np.zeros((3, 4))], ids=["no subgroup", "no deviation"])
def test_where_nothing_deviates_one_statement_is_made(factor: np.ndarray) -> None:
    rng = np.random.default_rng(1)
    for sides in (1, 2):
        alone = critical_value("none", 0.95, 1, sides=sides)
        assert correlated_critical_value(factor, 0.95, rng, sides=sides) == alone
