"""The recorded grid of spreads, held to four Monte Carlo errors wherever an answer is usable; and how it is made."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from pytensor.compile.mode import Mode

import bayesgroups as bg
from tests.recovery.studies import quadrature, spread_grid

RECORD = Path(__file__).parent / "records" / "spread_grid.csv"
ERRORS = 4.0
KEY = ("shape", "likelihood", "spread", "rows")


@pytest.fixture(scope="module")
def record() -> pd.DataFrame:
    return pd.read_csv(RECORD, keep_default_na=False, na_values=["nan", "NaN"])


def test_the_grid_is_whole(record: pd.DataFrame) -> None:
    settings = spread_grid.settings()
    assert record["shape"].tolist() == ["x".join(map(str, each.shape)) for each in settings]
    assert record["spread"].tolist() == [each.spread for each in settings]
    assert record["rows"].tolist() == [each.rows for each in settings]


def test_usable_answers_are_within_four_errors_of_the_reference(record: pd.DataFrame) -> None:
    assert record.loc[record["usable"] == 1, "largest_z"].max() <= ERRORS
    # Where nothing but a conflict of the prior with the data was said the draws are right too: there is no wall.
    conflict = record[record["failed"] == "prior-data conflict"]
    assert len(conflict) >= 10
    assert conflict["largest_z"].max() <= ERRORS


def test_one_attribute_has_an_answer_up_to_five_standard_deviations_of_a_row(record: pd.DataFrame) -> None:
    crossed = record[(record["shape"] == "12") & (record["estimator"] == "crossed_effects")]
    normal = crossed[crossed["likelihood"] == "normal"]
    assert (normal.loc[normal["spread"] <= 5, "usable"] == 1).all()
    assert set(normal["failed"]) <= {"", "prior-data conflict"}
    assert (crossed["usable"] == 1).mean() > 0.6
    assert (record["reference"] == "quadrature").sum() == (record["shape"] == "12").sum()


def test_several_attributes_are_held_to_nuts_at_all_spreads_and_numbers_of_rows(record: pd.DataFrame) -> None:
    several = record[record["shape"] != "12"]
    assert set(several["shape"]) == {"4x3", "4x2x3", "2x2x2x3"}
    assert (several["spread"].min(), several["spread"].max()) == (0.01, 50)
    assert (several["rows"].min(), several["rows"].max()) == (2, 1_000_000)
    assert (
        several.groupby(["shape", "likelihood"])["reference"].agg(lambda names: (names == "nuts").mean()) >= 0.8
    ).all()
    assert (several.groupby(["spread", "rows"])["reference"].agg(lambda names: (names == "nuts").any())).all()
    assert (several["usable"] == 1).mean() > 0.8


@pytest.mark.parametrize("position", [12, 34, 45, 62])
@pytest.mark.record
def test_a_line_is_made_again(record: pd.DataFrame, position: int) -> None:
    line, kept = spread_grid.line(spread_grid.SEED, position), record.iloc[position]
    assert line[:7] == kept[["shape", "likelihood", "spread", "rows", "estimator", "usable", "failed"]].tolist()
    assert float(str(line[-1])) == pytest.approx(kept["largest_z"], abs=0.3)


SEVERAL = [spread_grid.Setting((2, 2), "normal", spread, 100, "crossed_effects") for spread in (0.3, 1.0)]


@pytest.mark.record
def test_data_sets_that_are_sampled_together_have_nothing_in_common() -> None:
    """The log density of all of them is the sum of those of each."""
    tallies = [spread_grid.simulate(each, np.random.default_rng(i)) for i, each in enumerate(SEVERAL)]
    models = [spread_grid.estimator_of(SEVERAL[0]).model(each) for each in (*tallies, spread_grid.together(tallies))]
    rng = np.random.default_rng(1)
    points = [
        {name: rng.standard_normal(value.shape) for name, value in models[i].initial_point().items()} for i in range(2)
    ]
    joint = {name: np.concatenate([point[name] for point in points]) for name in points[0]}
    quick = Mode(linker="py", optimizer="fast_compile")
    densities = [
        float(model.compile_logp(mode=quick)(point)) for model, point in zip(models, [*points, joint], strict=True)
    ]
    assert densities[2] == pytest.approx(densities[0] + densities[1], rel=1e-9)


def test_chains_that_fail_together_are_sampled_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[list[str], int]] = []

    def sampled(setting: spread_grid.Setting, tally: xr.Dataset, seed: int, draws: int, tune: int) -> xr.DataTree:
        """Draws of the exact engine, of which the first are said to diverge where there are several metrics or much spread."""
        metrics = tally["metric"].values.astype(str).tolist()
        asked.append((metrics, draws))
        reports = [bg.estimate(tally.isel(metric=[i]), bg.CrossedEffects(), seed=seed) for i in range(len(metrics))]
        posterior = xr.concat([report["posterior"].to_dataset() for report in reports], dim="metric", join="exact")
        along = ("chain", "draw")
        stats = {
            "diverging": np.full((4, 1000), len(metrics) > 1 or setting.spread == 1.0),
            "energy": rng.random((4, 1000)),
        }
        return xr.DataTree.from_dict(
            {
                "posterior": posterior.drop_attrs(),
                "sample_stats": xr.Dataset({name: (along, of) for name, of in stats.items()}),
            }
        )

    rng = np.random.default_rng(1)
    monkeypatch.setattr(spread_grid, "settings", lambda: SEVERAL)
    monkeypatch.setattr(spread_grid, "sampled", sampled)
    lines = spread_grid.group(3, 0)
    assert asked == [(["0", "1"], spread_grid.DRAWS), (["0"], spread_grid.ALONE[0]), (["1"], spread_grid.ALONE[0])]
    assert [each[-2] for each in lines] == ["nuts", "none, NUTS failed its checks"]
    assert float(str(lines[0][-1])) < ERRORS
    assert np.isnan(float(str(lines[1][-1])))


def test_quadrature_of_means_is_that_of_a_fine_grid() -> None:
    """Two means that are known exactly: their difference is Normal(0, 2 tau^2), alpha being all but flat."""
    y, v = np.array([-0.3, 0.3]), np.full(2, 1e-12)
    found = quadrature.means(y, v, overall_scale=1e4, tau_scale=0.2, family="half_t")
    log_tau = np.linspace(np.log(1e-4), np.log(1e4), 200_001)
    tau = np.exp(log_tau)
    log_density = -log_tau - 0.6**2 / (4 * tau**2) + quadrature.log_prior(tau, 0.2, "half_t") + log_tau
    share = np.exp(log_density - log_density.max())
    assert found.log_tau == pytest.approx(float((share * log_tau).sum() / share.sum()), abs=1e-4)
    assert found.eta == pytest.approx(y, abs=1e-6)


def test_the_command_writes_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few = spread_grid.settings()[:2]
    monkeypatch.setattr(spread_grid, "settings", lambda: few)
    spread_grid.main(["--output", str(tmp_path / "grid.csv")])
    assert capsys.readouterr().out.startswith("2 data sets, 2 usable, farthest from the reference")
    assert pd.read_csv(tmp_path / "grid.csv").columns.tolist() == list(spread_grid.HEADER)
