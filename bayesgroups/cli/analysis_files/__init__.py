"""A whole analysis as one file: rows, tally, estimators, questions, outputs and the seed, to be run again to the byte."""

from bayesgroups.cli.analysis_files.plans import Plan as Plan
from bayesgroups.cli.analysis_files.plans import read_plan as read_plan
from bayesgroups.cli.analysis_files.running import Finished as Finished
from bayesgroups.cli.analysis_files.running import run_analysis as run_analysis
from bayesgroups.cli.analysis_files.template import template as template
