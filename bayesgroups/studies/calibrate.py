"""Simulation-based calibration: ranks of true values among posterior draws, and tests of their uniformity.

Truth is drawn from the prior, data from the likelihood given the truth. The rank of a true value among the draws of the
posterior is then uniform if the draws are those of the posterior; a rank that is not uniform tells of an error in the model, in
the engine, or in the way its draws are reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayesgroups.data.keywords import checked_keywords
from bayesgroups.errors import InputError
from bayesgroups.studies.execution import Executor, Progress, check_sendable
from bayesgroups.studies.resampling import describe
from bayesgroups.studies.uniformity import BINS, uniformity

if TYPE_CHECKING:
    from distributed import Client

Replication = Callable[[np.random.Generator], Sequence[Mapping[str, ArrayLike]]]
"""From a source of randomness to the truth and the draws of one simulated data set, and, if wanted, numbers of its fit."""


class Ranked(TypedDict):
    """Ranks by quantity, number of draws and numbers of the fit of one replication, as a checkpoint keeps them."""

    ranks: dict[str, int]
    draws: int
    fit: dict[str, float]


@checked_keywords
def calibrate(
    replication: Replication,
    quantities: Sequence[str] | None = None,
    *,
    replications: int,
    seed: int | Sequence[int],
    bins: int = BINS,
    workers: int | Client = 1,
    folder: str | Path | None = None,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Ranks of true values among posterior draws over simulated data sets, and tests of their uniformity.

    Parameters
    ----------
    replication : callable
        ``replication(rng)`` draws the truth from the prior and data given the truth, fits the data, and returns
        ``(truth, draws)``: mappings of the same names to a number and to an array (draw,), in the same units. All quantities of
        all replications have equally many draws, which should be independent: thin those of Markov chains. A function of the
        data such as the log likelihood makes a good further quantity, for its ranks also tell of data that were ignored. A
        third mapping, of names to numbers of the fit such as its k-hat, is kept beside the ranks.
    quantities : sequence of str, optional
        Names of the quantities to rank, in this order; all that the first replication returns when left out.
    replications : int
        Simulated data sets, 1 or more. The first ones are the same however many there are.
    seed : int or sequence of int
        Source of all randomness: replication i uses ``numpy.random.default_rng([seed, i])``, whatever the number of workers; of a
        sequence ``[*seed, i]``, which gives several designs of one study streams of their own.
    bins : int
        Bins of the chi-square test, from 2 to draws + 1; its p-value asks for five replications per bin or more.
    workers : int or dask.distributed.Client
        Processes of this machine, or the client of a cluster. With more than one, ``replication`` must be importable (no lambda).
    folder : str or Path, optional
        Where ranks are written as they come. A later call with the same folder, function and seed goes on from there, with more
        replications or after an interruption. ``replication`` must then be a function of a module, or a `functools.partial` of
        one, for its name tells the checkpoints of one calibration from those of another; its code is not compared.
    progress : callable, optional
        Called with (name of the function, finished replications, all replications).

    Returns
    -------
    xr.Dataset
        ``ranks(quantity, replication)``: draws below the true value, whole numbers from 0 to ``draws``; a draw that equals it
        counts as below or not at random. ``chi2_p`` and ``ks_p`` (quantity,): p-values of uniformity, of the chi-square test on
        bins and of the Kolmogorov-Smirnov test on the whole distribution function. ``mean_pit`` and ``variance_pit`` (quantity,):
        mean, and 12 times the mean squared distance from 1/2, of the probability integral transform (rank + 1/2) / (draws + 1):
        1/2 and 1 if uniform, and a variance above 1 where draws vary too little. ``fit(measure, replication)``, if numbers of the
        fit were returned. Attributes ``draws``, ``replications``, ``seed`` and ``bins``.

    Raises
    ------
    InputError
        If an argument is out of range, names of truth and draws differ, a quantity is missing, is not one number with an array of
        draws or is not finite, numbers of draws differ, the function cannot be sent to a process or has no name of its own for a
        folder, or the folder holds ranks of another calibration.
    EngineError
        If processes or workers keep dying.

    See Also
    --------
    bayesgroups.plots.calibration_ranks : Draws ``ranks`` with a band of uniform ranks.

    References
    ----------
    Talts, Betancourt, Simpson, Vehtari, Gelman (2018), https://doi.org/10.48550/arXiv.1804.06788. Modrak, Moon, Kim, Buerkner,
    Huurre, Faltejskova, Gelman, Vehtari (2023), https://doi.org/10.1214/23-BA1404, on quantities that depend on the data.

    Examples
    --------
    A rate with a uniform prior and its conjugate posterior:

    >>> import bayesgroups as bg
    >>> def conjugate(rng):
    ...     rate = rng.uniform()
    ...     hits = rng.binomial(12, rate)
    ...     return {"rate": rate}, {"rate": rng.beta(1 + hits, 13 - hits, size=99)}
    >>> answer = bg.calibrate(conjugate, replications=200, seed=1)
    >>> answer["ranks"].sizes["replication"], bool(answer["ks_p"].sel(quantity="rate") > 0.01)
    (200, True)
    """
    _check(replication, quantities, replications, seed, bins, workers, folder)
    entropy = [seed] if isinstance(seed, int) else [int(part) for part in seed]
    name = describe(replication)
    chosen = None if quantities is None else list(quantities)
    executor = Executor(workers, None if folder is None else Path(folder), progress)
    settings = {"seed": entropy, "quantities": chosen}
    work = partial(_rank, replication, chosen, entropy)
    answers = executor.run(f"calibration of {name}", work, replications, settings=settings)
    first = answers[0]
    expected = {"quantities": list(first["ranks"]), "numbers of the fit": list(first["fit"])}
    for number, answer in enumerate(answers):
        for names, (of, wanted) in zip((list(answer["ranks"]), list(answer["fit"])), expected.items(), strict=True):
            if names != wanted:
                raise InputError(
                    f"replication {number} returned the {of} {_listed(names)}, replication 0 {_listed(wanted)}; "
                    "all replications must return the same, in the same order"
                )
        if answer["draws"] != first["draws"]:
            raise InputError(
                f"replication {number} returned {answer['draws']} draws, replication 0 {first['draws']}; ranks are "
                "compared among equal numbers of draws, so take as many in every replication"
            )
    ranks = np.array([list(answer["ranks"].values()) for answer in answers], dtype=np.int64).T
    kept = xr.Dataset(
        {"ranks": (("quantity", "replication"), ranks)},
        coords={"quantity": list(first["ranks"]), "replication": np.arange(replications)},
    )
    if first["fit"]:
        numbers = np.array([list(answer["fit"].values()) for answer in answers], dtype=np.float64).T
        kept = kept.assign_coords(measure=list(first["fit"])).assign(fit=(("measure", "replication"), numbers))
    tests = uniformity(kept["ranks"], draws=first["draws"], bins=bins)
    attributes = {"draws": first["draws"], "replications": replications, "seed": seed, "bins": bins}
    return xr.merge([kept, tests]).assign_attrs(attributes)


def _rank(replication: Replication, quantities: list[str] | None, entropy: list[int], number: int) -> Ranked:
    rng = np.random.default_rng([*entropy, number])
    parts = replication(rng)
    if not isinstance(parts, tuple) or len(parts) not in (2, 3) or not all(isinstance(x, Mapping) for x in parts):
        raise InputError(
            f"replication {number} must return a tuple of two mappings, (truth, draws), or three, with numbers of the fit; "
            f"got {parts!r:.200}"
        )
    truth, draws, fit = *parts[:2], parts[2] if len(parts) == 3 else {}
    names = list(truth) if quantities is None else quantities
    if set(truth) != set(draws):
        raise InputError(
            f"replication {number}: truth has the quantities {_listed(truth)} and draws {_listed(draws)}; "
            "both must have the same"
        )
    missing = [name for name in names if name not in truth]
    if missing or not names:
        raise InputError(f"replication {number} has no quantity {_listed(missing)}; it has {_listed(truth)}")
    ranks: dict[str, int] = {}
    sizes: dict[str, int] = {}
    for name in names:
        value, drawn = _number(truth[name], name, number), np.asarray(draws[name], dtype=np.float64)
        if drawn.ndim != 1 or not len(drawn) or not np.isfinite(drawn).all():
            raise InputError(
                f"replication {number}: draws of {name!r} must be an array (draw,) of finite numbers; got shape "
                f"{drawn.shape} with {int((~np.isfinite(drawn)).sum())} that are not finite"
            )
        # Chance breaks ties: equal values, of a quantity with an atom, would otherwise all rank low.
        below, equal = int((drawn < value).sum()), int((drawn == value).sum())
        ranks[name] = below + int(rng.integers(0, equal + 1))
        sizes[name] = len(drawn)
    if len(set(sizes.values())) > 1:
        raise InputError(
            f"replication {number}: quantities have different numbers of draws ({sizes}); rank all of them among as many"
        )
    return {
        "ranks": ranks,
        "draws": sizes[names[0]],
        "fit": {name: float(np.asarray(value, dtype=np.float64)) for name, value in fit.items()},
    }


def _number(value: ArrayLike, name: str, number: int) -> float:
    array: NDArray[np.float64] = np.asarray(value, dtype=np.float64)
    if array.size != 1 or not np.isfinite(array).all():
        raise InputError(
            f"replication {number}: the truth of {name!r} must be one finite number; got {value!r:.100}. Give the elements of "
            f"an array names of their own, such as '{name}[0]'"
        )
    return float(array.item())


def _listed(names: Mapping[str, object] | Sequence[str]) -> str:
    return ", ".join(map(repr, names)) or "(none)"


def _check(
    replication: Replication, quantities: Sequence[str] | None, replications: int, seed: int | Sequence[int], bins: int,
    workers: int | Client, folder: str | Path | None,
) -> None:  # fmt: skip
    if not callable(replication):
        raise InputError(f"replication={replication!r:.100} must be a function of a numpy Generator")
    if isinstance(quantities, str) or (quantities is not None and not list(quantities)):
        raise InputError(f"quantities={quantities!r} must be a list of one name or more, as ['tau']; or leave it out")
    if isinstance(replications, bool) or not isinstance(replications, int) or replications < 1:
        raise InputError(f"replications={replications!r} must be 1 or more, a whole number")
    parts: Sequence[object] = [seed] if isinstance(seed, int) else list(seed) if isinstance(seed, Sequence) else [None]
    if not parts or any(isinstance(part, bool) or not isinstance(part, int) or part < 0 for part in parts):
        raise InputError(f"seed={seed!r} must be a whole number, 0 or larger, or several of them")
    if isinstance(bins, bool) or not isinstance(bins, int) or bins < 2:
        raise InputError(f"bins={bins!r} must be a whole number, 2 or larger")
    name = describe(replication)
    if folder is not None and ("<lambda>" in name or "<locals>" in name):
        raise InputError(
            f"with folder=, replication must be a function of a module: the name {name!r} does not tell its checkpoints from "
            "those of another function"
        )
    Executor(workers)  # refuses what it cannot use
    if workers != 1:
        check_sendable(replication, f"replication {name!r}")
