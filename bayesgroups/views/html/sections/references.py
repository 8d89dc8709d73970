"""The papers behind what a page shows."""

from __future__ import annotations

from collections.abc import Collection

_WORDS = {
    "james_stein": ("Efron, Morris (1975), Data analysis using Stein's estimator, doi:10.1080/01621459.1975.10479864",),
    "partial_pooling": (
        "Gelman et al. (2013), Bayesian Data Analysis, 3rd edition, chapter 5",
        "Morris (1983), Parametric empirical Bayes inference, doi:10.1080/01621459.1983.10477920",
    ),
    "crossed_effects": (
        "Khodak, Mackey, Chouldechova, Dudik (2024), SureMap, doi:10.48550/arXiv.2411.09730",
        "Gelman (2006), Prior distributions for variance parameters, doi:10.1214/06-BA117A",
    ),
    "structured_regression": (
        "Piironen, Vehtari (2017), Sparsity information and regularization, doi:10.1214/17-EJS1337SI",
        "Herlihy et al. (2024), Structured regression for disaggregated evaluation",
    ),
    "model_based_metrics": ("Miller, Gatys, Futoma, Fox (2021), Model-based metrics",),
    "confusion": ("Gelman (2006), Prior distributions for variance parameters, doi:10.1214/06-BA117A",),
    "disagreement": ("Gustafson (2010), Partially identified models, doi:10.2202/1557-4679.1206",),
}
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


def references(word: str, intervals: Collection[str], inference: str) -> list[str]:
    """References of an estimator, of interval methods, of the engine and of the questions that the page answers.

    Examples
    --------
    >>> references("james_stein", {"wilson"}, "collapsed")[1]
    'Wilson (1927), Probable inference, doi:10.1080/01621459.1927.10502953'
    """
    found = [*_WORDS.get(word, ()), *(said for name, said in _INTERVALS.items() if name in intervals)]
    return [*found, *([_NUTS] if "nuts" in inference else []), *_PAGE]
