"""Rank-normalised split R-hat and effective sample sizes of many quantities at once.

Vehtari et al. (2021), "Rank-normalization, folding, and localization", doi:10.1214/20-BA1221. Every quantity is sorted once, for
its ranks, those of its distances from the median, and the ends of its tail.
"""

from __future__ import annotations

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtri

from bayesgroups.data.arrays import BoolArray, FloatArray, IndexArray

MIN_DRAWS_OF_A_CHAIN = 4
"""Draws of a chain below which nothing is said."""
MIN_RANGE = 1e-15
"""Range of values that do not vary to the computer."""
FIRST_LAGS = (6, 24)
"""Lags that are looked at before all of them are."""


def statistics(draws: FloatArray, tail: tuple[float, float]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """R-hat, bulk and tail effective sample sizes (quantity,), from draws (quantity, chain, draw), all of them finite.

    R-hat is the larger one of ranks and of folded ranks; ``tail`` are the quantiles beyond which draws are counted for the tail.
    NaN for fewer than four draws of a chain, and R-hat for one chain.

    >>> draws = np.random.default_rng(1).standard_normal((2, 4, 500)) + np.array([0.0, 0.5])[:, None, None] * np.arange(4)[:, None]
    >>> r_hat, bulk, tail = statistics(draws, (0.05, 0.95))
    >>> r_hat.round(2).tolist(), (bulk > 1000).tolist()
    ([1.01, 1.15], [True, False])
    """
    if draws.shape[2] < MIN_DRAWS_OF_A_CHAIN:
        nothing = np.full(len(draws), np.nan)
        return nothing, nothing, nothing
    half = draws.shape[2] // 2
    cut = np.concatenate([draws[..., :half], draws[..., -half:]], axis=1)
    flat = cut.reshape(len(draws), -1)
    order = np.argsort(flat, axis=1)
    ordered = np.take_along_axis(flat, order, axis=1)
    score = _scores(order, ordered).reshape(cut.shape)
    size = flat.shape[1]
    middle = 0.5 * (ordered[:, [(size - 1) // 2]] + ordered[:, [size // 2]])
    folded = _scores(*folded_order(order, ordered, middle)).reshape(cut.shape)
    every = ordered if draws.shape[2] == 2 * half else np.sort(draws.reshape(len(draws), -1), axis=1)
    ends = [_quantile(every, share)[:, None, None] for share in tail]
    bulk, low, high = _effective(np.stack([score, cut <= ends[0], cut <= ends[1]], dtype=np.float64))
    r_hat = np.maximum(_r_hat(score), _r_hat(folded)) if draws.shape[1] > 1 else np.full(len(draws), np.nan)
    return r_hat, bulk, np.minimum(low, high)


def _quantile(ordered: FloatArray, share: float) -> FloatArray:
    """Quantiles (quantity,) of draws in order (quantity, draw), those of `numpy.quantile`, which sorts them again."""
    below, between = divmod(share * (ordered.shape[1] - 1), 1)
    return np.asarray(np.quantile(ordered[:, int(below) : int(below) + 2], between, axis=1))


def folded_order(order: IndexArray, ordered: FloatArray, middle: FloatArray) -> tuple[IndexArray, FloatArray]:
    """Order (quantity, draw) of distances from the ``middle`` (quantity, 1), and these in order; from the order of draws.

    Draws up to the middle and those from there on lie in two runs that only have to be merged.

    >>> draws = np.array([[5.0, 1.0, 2.0, 4.0]])
    >>> order = np.argsort(draws, axis=1)
    >>> [each.tolist() for each in folded_order(order, np.sort(draws, axis=1), np.array([[3.0]]))]
    [[[2, 3, 1, 0]], [[1.0, 1.0, 2.0, 2.0]]]
    """
    distance, half = np.abs(ordered - middle), order.shape[1] // 2
    distance[:, :half] = distance[:, :half][:, ::-1].copy()
    merged = np.argsort(distance, axis=1, kind="stable")  # which finds runs
    source = np.concatenate([order[:, :half][:, ::-1], order[:, half:]], axis=1)
    return np.take_along_axis(source, merged, axis=1), np.take_along_axis(distance, merged, axis=1)


def _scores(order: IndexArray, ordered: FloatArray) -> FloatArray:
    """Normal scores (quantity, draw) of ranks, from the order of draws and the draws in order; ties share their mean rank."""
    quantities, size = order.shape
    by_rank = np.broadcast_to(ndtri((np.arange(1, size + 1) - 0.375) / (size + 0.25)), order.shape)
    tied = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    if tied.any():
        by_rank = by_rank.copy()
        for at in np.flatnonzero(tied):
            run = np.concatenate([[0], np.cumsum(ordered[at, 1:] != ordered[at, :-1])])
            mean_rank = (np.bincount(run, np.arange(1.0, size + 1)) / np.bincount(run))[run]
            by_rank[at] = ndtri((mean_rank - 0.375) / (size + 0.25))
    scores = np.empty((quantities, size))
    np.put_along_axis(scores, order, by_rank, axis=1)
    return scores


def _r_hat(values: FloatArray) -> FloatArray:
    """R-hat (quantity,) of values (quantity, chain, draw)."""
    draws = values.shape[2]
    within = values.var(axis=2, ddof=1).mean(axis=1)
    between = draws * values.mean(axis=2).var(axis=1, ddof=1)
    return np.asarray(np.sqrt((between / within + draws - 1) / draws))


def _effective(values: FloatArray) -> FloatArray:
    """Effective sample sizes (...,) of values (..., chain, draw), by Geyer's initial monotone sequence."""
    shape, draws = values.shape[:-2], values.shape[-1]
    values = values.reshape(-1, *values.shape[-2:])
    mean = values.mean(axis=-1, keepdims=True)
    centred = values - mean
    between = mean[..., 0].var(axis=-1, ddof=1) if values.shape[1] > 1 else np.zeros(len(values))
    # Where chains mix, few lags tell; all of them are had at the price of many.
    time, left = np.empty(len(values)), np.arange(len(values))
    for lags in FIRST_LAGS:
        time[left], told = _time(_first_lags(centred, min(lags, draws)), between, draws)
        left, centred, between = left[~told], centred[~told], between[~told]
    if len(left):
        time[left] = _time(_all_lags(centred), between, draws)[0]
    number = values[0].size
    effective = number / np.maximum(time, 1 / np.log10(number))
    return np.asarray(
        np.where(np.ptp(values, axis=(1, 2)) < MIN_RANGE, number, effective).reshape(shape), dtype=np.float64
    )


def _first_lags(centred: FloatArray, lags: int) -> FloatArray:
    """Autocovariances (quantity, lag) of the first lags, averaged over chains."""
    draws = centred.shape[-1]
    covariance = np.empty((len(centred), lags))
    for lag in range(lags):
        covariance[:, lag] = np.einsum("qcd,qcd->q", centred[..., lag:], centred[..., : draws - lag])
    return np.asarray(covariance / (draws * centred.shape[1]), dtype=np.float64)


def _all_lags(centred: FloatArray) -> FloatArray:
    """Autocovariances (quantity, lag), averaged over chains."""
    draws = centred.shape[-1]
    length = next_fast_len(2 * draws, real=True)
    transformed = np.asarray(rfft(centred, length, axis=-1), dtype=np.complex128)
    power = (transformed.real**2 + transformed.imag**2).mean(axis=-2)
    covariance: FloatArray = np.asarray(irfft(power, length, axis=-1), dtype=np.float64)
    return np.asarray(covariance[..., :draws] / draws)


def _time(covariance: FloatArray, between: FloatArray, draws: int) -> tuple[FloatArray, BoolArray]:
    """Integrated autocorrelation times (quantity,), and whether lags were enough; from autocovariances (quantity, lag).

    ``between`` (quantity,) are variances of the means of chains of so many ``draws``.
    """
    lags = covariance.shape[1]
    within = covariance[:, :1] * (draws / (draws - 1.0))
    correlation = 1.0 - (within - covariance) / (covariance[:, :1] + between[:, None])
    correlation[:, 0] = 1.0
    # Sums of pairs of lags up to the first that is not positive, no pair larger than one before it.
    pairs = correlation[:, 0 : lags - 1 : 2] + correlation[:, 1:lags:2]
    most = min(max(0, -(-(draws - 4) // 2)), pairs.shape[1] - 1)
    ends = (pairs <= 0).any(axis=1)
    stop = np.minimum(np.where(ends, (pairs <= 0).argmax(axis=1), most), most)[:, None]
    before = np.arange(pairs.shape[1]) < stop
    time = -1.0 + 2.0 * np.where(before, np.minimum.accumulate(pairs, axis=1), 0.0).sum(axis=1)
    # One more lag improves it: where it is positive, or in a pair that is.
    last = np.take_along_axis(correlation, 2 * stop, axis=1)[:, 0]
    time = time + np.where(np.take_along_axis(pairs, stop, axis=1)[:, 0] > 0, last, np.maximum(last, 0.0))
    return time, ends | (lags == draws)
