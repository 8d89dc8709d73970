"""Formulas as lists of terms: text that names columns, never code that runs.

Formulaic parses, and nothing is evaluated: every word of a formula is looked up among the columns before the parser sees it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from bayesgroups.errors import InputError, near_misses

OPERATORS = "+-:*/^"
LONGEST = 20_000
"""Characters of the longest formula that is read."""
WORK = 1_000_000
"""Products that the powers of a formula may ask for."""


def parse_terms(formula: str, columns: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The terms of a formula, each a tuple of the columns it multiplies, in its order and once, without the intercept.

    Columns are joined by ``+`` (and), ``:`` (product), ``*`` (both and their product), ``/`` (nested), ``-`` (without), ``**`` or
    ``^`` (products up to an order) and brackets; names that are no identifiers stand between backticks. ``"1"`` is the intercept
    alone, which every model has. Code, other operators and numbers, and names that are no columns, are errors.

    >>> parse_terms("race * age + `prior visits`", ["race", "age", "prior visits"])
    (('race',), ('age',), ('race', 'age'), ('prior visits',))
    >>> parse_terms("1", ["race"])
    ()
    """
    if not isinstance(formula, str):
        raise InputError(f"a formula must be text such as 'race + age'; got {type(formula).__name__}")
    if len(formula) > LONGEST:
        raise InputError(f"a formula may have {LONGEST:,} characters; this one has {len(formula):,}")
    from formulaic.errors import FormulaicError
    from formulaic.parser import DefaultFormulaParser

    safe, names = _spell(formula, columns)
    try:
        parsed = DefaultFormulaParser(include_intercept=True).get_terms(safe)
    except (FormulaicError, RecursionError) as problem:
        raise _unreadable(formula) from problem
    terms: dict[tuple[str, ...], None] = {}
    intercept = False
    for term in parsed:
        factors = [str(factor.expr) for factor in term.factors]
        if factors == ["1"]:
            intercept = True
        elif all(factor in names for factor in factors):
            terms[tuple(names[factor] for factor in dict.fromkeys(factors))] = None
        else:
            raise InputError(f"formula {formula!r} multiplies a column by a number; name columns only")
    if not intercept:
        raise InputError(
            f"formula {formula!r} takes the intercept away; every model has one, so leave '0' and '- 1' out"
        )
    return tuple(terms)


def _spell(formula: str, columns: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Spell a formula with a plain name for each column, after a look at every token."""
    from formulaic.errors import FormulaicError
    from formulaic.parser.algos.tokenize import tokenize

    try:
        tokens = [(token.kind.value if token.kind else "", token.token) for token in tokenize(formula)]
    except (FormulaicError, RecursionError) as problem:
        raise _unreadable(formula) from problem
    plain: dict[str, str] = {}
    spelled: list[str] = []
    powers: list[int] = []
    for kind, text in tokens:
        raised = bool(spelled) and spelled[-1] in {"**", "^"}
        if kind == "python":
            raise InputError(
                f"formula {formula!r} contains code, {text!r}; name columns only, they are never evaluated"
            )
        if kind == "name" and text not in columns:
            raise InputError(f"formula {formula!r}: {text!r} is not a column; {near_misses(text, columns)}")
        if kind == "operator" and text.strip(OPERATORS):
            raise InputError(f"formula {formula!r}: {text!r} is no operator here; use + - : * / ** and brackets")
        if kind == "value" and raised and text.isdecimal():
            powers.append(int(text[:6]))
        elif kind == "value" and text not in {"0", "1"}:
            raise InputError(f"formula {formula!r}: {text!r} is neither a column nor a power; name columns only")
        if kind == "context" and text not in {"(", ")"}:
            raise InputError(f"formula {formula!r}: {text!r} has no meaning here; use round brackets")
        spelled.append(plain.setdefault(text, f"c{len(plain)}") if kind == "name" else text)
    # Sums of n columns to the powers p and q multiply out to n ** (p q) products: few enough, or never ending.
    if powers and math.prod(max(power, 1) for power in powers) * math.log(len(plain) + 1) > math.log(WORK):
        raise InputError(f"formula {formula!r} has powers that ask for too many products; write out the terms you need")
    return " ".join(spelled), {short: name for name, short in plain.items()}


def _unreadable(formula: str) -> InputError:
    shown = formula if len(formula) <= 100 else formula[:97] + "..."
    return InputError(
        f"formula {shown!r} cannot be read; join columns by + : * / - ** and brackets, as 'race + age + race:age'"
    )
