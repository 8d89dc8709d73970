"""A command of a question lacks no option: its options are its function's parameters, as Python itself has them."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import pytest
import xarray as xr

import bayesgroups as bg
from bayesgroups.cli import app, questions, readers, run
from bayesgroups.cli.questions import GROUPS, QUESTIONS, exceptions, generated
from bayesgroups.cli.questions.question import Question, Table
from bayesgroups.cli.signatures import REQUIRED, function_of, markdown, opening_of
from bayesgroups.cli.values import pairs
from bayesgroups.errors import InputError

Captured = pytest.CaptureFixture[str]
SHARED = {"*", "--json", "--output", "-o", "--show", "--sort"}
FUNCTIONS = sorted({path for question in QUESTIONS.values() for path in (question.function, *question.steps)})


def options_of(name: str) -> dict[str, set[str]]:
    """Spellings of every option of a command by the name of its parameter in Python."""
    arguments = app[name.replace("_", "-")].assemble_argument_collection(parse_docstring=False)
    return {argument.field_info.name: set(argument.names) for argument in arguments}


def taken_by(reader: Callable[..., Any]) -> set[str]:
    return set(inspect.signature(reader).parameters)


@pytest.mark.parametrize("name", sorted(QUESTIONS))
def test_options_are_the_parameters_of_the_function(name: str) -> None:
    question = QUESTIONS[name]
    expected: set[str] = set().union(*map(taken_by, question.reads.values()))
    for path in (question.function, *question.steps):
        function = function_of(path).load()
        parameters = set(inspect.signature(function).parameters) - set(question.reads)
        expected |= {each for each in parameters if f"{function.__name__}.{each}" not in exceptions.WITHOUT_OPTION}
    expected |= {"form"} if question.report else {"answer"} if question.table else {"output"}
    signature = inspect.signature(generated.command_of(question))
    assert set(signature.parameters) == expected
    options = options_of(name)
    assert expected <= set(options) | {"answer", "form", "rows"}
    for parameter, spelled in question.spelled.items():
        assert spelled in options[parameter]


@pytest.mark.parametrize("path", FUNCTIONS)
def test_what_the_source_says_is_what_python_says(path: str) -> None:
    described = function_of(path)
    function = described.load()
    signature = inspect.signature(function)
    assert [argument.name for argument in described.arguments] == list(signature.parameters)
    for argument in described.arguments:
        default = signature.parameters[argument.name].default
        assert argument.default is REQUIRED if default is inspect.Parameter.empty else argument.default == default
        assert argument.help, f"{path}: {argument.name} is not explained"
    opening = (inspect.getdoc(function) or "").partition("\nParameters\n")[0].partition("\nReturns\n")[0]
    assert opening_of(path) == markdown(opening.strip())


def test_an_exception_is_of_a_parameter_that_is_there() -> None:
    parameters = {f"{function_of(path).name}.{each.name}" for path in FUNCTIONS for each in function_of(path).arguments}
    assert set(exceptions.WITHOUT_OPTION) <= parameters
    assert all(exceptions.WITHOUT_OPTION.values())


def test_every_group_and_question_is_shown_once() -> None:
    assert sum(len(questions) for questions in GROUPS.values()) == len(QUESTIONS)


def test_types_of_options() -> None:
    arguments = {each.name: each for each in function_of("questions.certification.optimism.certify").arguments}
    assert arguments["standards"].annotation == tuple[float, ...]
    assert arguments["margins"].annotation is bool
    assert arguments["critical_value"].optional
    assert arguments["source"].annotation is None
    within = next(each for each in function_of("auc_pfc").arguments if each.name == "within")
    assert within.help.startswith('`{"performance": c}`')
    followed = next(each for each in function_of("compare_auc_pfc").arguments if each.name == "within")
    assert followed.help == within.help


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("questions.priors.predictive.nothing", "has no name 'nothing'"),
        ("questions.nowhere.nothing", "no module bayesgroups.questions.nowhere"),
        ("questions.disparities.disparity.Weights", "is no function"),
    ],
)
def test_a_function_that_is_not_there(path: str, said: str) -> None:
    with pytest.raises(LookupError, match=said):
        function_of(path)


def test_an_opening_is_that_of_a_function_of_this_module() -> None:
    with pytest.raises(
        LookupError, match=r"'certify' is not defined in the module bayesgroups\.questions\.certification"
    ):
        opening_of("questions.certification.certify")


def test_a_parameter_without_a_form_is_refused() -> None:
    question = Question("questions.priors.predictive.prior_predictive", "", {"tally": readers.tally}, Table("", {}))
    with pytest.raises(TypeError, match="prior_predictive: estimator has no option; give it a reader or a reason"):
        generated.command_of(question)


def test_a_name_that_is_no_question() -> None:
    from bayesgroups.cli import questions

    with pytest.raises(AttributeError, match="has no attribute 'certifi'"):
        questions.certifi  # noqa: B018


def headings_of(table: ast.Call, module: ModuleType) -> list[str]:
    """All headings of a table as its source has them, those of a name that is unpacked included."""
    columns = table.args[1]
    if isinstance(columns, ast.Name):
        return list(getattr(module, columns.id))
    assert isinstance(columns, ast.Dict | ast.DictComp)
    if isinstance(columns, ast.DictComp):
        return []  # one heading per goal
    headings: list[str] = []
    for key, value in zip(columns.keys, columns.values, strict=True):
        headings += [ast.literal_eval(key)] if key is not None else list(getattr(module, ast.unparse(value)))
    return headings


@pytest.mark.parametrize("path", sorted(Path(questions.__path__[0]).glob("*.py")), ids=lambda path: path.stem)
def test_no_two_columns_of_a_table_have_one_heading(path: Path) -> None:
    """A dictionary keeps the last of two equal keys and says nothing."""
    module = importlib.import_module(f"{questions.__name__}.{path.stem}".removesuffix(".__init__"))
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Table":
            headings = headings_of(node, module)
            assert len(headings) == len(set(headings)), headings


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("generated")
    who = pd.MultiIndex.from_product([["f", "m"], ["x", "y"], ["p", "q"]], names=["sex", "race", "age"]).to_frame(
        index=False
    )
    tally = bg.tally_from_counts([8, 9, 3, 7, 6, 5, 9, 2], [10] * 8, who, metric="acc")
    bg.save_tally(tally, place / "t.nc")
    bg.save_report(bg.estimate(tally, bg.NoPooling(), seed=1), place / "r.nc")
    bg.save_report(bg.estimate(tally, bg.NoPooling(bootstrap=200), seed=1), place / "b.nc")
    judged = {"race": ["a", "b"] * 30, "label": ["u", "v", "w"] * 20, "no": ([0] * 4 + [1]) * 12}
    bg.save_tally(bg.disagreement_tally(pd.DataFrame(judged), ["race"], "label", "no"), place / "d.nc")
    points = {"performance": [0.8, 0.75, 0.7], "fairness": [0.6, 0.8, 0.85]}
    pd.DataFrame({"candidate": list("abc"), **points}).to_csv(place / "models.csv", index=False)
    return place


def asked(line: str, folder: Path) -> list[str]:
    return [str(folder / word) if word.endswith((".nc", ".csv")) else word for word in line.split()]


def answer_of(line: str, folder: Path, target: Path) -> xr.Dataset:
    assert run([*asked(line, folder), "--output", str(target)]) == 0
    with xr.open_dataset(target, engine="h5netcdf") as stored:
        return stored.load()


def test_options_that_commands_once_lacked_reach_the_function(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    tally, report = bg.open_tally(folder / "t.nc"), bg.open_report(folder / "r.nc")
    ask = partial(answer_of, folder=folder, target=tmp_path / "a.nc")
    certified = ask("certify t.nc --margins --order 1")
    assert certified.sizes["subgroup"] == bg.certify(tally, margins=True, order=1).sizes["subgroup"]
    assert certified.sizes["subgroup"] < bg.certify(tally, margins=True).sizes["subgroup"]
    within = ask("disparity r.nc --measure gini --tolerance gini=0.1")["probability_within"]
    xr.testing.assert_allclose(
        within.drop_attrs(), bg.disparity(report, ["gini"], tolerance={"gini": 0.1})["probability_within"].drop_attrs()
    )
    entropy = ask("disparity t.nc --measure generalised_entropy --alpha 0")["value"].item()
    assert entropy == bg.disparity(tally, ["generalised_entropy"], alpha=0.0)["value"].item()
    part = ask("auc-pfc models.csv --anchor 0.3 1 --within performance=0.75")["area"].item()
    assert part < ask("auc-pfc models.csv --anchor 0.3 1")["area"].item()
    assert ask("discoveries t.nc --reference 0.5").attrs["reference"] == 0.5
    sets = ask("disagreement-sets d.nc --notion equal_opportunity --kind credible --prior 5 --draws 50")
    flat = ask("disagreement-sets d.nc --notion equal_opportunity --kind credible --draws 50")
    assert not sets["credible_lower"].equals(flat["credible_lower"])
    capsys.readouterr()


def test_former_names_of_options_and_their_words_are_understood(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    renamed = {
        (name, each.name, each.former) for name in QUESTIONS for each in function_of(QUESTIONS[name].function).arguments
    }
    renamed = {entry for entry in renamed if entry[2]}
    assert ("disparity", "using", "approach") in renamed
    for name, present, former in renamed:
        assert {f"--{present}", f"--{former}"} <= options_of(name)[present]
    ask = partial(answer_of, folder=folder, target=tmp_path / "a.nc")
    frequentist = ask("disparity b.nc --measure gini --approach frequentist")
    xr.testing.assert_identical(frequentist, ask("disparity b.nc --measure gini --using bootstrap"))
    assert not frequentist["value"].equals(ask("disparity b.nc --measure gini --using posterior")["value"])
    assert ask("certify b.nc --part tally").attrs == ask("certify b.nc --using tally").attrs
    assert run(asked("disparity b.nc --approach both", folder)) == 2
    assert "--approach" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("disparity r.nc --tolerance gini", "--tolerance 'gini' is not of the form name=value"),
        ("disparity r.nc --tolerance gini=a", "--tolerance 'gini=a': 'a' is no number"),
        ("disparity r.nc --tolerance gini=1 --tolerance gini=2", "--tolerance names 'gini' twice; give it once"),
        ("discoveries r.nc --reference rst", "neither a number nor a name; did you mean 'rest'"),
        ("disagreement-sets d.nc --notion calibration --prior 2", "--prior is no option of confidence sets"),
        ("disagreement-sets d.nc --notion calibration --kind credible --form published", "--form is no option of credible"),
    ],
)  # fmt: skip
def test_bad_values_are_one_message(line: str, said: str, folder: Path, capsys: Captured, monkeypatch: Any) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    assert run(asked(line, folder)) == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.err.count("\n") == 1


def test_a_whole_number_is_asked_for() -> None:
    with pytest.raises(InputError, match="'1.5' is no whole number"):
        pairs(("method=1.5",), option="--settings-tried", kind=int)


def test_the_help_of_a_command_imports_nothing_heavy() -> None:
    code = (
        "import sys, io, json, contextlib\nfrom bayesgroups.cli import run\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n    run(['--help']); run(['certify', '--help'])\n"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"numpy", "pandas", "xarray", "scipy", "pymc", "arviz", "narwhals", "matplotlib"}
    assert not heavy & set(json.loads(done.stdout))
