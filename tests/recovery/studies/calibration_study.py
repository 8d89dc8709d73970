"""Calibration studies of the engines: designs under one seed, a command, and the records that it writes.

The command of a study writes a line per design and quantity with its tests of uniformity, and beside it, with ``_ranks`` added
to the name, every rank; some studies add numbers of their fits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

import bayesgroups as bg
from bayesgroups.errors import InputError
from bayesgroups.studies.calibrate import Replication
from bayesgroups.studies.execution import HERE, Executor
from bayesgroups.studies.uniformity import uniformity
from examples.commands import executor, parser
from examples.records import as_csv, rows_as_csv, write

Draws = dict[str, NDArray[np.float64]]
Ranks = Mapping[str, NDArray[np.int64]]

DRAWS = 999
"""Draws of one fit: 1,000 possible ranks, which the bins of the chi-square test divide."""
PER_CHAIN = (DRAWS + 1) // 4
"""Draws of each of four chains of equal length; the last draw is left out."""


@dataclass(frozen=True)
class Calibration:
    """One line of the record.

    Attributes
    ----------
    likelihood, quantity : str
        ``likelihood`` is the design.
    replications : int
    chi2_p, ks_p : float
        P-values of uniformity: chi-square on bins, and Kolmogorov-Smirnov, which bounds the whole empirical distribution
        function at once.
    mean_pit, variance_pit : float
        Mean and 12 x variance of (rank + 1/2) / (draws + 1): 1/2 and 1 if uniform. A variance beyond 1 tells of
        draws that vary too little.
    seed : int
    """

    likelihood: str
    quantity: str
    replications: int
    chi2_p: float
    ks_p: float
    mean_pit: float
    variance_pit: float
    seed: int


@dataclass(frozen=True)
class CalibrationStudy:
    """Designs that are calibrated under one seed.

    Attributes
    ----------
    module, description : str
        The program, and its subject in a sentence.
    designs : mapping of str to callable
        Replications by the label of the record's column ``likelihood``.
    replications, seed : int
        Defaults of the command.
    streams : bool
        Whether each design has a stream of its own, ``[seed, position]``; a study of one design has no need of it.
    beside : callable, optional
        From calibrations by design to further records, rows by the end of the file's name.
    """

    module: str
    description: str
    designs: Mapping[str, Replication]
    replications: int
    seed: int
    streams: bool = True
    beside: Callable[[Mapping[str, xr.Dataset]], Mapping[str, Sequence[Sequence[object]]]] | None = None

    def calibrate(
        self, design: str, replications: int | None = None, seed: int | None = None, *, executor: Executor = HERE
    ) -> xr.Dataset:
        """Calibration of one design, by `bayesgroups.calibrate`.

        Raises
        ------
        InputError
            If there is no such design, or there are no replications.
        """
        if design not in self.designs:
            raise InputError(f"likelihood={design!r} is not one of {', '.join(map(repr, self.designs))}")
        chosen = self.seed if seed is None else seed
        return bg.calibrate(
            self.designs[design],
            replications=self.replications if replications is None else replications,
            seed=[chosen, list(self.designs).index(design)] if self.streams else chosen,
            workers=executor.workers,
            folder=executor.folder,
            progress=executor.progress,
        )

    def main(self, arguments: Sequence[str] | None = None) -> None:
        """Run the study and write its records: tests of uniformity, ranks, and what else it has.

        Raises
        ------
        InputError
            If there are no replications.
        """
        output = "the CSV file to write; ranks go beside it"
        options = parser(self.module, self.description, self.replications, self.seed, output=output)
        given = options.parse_args(arguments)
        with executor(given) as run:
            calibrations = {
                design: self.calibrate(design, given.replications, given.seed, executor=run) for design in self.designs
            }
        ranks = {design: ranks_by_quantity(answer) for design, answer in calibrations.items()}
        lines = [line for design, each in ranks.items() for line in measure(design, each, given.seed)]
        texts = {"ranks": ranks_as_csv(ranks)}
        if self.beside is not None:
            texts |= {end: rows_as_csv(rows) for end, rows in self.beside(calibrations).items()}
        write(given.output, as_csv(lines))
        for end, text in texts.items():
            write(given.output.with_name(f"{given.output.stem}_{end}{given.output.suffix}"), text)


def ranks_by_quantity(calibration: xr.Dataset) -> dict[str, NDArray[np.int64]]:
    """Ranks (replication,) of every quantity."""
    return {str(name): calibration["ranks"].sel(quantity=name).values for name in calibration["quantity"].values}


def measure(design: str, ranks: Ranks, seed: int) -> list[Calibration]:
    """Lines of the record from ranks.

    Examples
    --------
    >>> line = measure("none", {"even": np.arange(1000)}, 1)[0]
    >>> line.chi2_p, line.replications, round(line.variance_pit, 3)
    (1.0, 1000, 1.0)
    """
    table = xr.DataArray(list(ranks.values()), dims=("quantity", "replication"), coords={"quantity": list(ranks)})
    tests = uniformity(table, draws=DRAWS).to_dataframe().to_dict("index")
    return [
        Calibration(
            likelihood=design, quantity=str(quantity), replications=table.sizes["replication"], **row, seed=seed
        )
        for quantity, row in tests.items()
    ]


def ranks_as_csv(ranks: Mapping[str, Ranks]) -> str:
    """Every rank as text: a line per design and quantity, a column per replication."""
    lines = [[design, quantity, *rank.tolist()] for design, each in ranks.items() for quantity, rank in each.items()]
    return rows_as_csv([["likelihood", "quantity", *range(len(lines[0]) - 2)], *lines])
