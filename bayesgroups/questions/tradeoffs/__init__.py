"""Model selection where performance and fairness conflict: frontiers, distances, areas, selection.

A candidate is one setting of one method, with its ``performance`` and its ``fairness``, both larger the better. Candidates
come as rows of a DataFrame or along one dim of a Dataset, there with or without the dims ``chain`` and ``draw``.
"""

from __future__ import annotations

from bayesgroups.questions.tradeoffs.areas import auc_pfc as auc_pfc
from bayesgroups.questions.tradeoffs.criteria import CRITERIA as CRITERIA
from bayesgroups.questions.tradeoffs.distances import distance_to_optimum as distance_to_optimum
from bayesgroups.questions.tradeoffs.frontier import pareto_frontier as pareto_frontier
from bayesgroups.questions.tradeoffs.frontier import probability_efficient as probability_efficient
from bayesgroups.questions.tradeoffs.reports import points_from_reports as points_from_reports
from bayesgroups.questions.tradeoffs.runs import points_from_runs as points_from_runs
from bayesgroups.questions.tradeoffs.selection import Selection as Selection
from bayesgroups.questions.tradeoffs.selection import select_model as select_model
from bayesgroups.questions.tradeoffs.uncertainty import compare_auc_pfc as compare_auc_pfc
from bayesgroups.questions.tradeoffs.uncertainty import frontier_band as frontier_band
