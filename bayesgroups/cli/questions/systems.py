"""Questions of systems that answered the same items."""

from __future__ import annotations

from bayesgroups.cli import readers
from bayesgroups.cli.questions.question import Question, Table

SYSTEMS = (
    Question(
        "tallies.paired_rows.paired_tally",
        "paired-tally answers.csv --by language --compare new=new_right --compare old=old_right --output pairs.tally.nc\n"
        "paired-tally long.csv --by language --system model --item id --correct score --output pairs.tally.nc",
        {"frame": readers.answers, "systems": readers.systems},
    ),
    Question(
        "questions.systems.comparison.compare_systems", "compare-systems pairs.tally.nc --overall",
        {"source": readers.tally_of_pairs},
        table=Table(
            "subgroup", {"items": "items", "discordant": "discordant", "difference": ("difference", "lower", "upper"),
            "P(better)": "probability_better", "p": "p_value", "p, adjusted": "p_adjusted"},
            order=("probability_better", "difference"),
        ),
    ),
    Question(
        "questions.systems.leaderboard.leaderboard", "leaderboard pairs.tally.nc", {"source": readers.tally_of_pairs},
        table=Table(
            "system", {"items": "items", "value": ("estimate", "lower", "upper"), "rank": ("rank", "rank_lower", "rank_upper"),
            "P(best)": "probability_best", "may be best": "may_be_best", "tie": "tie"},
        ),
    ),
)  # fmt: skip
