"""Disagreement feedback: what critics who only say whether they disagree reveal of a system's rates per subgroup.

`disagreement_tally` counts judgements, `disagreement_bounds` says which values of a rate agree with the counts, and
`confidence_sets` and `credible_sets` add what sampling makes of that. The arithmetic is in `rates` (one rate), `differences`
(between subgroups) and `replicates` (bootstrap), on arrays.
"""

from bayesgroups.frequentist.bounds.bounds import disagreement_bounds as disagreement_bounds
from bayesgroups.frequentist.bounds.credible import credible_sets as credible_sets
from bayesgroups.frequentist.bounds.sets import confidence_sets as confidence_sets
from bayesgroups.tallies.disagreement_rows import disagreement_tally as disagreement_tally
