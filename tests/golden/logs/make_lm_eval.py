"""Samples of lm-evaluation-harness, made by itself with its dummy model: see README.md.

Run in a folder of its own with ``lm-eval`` installed: ``python make_lm_eval.py lm_eval``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

os.environ |= {"HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
ITEMS = 6
CHOICE = """task: sums_choice
dataset_path: json
dataset_kwargs: {{data_files: {{test: {rows}}}}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{{{question}}}}"
doc_to_choice: choices
doc_to_target: gold
metric_list: [{{metric: acc}}, {{metric: acc_norm}}]
"""
WRITTEN = """task: sums_written
dataset_path: json
dataset_kwargs: {{data_files: {{test: {rows}}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{word}}}}"
generation_kwargs: {{until: ["."]}}
metric_list: [{{metric: exact_match}}]
filter_list:
  - {{name: strict, filter: [{{function: take_first}}]}}
  - {{name: flexible, filter: [{{function: uppercase}}, {{function: take_first}}]}}
"""


def main(folder: Path) -> None:
    tasks = folder / "tasks"
    tasks.mkdir(parents=True)
    rows = [
        {
            "question": f"{i} + 1 = ?",
            "choices": [str(i + 1), "0"],
            "gold": 0,
            "language": ("en", "sw")[i % 2],
            "word": "lol" if i % 3 else "LOL",
        }
        for i in range(ITEMS)
    ]
    data = tasks / "rows.jsonl"
    data.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    for name, text in (("choice", CHOICE), ("written", WRITTEN)):
        (tasks / f"{name}.yaml").write_text(text.format(rows=data.resolve()), encoding="utf-8")
    for model, seed in (("lab/new", "1"), ("lab/old", "2")):
        subprocess.run(
            [
                sys.executable,
                "-m",
                "lm_eval",
                "--model",
                "dummy",
                "--model_args",
                f"pretrained={model}",
                "--include_path",
                str(tasks),
                "--tasks",
                "sums_choice,sums_written",
                "--output_path",
                str(folder / "out"),
                "--log_samples",
                "--seed",
                seed,
            ],
            check=True,
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
