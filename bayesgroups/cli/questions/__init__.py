"""Commands that ask public functions: declared here by group, made from signatures and docstrings when one is typed.

Cyclopts looks a command up in this module by the name of its function, and only the one that is typed.
"""

from __future__ import annotations

from collections.abc import Callable

from bayesgroups.cli.questions.certification import DEFINITIONS, EVERYONE, SAMPLE_SIZES
from bayesgroups.cli.questions.curves import CURVES
from bayesgroups.cli.questions.disagreement import DISAGREEMENT
from bayesgroups.cli.questions.disparities import CLASSES, INEQUALITY
from bayesgroups.cli.questions.judges import JUDGES
from bayesgroups.cli.questions.populations import TARGETS
from bayesgroups.cli.questions.prediction import PREDICTION
from bayesgroups.cli.questions.priors import PRIORS
from bayesgroups.cli.questions.question import Question
from bayesgroups.cli.questions.reference_contrasts import CONTRASTS
from bayesgroups.cli.questions.systems import SYSTEMS
from bayesgroups.cli.questions.tradeoffs import MODELS

GROUPS: dict[str, tuple[Question, ...]] = {
    "From rows to reports": TARGETS,
    "What do priors say?": PRIORS,
    "How unequal are subgroups?": INEQUALITY + CONTRASTS + DEFINITIONS,
    "Good enough for everyone?": EVERYONE,
    "How many rows?": SAMPLE_SIZES,
    "Thresholds and scores": CURVES,
    "Which system, and for whom?": SYSTEMS,
    "A judge, and few gold labels": JUDGES,
    "Which model?": PREDICTION + CLASSES + MODELS,
    "Disagreement": DISAGREEMENT,
}
QUESTIONS = {question.name: question for questions in GROUPS.values() for question in questions}


def __getattr__(name: str) -> Callable[..., int]:
    if name not in QUESTIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from bayesgroups.cli.questions.generated import command_of

    return command_of(QUESTIONS[name])
