"""Differences of AI systems that answered the same items, and the order of the systems, by subgroup."""

from bayesgroups.questions.systems.comparison import compare_systems as compare_systems
from bayesgroups.questions.systems.leaderboard import leaderboard as leaderboard
