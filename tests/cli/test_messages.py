"""Errors on the command line speak of options, whatever the arguments of Python are called."""

from __future__ import annotations

import ast
import re
import shutil
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

import bayesgroups as bg
from bayesgroups.cli import app, run
from bayesgroups.cli.messages import OUTSIDE_ANALYSES, PHRASES, SINGULAR, calls_of, options_of, spoken
from bayesgroups.tallies.files import save_tally

Captured = pytest.CaptureFixture[str]
PACKAGE = Path(bg.__file__).parent
COMMANDS = sorted(name for name in app if not name.startswith("-"))
IN_FILES = {"run", "init"}
"""Commands whose errors speak of keys of an analysis."""


@cache
def messages() -> tuple[str, ...]:
    """Texts of all errors that the package raises, with a value in place of what they are filled with."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
                continue
            for part in node.exc.args:
                if isinstance(part, ast.JoinedStr):
                    texts = [v.value if isinstance(v, ast.Constant) else "'value'" for v in part.values]
                    found.append("".join(map(str, texts)))
                elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                    found.append(part.value)
    return tuple(text for text in found if re.search(r"\b[a-z_]+=", text))


def test_the_sweep_has_messages() -> None:
    assert len(messages()) > 150
    assert any("y_true=" in message for message in messages())


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - IN_FILES))
def test_no_message_names_an_argument_that_the_command_has_an_option_for(name: str) -> None:
    options, calls = options_of(app[name]), calls_of(app)
    assert options["y_true"] == "--y-true"
    kept = [option for option in options if options[option] != f"--set {option}="]
    kept += [plural for plural, singular in SINGULAR.items() if singular in options]
    argument = re.compile(rf"(?<![\w.\-])(?:{'|'.join(map(re.escape, kept))})=(?!=)")
    for message in messages():
        text = spoken(message, options, calls)
        assert argument.search(text) is None, text
        assert "bg.tally(" not in text


@pytest.mark.parametrize("name", sorted(IN_FILES))
def test_an_analysis_has_its_keys(name: str) -> None:
    assert options_of(app[name]) == OUTSIDE_ANALYSES


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("margins=True; normalise=False", "--margins; --no-normalise"),
        ("use interval='none at all', or order=2", "use --interval 'none at all', or --order 2"),
        ("tolerance={'gini': 0.1} and utopia=(1, 2)", "--tolerance gini=0.1 and --utopia 1 2"),
        ("positive=nan is no class", "--positive nan is no class"),
        ("x == 2 and 'successes=' and folds=3", "x == 2 and 'successes=' and folds=3"),
        ("as bg.PartialPooling(tau_scale=1)", "as --estimator partial_pooling --set tau_scale=1"),
        ("by=broken(", "--by broken("),
        ("by=[unquoted]", "--by [unquoted]"),
        ("by=[...], order=2", "--by ..., --order 2"),
    ],
)
def test_values_are_typed_as_a_shell_takes_them(message: str, shown: str) -> None:
    names = ("margins", "normalise", "interval", "order", "tolerance", "utopia", "positive", "by")
    assert spoken(message, {name: f"--{name}" for name in names}, calls_of(app)) == shown


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tallies and a report."""
    place = tmp_path_factory.mktemp("messages")
    counted = bg.tally_from_counts([3, 4], [10, 20], pd.DataFrame({"sex": ["f", "m"]}), metric="fnr")
    save_tally(counted, place / "t.nc")
    bg.save_report(bg.estimate(counted, bg.NoPooling(), seed=1), place / "r.nc")
    save_tally(
        bg.tally_from_counts(
            {"fnr": [3, 4], "acc": [9, 9]}, {"fnr": [10, 20], "acc": [30, 40]}, pd.DataFrame({"sex": ["f", "m"]})
        ),
        place / "two.nc",
    )
    who = pd.DataFrame({"country": ["X"] * 3, "age": ["18", "40", "65"]})
    save_tally(bg.tally_from_counts([3, 4, 5], [10, 20, 30], who), place / "single.nc")
    save_tally(
        bg.tally_from_counts([3, 4] * 3, [10] * 6, who.loc[[0, 0, 1, 1, 2, 2]].assign(sex=["f", "m"] * 3)),
        place / "three.nc",
    )
    return place


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with tallies, a report, rows and tables."""
    monkeypatch.setenv("COLUMNS", "500")
    monkeypatch.chdir(tmp_path)
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    Path("strange.csv").write_text("sex,count\nf,10\nx,20\n")
    Path("margins.csv").write_text("race,count\na,10\nb,20\n")
    Path("rows.csv").write_text("sex,hired,fit\n" + "f,yes,1\nf,no,0\nm,yes,1\nm,no,0\n" * 5)
    Path("models.csv").write_text("candidate,performance,fairness\na,0.5,0.6\nb,0.6,0.5\n")
    return tmp_path


@pytest.mark.parametrize(
    ("line", "option", "argument"),
    [
        ("tally rows.csv --by sex --metric fnr --y-pred fit", "--y-true", "y_true"),
        ("tally rows.csv --by sex --metric fnr --metric fnr --y-pred fit --y-true fit", "--metric", "metrics"),
        ("tally rows.csv --by sex --metric sel --y-pred hired", "--positive yes", "positive="),
        ("tally rows.csv --by sex --by sex --metric sel --y-pred fit", "--by", "by="),
        ("estimate t.nc --estimator no_pooling --set interval=x", "--set interval=x", "interval='"),
        (
            "estimate t.nc --estimator no_pooling --set bootstrap=-1",
            "--set bootstrap=-1",
            " bootstrap=-1 must be 0 or larger, ",
        ),
        ("estimate t.nc --estimator confusion", "bayesgroups tally ... --confusion", "bg.tally"),
        ("auc-intervals t.nc", "--metric auc --y-score score", "metrics="),
        ("disparity t.nc --tolerance gini=0.1", "--tolerance", "tolerance="),
        ("disparity t.nc --level 2", "--level 2.0", "level=2"),
        ("certify t.nc --correction bonferroni --critical-value 2", "--critical-value", "critical_value="),
        ("certify t.nc --order 1", "--margins", "margins=True"),
        ("ranks t.nc --using posterior", "--using posterior", "using='"),
        ("margins t.nc --order 0", "--order 0", "order=0"),
        ("rows-to-narrow t.nc --factor 2", "--factor 2.0", "factor=2"),
        ("auc-pfc models.csv --anchor 0 0 --reading area", "--reading", "reading='"),
        ("select-model models.csv --criterion P@F", "--criterion", "vanilla="),
    ],
)
def test_commands_speak_of_their_options(folder: Path, capsys: Captured, line: str, option: str, argument: str) -> None:
    assert run(line.split()) == 2
    message = capsys.readouterr().err
    assert option in message
    assert argument not in message.replace(option, "")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("compare-systems t.nc", "from bayesgroups paired-tally ... --by ... --compare ...; got a tally or answer without pairs"),
        ("compare-systems rows.csv", "'rows.csv' is no saved tally (.nc); make one of rows first, with bayesgroups paired-tally"),
        ("leaderboard rows.csv", "with bayesgroups paired-tally ... --output tally.nc"),
        ("disagreement-bounds rows.csv --notion calibration", "with bayesgroups disagreement-tally ... --output tally.nc"),
        ("auc-error-bound rows.csv", "with bayesgroups tally ... --output tally.nc"),
        ("posterior-variance rows.csv", "is no saved report (.nc); make one of rows first, with bayesgroups estimate"),
        ("certify two.nc --standard 0.5", "each direction by themselves: tally, or estimate, --metric acc alone"),
        ("contrasts t.nc --reference sex=zzz", "--reference: attribute 'sex' has no level 'zzz'; known: 'f', 'm'"),
        ("poststratify r.nc --population strange.csv", "declare the level where rows are tallied in Python: {'sex': [..., 'x']}"),
        ("poststratify r.nc --population margins.csv", "to bayesgroups poststratify, as --margin race.csv --margin sex_age.csv"),
        ("estimate rows.csv --by sex --metric accuracy --correct fit", "it is 'acc' here, or 'correct' of answers that are graded"),
        ("estimate rows.csv --by sex --metric acc --correct fit", "; --correct names graded answers, whose metric is 'correct'"),
        ("maihda single.nc", "'country' has one level in the strata with rows, 'X', and so no main effect; tally by two"),
        ("maihda three.nc", "and so no main effect; adjust for the others, as --adjust age --adjust sex"),
    ],
)  # fmt: skip
def test_the_mend_is_one_that_a_shell_can_type(folder: Path, capsys: Captured, line: str, said: str) -> None:
    assert run(line.split()) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_what_comes_next_is_a_command_that_takes_the_tally(folder: Path, capsys: Captured) -> None:
    Path("answers.csv").write_text("sex,new,old\n" + "f,1,0\nf,0,0\nm,1,1\nm,0,1\n" * 5)
    for line, command in {
        "paired-tally answers.csv --by sex --compare new --compare old -o next.nc": "compare-systems",
        "tally rows.csv --by sex --metric correct --correct fit -o next.nc": "estimate",
    }.items():
        assert run(line.split()) == 0
        following = capsys.readouterr().out.partition("Next: bayesgroups ")[2].split()
        assert following == [command, "next.nc"]
        assert run(following) == 0
        assert capsys.readouterr().out


@cache
def questions() -> tuple[str, ...]:
    """Code of the questions, its texts written one way."""
    return tuple(ast.unparse(ast.parse(path.read_text(encoding="utf-8"))) for path in PACKAGE.glob("questions/**/*.py"))


@pytest.mark.parametrize("phrase", sorted(PHRASES))
def test_a_phrase_that_is_replaced_is_one_of_a_message(phrase: str) -> None:
    assert any(phrase in text.replace("{{", "{").replace("}}", "}").replace("\\'", "'") for text in questions())
