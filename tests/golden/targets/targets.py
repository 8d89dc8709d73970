"""Reference numbers of sections M and N, written from the formulas alone (numpy, scipy). Writes targets.json."""

import json
import math

import numpy as np
from scipy import optimize, stats

z = stats.norm.ppf(0.975)
out = {}
expit = lambda x: 1 / (1 + np.exp(-x))
logit = lambda p: np.log(p / (1 - p))


def wilson(k, n, z=z):
    p = k / n
    c = (p + z * z / 2 / n) / (1 + z * z / n)
    h = z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / 4 / n / n)
    return c - h, c + h


# ---------- M: EX-M, simple random sample of 200 of 6194 schools by type E, H, M (package survey, apisrs; awards)
k = np.array([101.0, 9, 14])
n = np.array([142.0, 25, 33])
N = np.array([4421.0, 755, 1018])
W = N / N.sum()
p = k / n
M = {"W": W, "p": p, "plug_in": W @ p}
resid = (W**2 * p * (1 - p) / n).sum()
M["var_linearised_se"] = math.sqrt(200 / 199 * resid)
M["var_linearised_se_fpc"] = math.sqrt((1 - 200 / 6194) * 200 / 199 * resid)
M["var_stratified_se"] = math.sqrt((W**2 * p * (1 - p) / (n - 1)).sum())
M["var_stratified_se_fpc"] = math.sqrt((W**2 * (1 - n / N) * p * (1 - p) / (n - 1)).sum())
l, u = wilson(k, n)
M["mover"] = [W @ p - math.sqrt((W**2 * (p - l) ** 2).sum()), W @ p + math.sqrt((W**2 * (u - p) ** 2).sum())]
M["wald"] = [W @ p - z * M["var_stratified_se"], W @ p + z * M["var_stratified_se"]]
a, b = k + 0.5, n - k + 0.5
pm = a / (a + b)
pv = a * b / (a + b) ** 2 / (a + b + 1)
M["jeffreys_mean"] = W @ pm
M["jeffreys_sd"] = math.sqrt((W**2 * pv).sum())
rng = np.random.default_rng(1)
dr = rng.beta(a, b, (2_000_000, 3)) @ W
M["jeffreys_mc"] = [dr.mean(), dr.std(), *np.quantile(dr, [0.025, 0.975])]
out["M1_poststratified"] = M


# M3 raking
def ipf(seed, rows, cols, tol=1e-13, most=10000):
    x = seed.astype(float).copy()
    for i in range(most):
        x *= (rows / x.sum(1))[:, None]
        x *= cols / x.sum(0)
        if abs(x.sum(1) - rows).max() < tol * rows.sum():
            return x, i + 1
    return x, None


seed = np.array([[34, 108], [14, 11], [19, 14.0]])  # stype x comp.imp (No, Yes)
kk = np.array([[0, 101], [0, 9], [0, 14.0]])
rows, cols = N, np.array([1672.0, 4522.0])
x, it = ipf(seed, rows, cols)
y = kk / seed
w = x / seed  # weight of a row of the cell
est = (x * y).sum() / x.sum()
X = np.zeros((6, 4))
for i in range(3):
    for j in range(2):
        X[i * 2 + j, i] = 1
        X[i * 2 + j, 3] = j
xf, yf, nf = x.ravel(), y.ravel(), seed.ravel()
B = np.linalg.solve((X.T * xf) @ X, X.T @ (xf * yf))
e2 = nf * 0
ebar = yf - X @ B
var = 200 / 199 * sum((xf / nf) ** 2 * (kk.ravel() * (1 - X @ B) ** 2 + (nf - kk.ravel()) * (0 - X @ B) ** 2)) / 6194**2


def variants():
    o = {}
    for nm, ww in (("initial", nf), ("final", xf)):
        B = np.linalg.solve((X.T * ww) @ X, X.T @ (ww * yf))
        g = xf / nf
        e1, e0 = 1 - X @ B, -X @ B
        K_ = kk.ravel()
        tot = (g * (K_ * e1 + (nf - K_) * e0)).sum()
        sq = (g**2 * (K_ * e1**2 + (nf - K_) * e0**2)).sum()
        o["linearised_se_" + nm + "_weights_centred"] = math.sqrt(200 / 199 * (sq - tot**2 / 200)) / 6194
    return o


out["M3_raking"] = {
    "cells": x,
    "iterations_to_1e-13": it,
    "estimate": est,
    "linearised_se_final_weights": math.sqrt(var),
    **variants(),
}
t, it2 = ipf(np.array([[40, 10], [20, 30.0]]), np.array([60.0, 40]), np.array([70.0, 30]))
odds = t[0, 0] * t[1, 1] / t[0, 1] / t[1, 0]
out["M3_ipf_2x2"] = {
    "seed": [[40, 10], [20, 30]],
    "rows": [60, 40],
    "cols": [70, 30],
    "cells": t,
    "iterations": it2,
    "odds_ratio_kept": odds,
}
t0, it0 = ipf(np.array([[10, 0], [5, 20.0]]), np.array([30.0, 70]), np.array([50.0, 50]))
out["M3_ipf_zero_ok"] = {"cells": t0, "iterations": it0}
t1, it1 = ipf(np.array([[10, 0], [0, 20.0]]), np.array([30.0, 70]), np.array([50.0, 50]), most=1000)
out["M3_ipf_zero_infeasible"] = {"cells_after_1000": t1, "converged": it1}
sub = np.array([[1, 1], [0, 1.0]])
for it_ in range(1000):
    sub *= (1 / sub.sum(1))[:, None]
    sub *= 1 / sub.sum(0)
out["M3_ipf_driven_to_zero"] = {"x12_after_1000_sweeps": sub[0, 1]}
# M4 second sample
m = np.array([300.0, 60, 40])
Ms = m.sum()
wbar = m / Ms
v_freq = p * (1 - p) / (n - 1)
V = (wbar**2 * v_freq).sum() + (wbar @ p**2 - (wbar @ p) ** 2) / (Ms - 1)
SW = (np.diag(wbar) - np.outer(wbar, wbar)) / (Ms + 1)
Vb = pm @ SW @ pm + (wbar**2 * pv).sum() + np.trace(SW @ np.diag(pv))
dd = rng.dirichlet(m, 1_000_000)
bb = rng.beta(a, b, (1_000_000, 3))
q = (dd * bb).sum(1)
out["M4_second_sample"] = {
    "m": m,
    "estimate": wbar @ p,
    "se": math.sqrt(V),
    "se_if_known": math.sqrt((wbar**2 * v_freq).sum()),
    "bayes_mean": wbar @ pm,
    "bayes_sd_exact": math.sqrt(Vb),
    "bayes_mc": [q.mean(), q.std()],
}
# M5 empty cells: EX-M with a fourth type X, N 500, no rows
N4 = np.append(N, 500.0)
W4 = N4 / N4.sum()
obs = W4[:3] @ p
s_obs = math.sqrt((W4[:3] ** 2 * v_freq).sum())
out["M5_empty"] = {
    "imputed_share": W4[3],
    "bounds": [obs, obs + W4[3]],
    "dropped": obs / (1 - W4[3]),
    "conservative_interval": [obs - stats.norm.ppf(0.975) * s_obs, obs + W4[3] + stats.norm.ppf(0.975) * s_obs],
}
delta = W4[3]
c = optimize.brentq(lambda c: stats.norm.cdf(c + delta / s_obs) - stats.norm.cdf(-c) - 0.95, 0, 5)
out["M5_empty"]["imbens_manski_c"] = c
out["M5_empty"]["imbens_manski"] = [obs - c * s_obs, obs + delta + c * s_obs]
# M6 conditional metric: fnr of a target
tp, fn, fp, tn = np.array([30.0, 30]), np.array([10.0, 20]), np.array([20.0, 10]), np.array([140.0, 40])
nn = tp + fn + fp + tn
NN = np.array([5000.0, 5000.0])
Wc = NN / NN.sum()
fnr = fn / (tp + fn)
prev = (tp + fn) / nn
right = (Wc * prev * fnr).sum() / (Wc * prev).sum()
A_, B_ = (Wc * fn / nn).sum(), (Wc * (tp + fn) / nn).sum()
g = Wc / nn
lin = 0
for i in range(2):
    qf, qp = fn[i] / nn[i], (tp[i] + fn[i]) / nn[i]
    var_e = qf * (1 - right) ** 2 + (qp - qf) * right**2 - (qf - right * qp) ** 2
    lin += Wc[i] ** 2 * var_e / (nn[i] - 1)
out["M6_fnr"] = {
    "people_weights_wrong": (Wc * fnr).sum(),
    "positives_weights": right,
    "se_linearised": math.sqrt(lin) / B_,
    "se_if_prevalence_known": math.sqrt(
        (((Wc * prev) / (Wc * prev).sum()) ** 2 * fnr * (1 - fnr) / (tp + fn - 1)).sum()
    ),
}
al = np.stack([tp, fn, fp, tn], 1) + 0.5
g4 = [rng.dirichlet(al[i], 1_000_000) for i in range(2)]
num = sum(Wc[i] * g4[i][:, 1] for i in range(2))
den = sum(Wc[i] * (g4[i][:, 0] + g4[i][:, 1]) for i in range(2))
q = num / den
out["M6_fnr"]["bayes_dirichlet_half_mc"] = [q.mean(), q.std(), *np.quantile(q, [0.025, 0.975])]
# M7 finite population
k1, n1, N1 = 3, 10, 40
a1, b1 = 3.5, 7.5
R = N1 - n1
bbv = R * a1 * b1 * (a1 + b1 + R) / ((a1 + b1) ** 2 * (a1 + b1 + 1))
x = np.arange(R + 1)
pmf = stats.betabinom.pmf(x, R, a1, b1)
cdf = pmf.cumsum()
lo, hi = (k1 + x[np.searchsorted(cdf, 0.025)]) / N1, (k1 + x[np.searchsorted(cdf, 0.975)]) / N1
neff = n1 * (N1 - 1) / (N1 - n1)
K = np.arange(k1, N1 - (n1 - k1) + 1)
ex = [
    kk_
    for kk_ in range(N1 + 1)
    if stats.hypergeom.sf(k1 - 1, N1, kk_, n1) > 0.025 and stats.hypergeom.cdf(k1, N1, kk_, n1) > 0.025
]
out["M7_finite"] = {
    "mean": (k1 + R * a1 / (a1 + b1)) / N1,
    "sd": math.sqrt(bbv) / N1,
    "interval95": [lo, hi],
    "superpopulation_mean_sd": [a1 / (a1 + b1), math.sqrt(a1 * b1 / (a1 + b1) ** 2 / (a1 + b1 + 1))],
    "freq_se_fpc": math.sqrt((1 - n1 / N1) * 0.3 * 0.7 / (n1 - 1)),
    "freq_se": math.sqrt(0.3 * 0.7 / (n1 - 1)),
    "n_effective": neff,
    "wilson_fpc": wilson(0.3 * neff, neff),
    "wilson": wilson(3, 10),
    "hypergeometric_exact": [min(ex) / N1, max(ex) / N1],
}
# M9 benchmarking of EX-M to T = .672747820 (the truth)
T = 0.67274782047
mu = p
d = T - W @ mu
f = lambda s: W @ expit(logit(mu) + s) - T
s = optimize.brentq(f, -3, 3, xtol=1e-14)
out["M9_benchmark"] = {
    "T": T,
    "ratio": mu * T / (W @ mu),
    "difference": mu + d,
    "logit_shift": s,
    "logit": expit(logit(mu) + s),
    "variance_weighted": mu + d * (W * v_freq) / (W**2 * v_freq).sum(),
}
# ---------- N: EX-N
k = np.array([18.0, 30, 18, 6])
n = np.array([60.0, 150, 40, 25])
p = k / n
W = n / n.sum()
names = ["A|f", "A|m", "B|f", "B|m"]


def newc(p1, i1, p2, i2):
    return [
        p1 - p2 - math.sqrt((p1 - i1[0]) ** 2 + (i2[1] - p2) ** 2),
        p1 - p2 + math.sqrt((i1[1] - p1) ** 2 + (p2 - i2[0]) ** 2),
    ]


def mover_r(p1, i1, p2, i2):
    """MOVER-R; the lower limit is rationalised, so that no denominator changes sign and zero counts need no special case."""
    (l1, u1), (l2, u2), t = i1, i2, p1 * p2
    l1, l2 = max(l1, 0.0), max(l2, 0.0)
    d = t + math.sqrt(max(t * t - l1 * u2 * (2 * p1 - l1) * (2 * p2 - u2), 0.0))
    e = l2 * (2 * p2 - l2)
    return [
        l1 * (2 * p1 - l1) / d if d > 0 else 0.0,
        (t + math.sqrt(max(t * t - u1 * l2 * (2 * p1 - u1) * (2 * p2 - l2), 0.0))) / e if e > 1e-15 else math.inf,
    ]


def restricted_d(k1, n1, k2, n2, d):
    Nt = n1 + n2
    L3, L2, L1, L0 = Nt, (n1 + 2 * n2) * d - Nt - (k1 + k2), (n2 * d - Nt - 2 * k2) * d + k1 + k2, k2 * d * (1 - d)
    q = L2**3 / (27 * L3**3) - L1 * L2 / (6 * L3**2) + L0 / (2 * L3)
    s_ = math.sqrt(max(L2**2 / (9 * L3**2) - L1 / (3 * L3), 0))
    s_ = math.copysign(s_, q)
    th = (math.pi + math.acos(max(-1, min(1, q / s_**3 if s_ else 0)))) / 3
    p2 = 2 * s_ * math.cos(th) - L2 / (3 * L3)
    return min(max(p2 + d, 0), 1), min(max(p2, 0), 1)


def mn_diff(k1, n1, k2, n2, corr=True):
    def T_(d):
        a_, b_ = restricted_d(k1, n1, k2, n2, d)
        v = (a_ * (1 - a_) / n1 + b_ * (1 - b_) / n2) * ((n1 + n2) / (n1 + n2 - 1) if corr else 1)
        e_ = k1 / n1 - k2 / n2 - d
        return 0.0 if e_ == 0 else e_ / math.sqrt(v) if v > 0 else math.copysign(math.inf, e_)

    d0 = k1 / n1 - k2 / n2
    e = 1e-12
    return [
        -1.0 if d0 <= -1 + e or T_(-1 + e) < z else optimize.brentq(lambda d: T_(d) - z, -1 + e, d0, xtol=1e-14),
        1.0 if d0 >= 1 - e or T_(1 - e) > -z else optimize.brentq(lambda d: T_(d) + z, d0, 1 - e, xtol=1e-14),
    ]


def score_ratio(k1, n1, k2, n2, corr=False, at=None):
    def T_(r):
        A, B, C = (n1 + n2) * r, -(n1 * r + k1 + n2 + k2 * r), k1 + k2
        b_ = (-B - math.sqrt(B * B - 4 * A * C)) / (2 * A)
        a_ = r * b_
        return (k1 / n1 - r * k2 / n2) / math.sqrt(
            (a_ * (1 - a_) / n1 + r * r * b_ * (1 - b_) / n2) * ((n1 + n2) / (n1 + n2 - 1) if corr else 1)
        )

    if at is not None:
        return T_(at)
    mid = math.log(k1 / n1 / (k2 / n2)) if k1 and k2 else 0.0
    lo = (
        0.0 if k1 == 0 else math.exp(optimize.brentq(lambda x: T_(math.exp(x)) - z, -25, mid if k2 else 25, xtol=1e-14))
    )
    hi = (
        math.inf
        if k2 == 0
        else math.exp(optimize.brentq(lambda x: T_(math.exp(x)) + z, mid if k1 else -25, 25, xtol=1e-14))
    )
    return [lo, hi]


def mn_odds(k1, n1, k2, n2, corr=True):
    m_ = k1 + k2
    Nt = n1 + n2

    def T_(psi):
        if abs(psi - 1) < 1e-12:
            pb = m_ / Nt
        else:
            A, B, C = n2 * (psi - 1), n1 * psi + n2 - m_ * (psi - 1), -m_
            pb = (-B + math.sqrt(B * B - 4 * A * C)) / (2 * A)
        pa = pb * psi / (1 + pb * (psi - 1))
        return ((k1 / n1 - pa) / (pa * (1 - pa)) - (k2 / n2 - pb) / (pb * (1 - pb))) / math.sqrt(
            (1 / (n1 * pa * (1 - pa)) + 1 / (n2 * pb * (1 - pb))) * (Nt / (Nt - 1) if corr else 1)
        )

    o = math.log(k1 * (n2 - k2) / k2 / (n1 - k1))
    return [
        math.exp(optimize.brentq(lambda x: T_(math.exp(x)) - z, -15, o, xtol=1e-13)),
        math.exp(optimize.brentq(lambda x: T_(math.exp(x)) + z, o, 15, xtol=1e-13)),
    ]


S = {}
for t in [
    (56, 70, 48, 80),
    (9, 10, 3, 10),
    (5, 56, 0, 29),
    (0, 10, 0, 20),
    (10, 10, 0, 10),
    (0, 10, 3, 10),
    (18, 40, 30, 150),
    (6, 25, 18, 40),
]:
    k1, n1, k2, n2 = t
    i1, i2 = wilson(k1, n1), wilson(k2, n2)
    r = {
        "newcombe_diff": newc(k1 / n1, i1, k2 / n2, i2),
        "miettinen_nurminen_diff": mn_diff(*t),
        "mee_diff": mn_diff(*t, corr=False),
    }
    if k1 + k2:
        r["koopman_ratio"] = score_ratio(*t)
        r["miettinen_nurminen_ratio"] = score_ratio(*t, corr=True)
    if k1 + k2:
        r["mover_ratio"] = mover_r(
            k1 / n1, [0.0 if k1 == 0 else i1[0], i1[1]], k2 / n2, [0.0 if k2 == 0 else i2[0], i2[1]]
        )
    if k1 and k2:
        s_ = math.sqrt(1 / k1 - 1 / n1 + 1 / k2 - 1 / n2)
        R_ = k1 / n1 / (k2 / n2)
        r["katz_ratio"] = [R_, R_ * math.exp(-z * s_), R_ * math.exp(z * s_)]
        if k1 < n1 and k2 < n2:
            o = k1 * (n2 - k2) / k2 / (n1 - k1)
            s_ = math.sqrt(1 / k1 + 1 / (n1 - k1) + 1 / k2 + 1 / (n2 - k2))
            r["woolf_odds"] = [o, o * math.exp(-z * s_), o * math.exp(z * s_)]
            r["score_odds_mn"] = mn_odds(*t)
            r["score_odds"] = mn_odds(*t, corr=False)
    S[str(t)] = r
out["N3_two_rates"] = S
out["N8_four_fifths"] = {
    "counts": [6, 25, 18, 40],
    "ratio": 6 / 25 / (18 / 40),
    "score_z_at_0.8": score_ratio(6, 25, 18, 40, at=0.8),
    "p_value_ratio_at_least_0.8": stats.norm.cdf(score_ratio(6, 25, 18, 40, at=0.8)),
}
x1, x2 = rng.beta(6.5, 19.5, 4_000_000), rng.beta(18.5, 22.5, 4_000_000)
out["N8_four_fifths"]["P_ratio_below_0.8_jeffreys_mc"] = (x1 < 0.8 * x2).mean()
out["N8_four_fifths"]["P_less_mc"] = (x1 < x2).mean()
tt = np.linspace(0, 1, 200001)
pdf = stats.beta.pdf(tt, 18.5, 22.5)
out["N8_four_fifths"]["P_ratio_below_0.8_jeffreys_exact"] = np.trapezoid(pdf * stats.beta.cdf(0.8 * tt, 6.5, 19.5), tt)
out["N8_four_fifths"]["P_less_exact"] = np.trapezoid(pdf * stats.beta.cdf(tt, 6.5, 19.5), tt)
v = p * (1 - p) / (n - 1)
ov = W @ p
rest = np.array([(k.sum() - k[i]) / (n.sum() - n[i]) for i in range(4)])
vo = np.array([(1 - W[i]) ** 2 * v[i] + sum(W[j] ** 2 * v[j] for j in range(4) if j != i) for i in range(4)])
vr = np.array([v[i] + sum((W[j] / (1 - W[i])) ** 2 * v[j] for j in range(4) if j != i) for i in range(4)])
out["N2_references"] = {
    "p": p,
    "overall": ov,
    "minus_overall": p - ov,
    "se_minus_overall": np.sqrt(vo),
    "se_if_taken_for_independent": np.sqrt(v + sum(W**2 * v)),
    "rest": rest,
    "minus_rest": p - rest,
    "se_minus_rest": np.sqrt(vr),
    "identity_max_error": float(abs((p - ov) - (1 - W) * (p - rest)).max()),
}
i_ = 2
lr = math.sqrt(sum((W[j] / (1 - W[i_])) ** 2 * (p[j] - wilson(k[j], n[j])[0]) ** 2 for j in range(4) if j != i_))
ur = math.sqrt(sum((W[j] / (1 - W[i_])) ** 2 * (wilson(k[j], n[j])[1] - p[j]) ** 2 for j in range(4) if j != i_))
rI = (rest[i_] - lr, rest[i_] + ur)
nw = newc(p[i_], wilson(k[i_], n[i_]), rest[i_], rI)
out["N2_references"]["B|f_minus_rest_mover"] = nw
out["N2_references"]["B|f_minus_overall_mover"] = [(1 - W[i_]) * x for x in nw]
out["N2_references"]["B|f_over_rest_mover"] = mover_r(p[i_], wilson(k[i_], n[i_]), rest[i_], rI)
aj, bj = k + 0.5, n - k + 0.5
mj, vj = aj / (aj + bj), aj * bj / (aj + bj) ** 2 / (aj + bj + 1)
out["N2_references"]["jeffreys_minus_overall"] = {
    "mean": mj - W @ mj,
    "sd": [math.sqrt((1 - W[i]) ** 2 * vj[i] + sum(W[h] ** 2 * vj[h] for h in range(4) if h != i)) for i in range(4)],
}
# log ratio to overall with covariance
gr = np.array([(1 / p[2] if j == 2 else 0) - W[j] / ov for j in range(4)])
out["N2_references"]["B|f_over_overall"] = [
    p[2] / ov,
    math.sqrt((gr**2 * v).sum()),
    *(p[2] / ov * np.exp(np.array([-z, z]) * math.sqrt((gr**2 * v).sum()))),
]
# N5 standardised women against men; strata race A, B, weights all rows
ws = np.array([210, 65.0]) / 275
d = np.array([p[0] - p[1], p[2] - p[3]])
vd = np.array([v[0] + v[1], v[2] + v[3]])
vml = p * (1 - p) / n
rf, rm = ws @ [p[0], p[2]], ws @ [p[1], p[3]]
gl = np.array([ws[0] / rf, -ws[0] / rm, ws[1] / rf, -ws[1] / rm])
lw, uw = wilson(k, n)
LD = ws @ d - math.sqrt(
    sum(ws[s] ** 2 * ((p[2 * s] - lw[2 * s]) ** 2 + (uw[2 * s + 1] - p[2 * s + 1]) ** 2) for s in range(2))
)
UD = ws @ d + math.sqrt(
    sum(ws[s] ** 2 * ((uw[2 * s] - p[2 * s]) ** 2 + (p[2 * s + 1] - lw[2 * s + 1]) ** 2) for s in range(2))
)
n1, n2 = n[[0, 2]], n[[1, 3]]
k1, k2 = k[[0, 2]], k[[1, 3]]
mh = n1 * n2 / (n1 + n2)
RDmh = (mh * d).sum() / mh.sum()
RRmh = (k1 * n2 / (n1 + n2)).sum() / (k2 * n1 / (n1 + n2)).sum()
ORmh = (k1 * (n2 - k2) / (n1 + n2)).sum() / (k2 * (n1 - k1) / (n1 + n2)).sum()
vlr = ((k1 + k2) * n1 * n2 / (n1 + n2) ** 2 - k1 * k2 / (n1 + n2)).sum() / (
    (k1 * n2 / (n1 + n2)).sum() * (k2 * n1 / (n1 + n2)).sum()
)
out["N5_standardised"] = {
    "difference": ws @ d,
    "se_unbiased": math.sqrt((ws**2 * vd).sum()),
    "se_ml": math.sqrt((ws**2 * np.array([vml[0] + vml[1], vml[2] + vml[3]])).sum()),
    "mover": [LD, UD],
    "ratio": rf / rm,
    "ratio_se_log_ml": math.sqrt((gl**2 * vml).sum()),
    "crude_difference": 36 / 100 - 36 / 175,
    "mh_rd": RDmh,
    "mh_rr": RRmh,
    "mh_rr_se_log": math.sqrt(vlr),
    "mh_or": ORmh,
}
dd_ = d[0] - d[1]
L = dd_ - math.sqrt(sum(((p[i] - lw[i]) if s > 0 else (uw[i] - p[i])) ** 2 for i, s in enumerate([1, -1, -1, 1])))
U = dd_ + math.sqrt(sum(((uw[i] - p[i]) if s > 0 else (p[i] - lw[i])) ** 2 for i, s in enumerate([1, -1, -1, 1])))
lor = sum(s * logit(p[i]) for i, s in enumerate([1, -1, -1, 1]))
out["N6_difference_in_differences"] = {
    "value": dd_,
    "se": math.sqrt(v.sum()),
    "mover": [L, U],
    "ratio_of_ratios": p[0] / p[1] / (p[2] / p[3]),
    "ratio_of_ratios_se_log": math.sqrt((1 / k - 1 / n).sum()),
    "ratio_of_odds_ratios": math.exp(lor),
    "se_log": math.sqrt((1 / k + 1 / (n - k)).sum()),
}
# N7 best
R_ = rng.binomial(30, 0.5, (400_000, 8)) / 30
mx = R_.max(1)
out["N7_best"] = {
    "equal_rates_8_groups_30_rows_p_half": {
        "mean_of_min_ratio": (R_.min(1) / mx).mean(),
        "P_some_below_0.8": (R_.min(1) < 0.8 * mx).mean(),
        "mean_ratio_of_a_fixed_group": (R_[:, 0] / mx).mean(),
    }
}
pb = stats.binom.pmf(np.arange(31), 30, 0.5)
J = np.outer(pb, pb)
i, j = np.indices((31, 31))
out["N7_best"]["two_groups_exact"] = J[np.minimum(i, j) < 0.8 * np.maximum(i, j) - 1e-12].sum()
# N9 Dunnett-type critical value of EX-N against A|m
se = np.sqrt(v[[0, 2, 3]] + v[1])
cor = v[1] / np.outer(se, se)
np.fill_diagonal(cor, 1)
zz = np.linspace(-9, 9, 40001)
s0, si = math.sqrt(v[1]), np.sqrt(v[[0, 2, 3]])


def prob(c):
    return np.trapezoid(
        stats.norm.pdf(zz)
        * np.prod(
            [
                stats.norm.cdf((c * se[q] + s0 * zz) / si[q]) - stats.norm.cdf((-c * se[q] + s0 * zz) / si[q])
                for q in range(3)
            ],
            0,
        ),
        zz,
    )


out["N9_simultaneous"] = {
    "t": (p[[0, 2, 3]] - p[1]) / se,
    "correlation": cor,
    "critical_value": optimize.brentq(lambda c: prob(c) - 0.95, 1.9, 2.6, xtol=1e-12),
    "sidak3": stats.norm.ppf(1 - (1 - 0.95 ** (1 / 3)) / 2),
    "bonferroni3": stats.norm.ppf(1 - 0.05 / 6),
}


def plain(x):
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple, np.ndarray)):
        return [plain(v) for v in x]
    return (
        (float(x) if np.isfinite(x) else str(float(x)))
        if isinstance(x, (np.floating, float))
        else int(x)
        if isinstance(x, np.integer)
        else x
    )


json.dump(plain(out), open("targets.json", "w"), indent=1)
if __name__ == "__main__":
    print(json.dumps(plain(out), indent=None).replace('}, "', '},\n"'))
