"""Tests of models of rows: statsmodels, size with clusters, invariance, and what has no answer."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import bayesgroups as bg
from bayesgroups.errors import InputError

CHAIN = {"length": "length", "sex": "length + sex", "both": "length + sex + age", "cross": "length + sex * age"}


def clips(seed: int = 1, speakers: int = 60, gap: float = 0.0, spread: float = 0.3) -> pd.DataFrame:
    """Clips of speakers of unequal number; half of the variance is between speakers."""
    rng = np.random.default_rng(seed)
    people = pd.DataFrame(
        {
            "speaker": [f"s{i}" for i in range(speakers)],
            "sex": rng.choice(["f", "m"], speakers),
            "age": rng.choice(["20s", "30s", "40s"], speakers),
            "own": spread * rng.normal(size=speakers),
        }
    )
    rows = people.loc[people.index.repeat(rng.integers(1, 9, speakers))].reset_index(drop=True)
    length = rng.gamma(2.0, 3.0, len(rows))
    noise = spread * rng.normal(size=len(rows)) * np.where(rows["sex"] == "f", 0.5, 1.5)
    return rows.assign(length=length, wer=0.3 + 0.02 * length + gap * (rows["sex"] == "m") + rows["own"] + noise)


@pytest.mark.parametrize("cluster", [None, "speaker"])
def test_statsmodels_has_the_same_tests(cluster: str | None) -> None:
    rows = clips(gap=0.1)
    answer = bg.goodness_of_fit_rows(rows, CHAIN, "wer", cluster=cluster)
    formulas = list(CHAIN.values())
    codes = np.arange(len(rows)) if cluster is None else pd.factorize(rows[cluster])[0]
    for i, (small, large) in enumerate(itertools.pairwise(formulas)):
        fits = [smf.ols(f"wer ~ {formula}", rows).fit() for formula in (small, large)]
        f, p, df1 = fits[1].compare_f_test(fits[0])
        here = answer.isel(comparison=i)
        assert float(here["f"]) == pytest.approx(f, rel=1e-9)
        assert float(here["p_value"]) == pytest.approx(p, rel=1e-8)
        assert (float(here["df1"]), float(here["df2"])) == (df1, fits[1].df_resid)
        robust = smf.ols(f"wer ~ {large}", rows).fit(cov_type="cluster", cov_kwds={"groups": codes}, use_t=True)
        fewer = set(fits[0].params.index)
        place = [j for j, name in enumerate(robust.params.index) if name not in fewer]
        wald = robust.f_test(np.eye(len(robust.params))[place])
        assert float(here["robust_f"]) == pytest.approx(float(wald.fvalue), rel=1e-7)
        assert float(here["robust_p_value"]) == pytest.approx(float(wald.pvalue), rel=1e-6)
        assert float(here["robust_df2"]) == wald.df_denom
    assert answer["rank"].values.tolist() == [2, 3, 5, 7]
    assert answer["rss"].values[-1] == pytest.approx(smf.ols(f"wer ~ {formulas[-1]}", rows).fit().ssr)
    assert answer.attrs == {"rows": len(rows), "clusters": len(rows) if cluster is None else 60}
    assert (answer["robust_p_value_holm"] >= answer["robust_p_value"]).all()


def test_clusters_that_are_ignored_reject_too_often() -> None:
    """Without a difference of the sexes, at 5 %: robust tests keep their level, others do not."""
    small = [
        bg.goodness_of_fit_rows(clips(seed), {"length": "length", "sex": "length + sex"}, "wer", cluster="speaker")[
            ["p_value", "robust_p_value"]
        ]
        for seed in range(400)
    ]
    plain, robust = (np.mean([float(answer[name][0]) < 0.05 for answer in small]) for name in small[0].data_vars)
    assert plain > 0.15
    assert robust == pytest.approx(0.05, abs=0.03)


def test_scale_order_and_redundant_columns_do_not_matter() -> None:
    rows = clips(3, gap=0.2)
    answer = bg.goodness_of_fit_rows(rows, CHAIN, "wer", cluster="speaker")
    shuffled = rows.sample(frac=1, random_state=1).assign(
        length=lambda x: 1000 - 60 * x["length"], woman=lambda x: x["sex"] == "f"
    )
    formulas = {
        "length": "length",
        "sex": "length + sex + woman",
        "both": "length + age + sex",
        "cross": "length + age : sex",
    }
    again = bg.goodness_of_fit_rows(shuffled, formulas, "wer", cluster="speaker")
    for name in ("f", "df1", "df2", "robust_f", "robust_p_value", "p_value_holm", "rank", "rss"):
        assert again[name].values == pytest.approx(answer[name].values, rel=1e-8), name


def test_four_subgroups_have_degrees_of_freedom() -> None:
    """On subgroup means a crossed model of four subgroups leaves none."""
    rows = clips(2)
    chain = ["1", "sex", "sex + young", "sex * young"]
    rows["young"] = np.where(rows["age"] == "20s", "yes", "no")
    tally = bg.tally(rows, by=["sex", "young"], metrics=["mean"], loss="wer")
    assert np.isnan(bg.goodness_of_fit(tally, chain)["p_value"].values[0, -1])
    answer = bg.goodness_of_fit_rows(rows, chain, "wer", cluster="speaker")
    assert np.isfinite(answer["robust_p_value"].values).all()
    assert (answer["reason"] == "").all()


def test_what_has_no_answer_says_why() -> None:
    rows = clips(1, speakers=3)
    few = bg.goodness_of_fit_rows(rows, ["1", "length", "length + speaker"], "wer", cluster="speaker")
    assert few["reason"].values.tolist() == ["", "too few clusters for a robust test"]
    assert np.isnan(few["robust_p_value"].values[1])
    assert np.isfinite(few["p_value"].values).all()
    same = bg.goodness_of_fit_rows(rows, ["sex", "sex * sex"], "wer")
    assert same["reason"].item() == "no new directions"
    assert np.isnan(same["p_value"].item())
    exact = bg.goodness_of_fit_rows(rows.assign(wer=2 * rows["length"]), ["1", "length"], "wer")
    assert exact["reason"].item() == "the larger model fits exactly"
    assert np.isnan(exact["f"].item())
    alone = bg.goodness_of_fit_rows(rows.head(2), ["1", "length"], "wer")
    assert alone["reason"].item() == "the larger model fits exactly"


@pytest.mark.parametrize(
    ("change", "arguments", "match"),
    [
        ({}, {"value": "wre"}, "value='wre' is no column; did you mean 'wer'"),
        ({}, {"value": "sex"}, "column 'sex' holds (object|str); expected numbers"),
        ({"wer": np.nan}, {}, r"column 'wer' has \d+ missing or infinite values"),
        ({"wer": np.inf}, {}, r"column 'wer' has \d+ missing or infinite values"),
        ({"length": np.nan}, {}, r"column 'length' has \d+ missing values"),
        ({"length": np.inf}, {}, "column 'length' has an infinite value"),
        ({"age": None}, {}, r"column 'age' has \d+ missing values"),
        ({}, {"cluster": "speakers"}, "cluster='speakers' is no column; did you mean 'speaker'"),
        ({"speaker": None}, {"cluster": "speaker"}, r"column 'speaker' has \d+ missing values"),
        ({}, {"formulas": ["sex", "age"]}, "model 'sex' is not within model 'age'"),
        ({}, {"formulas": ["1", "wer"]}, "'wer' is not a column"),
        ({}, {"formulas": ["1"]}, "two or more models"),
    ],
)
def test_what_cannot_be_tested_is_refused(change: dict[str, object], arguments: dict[str, object], match: str) -> None:
    given = {"formulas": ["1", "length + age"], "value": "wer"} | arguments
    with pytest.raises(InputError, match=match):
        bg.goodness_of_fit_rows(clips().assign(**change), **given)  # type: ignore[arg-type]


def test_frames_without_rows_and_others_are_refused() -> None:
    with pytest.raises(InputError, match="the frame has no rows"):
        bg.goodness_of_fit_rows(clips().head(0), ["1", "sex"], "wer")
    with pytest.raises(InputError, match="frame= is a dict; give a pandas DataFrame"):
        bg.goodness_of_fit_rows(clips().to_dict(), ["1", "sex"], "wer")


def test_formulas_of_too_many_columns_are_refused() -> None:
    rows = pd.DataFrame({"a": np.arange(5000).astype(str), "x": np.arange(5000.0)})
    with pytest.raises(InputError, match=r"asks for 5,000 columns for 5,000 rows"):
        bg.goodness_of_fit_rows(rows, ["1", "a"], "x")
