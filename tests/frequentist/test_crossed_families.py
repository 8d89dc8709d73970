"""Components of crossed effects: which there are, what they join, and what they leave out."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.frequentist.crossed.families import family, family_of

GRID = np.array(list(itertools.product(range(4), range(2), range(3))))
NAMES = ["race", "sex", "age"]


def test_every_subset_has_a_component() -> None:
    found = family(GRID, NAMES)
    assert found.names == ("shared", "race", "sex", "age", "race:sex", "race:age", "sex:age", "identity")
    assert [int(cells.max()) + 1 for cells in found.cells] == [1, 4, 2, 3, 8, 12, 6, 24]
    agreement = found.agreement()
    np.testing.assert_array_equal(agreement[0], np.ones((24, 24)))
    np.testing.assert_array_equal(agreement[-1], np.eye(24))
    np.testing.assert_array_equal(agreement[4], agreement[1] * agreement[2])
    np.testing.assert_array_equal(agreement[1] * agreement[2] * agreement[3], np.eye(24))


@pytest.mark.parametrize(("order", "components"), [(0, 2), (1, 5), (2, 8), (3, 8), (None, 8)])
def test_order(order: int | None, components: int) -> None:
    assert len(family(GRID, NAMES, order).names) == components


def test_an_attribute_with_one_level_changes_nothing() -> None:
    with_one = np.column_stack([GRID, np.zeros(len(GRID))])
    plain, found = family(GRID, NAMES), family(with_one, [*NAMES, "site"])
    assert found.names == (*plain.names[:-1], "identity")
    np.testing.assert_array_equal(found.cells, plain.cells)


def test_twin_attributes_count_once() -> None:
    assert family(GRID[:, [0, 1, 0]], ["a", "b", "copy"]).names == ("shared", "a", "b", "a:b", "identity")


def test_one_group_is_itself() -> None:
    assert family([[0, 0]], ["a", "b"]).names == ("identity",)


def test_without() -> None:
    less = family(GRID, NAMES).without("shared")
    assert less.names[0] == "race"
    assert len(less.cells) == 7


def test_of_a_tally() -> None:
    table = pd.MultiIndex.from_product([["b", "a"], ["x", "y", "z"]], names=["one", "two"]).to_frame(index=False)
    tally = bg.tally_from_counts(np.ones(6), np.full(6, 4), table, metric="acc")
    found = family_of(tally)
    assert found.names == ("shared", "one", "two", "identity")
    np.testing.assert_array_equal(found.cells[1], [0, 0, 0, 1, 1, 1])
    old_style = tally.assign_attrs(by='["one", "two"]')
    np.testing.assert_array_equal(family_of(old_style).cells, found.cells)


def test_refusals() -> None:
    with pytest.raises(InputError, match="order=-1 must be 0 or more"):
        family(GRID, NAMES, -1)
    with pytest.raises(InputError, match=r"levels have shape \(24, 3\); expected one column for each of \['race'\]"):
        family(GRID, ["race"])
    with pytest.raises(InputError, match=r"names none in attrs\['by'\]"):
        family_of(xr.Dataset())
