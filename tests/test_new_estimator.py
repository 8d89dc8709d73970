"""A new estimator in a package of its own, by the list of ``docs/architecture.md`` and without touching another file.

Median pooling: values of subgroups are Normal(m, tau) around the median m of the estimates, tau a setting.
"""

from __future__ import annotations

import html
import inspect
import json
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.cli import run

DOCS = Path(__file__).parents[1] / "docs"
CATALOGUE = Path(bg.__file__).parent / "models" / "README.md"
CLASS = "outside.estimators.median_pooling:MedianPooling"
DESCRIPTION = "Median pooling: subgroups are pulled towards the median of all, by a spread that was set."
COUNTS = bg.tally_from_counts(
    {"fnr": [1, 30, 9, 20, 0]}, {"fnr": [5, 100, 60, 40, 0]}, pd.DataFrame({"site": list("abcde")})
)

FILES = {
    "docs/estimators/median_pooling.md": "# median_pooling\n\n## Estimand\n\nThe value behind the rows.\n",
    "models/README.md": """
## median_pooling

- **pooling**: exchangeable; subgroup values are draws from a normal population around the median
- **likelihood**: normal
- **parameters**: `mu(metric, subgroup)`
- **priors**: none but the population, Normal(median, tau)
- **settings**: `tau=0.1`
- **reference**: Lindley and Smith (1972)
- **frequentist twin**: `frequentist/median_pooling.py`
""",
    "frequentist/median_pooling.py": '''
from bayesgroups.frequentist.answer import assemble
from bayesgroups.frequentist.intervals.interval import Interval
from bayesgroups.report.levels import LEVELS

import numpy as np
from scipy.stats import norm


def estimate(tally, *, tau):
    """Estimates shrunk by known shares."""
    y, v = (tally[name].transpose("metric", "subgroup").values for name in ("estimate", "sampling_variance"))
    own = np.where(np.isfinite(y) & np.isfinite(v), tau**2 / (tau**2 + v), 0.0)
    value = np.nanmedian(y, axis=1, keepdims=True) * (1 - own) + own * np.nan_to_num(y)
    error = tau * np.sqrt(1 - own)
    limits = [norm.ppf([(1 - level) / 2, (1 + level) / 2]) for level in LEVELS]
    intervals = [Interval(value + low * error, value + high * error) for low, high in limits]
    return assemble(
        tally, estimate=value, std_error=error, intervals=intervals, methods=["plug_in"] * len(y), imputed=own == 0
    )
''',
    "models/median_pooling.py": '''
"""Median pooling, after Lindley and Smith (1972)."""
import numpy as np
import pymc as pm


def build(tally, *, tau=0.1):
    y, v = (tally[name].transpose("metric", "subgroup").values for name in ("estimate", "sampling_variance"))
    with pm.Model(coords={name: tally[name].values for name in ("metric", "subgroup")}) as model:
        mu = pm.Normal("mu", np.nanmedian(y, axis=1, keepdims=True), tau, dims=("metric", "subgroup"))
        seen = np.isfinite(y) & np.isfinite(v)
        pm.Normal("y", mu[np.nonzero(seen)], np.sqrt(v[seen]), observed=y[seen])
    return model
''',
    "inference/collapsed/median_pooling.py": """
from bayesgroups.report.posterior import Posterior, generator, lay_out

import numpy as np


def sample(tally, *, seed, tau):
    y, v = (tally[name].values[0] for name in ("estimate", "sampling_variance"))
    own = np.where(np.isfinite(y) & np.isfinite(v), tau**2 / (tau**2 + v), 0.0)
    centre = np.nanmedian(y) * (1 - own) + own * np.nan_to_num(y)
    random = generator(seed, str(tally["metric"].values[0]), "posterior")
    draws = centre + tau * np.sqrt(1 - own) * random.standard_normal((4000, len(y)))
    return Posterior(lay_out(tally, draws, {}), (), "collapsed")
""",
    "estimators/median_pooling.py": f'''
from dataclasses import dataclass
from typing import ClassVar

from bayesgroups.estimators import Estimator


@dataclass(frozen=True)
class MedianPooling(Estimator):
    """Subgroups around their median."""

    word: ClassVar[str] = "median_pooling"
    description: ClassVar[str] = "{DESCRIPTION}"
    references: ClassVar[tuple[str, ...]] = ("Lindley, Smith (1972), Bayes estimates for the linear model",)

    tau: float = 0.1

    def reference(self, tally, *, seed):
        from outside.frequentist import median_pooling

        return median_pooling.estimate(tally, tau=self.tau)

    def model(self, tally):
        from outside.models import median_pooling

        return median_pooling.build(tally, tau=self.tau)

    def collapsed(self, tally, *, seed):
        from outside.inference.collapsed import median_pooling

        return median_pooling.sample(tally, seed=seed, tau=self.tau)

    def takes_variances_as_known(self, tally):
        return True

    def describe_priors(self, tally):
        return f"values of subgroups are Normal({{float(tally['estimate'].median()):.3g}}, {{self.tau:g}})"

    def log_prior(self, draws, tally):
        from bayesgroups.inference.prior_densities import LogPrior, normal

        values = draws["mu"].transpose("sample", "subgroup").values
        return LogPrior(normal(values, float(tally["estimate"].median()), self.tau))

    def log_likelihood(self, draws, tally):
        from bayesgroups.inference.value_likelihoods import value_likelihood

        return value_likelihood(draws, tally, binomial=False)
''',
}


def _listed() -> set[str]:
    """The files that the numbered list names."""
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    section = text.split("## Where a new estimator goes", 1)[1].split("\n## ", 1)[0]
    steps = section.split("\nNothing else is touched", 1)[0]
    return set(re.findall(r"`([\w/]+/(?:median_pooling|README)\.(?:py|md))`", steps))


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The package on the path of Python, not yet imported."""
    package = tmp_path / "outside"
    for name, text in FILES.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield package
    for name in [name for name in sys.modules if name.partition(".")[0] == "outside"]:
        del sys.modules[name]


def _estimator(**settings: Any) -> Any:
    module, _, name = CLASS.partition(":")
    return getattr(import_module(module), name)(**settings)


def test_the_list_names_every_file() -> None:
    assert _listed() == set(FILES)


@pytest.mark.usefixtures("outside")
def test_both_engines_and_the_priors_agree() -> None:
    estimator = _estimator(tau=0.2)
    report = bg.estimate(COUNTS, estimator, seed=1)
    assert (report.attrs["usable"], report.attrs["estimator_class"]) == (1, CLASS)
    table = report["estimates"].to_dataset()
    assert table["status"].sel(approach="bayesian").values[0].tolist() == ["ok"] * 4 + ["imputed"]
    both = table["estimate"].transpose("approach", ...).values
    np.testing.assert_allclose(both[0], both[1], atol=0.01)
    prior = bg.prior_predictive(COUNTS, estimator, seed=1, draws=4000)["mu"]
    assert float(prior.std()) == pytest.approx(0.2, abs=0.01)
    # The prior to the power 4 has half the scale.
    found = bg.prior_sensitivity(report, powers=[4.0])
    assert found["reason"].values.tolist() == [""]
    narrow = bg.estimate(COUNTS, _estimator(tau=0.1), seed=2)["posterior"].to_dataset()["mu"].mean(("chain", "draw"))
    reached = np.isfinite(found["mean_at"].values[0, 0])
    assert reached.sum() >= 3
    np.testing.assert_allclose(found["mean_at"].values[0, 0][reached], narrow.values[0][reached], atol=0.02)
    assert np.isfinite(found["likelihood"].values).all()


@pytest.mark.usefixtures("no_pictures")
def test_commands_write_the_report_its_page_and_its_priors(
    outside: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tally, report, page, prior = (tmp_path / name for name in ("fnr.tally.nc", "fnr.nc", "fnr.html", "prior.json"))
    bg.save_tally(COUNTS, tally)
    named = ["--estimator", CLASS, "--set", "tau=0.2"]
    assert run(["estimate", str(tally), *named, "-o", str(report), "--html", str(page)]) == 0
    assert run(["prior-predictive", str(tally), *named, "--draws", "50", "-o", str(prior)]) == 0
    assert json.loads(prior.read_text(encoding="utf-8"))["question"] == "prior_predictive"
    text = html.unescape(page.read_text(encoding="utf-8"))
    median = float(COUNTS["estimate"].median())
    for fragment in (
        DESCRIPTION, f"Bayesian model, fnr: values of subgroups are Normal({median:.3g}, 0.2).", "Lindley, Smith (1972)",
        "Sensitivity to the prior", "The prior matters", "from outside.estimators.median_pooling import MedianPooling",
        "report = bg.estimate(tally, MedianPooling(tau=0.2), seed=0)",
    ):  # fmt: skip
        assert fragment in text
    # A report needs no class for its page; only the density of the priors is not known without it.
    for name in [name for name in sys.modules if name.partition(".")[0] == "outside"]:
        del sys.modules[name]
    bg.write_html(bg.open_report(report), page)
    again = html.unescape(page.read_text(encoding="utf-8"))
    assert DESCRIPTION in again
    assert "the module 'outside.estimators.median_pooling' is not imported; import it first" in again
    assert sorted(path.name for path in outside.rglob("*.py")) == ["median_pooling.py"] * 4


def test_the_entry_of_the_catalogue_has_the_fields_and_settings_of_the_others(outside: Path) -> None:
    def fields(text: str) -> list[list[str]]:
        return [
            re.findall(r"^- \*\*(.+?)\*\*:", entry, re.MULTILINE)
            for entry in re.split(r"^## ", text, flags=re.MULTILINE)[1:]
        ]

    entry = (outside / "models" / "README.md").read_text(encoding="utf-8")
    assert fields(entry)[0] in fields(CATALOGUE.read_text(encoding="utf-8"))
    build = inspect.signature(import_module("outside.models.median_pooling").build)
    assert re.findall(r"`(\w+)=(.+?)`", entry) == [
        (name, str(setting.default))
        for name, setting in build.parameters.items()
        if setting.kind is setting.KEYWORD_ONLY
    ]


@pytest.mark.usefixtures("outside")
def test_the_model_is_the_one_that_the_engine_draws_from() -> None:
    import pymc as pm

    estimator = _estimator(tau=0.2)
    draws = bg.estimate(COUNTS, estimator, seed=1)["posterior"].to_dataset().isel(metric=0)
    some = draws.isel(chain=0, draw=slice(0, 3)).rename(draw="sample")
    ours = estimator.log_prior(some, COUNTS).value
    logp: Any = pm.logp  # PyTensor does not say that it returns an array
    theirs = [logp(estimator.model(COUNTS)["mu"], some["mu"].values[i][None]).eval()[0] for i in range(3)]
    assert ours is not None
    np.testing.assert_allclose(np.diff(ours, axis=0), np.diff(theirs, axis=0), rtol=1e-9)
