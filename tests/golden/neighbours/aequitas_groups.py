"""Groups and disparities of Aequitas for the counts of the page on coming from it.

    python aequitas_groups.py values.json

in an environment that has Aequitas.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path

import pandas as pd
from aequitas.bias import Bias
from aequitas.group import Group

COUNTS = {"white": (80, 400), "black": (30, 100), "other": (3, 12)}
"""False positives and negatives of each group."""

rows = pd.DataFrame(
    [
        {"race": race, "score": int(i < false_positives), "label_value": 0}
        for race, (false_positives, negatives) in COUNTS.items()
        for i in range(negatives)
    ]
)
groups, _ = Group().get_crosstabs(rows)
bias = Bias().get_disparity_predefined_groups(groups, original_df=rows, ref_groups_dict={"race": "white"})
values = {
    str(line["attribute_value"]): {"fpr": float(line["fpr"]), "fpr_disparity": float(line["fpr_disparity"])}
    for _, line in bias.iterrows()
}
Path(sys.argv[1]).write_text(json.dumps({"aequitas": version("aequitas"), **values}, indent=1) + "\n", encoding="utf-8")
