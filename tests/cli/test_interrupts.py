"""Interrupts where the interpreter drops them, and a second one while the first is answered."""

from __future__ import annotations

import os
import signal
import sys
import time
import weakref

import pytest

from bayesgroups import cli
from bayesgroups.cli.interrupts import delivered_interrupts, without_interrupts


class Referent:
    """Something that a weak reference can be to."""


def raise_in_a_callback(problem: BaseException) -> None:
    """An exception where the interpreter prints it and goes on."""

    def callback(_: object) -> None:
        raise problem

    referent = Referent()
    reference = weakref.ref(referent, callback)
    del referent
    assert reference() is None


@pytest.fixture
def interrupts_are_heard() -> None:
    """A shell may have started this process with interrupts ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.usefixtures("interrupts_are_heard")
def test_an_interrupt_in_a_callback_is_raised_a_moment_later(capfd: pytest.CaptureFixture[str]) -> None:
    hook = sys.unraisablehook

    def interrupted() -> None:
        with delivered_interrupts():
            raise_in_a_callback(KeyboardInterrupt())
            raise_in_a_callback(ValueError("half made"))
            for _ in range(500):
                time.sleep(0.01)

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert sys.unraisablehook is hook
    assert capfd.readouterr().err == ""


def test_other_exceptions_in_callbacks_are_printed_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    ignored: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda each: ignored.append(each.exc_value))
    problem = ValueError("a library's own")
    with delivered_interrupts():
        raise_in_a_callback(problem)
    assert ignored == [problem]


@pytest.mark.usefixtures("interrupts_are_heard")
def test_a_second_interrupt_is_not_heard_while_the_first_is_answered(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def call(words: list[str]) -> object:
        raise KeyboardInterrupt

    complain = cli._complain

    def interrupted_again(problem: object, code: int) -> int:
        os.kill(os.getpid(), signal.SIGINT)
        return complain(problem, code)

    monkeypatch.setattr(cli, "_call", call)
    monkeypatch.setattr(cli, "_complain", interrupted_again)
    assert cli.run(["demo"]) == cli.INTERRUPTED
    assert "interrupted; files are as they were or whole" in capfd.readouterr().err
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("interrupts_are_heard")
def test_an_error_that_an_interrupt_became_is_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def call(words: list[str]) -> object:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
        except KeyboardInterrupt:  # as compiled code does that asks for an array and gets none
            raise TypeError("incompatible arguments") from None
        return 0

    monkeypatch.setattr(cli, "_call", call)
    assert cli.run(["demo"]) == cli.INTERRUPTED
    assert "interrupted; files are as they were or whole" in capfd.readouterr().err
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_without_an_interrupt_is_raised_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def call(words: list[str]) -> object:
        raise TypeError("incompatible arguments")

    monkeypatch.setattr(cli, "_call", call)
    with pytest.raises(TypeError, match="incompatible arguments"):
        cli.run(["demo"])


@pytest.mark.usefixtures("interrupts_are_heard")
def test_what_a_library_prints_after_an_interrupt_is_not_printed(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    hook = sys.excepthook

    def call(words: list[str]) -> object:
        problem = ValueError("closed file")
        sys.excepthook(ValueError, problem, None)  # as compiled code prints what it cannot raise
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
        finally:
            sys.excepthook(ValueError, problem, None)
        return 0

    monkeypatch.setattr(cli, "_call", call)
    assert cli.run(["demo"]) == cli.INTERRUPTED
    assert capfd.readouterr().err.count("closed file") == 1
    assert sys.excepthook is hook


class HalfMade:
    """An object that an interrupt left without what it closes."""

    def __del__(self) -> None:
        raise AttributeError("half made")


@pytest.mark.usefixtures("interrupts_are_heard")
def test_what_an_interrupt_left_half_made_says_nothing(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def call(words: list[str]) -> object:
        held = HalfMade()
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
        return held

    monkeypatch.setattr(cli, "_call", call)
    assert cli.run(["demo"]) == cli.INTERRUPTED
    assert "half made" not in capfd.readouterr().err


def test_other_threads_have_no_interrupts_to_silence() -> None:
    import threading

    ended: list[bool] = []

    def stretch() -> None:
        with without_interrupts():
            ended.append(True)

    thread = threading.Thread(target=stretch)
    thread.start()
    thread.join()
    assert ended == [True]
