"""
Bounds from disagreement
========================

Critics say whether a decision looks wrong, not what would be right. A line joins the bounds between which a rate lies for
certain; where it is a point the rate is known.
"""

import numpy as np
import pandas as pd

import bayesgroups as bg

random = np.random.default_rng(4)
rows = pd.DataFrame(
    {"sex": random.choice(["f", "m"], 900), "said": random.choice(["deny", "review", "grant"], 900, p=[0.2, 0.5, 0.3])}
)
chance = np.where(rows["sex"] == "f", 0.35, 0.22) + 0.1 * (rows["said"] == "review")
rows["disagrees"] = (random.random(900) < chance).astype(int)
tally = bg.disagreement_tally(rows, ["sex"], "said", "disagrees", labels=["deny", "review", "grant"])
bounds = bg.disagreement_bounds(tally, "equal_opportunity")
figure = bg.plots.disagreement_bounds(bounds).figure
