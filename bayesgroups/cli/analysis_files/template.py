"""The file of an analysis to start from."""

from __future__ import annotations

from importlib import resources


def template() -> str:
    """The text of an analysis with comments, which `bayesgroups.cli.analysis_files.read_plan` reads as it is.

    Returns
    -------
    str

    Examples
    --------
    >>> print(template().splitlines()[0])
    # An analysis by bayesgroups. Run it with: bayesgroups run analysis.toml
    """
    return resources.files("bayesgroups.cli.analysis_files").joinpath("template.toml").read_text("utf-8")
