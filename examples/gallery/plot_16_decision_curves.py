"""
Decision curves
===============

The net benefit of acting on a risk score along the risk at which one would act, beside acting for everyone and for no one, per
subgroup. Where the curve is above both, the score is worth using there.
"""

import numpy as np
import pandas as pd

import bayesgroups as bg

random = np.random.default_rng(1)
site = random.choice(["north", "east", "south"], 600, p=[0.6, 0.33, 0.07])
logit = random.normal(np.where(site == "east", -0.4, -1.2), 1.2)
sick = random.binomial(1, 1 / (1 + np.exp(-logit)))
rows = pd.DataFrame({"site": site, "sick": sick, "score": 1 / (1 + np.exp(-logit))})
tally = bg.tally(rows, by=["site"], metrics=["auc"], y_true="sick", y_score="score")
cuts = np.linspace(0.02, 0.6, 30)
along = bg.threshold_curve(tally, metrics=["net_benefit"], thresholds=cuts, level=0.9, draws=1000, seed=1)
figure = bg.plots.curves(along, metric="net_benefit")
