"""
Coverage
========

How often intervals hold the true value, by how often they say so. Points below the diagonal are too short: Wald's interval for
rates of 8 rows.
"""

import numpy as np
import pandas as pd

import bayesgroups as bg

random = np.random.default_rng(5)
truth = random.beta(2, 8, (400, 1))
hits = random.binomial(8, truth)
table = []
for interval in ("wald", "wilson", "jeffreys"):
    who = pd.DataFrame({"site": [str(i) for i in range(400)]})
    tally = bg.tally_from_counts(hits[:, 0], np.full(400, 8), who)
    estimates = bg.frequentist.no_pooling.estimate(tally, interval=interval).isel(metric=0)
    for level in estimates["level"].values:
        limits = estimates.sel(level=level)
        held = (limits["lower"].values <= truth[:, 0]) & (truth[:, 0] <= limits["upper"].values)
        table.append({"interval": interval, "level": level, "coverage": held.mean(), "mc_error": held.std() / 20})
figure = bg.plots.coverage(pd.DataFrame(table)).figure
