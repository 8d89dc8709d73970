"""
Forest plot
===========

Both approaches, a row per subgroup, grouped by an attribute. Hollow markers are answers of the model alone, for subgroups
without a row that counts. Here the truth is known, and the page of a report has this picture for every metric.
"""

import bayesgroups as bg

shown = bg.datasets.demonstration(seed=0)
tally = bg.tally(
    shown.rows, by=shown.by, metrics=["fnr"], y_true="readmitted", y_score="score", threshold=shown.threshold
)
report = bg.estimate(tally, bg.PartialPooling(), seed=1)
figure = bg.plots.forest(report, truth=shown.truth, group_by="age", order="estimate", limit=16).figure
