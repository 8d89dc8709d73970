"""Formulas: what they mean, and that nothing in them runs."""

from __future__ import annotations

import time

import pytest

from bayesgroups.data.formulas import parse_terms
from bayesgroups.errors import InputError

COLUMNS = ["race", "age", "number_inpatient", "prior visits", "naïve", "a:b", "c0", "if", "rows"]


@pytest.mark.parametrize(
    ("formula", "terms"),
    [
        ("1", []),
        ("race", [("race",)]),
        ("1 + race", [("race",)]),
        ("race + race", [("race",)]),
        ("race + age:race", [("race",), ("age", "race")]),
        ("race * age", [("race",), ("age",), ("race", "age")]),
        ("race / age", [("race",), ("race", "age")]),
        ("race * age - race:age", [("race",), ("age",)]),
        ("(race + age) ** 2", [("race",), ("race", "age"), ("age",)]),
        ("(race + age) ^ 2", [("race",), ("race", "age"), ("age",)]),
        ("`prior visits`:race", [("prior visits", "race")]),
        ("naïve", [("naïve",)]),
        ("race:race", [("race",)]),
    ],
)
def test_formulas_mean_what_they_say(formula: str, terms: list[tuple[str, ...]]) -> None:
    assert set(map(frozenset, parse_terms(formula, COLUMNS))) == set(map(frozenset, terms))
    assert len(parse_terms(formula, COLUMNS)) == len(terms)


def test_a_name_with_an_operator_is_no_product() -> None:
    found = parse_terms("`a:b` + c0 + `if`:race", COLUMNS)
    assert set(map(frozenset, found)) == {frozenset({"a:b"}), frozenset({"c0"}), frozenset({"if", "race"})}


@pytest.mark.parametrize(
    ("formula", "match"),
    [
        ("__import__('os')", "contains code"),
        ("__import__('os').system('true')", "contains code|cannot be read"),
        ("race.__class__", "'race.__class__' is not a column"),
        ("race.map(print)", "contains code"),
        ("lambda x: x", "'lambda' is not a column"),
        ("{race + 1}", "contains code"),
        ("{__import__('os')}", "contains code"),
        ("I(race)", "contains code"),
        ("C(race)", "contains code"),
        ("Q('race')", "contains code"),
        ("bs(age, df=3)", "contains code"),
        ("race[0]", "contains code"),
        ("(race)(age)", "cannot be read"),
        ("`__import__('os')`", "is not a column"),
        ("rcae", "'rcae' is not a column; did you mean 'race'"),
        ("zzz", "known: "),
        (".", "'.' is neither a column nor a power"),
        ("'race'", "neither a column nor a power"),
        ('"race"', "neither a column nor a power"),
        ("2:race", "neither a column nor a power"),
        ("race + 1.5", "neither a column nor a power"),
        ("race:1", "multiplies a column by a number"),
        ("race - 1", "takes the intercept away"),
        ("0 + race", "takes the intercept away"),
        ("y ~ race", "'y' is not a column"),
        ("race ~ age", "'~' is no operator here"),
        ("race | age", r"'\|' is no operator here"),
        ("race %in% age", "'in' is no operator here"),
        ("race == age", "'==' is no operator here"),
        ("race; age", "';' is no operator here"),
        ("race, age", "',' is no operator here"),
        ("race @ age", "'@' is no operator here"),
        ("[race + age]", "has no meaning here"),
        ("race +", "cannot be read"),
        ("race age", "cannot be read"),
        ("()", "cannot be read"),
        ("(race", "cannot be read"),
        ("`race", "cannot be read"),
        ("race ** age", "cannot be read"),
        ("race ** 0", "cannot be read"),
        ("x" * 30_000, "may have 20,000 characters"),
        ("race ** 99999999999999", "too many products"),
        ("((race + age + c0 + naïve) ** 9) ** 9", "too many products"),
        ("\x00", "no operator here|cannot be read"),
    ],
)
def test_what_is_no_formula_of_columns_is_refused(formula: str, match: str) -> None:
    begin = time.perf_counter()
    with pytest.raises(InputError, match=match):
        parse_terms(formula, COLUMNS)
    assert time.perf_counter() - begin < 5


@pytest.mark.parametrize("formula", ["(" * 9000 + "race" + ")" * 9000, "+".join(["race"] * 4000)])
def test_long_formulas_end(formula: str) -> None:
    try:
        assert parse_terms(formula, COLUMNS) == (("race",),)
    except InputError as problem:
        assert "cannot be read" in str(problem)  # noqa: PT017 (either answer will do)


def test_a_formula_is_text() -> None:
    with pytest.raises(InputError, match="must be text such as 'race \\+ age'; got list"):
        parse_terms(["race"], COLUMNS)  # type: ignore[arg-type]
