"""
Every threshold
===============

The true positive rate of each subgroup along all thresholds, in bands that hold a point (dark) and the whole curve (light).
"""

import numpy as np
import pandas as pd

import bayesgroups as bg

random = np.random.default_rng(1)
site = random.choice(["north", "east", "south"], 400, p=[0.6, 0.33, 0.07])
sick = random.binomial(1, 0.4, 400)
score = 1 / (1 + np.exp(1 - 1.5 * sick - random.normal(size=400)))
rows = pd.DataFrame({"site": site, "sick": sick, "score": score})
tally = bg.tally(rows, by=["site"], metrics=["auc"], y_true="sick", y_score="score")
along = bg.threshold_curve(tally, metrics=["tpr"], level=0.9, draws=1000, seed=1)
figure = bg.plots.curves(along, metric="tpr")
