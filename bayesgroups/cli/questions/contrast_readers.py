"""Readers of the arguments of contrasts: a reference, coefficients, a population and thresholds, from text and tables."""
# Annotations are read when a command is made, so they are no texts here.

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from bayesgroups.cli import inputs
from bayesgroups.cli.options import Names

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("contrast", "subgroup", "coefficient")
ReferenceText = Annotated[
    str,
    Parameter(
        help="What subgroups are compared with: overall, rest, best, the label of a subgroup or margin, levels as sex=male or "
        "sex=male,race=A, or a value of the metric."
    ),
]
Coefficients = Annotated[
    Path | None,
    Parameter(
        help="Contrasts in place of a reference: a table with the columns contrast, subgroup, coefficient (.csv, .parquet)."
    ),
]
People = Annotated[
    Path | None,
    Parameter(help="Number of people: a table with a column per attribute and the column count (.csv, .parquet)."),
]
Thresholds = Annotated[
    Names,
    Parameter(
        help="Contrast beyond which probabilities are given, as scale=number. Repeat it for several.", negative=()
    ),
]


def reference(reference: ReferenceText = "overall") -> "str | float | dict[str, str]":
    """A word or label, levels of attributes, or a number."""
    try:
        return float(reference)
    except ValueError:
        pass
    pairs = [part.partition("=") for part in reference.split(",")]
    if all(sign for _, sign, _ in pairs):
        return {name.strip(): level.strip() for name, _, level in pairs}
    return reference


def coefficients(contrasts: Coefficients = None) -> "dict[str, dict[str, float]] | None":
    """Coefficients of labels by the names of contrasts."""
    if contrasts is None:
        return None
    frame = inputs.table_of(contrasts, COLUMNS)
    vectors: dict[str, dict[str, float]] = {}
    for name, label, value in frame[list(COLUMNS)].itertuples(index=False):
        vectors.setdefault(str(name), {})[str(label)] = float(value)
    return vectors


def population(population: People = None) -> "pd.DataFrame | None":
    """Number of people in every intersection."""
    return None if population is None else inputs.table_of(population, ("count",))


def thresholds(beyond: Thresholds = ("ratio=0.8",)) -> "dict[str, tuple[float, ...]]":
    """Thresholds by scale."""
    from bayesgroups.errors import InputError

    numbers: dict[str, tuple[float, ...]] = {}
    for text in beyond:
        scale, _, value = text.partition("=")
        try:
            numbers[scale] = (*numbers.get(scale, ()), float(value))
        except ValueError:
            raise InputError(f"--beyond {text!r} must be a scale and a number, as ratio=0.8") from None
    return numbers
