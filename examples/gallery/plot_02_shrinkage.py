"""
Shrinkage
=========

Raw estimates across, estimates upwards. Subgroups far from the diagonal were pulled most; the area is their number of rows.
"""

import bayesgroups as bg

shown = bg.datasets.demonstration(seed=0)
tally = bg.tally(
    shown.rows, by=shown.by, metrics=["fnr"], y_true="readmitted", y_score="score", threshold=shown.threshold
)
report = bg.estimate(tally, bg.PartialPooling(), seed=1)
figure = bg.plots.shrinkage(report).figure
