"""Pictures of reports: functions that return a `matplotlib.figure.Figure` and touch no global state."""

from bayesgroups.plots.curve_plots import curves as curves
from bayesgroups.plots.forest_plot import forest as forest
from bayesgroups.plots.frontier_plot import frontier as frontier
