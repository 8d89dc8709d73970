"""Checkpoints of a study: its answers as they come, a line of JSON each, from which an interrupted study goes on."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayesgroups.errors import InputError

HEAD = "journal"
"""Key of the first line, which holds the identity of the study."""


@dataclass(frozen=True)
class Checkpoints:
    """File of answers, made with its folder when the first answer comes, and the ``identity`` of the study that they are of.

    A process that is stopped while it writes leaves a line without an end, which is not read, and whose piece is computed
    again. Floats come back as they were. Answers to a study of another identity (settings, design, seed) are refused.
    """

    path: Path
    identity: str

    def read(self) -> dict[int, Any]:
        """Answers by piece, none where there is no file; an InputError if it holds no checkpoints, or those of another study."""
        if not self.path.is_file():
            return {}
        try:
            lines = self.path.read_bytes().split(b"\n")[:-1]
            records = [json.loads(line) for line in lines]
            answers = {int(line["piece"]): line["answer"] for line in records[1:]}
            identity = records[0][HEAD] if records else self.identity
        except (OSError, ValueError, TypeError, KeyError) as problem:
            raise InputError(
                f"checkpoint file {str(self.path)!r} cannot be read ({problem}); delete it, and it is made again"
            ) from problem
        if identity != self.identity:
            raise InputError(
                f"checkpoint file {str(self.path)!r} is of another study ({identity}, and not {self.identity}); "
                "choose another folder, or delete it"
            )
        return answers

    def add(self, piece: int, answer: Any) -> None:
        """Writes one answer at the end, or raises an InputError."""
        line = json.dumps({"piece": piece, "answer": answer}) + "\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a+b") as file:
                end = _whole(file)
                head = json.dumps({HEAD: self.identity}) + "\n" if end == 0 else ""
                file.truncate(end)
                file.write((head + line).encode())
        except OSError as problem:
            reason = problem.strerror or str(problem)
            raise InputError(f"checkpoint file {str(self.path)!r} cannot be written: {reason}") from problem


def file_name(name: str) -> str:
    """File name for what is computed, readable and different for different names."""
    return f"{readable(name)}.jsonl"


def readable(name: str) -> str:
    """Part of a file name with the letters and digits of a name, and a digest that tells it from similar names."""
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:60]
    return f"{plain}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _whole(file: Any) -> int:
    """The end of the last whole line."""
    size = int(file.seek(0, 2))
    at = size
    while at > 0:
        start = max(at - 4096, 0)
        file.seek(start)
        newline = file.read(at - start).rfind(b"\n")
        if newline >= 0:
            return start + int(newline) + 1
        at = start
    return 0
