"""Pictures of reports and of answers: functions that return matplotlib axes (`curves` a figure) and touch no global state."""

from bayesgroups.views.plots.bounds_plot import disagreement_bounds as disagreement_bounds
from bayesgroups.views.plots.calibration_plot import calibration_ranks as calibration_ranks
from bayesgroups.views.plots.calibration_plot import coverage as coverage
from bayesgroups.views.plots.certification_plot import certification as certification
from bayesgroups.views.plots.contrasts_plot import contrasts as contrasts
from bayesgroups.views.plots.curve_plots import curves as curves
from bayesgroups.views.plots.disparity_plot import disparity_posterior as disparity_posterior
from bayesgroups.views.plots.forest_plot import forest as forest
from bayesgroups.views.plots.frontier_plot import frontier as frontier
from bayesgroups.views.plots.heat_map_plot import heat_map as heat_map
from bayesgroups.views.plots.maihda_plot import maihda as maihda
from bayesgroups.views.plots.ordered_plot import ordered_effect as ordered_effect
from bayesgroups.views.plots.population_plot import population as population
from bayesgroups.views.plots.prior_plot import prior_predictive as prior_predictive
from bayesgroups.views.plots.shrinkage_plot import shrinkage as shrinkage
from bayesgroups.views.plots.systems_plot import systems as systems
