"""Tables 2 to 4 of Himmelreich, Hsu, Lum, Veomett: the worst accuracy, the optimist's and the pessimist's value of 18 data sets.

Accuracies are means of three models over all rows of a subgroup, so that right decisions come in thirds. The printed values
determine these whole numbers, and they the printed values. https://doi.org/10.48550/arXiv.2411.02569
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import xarray as xr

import bayesgroups as bg


@dataclass(frozen=True)
class Entry:
    """A subgroup: its name, rows, and right decisions of three models together."""

    subgroup: str
    rows: int
    right: int


@dataclass(frozen=True)
class Line:
    """One data set: the subgroups that are critical for the worst value, the optimist and the pessimist, and their values."""

    name: str
    worst: Entry
    optimist: Entry
    pessimist: Entry
    optimist_value: float
    pessimist_value: float

    @property
    def worst_value(self) -> float:
        """The printed worst accuracy, a whole number of thirds over the rows."""
        return self.worst.right / (3 * self.worst.rows)

    @property
    def entries(self) -> dict[str, Entry]:
        """The subgroups that are known, by name."""
        return {entry.subgroup: entry for entry in (self.worst, self.optimist, self.pessimist)}


CRITICAL_VALUE = 1.64

_FEMALE_AA = Entry("Female-African-American-<25", 95, 283)
_MEPS19 = Entry("White-80s-female", 184, 523)
_MEPS20 = Entry("Non-White-80s-female", 146, 415)
_MEPS21 = Entry("Non-White-80s-female", 142, 408)
_ADULT = Entry("White-Male-50s", 4256, 10240)
_BANK = Entry("<=24", 809, 1885)
_COMPAS = Entry("Male-Native American-25..45", 6, 17)
_CREDIT = Entry("male div/sep <=25", 2, 4)
_DEFAULT = Entry("male 40s", 2771, 6716)
_HEART = Entry("female >54", 103, 283)
_NURSERY = Entry("great_pret", 4320, 11564)
_RICCI = Entry("W", 68, 202)
_MATH = Entry("M <18", 134, 389)
_PORTUGUESE = Entry("M >=18", 73, 206)
_TAE = Entry("1", 29, 70)
_TITANIC = Entry("female 60s", 10, 29)
_CRIME = Entry("TRUE", 970, 2812)

LINES = (
    Line("adult", _ADULT, _ADULT, Entry("Other-Male-60s", 10, 26), 0.8120224969943970, 0.6903719639038720),
    Line("bank", _BANK, _BANK, _BANK, 0.8006925092362380, 0.7526655459759590),
    Line("compas", _COMPAS, Entry("Male-African-American-25..45", 1563, 4643), _COMPAS,
         0.994278290695671, 0.7910815916767240),
    Line("compas_violent", _FEMALE_AA, Entry("Male-African-American-25..45", 932, 2784),
         Entry("Male-Other->45", 49, 146), 0.999219907516058, 0.9739395574376140),
    Line("creditg", _CREDIT, Entry("male single >25", 492, 1365), _CREDIT, 0.94429531762294, 0.12),
    Line("default_credit", _DEFAULT, _DEFAULT, Entry("female 70s", 12, 31), 0.820164957561691, 0.6973855176357850),
    Line("heart_disease", _HEART, _HEART, _HEART, 0.96071630150011, 0.8709989088558780),
    Line("meps19", _MEPS19, _MEPS19, Entry("Non-White-80s-male", 67, 191), 0.974437789794083, 0.9066848240754210),
    Line("meps20", _MEPS20, _MEPS20, _MEPS20, 0.977763384001414, 0.9172137849483570),
    Line("meps21", _MEPS21, _MEPS21, _MEPS21, 0.985432236390149, 0.9300607213563300),
    Line("nlsy", Entry("Female-<18-Greek", 2, 4), Entry("Female->=18-German", 179, 451),
         Entry("Female-<18-Hawaiian", 1, 2), 0.88480628727837, -0.106436747430625),
    Line("nursery", _NURSERY, _NURSERY, _NURSERY, 0.9000195456124770, 0.8845483556220900),
    Line("ricci", _RICCI, Entry("B", 27, 81), _RICCI, 1.0, 0.9706008691220500),
    Line("student_math", _MATH, _MATH, _MATH, 0.992723469193729, 0.9425999138908480),
    Line("student_por", _PORTUGUESE, Entry("M <18", 193, 552), _PORTUGUESE, 0.978258629541195, 0.8952823458833590),
    Line("tae", _TAE, Entry("2", 122, 315), _TAE, 0.912074688695555, 0.6838443819651760),
    Line("titanic", _TITANIC, Entry("female 30s", 86, 250), _TITANIC, 0.99964644295967, 0.8735726878662690),
    Line("us_crime", _CRIME, _CRIME, _CRIME, 0.975822194666121, 0.9568238534438450),
)  # fmt: skip
"""One line per data set, in the order of the paper."""


def published(line: Line) -> xr.Dataset:
    """The critical subgroups of a data set as a tally; right decisions of three models are thirds of a row."""
    entries = list(line.entries.values())
    who = pd.DataFrame({"of": [entry.subgroup for entry in entries]})
    right, trials = [entry.right for entry in entries], [3 * entry.rows for entry in entries]
    counts = bg.tally_from_counts(right, trials, who, metric="acc")
    return counts.assign(count=counts["count"] / 3, successes=counts["successes"] / 3)
