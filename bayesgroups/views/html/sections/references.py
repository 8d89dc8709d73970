"""The papers behind what a page shows."""

from __future__ import annotations

from collections.abc import Collection

_INTERVALS = {
    "wilson": "Wilson (1927), Probable inference, doi:10.1080/01621459.1927.10502953",
    "clopper_pearson": "Clopper, Pearson (1934), Confidence or fiducial limits, doi:10.1093/biomet/26.4.404",
    "robust": "Armstrong, Kolesar, Plagborg-Moller (2022), Robust empirical Bayes intervals, doi:10.3982/ECTA18597",
    "fab": "Yu, Hoff (2018), Adaptive multigroup confidence intervals, doi:10.1093/biomet/asy009",
    "imbens_manski": "Imbens, Manski (2004), Partially identified parameters, doi:10.1111/j.1468-0262.2004.00555.x",
}
_PAGE = (
    "Lum, Zhang, Bower (2022), De-biasing bias measurement, doi:10.1145/3531146.3533105 (disparity)",
    "Himmelreich, Hsu, Lum, Veomett, The intersectionality problem, doi:10.48550/arXiv.2411.02569 (certification)",
    "Mogstad, Romano, Shaikh, Wilhelm (2024), Inference for ranks, doi:10.1093/restud/rdad006 (ranks)",
    "Kallioinen, Paananen, Burkner, Vehtari (2024), Power-scaling, doi:10.1007/s11222-023-10366-5 (sensitivity to the prior)",
)
_NUTS = "Hoffman, Gelman (2014), The No-U-Turn sampler, JMLR 15"


def references(estimator: Collection[str], intervals: Collection[str], inference: str) -> list[str]:
    """References of the estimator, of interval methods, of the engine and of the questions that the page answers.

    Examples
    --------
    >>> references(["Efron, Morris (1975)"], {"wilson"}, "collapsed")[:2]
    ['Efron, Morris (1975)', 'Wilson (1927), Probable inference, doi:10.1080/01621459.1927.10502953']
    """
    papers = [*estimator, *(paper for name, paper in _INTERVALS.items() if name in intervals)]
    return [*papers, *([_NUTS] if "nuts" in inference else []), *_PAGE]
