"""
Levels in an order
==================

A rate along the levels of an ordered attribute, the others composed as among all rows. The model has learned how much of the
differences follows the order; a level without rows lies between its neighbours, with an interval that says how little is known.
"""

import numpy as np
import pandas as pd

import bayesgroups as bg

random = np.random.default_rng(4)
ages = ["18-24", "25-34", "35-44", "45-54", "55-64", "65-74", "75+"]
rows = pd.DataFrame({"age": random.choice(ages, 900), "sex": random.choice(["f", "m"], 900)})
rows = rows[rows["age"] != "45-54"]
place = np.array([ages.index(age) for age in rows["age"]])
logit = -2.2 + 0.35 * place + 0.3 * (rows["sex"] == "f")
rows["right"] = random.binomial(1, 1 / (1 + np.exp(logit)))
tally = bg.tally(rows, by={"age": ages, "sex": None}, metrics=["correct"], correct="right")
report = bg.estimate(tally, bg.CrossedEffects(ordered=("age",)), seed=1)
figure = bg.plots.ordered_effect(report, "age").figure
