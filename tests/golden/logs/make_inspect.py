"""Logs of Inspect, made by Inspect itself with its mock model: see README.md.

Run in a folder of its own with ``inspect-ai`` installed: ``python make_inspect.py inspect``.
"""

from __future__ import annotations

import random
import sys
import zipfile
from pathlib import Path

from inspect_ai import Epochs, Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, Target, match, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver

LANGUAGES = ("en", "sw")
ITEMS, EPOCHS = 8, 2


@scorer(metrics=[mean()])
def brevity():
    """Scorer of partial credit: the share of a limit of 20 signs that an answer leaves; one item has no score."""

    async def score(state: TaskState, target: Target) -> Score:
        if state.sample_id == "q03":
            return Score(value=float("nan"), explanation="nothing to measure")
        return Score(value=max(0.0, 1 - len(state.output.completion) / 20))

    return score


@scorer(metrics={"tone": [mean()], "facts": [mean()]})
def judge():
    """Scorer with two values per answer."""

    async def score(state: TaskState, target: Target) -> Score:
        return Score(value={"tone": 1.0, "facts": float(target.text in state.output.completion)})

    return score


@solver
def crash(item: int | None) -> Solver:
    """Solver that fails on one item."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if state.sample_id == f"q{item or 0:02d}" and item is not None and state.epoch == 1:
            raise RuntimeError("the sandbox is out of memory")
        return state

    return solve


def task(failing: int | None) -> Task:
    samples = [
        Sample(
            id=f"q{i:02d}",
            input=f"{i} + 1 = ?",
            target=str(i + 1),
            metadata={"language": LANGUAGES[i % 2], "template": i // 4},
        )
        for i in range(ITEMS)
    ]
    return Task(
        name="sums",
        dataset=MemoryDataset(samples),
        solver=[crash(failing), generate()],
        scorer=[match(numeric=True), brevity(), judge()],
        epochs=Epochs(EPOCHS, "mean"),
    )


def answer(text: str) -> ModelOutput:
    """Answer with its usage, which Inspect would else count with a vocabulary from the network."""
    output = ModelOutput.from_content("mockllm/model", text)
    output.usage = ModelUsage(input_tokens=5, output_tokens=1, total_tokens=6)
    return output


def answers(share: float, seed: int, failing: int | None) -> list[ModelOutput]:
    """Answers in the order of the items, epoch after epoch; one that fails takes none."""
    rng = random.Random(seed)
    asked = [(epoch, i) for epoch in range(EPOCHS) for i in range(ITEMS) if (epoch, i) != (0, failing)]
    return [answer(str(i + 1) if rng.random() < share else "0") for _, i in asked]


def trimmed(log: Path, place: Path) -> None:
    """The header and the summaries of a log, byte for byte and compressed as Inspect does it; samples hold ten times as much."""
    with zipfile.ZipFile(log) as whole, zipfile.ZipFile(place, "w", whole.infolist()[0].compress_type) as kept:
        for name in ("header.json", "summaries.json"):
            kept.writestr(zipfile.ZipInfo(name), whole.read(name), whole.getinfo(name).compress_type)


def main(folder: Path) -> None:
    for name, share, seed, failing in (("new", 0.8, 1, None), ("old", 0.4, 2, 5)):
        model = get_model(f"mockllm/{name}", custom_outputs=answers(share, seed, failing))
        log = evaluate(
            task(failing),
            model=model,
            log_dir=str(folder / "whole"),
            log_format="eval",
            fail_on_error=False,
            max_samples=1,
            display="none",
            log_realtime=False,
        )[0]
        trimmed(Path(log.location), folder / f"{name}.eval")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
