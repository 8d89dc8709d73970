"""Interrupts that wait until a function is compiled."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from typing import Any

import pytest
from numba import njit
from numba.core.compiler_lock import global_compiler_lock
from numba.core.event import Event, Listener, install_listener

from bayesgroups.inference.compilations import whole_compilations


class Impatient(Listener):
    """Sends an interrupt at every pass of the compiler."""

    passes = 0

    def on_start(self, event: Event) -> None:
        self.passes += 1
        signal.raise_signal(signal.SIGINT)

    def on_end(self, event: Event) -> None: ...


@pytest.fixture(autouse=True)
def interrupts_are_heard() -> None:
    """A shell may have started this process with interrupts ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def multiple(factor: int) -> Any:
    """A function that is not compiled yet."""
    return njit(lambda x: factor * x)


def test_an_interrupt_waits_until_a_function_is_compiled() -> None:
    """It comes in the middle of LLVM's work and is answered when the compiler is free again, so that the function runs."""
    doubled, impatient = multiple(2), Impatient()
    with pytest.raises(KeyboardInterrupt), whole_compilations(), install_listener("numba:run_pass", impatient):
        doubled(1.0)
    assert impatient.passes > 10
    assert doubled.signatures, "compiled to the end"
    lock: Any = global_compiler_lock
    assert not lock.is_locked()
    assert doubled(1.5) == 3.0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_without_it_a_function_is_left_half_way() -> None:
    impatient, tripled = Impatient(), multiple(3)
    with pytest.raises(KeyboardInterrupt), install_listener("numba:run_pass", impatient):
        tripled(1.0)
    assert impatient.passes == 1
    assert not tripled.signatures


def test_an_interrupt_between_compilations_is_answered_at_once() -> None:
    def stretch() -> None:
        with whole_compilations():
            signal.raise_signal(signal.SIGINT)
            pytest.fail("not at once")

    with pytest.raises(KeyboardInterrupt):
        stretch()


def test_other_threads_compile_without_holding_interrupts() -> None:
    tripled = multiple(3)
    with whole_compilations():
        thread = threading.Thread(target=tripled, args=(1.0,))
        thread.start()
        thread.join()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert tripled(2.0) == 6.0


HALF_WAY = """
import gc, signal
import llvmlite.binding.module as module
from llvmlite.binding import ffi
from numba import njit
from bayesgroups.inference.compilations import whole_compilations

def link_modules(to, taken):
    with ffi.OutputString() as said:
        ffi.lib.LLVMPY_LinkModules(to, taken, said)
        signal.raise_signal(signal.SIGINT)  # LLVM has taken the module, and its owner does not know yet
        taken.detach()

module.link_modules = link_modules
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    with whole_compilations():
        njit(lambda x: 2 * x)(1.0)
except KeyboardInterrupt:
    gc.collect()
    print("alive")
"""


def test_a_process_outlives_an_interrupt_of_llvm() -> None:
    """Without `whole_compilations` this one ends by SIGSEGV: the module is freed twice."""
    ended = subprocess.run([sys.executable, "-c", HALF_WAY], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "alive\n"), ended.stderr
