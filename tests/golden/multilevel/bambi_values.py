"""Posterior means of the seen cells in mrp.csv by Bambi, with the priors of ours at a scale of 1.

    python bambi_values.py

in this folder, in an environment that has bambi and nutpie, makes bambi.json.
"""

import json
from pathlib import Path

import arviz as az
import bambi
import pandas as pd

cells = pd.read_csv("mrp.csv").query("n > 0").reset_index(drop=True)
terms = ("race", "sex", "race:sex")
spread = bambi.Prior("Normal", mu=0, sigma=bambi.Prior("HalfStudentT", nu=3, sigma=1))
model = bambi.Model(
    f"p(k, n) ~ 1 + {' + '.join(f'(1|{term})' for term in terms)}",
    cells,
    family="binomial",
    priors={"Intercept": bambi.Prior("Normal", mu=0, sigma=4), **{f"1|{term}": spread for term in terms}},
)
fitted = model.fit(
    draws=3000, tune=2000, chains=4, inference_method="nutpie", target_accept=0.99, random_seed=1, progressbar=False
)
model.predict(fitted, data=cells, kind="response_params")
table = az.summary(fitted, var_names=["p"], round_to=10)
answer = {
    "bambi": bambi.__version__,
    "divergences": int(fitted["sample_stats"]["diverging"].sum()),
    "mean": [float(value) for value in table["mean"]],
    "error": [float(value) for value in table["mcse_mean"]],
}
Path("bambi.json").write_text(json.dumps(answer, indent=1) + "\n", encoding="utf-8")
