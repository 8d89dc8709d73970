"""
Target population
=================

How far the evaluated rows and the people who will be served differ: the share of every cell among both. A hollow circle is a cell
of people of whom no row was evaluated; only the model answers for them.
"""

import pandas as pd

import bayesgroups as bg

who = pd.DataFrame({"race": ["A", "A", "B", "B", "C", "C"], "sex": ["f", "m"] * 3})
tally = bg.tally_from_counts([95, 170, 18, 3, 8, 0], [100, 200, 30, 6, 10, 0], who, metric="acc")
report = bg.estimate(tally, bg.PartialPooling(), seed=1)
target = bg.poststratify(report, who.assign(count=[2000, 2000, 3000, 3000, 900, 1100]))

figure = bg.plots.population(target).figure
