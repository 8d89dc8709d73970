"""The table of the benchmarks: an ordinary test."""

import pytest

from tests.benchmarks.table import Row, Table


@pytest.mark.parametrize(
    ("values", "bar", "larger", "expected"),
    [
        ((3.0, 4.0, 5.0), 3.0, True, "met"),
        ((3.0, 4.0, 5.0), 6.0, True, "missed"),
        ((3.0, 4.0, 5.0), 3.5, True, "not decided"),
        ((3.0, 4.0, 5.0), 5.0, False, "met"),
        ((3.0, 4.0, 5.0), 2.0, False, "missed"),
        ((3.0, 4.0, 5.0), 4.5, False, "not decided"),
        ((3.0,), None, True, "-"),
        ((), 1.0, True, "-"),
    ],
)
def test_a_bar_within_the_spread_is_not_decided(
    values: tuple[float, ...], bar: float | None, larger: bool, expected: str
) -> None:
    assert Row("what", "peer", values, "x", bar, larger).met == expected


def test_ratios_are_taken_run_by_run() -> None:
    table = Table()
    assert table.ratio("a", "b", [2.0, 9.0, 4.0], [1.0, 3.0, 4.0]) == 2.0
    assert table.ratio("a", "b", [2.0, 9.0, 4.0], [1.0, 3.0, 4.0], larger=False) == 0.5
    assert [row.values for row in table.rows] == [(0.5, 1 / 3, 1.0)]
