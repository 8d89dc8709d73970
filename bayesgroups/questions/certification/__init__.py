"""Is the system good enough for everyone? Statements about the worst subgroup and about all at once.

`certify` asks how good a metric is where it is worst, giving the benefit of the doubt (the optimist) or denying it (the
pessimist). Functions on arrays, with the subgroup as the last axis, lie below: limits (`bounds`), critical values for many
statements (`multiplicity`), the worst value of draws and counts (`worst`), margins (`overlapping`).
"""

from bayesgroups.questions.certification.bands import simultaneous_intervals as simultaneous_intervals
from bayesgroups.questions.certification.false_discoveries import discoveries as discoveries
from bayesgroups.questions.certification.optimism import certify as certify
from bayesgroups.questions.certification.overlapping import margins as margins
from bayesgroups.questions.certification.published import fairness_definitions as fairness_definitions
from bayesgroups.questions.certification.rank_intervals import ranks as ranks
from bayesgroups.questions.certification.requirements import Definition as Definition
from bayesgroups.questions.certification.requirements import definitions as definitions
from bayesgroups.questions.certification.requirements import desiderata as desiderata
from bayesgroups.questions.certification.sample_sizes import minimum_detectable_gap as minimum_detectable_gap
from bayesgroups.questions.certification.sample_sizes import (
    probability_of_finding_worst as probability_of_finding_worst,
)
from bayesgroups.questions.certification.sample_sizes import rows_to_certify as rows_to_certify
from bayesgroups.questions.certification.sample_sizes import rows_to_narrow as rows_to_narrow
