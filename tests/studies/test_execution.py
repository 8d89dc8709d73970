"""Pieces of a study give the same answers in this process, in others and on a cluster, in one go or resumed."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.errors import EngineError, InputError, MissingDependencyError
from bayesgroups.frequentist import james_stein
from bayesgroups.studies.checkpoints import Checkpoints, file_name
from bayesgroups.studies.execution import Executor
from bayesgroups.studies.populations import Design, Population
from bayesgroups.studies.resampling import study
from examples.comparisons import entrants, joint_study, shared_study
from examples.comparisons.joint_populations import JointPopulation
from examples.published.structured_regression import published_regression
from tests.recovery.studies import boundary_coverage
from tests.recovery.studies.partial_pooling_calibration import STUDY
from tests.studies.pieces import dying, inverse, noise
from tests.studies.small_population import population
from tests.tallies.engines import need, root_on_path

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", autouse=True)
def root() -> Iterator[None]:
    """Fresh processes find modules where this one does."""
    with root_on_path():
        yield


@pytest.fixture(scope="module")
def client(root: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    need("dask")
    need("distributed")
    import dask
    from distributed import Client

    folder = str(tmp_path_factory.mktemp("dask"))
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        Client(n_workers=2, threads_per_worker=1, dashboard_address=":0", local_directory=folder) as found,
    ):
        yield found


UFUNC = """
from bayesgroups.studies.execution import Executor
from scipy.special import expit
def rate(piece):
    return float(expit(800.0 * piece))
if __name__ == "__main__":
    print(Executor(2).run("rates", rate, 2))
"""
WANTED = [noise(0.1, piece) for piece in range(5)]


def test_processes_and_clusters_give_the_same_answers(client: Any, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    for i, workers in enumerate((1, 2, client)):
        run = Executor(workers, tmp_path / str(i), lambda *said: told.append(said))
        assert run.run("noise", partial(noise, 0.1), 5, settings={"seed": 7}) == WANTED
        assert told == [("noise", done, 5) for done in range(1, 6)]
        told.clear()
        assert Checkpoints(tmp_path / str(i) / file_name("noise"), "").path.is_file()
        # What is on the disk is not computed again, and is the same to the last digit.
        assert run.run("noise", noise, 5, settings={"seed": 7}) == WANTED  # type: ignore[arg-type]
        assert told == [("noise", 5, 5)]
        told.clear()


def test_an_error_or_an_interruption_ends_processes_quietly(tmp_path: Path) -> None:
    """Pieces under way are cancelled; what was told before is kept."""
    run = Executor(2, tmp_path)
    with pytest.raises(ZeroDivisionError):
        run.run("inverse", partial(inverse, 3), 40)

    def interrupted(_: str, done: int, __: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Executor(2, tmp_path, interrupted).run("noise", partial(noise, 0.1), 40)
    kept = Checkpoints(tmp_path / file_name("noise"), json.dumps({"name": "noise"})).read()
    assert len(kept) == 3
    assert Executor(2, tmp_path).run("noise", partial(noise, 0.1), 5) == WANTED


def test_functions_of_a_script_can_be_sent() -> None:
    assert Executor(2).run("squares", lambda piece: piece**2, 3) == [0, 1, 4]


def test_ufuncs_of_a_script_can_be_sent(tmp_path: Path) -> None:
    """SciPy's, which do not say their module, in a script that loads it after the package."""
    script = tmp_path / "script.py"
    script.write_text(UFUNC)
    told = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (told.stdout, told.stderr) == ("[0.5, 1.0]\n", "")


def test_a_killed_process_is_replaced(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    run = Executor(2, tmp_path / "kept")
    assert run.run("deaths", partial(dying, str(marks), 1), 4) == [0, 10, 20, 30]
    assert len(list(marks.iterdir())) == 1


def test_a_piece_that_kills_every_process_loses_nothing_else(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    run = Executor(2, tmp_path / "kept")
    with pytest.raises(
        EngineError, match=r"every process ends that computes piece 1 \(from 0 on\): for want of memory"
    ):
        run.run("deaths", partial(dying, str(marks), 100), 4)
    kept = Checkpoints(tmp_path / "kept" / file_name("deaths"), json.dumps({"name": "deaths"})).read()
    assert kept == {0: 0, 2: 20, 3: 30}
    assert Executor(1, tmp_path / "kept").run("deaths", partial(dying, str(marks), 0), 4) == [0, 10, 20, 30]


def test_a_killed_worker_of_a_cluster_is_replaced(client: Any, tmp_path: Path) -> None:
    assert Executor(client).run("deaths", partial(dying, str(tmp_path), 1), 4) == [0, 10, 20, 30]
    assert len(list(tmp_path.iterdir())) == 1


def test_a_piece_that_kills_every_worker_of_a_cluster_is_reported(client: Any, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="workers of the cluster keep dying; what was kept stays"):
        Executor(client).run("deaths", partial(dying, str(tmp_path), 100), 2)


def test_a_resampling_study_on_a_cluster(client: Any, tmp_path: Path) -> None:
    entries = {"standard": entrants.standard}
    alone = study(population(), entries, draws=2, seed=1)
    xr.testing.assert_identical(study(population(), entries, draws=2, seed=1, workers=client, folder=tmp_path), alone)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_calibration_goes_on_where_it_was(tmp_path: Path) -> None:
    whole = STUDY.calibrate("normal", 6)
    STUDY.calibrate("normal", 4, executor=Executor(folder=tmp_path))
    (file,) = tmp_path.iterdir()
    lines = file.read_bytes().split(b"\n")
    file.write_bytes(b"\n".join(lines[:3]) + b"\n" + lines[3][:20])  # killed while it wrote the third answer
    told: list[int] = []
    again = Executor(folder=tmp_path, progress=lambda _, done, __: told.append(done))
    found = STUDY.calibrate("normal", 6, executor=again)
    assert told == [2, 3, 4, 5, 6]
    assert found.identical(whole)
    with pytest.raises(
        InputError, match=r"is of another study \(.*\"seed\": \[20180418, 1\].*, and not .*\"seed\": \[2, 1\]"
    ):
        STUDY.calibrate("normal", 6, 2, executor=again)


def test_a_full_disk_loses_nothing_that_was_kept(tmp_path: Path) -> None:
    """The limit on the size of a file stands for the end of the disk: a line is cut off where it is reached."""
    resource = pytest.importorskip("resource")
    told: list[int] = []
    run = Executor(folder=tmp_path, progress=lambda _, done, __: told.append(done))
    assert run.run("noise", partial(noise, 0.1), 2) == WANTED[:2]
    (file,) = tmp_path.iterdir()
    before, size = resource.getrlimit(resource.RLIMIT_FSIZE), file.stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, before[1]))
    try:
        with pytest.raises(InputError, match="checkpoint file .* cannot be written: File too large"):
            run.run("noise", partial(noise, 0.1), 5)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert file.stat().st_size == size + 20
    told.clear()
    assert run.run("noise", partial(noise, 0.1), 5) == WANTED
    assert told == [2, 3, 4, 5]


def test_commands_keep_their_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in ("first", "second"):
        asked = [
            "--output",
            str(tmp_path / folder / "sbc.csv"),
            "--replications",
            "2",
            "--checkpoints",
            str(tmp_path / "kept"),
        ]
        STUDY.main(asked)
    assert (tmp_path / "first" / "sbc.csv").read_bytes() == (tmp_path / "second" / "sbc.csv").read_bytes()
    assert len(list((tmp_path / "kept").iterdir())) == len(STUDY.designs)
    assert capsys.readouterr().out == ""


def people() -> pd.DataFrame:
    """Groups with the levels of the diabetes data, and what studies measure."""
    rng = np.random.default_rng(1)
    found = pd.DataFrame({"race": ["Caucasian"] * 700 + ["Other"] * 200, "age": ["20-39", "40-59", "60+"] * 300})
    return found.assign(y=rng.integers(0, 2, 900), score=rng.random(900).round(2), number_diagnoses=rng.poisson(7, 900))


def drawn(name: str, rows: int, design: Design, kind: type[Population] = Population) -> Population:
    by = {"race": ("Caucasian", "Other"), "age": ("20-39", "40-59", "60+")}
    return kind(
        name,
        people(),
        by,
        ("fnr", "acc"),
        rows=rows,
        design=design,
        fewest=1,
        y_true="y",
        y_score="score",
        threshold=0.5,
    )


def limits(patch: pytest.MonkeyPatch) -> list[str]:
    patch.setattr(boundary_coverage, "worlds", lambda: [(0.05, 0.15)])
    patch.setattr(boundary_coverage, "WORDS", (bg.PartialPooling(),))
    return ["--replications", "3"]


def shared(patch: pytest.MonkeyPatch) -> list[str]:
    patch.setattr(shared_study, "populations", lambda folder, fewest: [drawn("adult 0.01", 200, "independent")])
    return ["--draws", "2", "--estimators", "js"]


def joint(patch: pytest.MonkeyPatch) -> list[str]:
    chosen = [drawn("adult 0.01", 200, "independent", JointPopulation)]
    entries = {"standard": entrants.standard, "crossed_effects": bg.PartialPooling()}
    patch.setattr(joint_study, "joint_populations", lambda folder, fewest: chosen)
    patch.setattr(joint_study, "competitors", lambda: entries)
    return ["--share", "0.05"]


def penalties(population: Population, draws: int, executor: Executor) -> pd.DataFrame:
    """In place of fits by scikit-learn, which fresh processes take seconds to import."""
    return pd.DataFrame({"squares": executor.run("squares", lambda draw: draw**2, draws)})


def published(patch: pytest.MonkeyPatch) -> list[str]:
    patch.setattr(published_regression, "populations", lambda folder: [drawn("diabetes", 200, "stratified")])
    patch.setattr(
        published_regression, "COMPETITORS", {"standard": entrants.standard, "James-Stein": james_stein.estimate}
    )
    patch.setattr(published_regression, "SYNTHETIC", ("age",))
    patch.setattr(published_regression, "penalty_curve", penalties)
    patch.setattr("bayesgroups.datasets.load_diabetes", lambda folder: people())
    patch.setattr("examples.comparisons.readmission.score_held_back", lambda admissions, seed: admissions)
    patch.setattr("examples.published.structured_regression.published_regression_page.numbers", lambda found, draws: {})
    return ["--draws", "2", "3"]


@pytest.mark.parametrize(
    ("module", "prepare"),
    [(boundary_coverage, limits), (shared_study, shared), (joint_study, joint), (published_regression, published)],
)
def test_commands_give_the_same_files_on_processes(
    module: Any, prepare: Callable[[pytest.MonkeyPatch], list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    more, found = prepare(monkeypatch), []
    for workers in ("1", "2"):
        output = tmp_path / workers
        alone = module is boundary_coverage
        asked = ["--output", str(output / "record.csv" if alone else output)] + ([] if alone else ["--data", "nowhere"])
        asked += ["--record", str(output / "record.csv")] if module is joint_study else []
        module.main([*asked, *more, "--workers", workers])
        found.append({str(path.relative_to(output)): path.read_bytes() for path in output.rglob("*.csv")})
    assert found[0] == found[1]
    assert found[0]


ALONE = {
    "anytime_coverage", "choice_figure", "contrast_coverage", "deciles", "disagreement", "few_labels",
    "few_labels_adult", "goodness", "joint_page", "left_out",
    "maihda_coverage", "ordered_gain", "ordered_gain_confusion", "paired_direction",
    "meta_metrics_figures", "poststratification_calibration", "poststratification_coverage",
    "levels_page", "meta_metrics_page", "model_selection", "page", "subsampling",
}  # fmt: skip
"""Programs that compute in one go, or draw or write what a record says."""
OWN_FOLDER = {
    "joint_ceiling",
    "joint_study",
    "known_components",
    "levels",
    "model_based",
    "published_regression",
    "shared_study",
    "statistical_study",
}
"""Programs whose output is a folder that keeps answers."""


def test_commands_of_studies_have_the_same_options(capsys: pytest.CaptureFixture[str]) -> None:
    folders = ("examples/comparisons", "examples/published", "tests/recovery/studies")
    paths = [path.relative_to(ROOT) for folder in folders for path in (ROOT / folder).rglob("*.py")]
    programs = {path.stem: path for path in paths if "__main__" in (ROOT / path).read_text("utf-8")}
    assert set(programs) > ALONE | OWN_FOLDER
    for name in sorted(set(programs) - ALONE):
        with pytest.raises(SystemExit):
            importlib.import_module(".".join(programs[name].with_suffix("").parts)).main(["--help"])
        said = capsys.readouterr().out
        assert "--workers" in said, name
        assert "--scheduler" in said, name
        assert ("--checkpoints" in said) == (name not in OWN_FOLDER), name
        assert f"python -m {'.'.join(programs[name].with_suffix('').parts)}" in " ".join(said.split()), name


def test_a_scheduler_needs_dask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingDependencyError, match=r"--scheduler needs Dask; .* 'bayesgroups\[dask\]'"):
        STUDY.main(["--output", str(tmp_path / "sbc.csv"), "--scheduler", "tcp://127.0.0.1:1"])


def test_checkpoints_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    run = Executor(folder=tmp_path)
    (tmp_path / file_name("noise")).write_text("no checkpoint\n")
    with pytest.raises(InputError, match="checkpoint file .* cannot be read .*; delete it, and it is made again"):
        run.run("noise", partial(noise, 0.1), 2)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="checkpoint file .* cannot be written"):
        Executor(folder=tmp_path / "file").run("noise", partial(noise, 0.1), 2)


@pytest.mark.parametrize("workers", [0, True, 1.5, "two"])
def test_workers_must_be_a_number_or_a_client(workers: Any) -> None:
    with pytest.raises(InputError, match="must be a whole number, 1 or larger, or a dask.distributed.Client"):
        Executor(workers)
