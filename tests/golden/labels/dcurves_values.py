"""Net benefits of a model and of treating everyone by dcurves, on its own data: all patients, and by family history.

    python dcurves_values.py

in this folder, in an environment that has dcurves, makes dcurves.csv.
"""

from importlib.resources import files

import pandas as pd
from dcurves import dca

THRESHOLDS = [0.05, 0.1, 0.15, 0.2, 0.25, 0.3]
patients = pd.read_csv(str(files("dcurves") / "data" / "df_binary.csv"))
parts = {"all": patients, **{f"famhistory {level}": own for level, own in patients.groupby("famhistory")}}
answers = []
for name, own in parts.items():
    curve = dca(own, outcome="cancer", modelnames=["cancerpredmarker"], thresholds=THRESHOLDS)
    wide = curve.pivot_table(index="threshold", columns="model", values="net_benefit", sort=True)
    answers.append(wide[["cancerpredmarker", "all"]].loc[THRESHOLDS].reset_index().assign(subgroup=name))
table = pd.concat(answers).rename(columns={"cancerpredmarker": "net_benefit", "all": "treat_all"})
table[["subgroup", "threshold", "net_benefit", "treat_all"]].to_csv("dcurves.csv", index=False)
