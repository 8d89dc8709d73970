"""
Disparity
=========

The posterior of the gap between the largest and the smallest value, beside the gap of the raw estimates and what raw
estimates would show if all subgroups were the same: most of a raw gap can be chance.
"""

import bayesgroups as bg

shown = bg.datasets.demonstration(seed=0)
tally = bg.tally(
    shown.rows, by=shown.by, metrics=["fnr"], y_true="readmitted", y_score="score", threshold=shown.threshold
)
report = bg.estimate(tally, bg.PartialPooling(), seed=1)
figure = bg.plots.disparity_posterior(report, measure="max_min_difference").figure
