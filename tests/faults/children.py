"""Forks of a warm process in which one action meets one fault, and what they said and how they ended."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Action = Callable[[Path], int]
"""What is done in a folder; the exit code."""
PATIENCE = 120.0
"""Seconds after which an action hangs."""


@dataclass(frozen=True)
class End:
    """Exit code of a child, negative the signal that ended it, None of one that hung; what it printed; and seconds."""

    code: int | None
    said: str
    seconds: float

    @property
    def raw(self) -> bool:
        """Error that is not in the project's own words."""
        return "Traceback" in self.said or (self.code is not None and self.code < 0 and self.code != -signal.SIGKILL)


def child(
    action: Action,
    folder: Path,
    *,
    after: float | None = None,
    send: int = signal.SIGKILL,
    limit: tuple[int, int] | None = None,
) -> End:
    """One action in a fork, which gets a signal ``after`` seconds, or has a limit of a resource."""
    reading, writing = os.pipe()  # a file would meet the limit of files
    start = time.monotonic()
    process = os.fork()
    if process == 0:
        os.close(reading)
        _become(action, folder, writing, limit)
    os.close(writing)
    if after is not None:
        time.sleep(after)
        os.kill(process, send)
    code: int | None = None
    while code is None and time.monotonic() - start < PATIENCE:
        ended, status = os.waitpid(process, os.WNOHANG)
        code = os.waitstatus_to_exitcode(status) if ended else None
        time.sleep(0.002)
    if code is None:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    with open(reading, "rb") as pipe:
        said = pipe.read().decode(errors="replace")
    end = End(code, said, time.monotonic() - start)
    if end.raw:
        print(f"{folder.name}: exit code {code}\n{said}", file=sys.stderr)
    return end


def _become(action: Action, folder: Path, output: int, limit: tuple[int, int] | None) -> None:
    """The child: never returns."""
    code = 70
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may start us with interrupts ignored
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.stdout, sys.stderr = (os.fdopen(os.dup(number), "w", buffering=1) for number in (1, 2))
        os.chdir(folder)
        if limit is not None:
            kind, size = limit
            resource.setrlimit(kind, (size, resource.getrlimit(kind)[1]))
        code = action(folder)
    except KeyboardInterrupt:  # before or after the action, which is not what is tested
        code = 130
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)
