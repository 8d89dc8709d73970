"""Critical values of several statements at once."""

from __future__ import annotations

import pytest
from scipy import stats

from bayesgroups.questions.certification.multiplicity import critical_value


@pytest.mark.parametrize("groups", [1, 2, 4, 30])
@pytest.mark.parametrize("sides", [1, 2])
def test_independent_statements_hold_together_at_the_level(groups: int, sides: int) -> None:
    z = critical_value("simultaneous", 0.95, groups, sides=sides)
    each = 1 - sides * stats.norm.sf(z)
    assert each**groups == pytest.approx(0.95, abs=1e-12)
