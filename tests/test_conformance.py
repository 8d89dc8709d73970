"""Contract of every estimator: the same files in every room, and one form of report that ArviZ takes unchanged."""

from __future__ import annotations

import importlib
import inspect
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from numpydoc.docscrape import FunctionDoc

import bayesgroups as bg
from bayesgroups import models
from bayesgroups.estimators import ESTIMATORS, Estimator
from bayesgroups.estimators.descriptions import estimator_of
from bayesgroups.report.levels import LEVELS
from bayesgroups.report.schema import APPROACHES, SCHEMA, check
from bayesgroups.tallies.score_moments import keep_scores

ROOT = Path(__file__).parents[1]
WORDS = [estimator.word for estimator in ESTIMATORS]
METRICS = ["fnr", "acc"]

mpl.use("Agg")

SUBGROUPS = pd.DataFrame({"race": ["a", "a", "b", "b", "c", "c"], "sex": ["f", "m"] * 3})
TRIALS = {"fnr": [2, 100, 60, 0, 3, 1], "acc": [60, 90, 80, 9, 10, 1]}
SUCCESSES = {"fnr": [1, 30, 9, 0, 3, 1], "acc": [50, 60, 70, 8, 9, 1]}

CELL = ("metric", "subgroup")
GROUPS = ["posterior", "observed_data", "log_likelihood", "estimates", "diagnostics", "constant_data"]
POSTERIOR = {
    "mu": ("chain", "draw", "metric", "subgroup"),
    "overall": ("chain", "draw", "metric"),
    "tau": ("chain", "draw", "metric"),
    "component_sd": ("chain", "draw", "metric", "component"),
    "beta": ("chain", "draw", "metric", "coefficient"),
    "cell_share": ("chain", "draw", "subgroup", "outcome", "decision"),
    "factor_overall": ("chain", "draw", "factor"),
    "factor_sd": ("chain", "draw", "factor", "component"),
    "selection_slope": ("chain", "draw", "follower"),
}
BESIDE = {"component", "coefficient", "factor", "follower", "outcome", "decision"}
ESTIMATES = {
    "estimate": ("approach", *CELL),
    "std_error": ("approach", *CELL),
    "lower": ("approach", *CELL, "level"),
    "upper": ("approach", *CELL, "level"),
    "lower_unclipped": ("approach", *CELL, "level"),
    "upper_unclipped": ("approach", *CELL, "level"),
    "interval_kind": ("approach", "metric"),
    "interval_method": ("approach", *CELL, "level"),
    "estimand": ("approach", "metric"),
    "status": ("approach", *CELL),
    "median": CELL,
    "count": CELL,
}
TALLY = {
    "rows": ("subgroup",),
    "count": CELL,
    "successes": CELL,
    "estimate": CELL,
    "row_variance": CELL,
    "sampling_variance": CELL,
    "bootstrap_variance": CELL,
    "pooled_variance": ("metric",),
    "pooled_df": ("metric",),
    "status": CELL,
    "reason": CELL,
    "kind": ("metric",),
    "range_lower": ("metric",),
    "range_upper": ("metric",),
    "larger_is_better": ("metric",),
}
ROOT_ATTRIBUTES = {
    "schema", "schema_version", "estimator", "settings", "inference", "seed", "usable", "versions", "created_at",
    "estimator_class", "description", "references", "prior_description",
}  # fmt: skip


def _tally(word: str = "") -> xr.Dataset:
    if word == "disagreement":
        return _with_critics()
    if word == "model_based_metrics":
        return _with_scores()
    return _with_cells() if word == "confusion" else bg.tally_from_counts(SUCCESSES, TRIALS, SUBGROUPS)


def _with_scores() -> xr.Dataset:
    """Rows for the one word that needs scores; the fourth subgroup has no positives."""
    rng = np.random.default_rng(1)
    counts = {1: [2, 100, 60, 0, 3, 1], 0: [58, 60, 70, 9, 10, 0]}
    rows = pd.concat([SUBGROUPS.iloc[np.repeat(np.arange(6), sizes)].assign(y=y) for y, sizes in counts.items()])
    rows["p"] = 1 / (1 + np.exp(0.5 - rows["y"] - rng.standard_normal(len(rows))))
    names = [*METRICS, "auc"]
    return keep_scores(bg.tally(rows, list(SUBGROUPS), names, y_true="y", y_score="p", threshold=0.5), cells=False)


def _with_critics() -> xr.Dataset:
    """Judgements for the one word about disagreement; the fourth subgroup has none, and two labels leave nothing open."""
    cells = {
        ("n", 0): [1, 70, 50, 0, 3, 0], ("n", 1): [1, 30, 9, 0, 0, 1],
        ("y", 0): [5, 9, 8, 0, 1, 0], ("y", 1): [8, 6, 9, 0, 0, 1],
    }  # fmt: skip
    rows = [SUBGROUPS.iloc[np.repeat(np.arange(6), sizes)].assign(said=y, no=s) for (y, s), sizes in cells.items()]
    found = bg.disagreement_tally(pd.concat(rows), list(SUBGROUPS), "said", "no")
    return found.sel(metric=["fnr[y]", "acc"]).assign_coords(metric=METRICS)


def _with_cells() -> xr.Dataset:
    """Rows for the one word that needs outcome and decision together; the fourth subgroup has no positives."""
    cells = {
        (1, 1): [1, 70, 50, 0, 3, 0],
        (1, 0): [1, 30, 9, 0, 0, 1],
        (0, 1): [5, 9, 8, 1, 1, 0],
        (0, 0): [8, 60, 9, 8, 0, 1],
    }
    rows = [SUBGROUPS.iloc[np.repeat(np.arange(6), sizes)].assign(y=y, d=d) for (y, d), sizes in cells.items()]
    return bg.tally(pd.concat(rows), list(SUBGROUPS), METRICS, y_true="y", y_pred="d", confusion=True)


def _mu(report: xr.DataTree) -> np.ndarray:
    return np.asarray(report["posterior"].to_dataset()["mu"].values)


@pytest.fixture(scope="module", params=ESTIMATORS, ids=WORDS)
def estimator(request: pytest.FixtureRequest) -> type[Estimator]:
    word: type[Estimator] = request.param
    return word


@pytest.fixture(scope="module")
def fitted(estimator: type[Estimator]) -> xr.DataTree:
    return bg.estimate(_tally(estimator.word), estimator(), seed=1)


@pytest.fixture
def figures() -> Iterator[None]:
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


# --- one word, one file in every room ---------------------------------------------------------------------------------


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize(
    "place",
    [
        "models/{}.py",
        "bayesgroups/frequentist/{}.py",
        "bayesgroups/inference/collapsed/{}.py",
        "bayesgroups/estimators/{}.py",
        "docs/estimators/{}.md",
    ],
)
def test_a_word_has_a_file_in_every_room(word: str, place: str) -> None:
    assert (ROOT / place.format(word)).is_file()


def test_a_word_is_the_name_of_its_class(estimator: type[Estimator]) -> None:
    assert re.sub(r"(?<!^)(?=[A-Z])", "_", estimator.__name__).lower().removesuffix("_model") == estimator.word
    assert getattr(bg, estimator.__name__) is estimator
    assert estimator.__module__ == f"bayesgroups.estimators.{estimator.word}"


def test_the_verbs_are_the_same_in_every_room(estimator: type[Estimator]) -> None:
    for room, verb in (("models", "build"), ("frequentist", "estimate"), ("inference.collapsed", "sample")):
        function = getattr(importlib.import_module(f"bayesgroups.{room}.{estimator.word}"), verb)
        first, *settings = inspect.signature(function).parameters.values()
        assert first.name == "tally"
        assert {setting.kind for setting in settings} <= {inspect.Parameter.KEYWORD_ONLY}


def test_an_estimator_is_a_frozen_leaf(estimator: type[Estimator]) -> None:
    assert estimator.__bases__ == (Estimator,)
    with pytest.raises(AttributeError):
        estimator().likelihood = "normal"  # type: ignore[attr-defined]
    settings = estimator().settings()
    assert json.loads(json.dumps(settings)) == settings
    assert estimator(**settings) == estimator()


# --- the report -------------------------------------------------------------------------------------------------------


def test_the_report_has_the_groups_of_the_schema(fitted: xr.DataTree) -> None:
    check(fitted)
    assert set(GROUPS) <= set(fitted.children)
    assert set(fitted.children) <= {*GROUPS, "sample_stats", "bootstrap"}
    assert ROOT_ATTRIBUTES <= set(fitted.attrs)
    assert all(isinstance(value, str | int) and not isinstance(value, bool) for value in fitted.attrs.values())


def test_the_root_says_what_was_done(fitted: xr.DataTree, estimator: type[Estimator]) -> None:
    assert fitted.attrs["schema"] == SCHEMA
    assert fitted.attrs["estimator"] == estimator.word
    samplers = {"structured_regression": "gibbs", "model_based_metrics": "gibbs"}
    samplers |= dict.fromkeys(("confusion", "crossed_effects"), "hamiltonian")
    assert fitted.attrs["inference"] == samplers.get(estimator.word, "collapsed")
    assert (fitted.attrs["seed"], fitted.attrs["usable"]) == (1, 1)
    assert json.loads(fitted.attrs["settings"]) == estimator().settings()
    assert "bayesgroups" in json.loads(fitted.attrs["versions"])


def test_the_report_describes_its_estimator(fitted: xr.DataTree, estimator: type[Estimator]) -> None:
    assert estimator_of(fitted) == estimator()
    assert fitted.attrs["description"] == estimator.description
    assert json.loads(fitted.attrs["references"]) == list(estimator.references)
    priors = json.loads(fitted.attrs["prior_description"])
    assert list(priors) == METRICS
    assert all(text and not text.endswith(".") for text in priors.values())


def test_priors_have_a_density_or_a_reason(fitted: xr.DataTree, estimator: type[Estimator]) -> None:
    tally, draws = fitted["constant_data"].to_dataset(), fitted["posterior"].to_dataset().sel(metric="fnr")
    draws = draws.isel(chain=0).rename(draw="sample")
    given = tally if estimator().joint else tally.sel(metric=["fnr"])
    prior, likelihood = estimator().log_prior(draws, given), estimator().log_likelihood(draws, given)
    assert (prior.value is None) == bool(prior.reason)
    if prior.value is not None:
        assert prior.value.shape in {(1000,), (1000, len(SUBGROUPS))}
        assert np.isfinite(prior.value).all()
        assert likelihood is not None
    if likelihood is not None:
        assert likelihood.shape == (1000, len(SUBGROUPS))
        assert np.isfinite(likelihood).all()


def test_the_posterior_is_laid_out_for_arviz(fitted: xr.DataTree) -> None:
    posterior = fitted["posterior"].to_dataset()
    assert "mu" in posterior
    assert {name: values.dims for name, values in posterior.data_vars.items()} == {
        name: POSTERIOR[str(name)] for name in posterior.data_vars
    }
    # An attribute coordinate along subgroup would break az.summary.
    assert set(posterior.coords) - BESIDE == {"chain", "draw", "metric", "subgroup"}
    assert (posterior.sizes["chain"], posterior.sizes["draw"]) == (4, 1000)
    assert ((posterior["mu"] >= 0) & (posterior["mu"] <= 1)).all()


def test_the_estimates_have_every_variable_with_its_dims(fitted: xr.DataTree) -> None:
    estimates = fitted["estimates"].to_dataset()
    assert ESTIMATES.items() <= {str(name): values.dims for name, values in estimates.data_vars.items()}.items()
    assert estimates["approach"].values.tolist() == list(APPROACHES)
    assert estimates["level"].values.tolist() == list(LEVELS)
    assert estimates["metric"].values.tolist() == METRICS
    for attribute in SUBGROUPS.columns:
        assert estimates[attribute].dims == ("subgroup",)
        assert estimates[attribute].values.tolist() == SUBGROUPS[attribute].tolist()
    assert estimates["interval_kind"].sel(approach="bayesian").values.tolist() == ["credible"] * 2
    assert estimates["interval_kind"].sel(approach="frequentist").values.tolist() == ["confidence"] * 2


def test_the_estimates_are_in_range_and_in_order(fitted: xr.DataTree) -> None:
    one = fitted["estimates"].to_dataset()
    lower, upper = one["lower"].values, one["upper"].values
    some = np.isfinite(lower)
    assert np.array_equal(some, np.isfinite(upper))
    for side in ("lower", "upper"):
        limits = one[side].sel(approach="frequentist").values
        assert ((limits >= 0) & (limits <= 1))[np.isfinite(limits)].all()
    assert (lower[some] <= upper[some]).all()
    wide, narrow = some[..., 1:], some[..., :-1]
    assert (np.diff(lower, axis=-1)[wide & narrow] <= 0).all()
    assert (np.diff(upper, axis=-1)[wide & narrow] >= 0).all()


def test_bayesian_limits_hold_the_mass_they_name(fitted: xr.DataTree) -> None:
    """Of ``mu`` as it is in the posterior, at every level, for every status, one-sided or not; nothing is clipped."""
    one = fitted["estimates"].to_dataset().sel(approach="bayesian")
    if set(one["interval_kind"].values.tolist()) != {"credible"}:
        pytest.skip("bounds are no intervals of a posterior")
    mu = fitted["posterior"].to_dataset()["mu"]
    # Values that are brought into the range of the metric make atoms at its ends, which belong to the interval whole.
    inside = ((mu >= one["lower"]) & (mu <= one["upper"])).mean(("chain", "draw"))
    strictly = ((mu > one["lower"]) & (mu < one["upper"])).mean(("chain", "draw"))
    tolerance = 2.5 / (mu.sizes["chain"] * mu.sizes["draw"])
    for level in LEVELS:
        answered = np.isfinite(one["lower"].sel(level=level).values)
        assert (inside.sel(level=level).values[answered] >= level - tolerance).all()
        assert (strictly.sel(level=level).values[answered] <= level + tolerance).all()
    for side in ("lower", "upper"):
        np.testing.assert_array_equal(one[side], one[f"{side}_unclipped"])
    assert set(one["interval_method"].values.ravel().tolist()) <= {"equal_tailed", "one_sided"}


def test_the_status_says_what_an_answer_rests_on(fitted: xr.DataTree) -> None:
    one = fitted["estimates"].to_dataset().sel(metric="fnr")
    empty = one.sel(subgroup="b | m")
    for approach in APPROACHES:
        own = empty.sel(approach=approach)
        answered = bool(np.isfinite(own["estimate"]))
        assert str(own["status"].values) == ("imputed" if answered else "undefined")
    known = {"ok", "saturated", "single", "undefined", "imputed", "degenerate"}
    assert set(one["status"].values.ravel().tolist()) <= known


def test_the_diagnostics_carry_value_threshold_verdict_and_sentence(fitted: xr.DataTree) -> None:
    checks = fitted["diagnostics"].to_dataset()
    assert {str(name): values.dims for name, values in checks.data_vars.items()} == dict.fromkeys(
        ("value", "threshold", "passed", "sentence", "metric"), ("check",)
    )
    assert checks.sizes["check"] >= len(METRICS)
    assert checks["passed"].dtype == np.int8
    assert set(checks["metric"].values.tolist()) == set(METRICS)
    for label, metric in zip(checks["check"].values, checks["metric"].values, strict=True):
        assert str(label).startswith(f"{metric}: ")


def test_the_tally_is_kept_whole(fitted: xr.DataTree, estimator: type[Estimator]) -> None:
    kept, given = fitted["constant_data"].to_dataset(), _tally(estimator.word)
    assert TALLY.items() <= {str(name): values.dims for name, values in kept.data_vars.items()}.items()
    assert kept.identical(given)


def test_the_same_seed_gives_the_same_bytes(fitted: xr.DataTree, estimator: type[Estimator]) -> None:
    again = bg.estimate(_tally(estimator.word), estimator(), seed=1)
    assert set(again.children) == set(fitted.children)
    for group in fitted.children:
        mine, theirs = fitted[group].to_dataset(), again[group].to_dataset()
        assert set(mine.variables) == set(theirs.variables)
        for name in mine.variables:
            assert mine[name].values.tobytes() == theirs[name].values.tobytes(), f"{group}/{name}"
    other = bg.estimate(_tally(estimator.word).sel(metric=["acc"]), estimator(), seed=2)
    assert not np.array_equal(_mu(other)[:, :, 0], _mu(fitted)[:, :, METRICS.index("acc")])


def test_a_metric_has_the_same_draws_whichever_others_are_asked(
    fitted: xr.DataTree, estimator: type[Estimator]
) -> None:
    alone = bg.estimate(_tally(estimator.word).sel(metric=["acc"]), estimator(), seed=1)
    assert np.array_equal(_mu(alone)[:, :, 0], _mu(fitted)[:, :, METRICS.index("acc")])


def test_a_report_survives_saving(fitted: xr.DataTree, tmp_path: Path) -> None:
    opened = bg.open_report(bg.save_report(fitted, tmp_path / "report.nc"))
    for group in fitted.children:
        xr.testing.assert_equal(opened[group].to_dataset(), fitted[group].to_dataset())
    assert {**opened.attrs} == {**fitted.attrs}


# --- ArviZ, unchanged -------------------------------------------------------------------------------------------------


def test_arviz_summarises_the_report(fitted: xr.DataTree) -> None:
    import arviz as az

    summary = az.summary(fitted)
    cells = len(METRICS) * len(SUBGROUPS)
    assert sum(str(name).startswith("mu[") for name in summary.index) == cells
    assert np.asarray(summary["r_hat"], dtype=float).max() <= 1.01


@pytest.mark.usefixtures("figures")
@pytest.mark.parametrize("plot", ["plot_forest", "plot_ess"])
def test_arviz_draws_the_report(fitted: xr.DataTree, plot: str) -> None:
    import arviz as az

    # One metric and two subgroups suffice: what could fail is the layout, and every quantity is drawn.
    few = fitted.isel(metric=[0], subgroup=[0, 1], missing_dims="ignore")
    with az.rc_context({"plot.max_subplots": 60}):
        assert getattr(az, plot)(few) is not None


# --- the public surface -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", bg.__all__)
def test_public_names_can_be_imported(name: str) -> None:
    assert getattr(bg, name) is not None
    assert name in dir(bg)


def _public(name: str) -> Any:
    return getattr(bg, name)


FUNCTIONS = [name for name in bg.__all__ if inspect.isfunction(_public(name))]
CLASSES = [name for name in bg.__all__ if inspect.isclass(_public(name)) and not issubclass(_public(name), Exception)]
ERRORS = [name for name in bg.__all__ if inspect.isclass(_public(name)) and issubclass(_public(name), Exception)]


def test_a_public_name_is_a_function_a_class_an_error_or_a_module() -> None:
    modules = [name for name in bg.__all__ if isinstance(_public(name), ModuleType)]
    assert {*FUNCTIONS, *CLASSES, *ERRORS, *modules, "__version__"} == set(bg.__all__)
    assert all(_public(name).__doc__ for name in (*ERRORS, *modules))
    assert all(issubclass(_public(name), bg.BayesgroupsError) for name in ERRORS)


@pytest.mark.parametrize("name", [*FUNCTIONS, *CLASSES])
def test_public_names_are_documented(name: str) -> None:
    thing = _public(name)
    text = inspect.getdoc(thing) or ""
    document = FunctionDoc(thing, doc=text)
    described = {part.strip() for entry in document["Parameters"] for part in entry.name.split(",")}
    assert described == set(inspect.signature(thing).parameters)
    assert ">>> " in "\n".join(document["Examples"])
    if name in FUNCTIONS:
        assert document["Returns"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_public_functions_take_no_catch_all(name: str) -> None:
    kinds = {parameter.kind for parameter in inspect.signature(_public(name)).parameters.values()}
    assert not kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'talley'"):
        bg.talley  # noqa: B018


# --- packaging --------------------------------------------------------------------------------------------------------


def test_every_package_directory_is_listed() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    found = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for path in (ROOT / "bayesgroups").rglob("__init__.py")
        if "models" not in path.parts
    }
    models = {"bayesgroups.models": "models", "bayesgroups.models.shared": "models/shared"}
    assert set(settings["packages"]) == found | set(models)
    assert settings["package-dir"] == models


def test_files_that_are_not_python_are_listed() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    kept = {
        path
        for package, patterns in settings["package-data"].items()
        for pattern in patterns
        for path in ROOT.joinpath(*package.split(".")).glob(pattern)
    }
    found = {
        path for path in (ROOT / "bayesgroups").rglob("*.*") if path.is_file() and path.suffix not in (".py", ".pyc")
    }
    assert {path for path in found if not path.is_relative_to(ROOT / "bayesgroups" / "models")} == kept


def test_models_at_the_root_are_bayesgroups_models() -> None:
    assert Path(models.__path__[0]).resolve() == ROOT / "models"
    link = ROOT / "bayesgroups" / "models"
    assert link.is_symlink()
    assert link.readlink() == Path("../models")
