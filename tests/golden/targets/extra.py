"""Raking with an uncertain seed, simultaneous/ratio draws of EX-N, benchmark per draw: Monte Carlo companions. Writes extra.json."""

import json
import math

import numpy as np
from targets import ipf

out = {}
rng = np.random.default_rng(2)
n = np.array([[34, 108], [14, 11], [19, 14.0]])
k = np.array([[0, 101], [0, 9], [0, 14.0]])
rows, cols = np.array([4421.0, 755, 1018]), np.array([1672.0, 4522.0])
x, _ = ipf(n, rows, cols)
W = x / x.sum()
p = k / n
out["raking_se_weights_fixed"] = math.sqrt((W**2 * p * (1 - p) / (n - 1)).sum())
R = 20000
seeds = rng.dirichlet(n.ravel(), R).reshape(R, 3, 2)
q = seeds.copy()
for _ in range(60):
    q *= (rows / 6194 / q.sum(2))[:, :, None]
    q *= (cols / 6194 / q.sum(1))[:, None, :]
b = rng.beta(k + 0.5, n - k + 0.5, (R, 3, 2))
e = (q * b).sum((1, 2))
f = (W * b).sum((1, 2))
out["raking_bayes"] = {"seed_drawn": [e.mean(), e.std()], "seed_fixed": [f.mean(), f.std()]}
k, n = np.array([18.0, 30, 18, 6]), np.array([60.0, 150, 40, 25])
b = rng.beta(k + 0.5, n - k + 0.5, (2_000_000, 4))
W = n / n.sum()
o = b @ W
d = b - o[:, None]
out["ex_n_jeffreys"] = {
    "minus_overall_mean": d.mean(0).tolist(),
    "minus_overall_sd": d.std(0).tolist(),
    "P_worse_than_overall_if_smaller_is_better": (d > 0).mean(0).tolist(),
    "ratio_B|f_to_overall_quantiles": np.quantile(b[:, 2] / o, [0.025, 0.5, 0.975]).tolist(),
}
s = np.abs((d - d.mean(0)) / d.std(0)).max(1)
out["ex_n_jeffreys"]["sup_t_0.95"] = float(np.quantile(s, 0.95))
ws = np.array([210, 65.0]) / 275
st = ws @ np.array([b[:, 0] - b[:, 1], b[:, 2] - b[:, 3]])
out["ex_n_jeffreys"]["standardised_difference"] = [st.mean(), st.std(), *np.quantile(st, [0.025, 0.975])]
dd = b[:, 0] - b[:, 1] - b[:, 2] + b[:, 3]
out["ex_n_jeffreys"]["difference_in_differences"] = [dd.mean(), dd.std(), *np.quantile(dd, [0.025, 0.975])]
g = b - b.max(1, keepdims=True)
out["ex_n_jeffreys"]["minus_best_of_draw_mean"] = g.mean(0).tolist()
out["ex_n_jeffreys"]["P_best"] = [(b.argmax(1) == i).mean() for i in range(4)]
json.dump(json.loads(json.dumps(out, default=float)), open("extra.json", "w"), indent=1)
print(json.dumps(out, default=float))
