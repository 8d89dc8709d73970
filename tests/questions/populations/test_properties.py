"""Laws of poststratification: rows as the population, margins that add up, labels that do not matter, kinds of input."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesgroups as bg
from tests.questions.populations.examples import POPULATION, SCHOOLS, drawn_report, frequentist, posterior, schools

WHO = pd.DataFrame({"race": ["a", "a", "b", "b"], "sex": ["f", "m"] * 2})
SIZES = WHO.assign(count=[10, 20, 30, 40])


def counts(k: list[int], n: list[int], who: pd.DataFrame = WHO) -> xr.Dataset:
    """Tally of rates of four cells."""
    return bg.tally_from_counts(np.minimum(k, n), n, who, metric="acc")


numbers = st.lists(st.integers(0, 30), min_size=4, max_size=4)


@settings(max_examples=8, deadline=None)
@given(k=numbers, n=numbers)
def test_the_rows_themselves_give_the_pooled_rate(k: list[int], n: list[int]) -> None:
    tally = counts(k, n)
    table = frequentist(bg.poststratify(tally, "rows"))
    if not sum(n):
        assert str(table["status"].values) == "undefined"
        assert str(table["reason"].values) == "nobody in the population"
        return
    pooled = bg.frequentist.complete_pooling.estimate(tally)["estimate"].values[0, 0]
    np.testing.assert_allclose(float(table["estimate"]), pooled, rtol=1e-12)
    assert float(table["imputed_share"]) == 0
    assert 0 <= float(table["lower"]) <= float(table["estimate"]) <= float(table["upper"]) <= 1


@settings(max_examples=4, deadline=None)
@given(sizes=st.lists(st.integers(1, 1000), min_size=4, max_size=4))
def test_everybody_is_the_mean_of_the_margins(sizes: list[int]) -> None:
    report = drawn_report(counts([3, 9, 0, 7], [10, 10, 5, 8]), draws=50)
    target = bg.poststratify(report, WHO.assign(count=sizes), by=["race", "sex"])
    size = target["estimates"].to_dataset()["population"].isel(metric=0)
    for name, levels in {"race": "ab", "sex": "fm"}.items():
        labels = [f"{name}={level}" for level in levels]
        share = [float(size.sel(subgroup=label) / size.sel(subgroup="all")) for label in labels]
        parts = sum(s * posterior(target, label) for s, label in zip(share, labels, strict=True))
        np.testing.assert_allclose(posterior(target), parts, rtol=1e-12)
        single = sum(s * float(frequentist(target, label)["estimate"]) for s, label in zip(share, labels, strict=True))
        np.testing.assert_allclose(float(frequentist(target)["estimate"]), single, rtol=1e-12)


def test_names_of_levels_and_order_of_cells_do_not_matter() -> None:
    k, n = [3, 9, 0, 7], [10, 10, 5, 8]
    first = bg.poststratify(counts(k, n), SIZES, by=["race"])
    order = [2, 0, 3, 1]
    renamed = {"race": {"a": "z", "b": "y"}}
    tally = counts([k[i] for i in order], [n[i] for i in order], WHO.replace(renamed).iloc[order])
    second = bg.poststratify(tally, SIZES.replace(renamed).sample(frac=1.0, random_state=1), by=["race"])
    for old, new in (("all", "all"), ("race=a", "race=z"), ("race=b", "race=y")):
        for name in ("estimate", "std_error", "lower", "upper"):
            np.testing.assert_allclose(
                float(frequentist(first, old)[name]), float(frequentist(second, new)[name]), rtol=1e-10
            )


def margin_of(kind: str) -> Any:
    """The population of the schools as another kind of input."""
    columns = {"type": ["E", "H", "M"], "count": [4421, 755, 1018]}
    kinds: dict[str, Any] = {
        "pandas": lambda: POPULATION, "polars": lambda: pl.DataFrame(columns), "lazy": lambda: pl.LazyFrame(columns),
        "columns": lambda: columns, "categories": lambda: POPULATION.astype({"type": "category"}),
        "people": lambda: SCHOOLS.loc[[0] * 4421 + [1] * 755 + [2] * 1018].assign(count=1),
        "shares": lambda: POPULATION.assign(count=POPULATION["count"] / 6194),
        "tally": lambda: bg.tally_from_counts([0, 0, 0], [4421, 755, 1018], SCHOOLS),
        "margin": lambda: {("type",): POPULATION}, "word": lambda: {"type": POPULATION},
        "regions": lambda: pd.concat([POPULATION.assign(count=POPULATION["count"] / 2, r=r) for r in "ns"]),
    }  # fmt: skip
    return kinds[kind]()


@pytest.mark.parametrize(
    "kind",
    ["pandas", "polars", "lazy", "columns", "categories", "people", "shares", "tally", "margin", "word", "regions"],
)
def test_populations_of_every_kind_give_the_same_rate(kind: str, tmp_path: Any) -> None:
    table = frequentist(bg.poststratify(schools(), margin_of(kind)))
    np.testing.assert_allclose(float(table["estimate"]), 0.6212775060358138, rtol=1e-9)
    if kind == "pandas":
        POPULATION.to_csv(tmp_path / "population.csv", index=False)
        table = frequentist(bg.poststratify(schools(), tmp_path / "population.csv"))
        np.testing.assert_allclose(float(table["estimate"]), 0.6212775060358138, rtol=1e-12)


def test_regions_and_second_samples_of_people() -> None:
    regions = pd.concat([POPULATION.assign(region="north"), POPULATION.assign(region="south", count=[1, 1, 2])])
    target = bg.poststratify(schools(), regions, by=["region"])
    assert target["estimates"].to_dataset()["subgroup"].values.tolist() == ["all", "region=north", "region=south"]
    np.testing.assert_allclose(float(frequentist(target, "region=north")["estimate"]), 0.6212775060358138, rtol=1e-12)
    np.testing.assert_allclose(
        float(frequentist(target, "region=south")["estimate"]), (101 / 142 + 9 / 25 + 2 * 14 / 33) / 4, rtol=1e-12
    )
    people = SCHOOLS.loc[[0] * 30 + [1] * 6 + [2] * 4]
    known = frequentist(bg.poststratify(schools(), bg.PopulationSample(SCHOOLS.assign(count=[30, 6, 4]))))
    for sample in (people, people.assign(weight=2.5)):
        table = frequentist(bg.poststratify(schools(), bg.PopulationSample(sample)))
        np.testing.assert_allclose(
            [float(table["estimate"]), float(table["std_error"])], [float(known["estimate"]), float(known["std_error"])]
        )
    report = drawn_report(bg.tally_from_counts([3, 5], [10, 10], SCHOOLS.iloc[:2], metric="acc"), draws=500)
    second = SCHOOLS.iloc[:1].assign(count=40)
    alone = posterior(bg.poststratify(report, bg.PopulationSample(second)))
    mixed = posterior(bg.poststratify(report, bg.PopulationSample(second, prior=40.0)))
    assert mixed.mean() > alone.mean() + 0.02  # the second cell has members a priori


def test_the_same_seed_gives_the_same_bytes_and_other_targets_change_nothing() -> None:
    report, second = drawn_report(schools(), draws=50), bg.PopulationSample(POPULATION)
    first = bg.poststratify(report, second, seed=3)
    again = bg.poststratify(report, second, by=["type"], seed=3)
    np.testing.assert_array_equal(posterior(first), posterior(again))
    assert not np.array_equal(posterior(first), posterior(bg.poststratify(report, second, seed=4)))


def test_replicates_are_weighted() -> None:
    report = bg.estimate(schools(), bg.NoPooling(bootstrap=500), seed=1)
    target = bg.poststratify(report, POPULATION)
    table = frequentist(target)
    drawn = target["bootstrap"].to_dataset()["mu"].values.ravel()
    assert str(table["interval_method"].values) == "percentile"
    np.testing.assert_allclose([float(table["lower"]), float(table["upper"])], np.quantile(drawn, [0.025, 0.975]))
    np.testing.assert_allclose(float(table["std_error"]), drawn.std(ddof=1))


def test_cells_that_only_a_model_answers() -> None:
    tally = bg.tally_from_counts([9, 3, 0], [10, 12, 0], SCHOOLS, metric="acc")
    pooled = bg.poststratify(bg.estimate(tally, bg.PartialPooling(), seed=1), POPULATION)
    table = pooled["estimates"].to_dataset().sel(subgroup="all", metric="acc")
    assert table["status"].values.tolist() == ["imputed", "not estimable"]
    assert np.isfinite(float(table["estimate"][0]))
    assert "16.4% of the population is in cells without rows" in pooled.attrs["notes"]
    single = bg.poststratify(bg.estimate(tally, bg.NoPooling(), seed=1), POPULATION, by=["type"])
    everybody = (
        single["estimates"].to_dataset().sel(approach="bayesian", subgroup=["all", "type=E", "type=M"]).isel(metric=0)
    )
    for status, estimate in zip(everybody["status"].values, everybody["estimate"].values, strict=True):
        assert np.isfinite(estimate) == (status in ("ok", "imputed"))


def test_clusters_in_several_cells_are_noted() -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {"type": rng.choice(list("EHM"), 120), "c": rng.integers(0, 12, 120), "y": rng.integers(0, 2, 120)}
    )
    tally = bg.tally(frame, ["type"], ["correct"], correct="y", cluster="c", cluster_analysis="robust")
    target = bg.poststratify(tally, POPULATION)
    assert "clusters are in several cells" in target.attrs["notes"]
    weights = np.array([4421, 755, 1018]) / 6194
    expected = np.sqrt((weights**2 * tally["sampling_variance"].values[0]).sum())
    np.testing.assert_allclose(float(frequentist(target)["std_error"]), expected, rtol=1e-12)


def test_cells_of_many_clusters_have_their_own_variance_and_others_the_pooled_one() -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"type": np.repeat(list("EHM"), [100, 100, 30]), "c": np.repeat(np.arange(46), 5)})
    frame["y"] = (rng.random(230) < np.repeat(rng.random(46), 5)).astype(int)
    tally = bg.tally(frame, ["type"], ["correct"], correct="y", cluster="c")
    robust, pooled = tally["cluster_robust_variance"].values[0], tally["sampling_variance"].values[0]
    wanted = np.sqrt(np.array([4421, 755, 1018]) ** 2 @ np.where([True, True, False], robust, pooled)) / 6194
    found = frequentist(bg.poststratify(tally, POPULATION))["std_error"]
    np.testing.assert_allclose(float(found), wanted, rtol=1e-12)


@pytest.mark.parametrize("cluster", [None, "c"])
def test_rows_that_agree_in_every_cell_have_an_error(cluster: str | None) -> None:
    frame = pd.DataFrame({"type": list("EEHHM"), "y": [1, 1, 0, 0, 1], "c": [1, 1, 2, 2, 3]})
    tally = bg.tally(frame, ["type"], ["correct"], correct="y", cluster=cluster)
    table = frequentist(bg.poststratify(tally, POPULATION))
    assert float(table["std_error"]) > 0.05


def test_ratios_have_bounds_where_cells_have_no_rows() -> None:
    rows = pd.DataFrame({"type": ["E"] * 8 + ["H"] * 4, "y": [1, 1, 1, 0] * 3, "d": [1, 0, 1, 1] * 3})
    tally = bg.tally(rows, {"type": ["E", "H", "M"]}, ["fnr"], y_true="y", y_pred="d", confusion=True)
    table = frequentist(bg.poststratify(tally, SCHOOLS.assign(count=[1, 1, 2])))
    # Half of the people are observed, 3/4 of them positives and 1/4 missed; the others are all hits or all misses.
    bounds = [float(table["bound_lower"]), float(table["bound_upper"])]
    np.testing.assert_allclose(bounds, [0.125 / 0.875, 0.625 / 0.875], rtol=1e-12)
    assert float(table["lower"]) < bounds[0] < bounds[1] < float(table["upper"])


def test_reports_of_targets_are_saved_read_and_shown(tmp_path: Any) -> None:
    report = bg.estimate(schools(), bg.PartialPooling(), seed=1)
    target = bg.poststratify(report, POPULATION, by=["type"])
    again = bg.open_report(bg.save_report(target, tmp_path / "target.nc"))
    xr.testing.assert_equal(again["estimates"].to_dataset(), target["estimates"].to_dataset())
    assert again.attrs["poststratified"] == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bg.plots.forest(again)
    import arviz as az

    summary = az.summary(target, var_names=["mu"], kind="stats")
    np.testing.assert_allclose(float(summary["mean"].iloc[0]), posterior(target).mean(), atol=0.01)
