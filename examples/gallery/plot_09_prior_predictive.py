"""
Before the data
===============

What the priors say in units of the metric: values of subgroups, the gap between the largest and the smallest, and the
estimates that one would see in as many rows as there are.
"""

import pandas as pd

import bayesgroups as bg

who = pd.DataFrame({"site": ["a", "b", "c", "d"]})
tally = bg.tally_from_counts([9, 27, 19, 2], [100, 230, 120, 12], who, metric="fnr")
figure = bg.plots.prior_predictive(bg.prior_predictive(tally, bg.PartialPooling(), seed=1)).figure
