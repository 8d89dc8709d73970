"""
Good enough for everyone
========================

The probability that every subgroup reaches a standard, by the standard. The circle is the best one that is certified;
dashed and dotted lines are what the rows of each subgroup alone can show.
"""

import bayesgroups as bg

shown = bg.datasets.demonstration(seed=0)
tally = bg.tally(
    shown.rows, by=shown.by, metrics=["fnr"], y_true="readmitted", y_score="score", threshold=shown.threshold
)
report = bg.estimate(tally, bg.PartialPooling(), seed=1)
figure = bg.plots.certification(report, level=0.95).figure
