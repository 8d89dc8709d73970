"""Means per language of the metric acc in the samples, by the harness's own function.

    python lm_eval_groups.py

in this folder, in an environment that has lm-eval, makes lm_eval_groups.json.
"""

import json
from pathlib import Path

from lm_eval.api.metrics import mean

answer = {}
for file in sorted(Path("lm_eval").glob("*/samples_sums_choice_*.jsonl")):
    samples = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for language in ("en", "sw"):
        values = [sample["acc"] for sample in samples if sample["doc"]["language"] == language]
        answer.setdefault(file.parent.name, {})[language] = {
            "size": len(values), "mean": mean(values),
        }  # fmt: skip
Path("lm_eval_groups.json").write_text(json.dumps(answer, indent=1) + "\n", encoding="utf-8")
