"""
Intersections
=============

Two attributes, the metric as colour and number, with the subgroups that have no answer of their own marked.
"""

import bayesgroups as bg

shown = bg.datasets.demonstration(seed=0)
tally = bg.tally(
    shown.rows, by=["race", "age"], metrics=["fnr"], y_true="readmitted", y_score="score", threshold=shown.threshold
)
report = bg.estimate(tally, bg.CrossedEffects(), seed=1)
figure = bg.plots.heat_map(report, "race", "age").figure
