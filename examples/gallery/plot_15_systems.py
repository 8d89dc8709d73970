"""
Systems on the same items
=========================

A new system against the old one, by language: differences of the shares of right answers from the posterior and from the pairs.
Only items that one system has right and the other wrong say which is better.
"""

import numpy as np
import pandas as pd

import bayesgroups as bg

rng = np.random.default_rng(4)
rows = pd.DataFrame({"language": rng.choice(["de", "en", "fr", "sw"], 600, p=[0.3, 0.5, 0.15, 0.05])})
rows["old"] = (rng.random(600) < 0.6).astype(int)
rows["new"] = np.where(rng.random(600) < 0.3, rng.random(600) < 0.75, rows["old"]).astype(int)
tally = bg.paired_tally(rows, ["language"], {"new": "new", "old": "old"})

figure = bg.plots.systems(bg.compare_systems(tally, overall=True)).figure
