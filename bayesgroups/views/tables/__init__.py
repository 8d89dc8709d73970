"""Reports, tallies, comparisons and answers as tables: pandas for further work, rich for the terminal, JSON for machines."""

from bayesgroups.views.tables.answer_files import save_answer as save_answer
from bayesgroups.views.tables.answers import answer_table as answer_table
from bayesgroups.views.tables.comparisons import comparison_summary as comparison_summary
from bayesgroups.views.tables.comparisons import comparison_table as comparison_table
from bayesgroups.views.tables.comparisons import predictive_table as predictive_table
from bayesgroups.views.tables.frames import report_frame as report_frame
from bayesgroups.views.tables.maihda_tables import maihda_table as maihda_table
from bayesgroups.views.tables.records import answer_document as answer_document
from bayesgroups.views.tables.report_documents import answer_schema as answer_schema
from bayesgroups.views.tables.report_documents import report_document as report_document
from bayesgroups.views.tables.report_documents import report_schema as report_schema
from bayesgroups.views.tables.terminal import report_table as report_table
from bayesgroups.views.tables.terminal import tally_table as tally_table
from bayesgroups.views.tables.terminal import truth_table as truth_table
