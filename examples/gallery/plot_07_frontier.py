"""
Performance against fairness
============================

Candidates of two methods, each setting run with five seeds, and the curves of what they reach, in bands of 95 %.
"""

import numpy as np
import pandas as pd

import bayesgroups as bg
from bayesgroups.questions.tradeoffs import points_from_runs

random = np.random.default_rng(2)
methods = {}
for name, gain in (("reweighting", 0.0), ("adversarial", 0.04)):
    strength = np.repeat(np.linspace(0, 1, 6), 5)
    noise = random.normal(0, 0.008, (2, len(strength)))
    runs = pd.DataFrame(
        {
            "strength": strength,
            "performance": 0.82 - 0.16 * strength**2 + noise[0],
            "fairness": 0.6 + 0.24 * np.sqrt(strength) + gain * strength + noise[1],
        }
    )
    methods[name] = points_from_runs(runs, ["strength"], draws=500, seed=1)
figure = bg.plots.frontier(methods, anchor=0.3, shade="adversarial", within={"performance": 0.7}).figure
