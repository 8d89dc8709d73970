"""Reports, tallies and comparisons as tables: pandas for further work, rich for the terminal."""

from bayesgroups.tables.comparisons import comparison_summary as comparison_summary
from bayesgroups.tables.comparisons import comparison_table as comparison_table
from bayesgroups.tables.frames import report_frame as report_frame
from bayesgroups.tables.reports import report_table as report_table
from bayesgroups.tables.tallies import tally_table as tally_table
from bayesgroups.tables.truths import truth_table as truth_table
