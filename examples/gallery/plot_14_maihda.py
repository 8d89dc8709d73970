"""
MAIHDA
======

Twelve strata in order, what main effects say of each beside its value: the distance is what only the intersection explains.
"""

import pandas as pd

import bayesgroups as bg

strata = pd.DataFrame(
    [(age, sex, work) for age in ("young", "middle", "old") for sex in ("f", "m") for work in ("part", "full")],
    columns=["age", "sex", "work"],
)
tally = bg.tally_from_counts(
    [12, 9, 20, 15, 30, 22, 41, 35, 8, 9, 26, 31],
    [60, 40, 70, 55, 80, 60, 90, 70, 20, 25, 45, 50],
    strata,
    metric="fnr",
)

figure = bg.plots.maihda(bg.maihda(tally, seed=1)).figure
