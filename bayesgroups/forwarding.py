"""Forwarders of names that have moved: what they were called and where they are, with a warning, for one release."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED_MODULES = {
    "analyses": "cli.analysis_files",
    "attribution": "questions.explanation.attribution",
    "certification": "questions.certification",
    "comparison": "report.compare",
    "curves": "questions.curves",
    "disagreement": "frequentist.bounds",
    "disparities": "questions.disparities",
    "estimation": "estimators.estimate",
    "files": "data.files",
    "html": "views.html",
    "metrics": "data.metrics",
    "neighbours": "interop",
    "nested_models": "questions.explanation.nested_models",
    "plots": "views.plots",
    "priors": "questions.priors",
    "readings": "report.view",
    "tables": "views.tables",
    "tally_files": "tallies.files",
    "tradeoffs": "questions.tradeoffs",
}
"""Modules of the package by their former name."""
SHORT_NAMES = ("metrics", "plots")
"""Former names of modules that stay, as ``bayesgroups.plots``: no warning."""
MOVED_NAMES = {
    "auc_as_rate": "tallies",
    "auc_error_bound": "tallies",
    "bin_scores": "tallies",
    "points_from_reports": "questions.tradeoffs",
    "with_auc_variance": "tallies",
}
"""Modules of functions that were names of the package."""


class Forwarder(MetaPathFinder, Loader):
    """Finder of modules under their former names; the module is the one that is found under the present name."""

    def __init__(self) -> None:
        self.specs: dict[str, ModuleSpec | None] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module of the package by its former name."""
        parts = fullname.split(".")
        if parts[0] != "bayesgroups" or len(parts) < 2 or parts[1] not in MOVED_MODULES:
            return None
        return ModuleSpec(fullname, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Import the module under its present name, with a warning."""
        _, former, *rest = spec.name.split(".")
        present = ".".join(["bayesgroups", MOVED_MODULES[former], *rest])
        if former not in SHORT_NAMES:
            warnings.warn(f"{spec.name} is {present} now", DeprecationWarning, stacklevel=2)
        module = import_module(present)
        self.specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own specification back, which the import system has replaced by that of the former name."""
        former = module.__spec__
        if former is not None:
            module.__spec__ = self.specs.pop(former.name)


def install() -> None:
    """Let former names of modules be imported."""
    if not any(isinstance(finder, Forwarder) for finder in sys.meta_path):
        sys.meta_path.insert(0, Forwarder())  # before modules are found by the folder of their parent


def moved_name(name: str) -> object:
    """A function that was a name of the package, with a warning.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     moved_name("bin_scores").__name__, str(caught[0].message)
    ('bin_scores', 'bayesgroups.bin_scores is bayesgroups.tallies.bin_scores now')
    """
    home = f"bayesgroups.{MOVED_NAMES[name]}"
    warnings.warn(f"bayesgroups.{name} is {home}.{name} now", DeprecationWarning, stacklevel=3)
    return getattr(import_module(home), name)
