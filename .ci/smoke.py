"""What an installed wheel must be able to do: import every public name and every model, and make a report."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import tempfile
from pathlib import Path

import pandas as pd

import bayesgroups as bg
import bayesgroups.models

assert "site-packages" in str(Path(bg.__file__)), f"not the installed package: {bg.__file__}"
for name in bg.__all__:
    getattr(bg, name)
names = sorted(module.name for module in pkgutil.iter_modules(bayesgroups.models.__path__))
assert {"no_pooling", "complete_pooling", "partial_pooling"} <= set(names), names
for name in names:
    importlib.import_module(f"bayesgroups.models.{name}")
counts = bg.tally_from_counts([1, 30, 9], [2, 100, 60], pd.DataFrame({"site": ["a", "b", "c"]}))
report = bg.estimate(counts, bg.PartialPooling(), seed=1)
with tempfile.TemporaryDirectory() as folder:
    bg.open_report(bg.save_report(report, Path(folder) / "r.nc"))
    assert bg.write_html(report, Path(folder) / "r.html").stat().st_size > 1000
assert report.attrs["usable"] == 1
sys.stdout.write(f"wheel works: {', '.join(names)}\n")
