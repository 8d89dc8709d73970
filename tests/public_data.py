"""The folder of public data sets, where it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

BESIDE = Path(__file__).parents[2] / "shared" / "data"
"""Where the data are if ``BAYESGROUPS_DATA`` does not say so: beside the repository."""


def public_data(*names: str) -> Path:
    """The folder that holds these data sets, one folder each.

    Without one of them the test is skipped; it fails where ``BAYESGROUPS_DATA`` names a folder, which promises them.
    """
    root = Path(os.environ.get("BAYESGROUPS_DATA", BESIDE))
    for name in names:
        if not (root / name).is_dir():
            if "BAYESGROUPS_DATA" in os.environ:
                pytest.fail(f"BAYESGROUPS_DATA names {root}, where there is no folder {name!r}")
            pytest.skip(f"no public data: {root / name} is missing; set BAYESGROUPS_DATA to the folder of data sets")
    return root
