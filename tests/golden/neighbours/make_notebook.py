"""A notebook that evaluates decisions with fairlearn, run as a person would run it.

    python make_notebook.py

in an environment that has fairlearn, nbclient, nbformat and ipykernel, writes ``decisions.csv`` and ``fairlearn.ipynb``.
"""

from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

CELLS = (
    """import numpy as np
import pandas as pd
import fairlearn
from fairlearn.metrics import (MetricFrame, count, demographic_parity_difference, equalized_odds_difference,
                               false_negative_rate, false_positive_rate, selection_rate)

rng = np.random.default_rng(3)
rows = pd.DataFrame({"sex": rng.choice(["f", "m"], 500), "age": rng.choice(["18-39", "40-64", "65+"], 500, p=[.5, .4, .1])})
rows["y"] = (rng.random(500) < .3).astype(int)
rows["d"] = (rng.random(500) < .15 + .5 * rows["y"] - .1 * (rows["age"] == "65+")).astype(int)
rows.to_csv("decisions.csv", index=False)
fairlearn.__version__""",
    """frame = MetricFrame(metrics={"sel": selection_rate, "fnr": false_negative_rate, "fpr": false_positive_rate, "rows": count},
                    y_true=rows["y"], y_pred=rows["d"], sensitive_features=rows[["sex", "age"]])
print(frame.by_group.to_csv())""",
    """who = rows[["sex", "age"]]
print(demographic_parity_difference(rows["y"], rows["d"], sensitive_features=who),
      equalized_odds_difference(rows["y"], rows["d"], sensitive_features=who))""",
)

notebook = new_notebook(cells=[new_markdown_cell("# Who is selected?"), *(new_code_cell(cell) for cell in CELLS)])
notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
for number, cell in enumerate(notebook.cells):
    cell["id"] = f"cell-{number}"
NotebookClient(notebook, record_timing=False).execute()
nbformat.write(notebook, Path("fairlearn.ipynb"))
