"""Tables 1 and 2 of the goodness-of-fit tests of Herlihy, Truong, Chouldechova, Dudik (2024): models and p-values.

``expl`` stands for the explanatory features, ``sens`` for race, gender and age, ``Y`` for the outcome rates, ``rc``
for race; a full stop is an interaction. The features are the means of a subgroup in the evaluation set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from bayesgroups.datasets.synthetic import SyntheticModel

Table = Literal["real", "synthetic"]

MODELS: Sequence[SyntheticModel] = ("age", "expl", "age+rc", "age.rc")
"""Rows of table 2, see `bayesgroups.datasets.synthetic_metric`."""
FEATURES = ("number_inpatient", "number_outpatient", "number_emergency", "number_diagnoses", "heart_failure",
            "readmitted", "not_readmitted")  # fmt: skip
EXPL = " + ".join(FEATURES)
SENS = "race + gender + age"
OUTCOME_BY_SENS = f"(readmitted + not_readmitted):({SENS})"

CHAINS: Mapping[Table, Sequence[Mapping[str, str]]] = {
    "real": (
        {"null": "1", "expl": EXPL, "expl+sens": f"{EXPL} + {SENS}",
         "expl+sens+Y.sens": f"{EXPL} + {SENS} + {OUTCOME_BY_SENS}"},
        {"null": "1", "sens": SENS},
    ),
    "synthetic": (
        {"null": "1", "expl": EXPL, "expl+age": f"{EXPL} + age", "expl+age+rc": f"{EXPL} + age + race",
         "expl+age+rc+age.rc": f"{EXPL} + age * race"},
        {"null": "1", "age": "age"},
        {"expl": EXPL, "expl+rc": f"{EXPL} + race", "expl+age+rc": f"{EXPL} + age + race"},
    ),
}  # fmt: skip
ORDER: Mapping[Table, Sequence[str]] = {
    "real": ("null -> expl", "null -> sens", "expl -> expl+sens", "expl+sens -> expl+sens+Y.sens"),
    "synthetic": (
        "null -> expl", "null -> age", "expl -> expl+age", "expl -> expl+rc", "expl+age -> expl+age+rc",
        "expl+rc -> expl+age+rc", "expl+age+rc -> expl+age+rc+age.rc",
    ),
}  # fmt: skip
PUBLISHED: Mapping[Table, Mapping[str, Sequence[float]]] = {
    "real": {
        "auc": (0.281, 0.438, 0.726, 0.543),
        "sel": (0.000, 0.000, 0.000, 0.842),
        "fnr": (0.093, 0.473, 0.735, 0.565),
        "fpr": (0.001, 0.000, 0.000, 0.431),
        "acc": (0.000, 0.000, 0.005, 0.182),
        "ppv": (0.316, 0.493, 0.470, 0.874),
    },
    "synthetic": {
        "age": (0.025, 0.000, 0.000, 0.487, 0.153, 0.000, 0.576),
        "expl": (0.000, 0.000, 0.323, 0.366, 0.608, 0.551, 0.000),
        "age+rc": (0.013, 0.661, 0.142, 0.000, 0.000, 0.000, 0.089),
        "age.rc": (0.003, 0.000, 0.000, 0.040, 0.015, 0.000, 0.002),
    },
}
"""p-values of tables 1 and 2 of Herlihy, Truong, Chouldechova, Dudik (2024), by metric or model, as in `ORDER`."""
