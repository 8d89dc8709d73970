"""Answers of an estimator for one evaluation set, and the file that keeps them."""

from __future__ import annotations

import json
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayesgroups.data.arrays import FloatArray
from bayesgroups.data.files import write_atomically
from bayesgroups.data.texts import as_json
from bayesgroups.errors import InputError
from bayesgroups.studies.checkpoints import readable

PARTS = ("estimate", "lower", "upper")


@dataclass(frozen=True, eq=False)
class Answer:
    """Estimates (metric, subgroup) and unclipped intervals (metric, subgroup, level); NaN where there is no answer.

    ``usable`` is False where a diagnostic of the fit failed.
    """

    estimate: FloatArray
    lower: FloatArray
    upper: FloatArray
    usable: bool


Answers = dict[str, Answer]


@dataclass(frozen=True)
class Identity:
    """Key of a record: population, seed, draw and estimator with its settings."""

    population: str
    seed: int
    draw: int
    estimator: str
    settings: str

    def as_text(self) -> str:
        """All of it as one line of JSON."""
        return as_json(asdict(self))


def place_of(folder: Path, identity: Identity) -> Path:
    """File of a record, readable and different for different names."""
    return folder / f"draw_{identity.draw:04d}__{readable(identity.estimator)}.npz"


def write_answers(path: Path, answers: Answers, identity: Identity) -> None:
    """Answers written in one step, the same bytes for the same numbers; an InputError if the file cannot be written."""
    arrays: dict[str, NDArray[np.generic]] = {
        "identity": np.array(identity.as_text()),
        "names": np.array(list(answers)),
    }
    for i, answer in enumerate(answers.values()):
        arrays |= {f"{part}_{i}": getattr(answer, part) for part in PARTS}
        arrays[f"usable_{i}"] = np.array(answer.usable)

    def write(place: Path) -> None:
        with place.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)

    write_atomically(path, write)


def read_answers(path: Path, identity: Identity) -> Answers | None:
    """Answers of a record; ``None`` where there is none.

    An InputError if the file is damaged or is the record of another study: other data, design, seed or settings.
    """
    if not path.is_file():
        return None
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            kept, names = str(file["identity"]), [str(name) for name in file["names"]]
            answers = {
                name: Answer(file[f"estimate_{i}"], file[f"lower_{i}"], file[f"upper_{i}"], bool(file[f"usable_{i}"]))
                for i, name in enumerate(names)
            }
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as problem:
        raise InputError(
            f"record {str(path)!r} cannot be read ({problem}); delete it, and it is made again"
        ) from problem
    if kept != identity.as_text():
        now = asdict(identity)
        before = json.loads(kept)
        differ = [key for key in now if before.get(key) != now[key]]
        raise InputError(
            f"record {str(path)!r} is of another study ({', '.join(differ)} differ); choose another folder, or delete it"
        )
    return answers
