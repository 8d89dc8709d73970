"""Target populations: what an evaluation says of people other than those who were evaluated."""

from bayesgroups.questions.populations.poststratify import poststratify as poststratify
from bayesgroups.questions.populations.second_sample import PopulationSample as PopulationSample
