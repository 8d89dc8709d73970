"""
Contrasts
=========

Women against men at equal race, and within each race: the ratio of their selection rates, from the posterior and from the counts.
The line is equality, the dotted ones are four fifths and its inverse; thin lines hold for all rows together.
"""

import pandas as pd

import bayesgroups as bg

who = pd.DataFrame({"race": ["A", "A", "B", "B"], "sex": ["f", "m"] * 2})
tally = bg.tally_from_counts([18, 30, 18, 6], [60, 150, 40, 25], who, metric="sel")
report = bg.estimate(tally, bg.PartialPooling(), seed=1)

figure = bg.plots.contrasts(bg.contrasts(report, {"sex": "m"}, within="race"), scale="ratio").figure
