"""A whole analysis as one file: rows, tally, estimators, questions, outputs and the seed, to be run again to the byte."""

from bayesgroups.analyses.plans import Plan as Plan
from bayesgroups.analyses.plans import read_plan as read_plan
from bayesgroups.analyses.running import Finished as Finished
from bayesgroups.analyses.running import run_analysis as run_analysis
from bayesgroups.analyses.template import template as template
