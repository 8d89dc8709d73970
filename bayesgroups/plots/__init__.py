"""Pictures of reports: functions that return a `matplotlib.figure.Figure` and touch no global state."""

from bayesgroups.plots.forest_plot import forest as forest
