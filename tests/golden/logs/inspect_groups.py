"""Means per language of the scores in the logs, by Inspect's own table of samples and pandas.

    python inspect_groups.py

in this folder, in an environment that has inspect-ai, pandas and pyarrow, makes inspect_groups.json.
"""

import json
from pathlib import Path

from inspect_ai.analysis import samples_df

samples = samples_df("inspect")
samples["system"] = samples["log"].astype(str).str.extract(r"(new|old)\.eval", expand=False)
right = samples["score_match"].astype(str).map({"C": 1.0, "I": 0.0})
table = (
    samples.assign(right=right)
    .dropna(subset=["right"])
    .groupby(["system", "metadata_language"])["right"]
    .agg(["size", "mean"])
)
answer = {system: part.droplevel(0).to_dict("index") for system, part in table.groupby(level=0)}
Path("inspect_groups.json").write_text(json.dumps(answer, indent=1) + "\n", encoding="utf-8")
