"""Judges that decide on all rows where few have a gold label: rates corrected for their errors, and plans of labelling."""

from bayesgroups.questions.judges.corrections import judge_corrected as judge_corrected
from bayesgroups.questions.judges.labelling import rows_to_label as rows_to_label
