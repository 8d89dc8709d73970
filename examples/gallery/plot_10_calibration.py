"""
Simulation-based calibration
============================

True values drawn from the prior must have uniform ranks among posterior draws. These are the ranks of conjugate rates, with one
posterior that is right and one that takes its rows for twice as many: its line leaves the band.
"""

import numpy as np

import bayesgroups as bg

random = np.random.default_rng(3)
truth = random.beta(2, 5, 600)
hits = random.binomial(20, truth)
ranks = {}
for name, rows in (("right", 1), ("rows counted twice", 2)):
    draws = random.beta(2 + rows * hits[:, None], 5 + rows * (20 - hits)[:, None], (600, 99))
    ranks[name] = (draws < truth[:, None]).sum(axis=1)
figure = bg.plots.calibration_ranks(ranks, draws=99).figure
