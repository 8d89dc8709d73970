"""Tables of guides and explanations that are read off the records of studies; `examples.evidence.record_tables` fills them in.

python -m examples.evidence.record_tables
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from examples.comparisons.choice import OVERALL
from examples.evidence.calibrated_records import RECORDS
from examples.pages import blocks, table

read_csv: Any = pd.read_csv
"""Typed as anything: the stubs of pandas do not know what a column of a record holds."""
DOCS = Path(__file__).parents[2] / "docs"
PUBLISHED = Path(__file__).parents[1] / "published"
BENCHMARKS = Path(__file__).parents[2] / "tests" / "benchmarks" / "record.csv"
AXES = {
    "rows": "rows: tally of 4 metrics from Parquet, AUC included",
    "subgroups": "subgroups: partial pooling of counts, 200 draws",
    "attributes": "attributes of 3 levels: crossed effects of all orders, 4,000 draws",
    "binary": "attributes of 2 levels: the same",
    "levels": "levels: crossed effects of order 1, the other attribute has 4 levels",
}
"""Axes of the record of scaling by their name there."""
RULES = {
    "equal_tailed": "equal-tailed",
    "one_sided": "one-sided wherever no or every row is a success",
    "shortest": "**the shorter of equal-tailed and one-sided**",
}
"""Forms of credible limits by their name in the record of limits at the ends of the range."""
CONTRASTS = {
    "newcombe": "Newcombe, differences",
    "koopman": "Koopman, ratios",
    "score_odds_ratio": "score, odds ratios",
    "mid_p_difference": '`interval="mid_p"`, differences',
    "mid_p_ratio": "the same, ratios",
    "mid_p_odds_ratio": "the same, odds ratios",
    "katz": '`interval="delta"` (Katz), ratios',
    "woolf": "the same (Woolf), odds ratios",
}
"""Intervals of contrasts by their name in the record."""
CLUSTERS = {
    ("ignore", "pooled_t", "wilson"): ('`"ignore"`', "pooled t, Wilson"),
    ("robust", "pooled_t", "wilson"): ('`"robust"`', "pooled t, Wilson"),
    ("robust", "cluster_robust", "cluster_robust"): ('`"robust"`', "`cluster_robust`"),
    ("mean", "pooled_t", "pooled_t"): ('`"mean"`', "pooled t"),
}
"""Analysis and interval of means and of rates in the record of clusters, and their names on the page."""
CHOICES = {
    "`NoPooling`": "standard",
    "`JamesStein`, frequentist": "js",
    "`PartialPooling`, Morris": "eb_morris",
    "`PartialPooling`, Bayesian": "partial_pooling (bayesian)",
    "`StructuredRegression`, frequentist": "sr",
    "`CrossedEffects`, SureMap": "suremap",
    "`CrossedEffects`, Bayesian": "crossed_effects (bayesian)",
}
"""Estimators that the page of choices shows by their name in the shared study."""


def percent(share: float) -> str:
    """A share in per cent, without decimals.

    Examples
    --------
    >>> percent(0.945)
    '94 %'
    """
    return f"{share:.0%}".replace("%", " %")


def hostile_data() -> dict[str, str]:
    """Answers and distances from the same model with ten times the draws, by estimator."""
    record = read_csv(RECORDS / "hostile_data.csv")
    rows = []
    for word, lines in [*record.groupby("word"), ("all", record)]:
        usable = lines[lines["answer"] == "usable"]
        far = usable["distance"] > 4
        twice = (far & (usable["again"] > 4)).sum()
        rows.append([word, len(lines), len(usable), f"{usable['distance'].max():.1f}", far.sum(), twice])
    exact = record["from_quadrature"].dropna()
    sentence = f"Quadrature answers {len(exact)} tables of `PartialPooling`; the largest distance from it is {exact.max():.1f}."
    head = ["estimator", "fits", "usable", "largest distance", "beyond 4", "with a second seed too"]
    return {"distances": f"{table(head, rows)}\n\n{sentence}"}


def limits() -> dict[str, str]:
    """Scores and coverage of three forms of credible limits of crossed effects, over six superpopulations."""
    lines = read_csv(RECORDS / "boundary_coverage.csv").query("word == 'crossed_effects'")
    scores = lines.pivot_table(index=["rate", "spread", "level"], columns="rule", values="score")
    ratios = scores.div(scores["equal_tailed"], axis=0).groupby("level").mean()
    coverage = lines.groupby(["rule", "level"])["coverage"].agg(["mean", "min"])
    levels = (0.5, 0.8, 0.95)
    rows = [
        [
            name,
            " / ".join(f"{ratios.loc[level, rule]:.2f}" for level in levels),
            " / ".join(f"{100 * coverage.loc[(rule, level), 'mean']:.0f}" for level in levels),
            f"{100 * coverage.loc[(rule, 0.95), 'min']:.0f}",
        ]
        for rule, name in RULES.items()
    ]
    head = ["limits", "interval score 50 / 80 / 95 %", "coverage 50 / 80 / 95 %", "lowest of six at 95 %"]
    return {"limits": table(head, rows)}


def choice() -> dict[str, str]:
    """Gains that the map of estimators rests on, and errors and coverage in the shared study."""
    record = read_csv(DOCS / "choice.csv")
    crossed = record[record["word"] == "crossed_effects"]
    pooled = record[record["word"].isin(["partial_pooling", "crossed_effects"])]
    best = pooled.groupby(["world", "subgroups", "rows"])["error"].min().groupby("rows").agg(["min", "max"])
    gains = [[rows, f"{line['min']:.2f} to {line['max']:.2f}"] for rows, line in best.iterrows()]
    sentence = (
        f"The overall rate is {percent(1 / (1 + np.exp(-OVERALL)))}. A cell has {crossed['pairs'].min()} to "
        f"{crossed['pairs'].max()} intervals, and its error a standard error of {pooled['error_se'].median():.2f} in the middle. "
        f"The error of `CrossedEffects` is at most {crossed['error'].max():.2f} times that of each subgroup's own rate, and its "
        f"95 % intervals cover {percent(crossed['coverage'].mean())} on average over the cells, "
        f"{percent(crossed['coverage'].min())} to {percent(crossed['coverage'].max())} in single ones."
    )
    study = blocks((DOCS / "examples" / "shared_study.md").read_text(encoding="utf-8"))["scores"]
    parts = {part.split("**\n")[0]: part.splitlines() for part in study.split("\n**")}
    every, elsewhere = (_by_estimator(lines) for lines in (parts["**all cells"], parts["other cells"]))
    rows = [
        [label, *(every[name][column].split(" ")[0] for column in (1, 2)), elsewhere[name][5].split(" ")[0]]
        for label, name in CHOICES.items()
    ]
    return {
        "map": f"{sentence}\n\n{table(['rows per subgroup', 'least error of pooling, relative to no pooling'], gains)}",
        "shared study": table(["", "error, all subgroups", "error, at most 25 rows", "coverage"], rows),
    }


def _by_estimator(lines: list[str]) -> dict[str, list[str]]:
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    return {row[0]: row for row in rows}


def clusters() -> dict[str, str]:
    """Coverage of 95 % intervals of rows in clusters, by analysis and interval."""
    lines = read_csv(RECORDS / "cluster_coverage.csv").query("clusters == 'all' and level == 0.95")
    coverage = lines.set_index(["law", "analysis", "interval"])["coverage"]
    rows = [
        [*names, percent(coverage["mean", analysis, means]), percent(coverage["rate", analysis, rates])]
        for (analysis, means, rates), names in CLUSTERS.items()
    ]
    return {"coverage": table(["Analysis", "Interval", "Means", "Rates"], rows)}


def directions() -> dict[str, str]:
    """Coverage of the direction between two systems and errors, pooled and not, by spread and discordant items."""
    lines = read_csv(RECORDS / "paired_direction.csv")
    coverage, error = (
        lines.pivot_table(index=["spread", "discordant", "subgroups"], columns="prior", values=name)
        for name in ("coverage", "error")
    )
    ratio = (error["0.25"] / error["none"]).groupby(["spread", "discordant"]).agg(["min", "max"])
    lowest = coverage.groupby(["spread", "discordant"]).min()
    rows = [
        [
            f"{spread:g}",
            discordant,
            percent(lowest.loc[(spread, discordant), "0.25"]),
            percent(lowest.loc[(spread, discordant), "none"]),
            f"{line['min']:.2f} to {line['max']:.2f}",
        ]
        for (spread, discordant), line in ratio.iterrows()
    ]
    head = ["spread of the logits", "discordant items", "coverage, pooled", "not pooled", "error, pooled by not pooled"]
    return {"directions": table(head, rows)}


def contrasts() -> dict[str, str]:
    """Coverage of 95 % limits of contrasts of two rates, by interval."""
    lines = read_csv(RECORDS / "contrast_coverage.csv")
    by_method = lines.groupby("method")
    mean, lowest, five = (
        by_method["coverage"].agg(["min", "max"]),
        by_method["smallest"].min(),
        by_method["smallest_of_five"].min(),
    )
    rows = [
        [
            name,
            f"{mean.loc[word, 'min']:.3f} to {mean.loc[word, 'max']:.3f}",
            f"{lowest[word]:.3f}",
            f"{five[word]:.3f}",
        ]
        for word, name in CONTRASTS.items()
    ]
    head = ["limits", "on average over the rates", "lowest", "lowest where five of each are expected"]
    sizes = lines["rows"]
    sentence = f"Samples of {sizes.min()} to {sizes.max()} rows, level .95:"
    return {"coverage": f"{sentence}\n\n{table(head, rows)}"}


def curves() -> dict[str, str]:
    """Coverage of curves and bands at the level .90, and widths and errors of small subgroups, by approach."""
    lines = read_csv(RECORDS / "curve_coverage.csv").set_index(["curve", "size_class", "approach"])
    every, small = (pd.DataFrame(lines.xs(size, level="size_class")) for size in ("all", "small"))
    names = {"tpr": "true positive rate", "fpr": "false positive rate", "ppv": "precision", "roc": "ROC curve",
             "calibration": "calibration, logistic", "isotonic": "calibration, isotonic"}  # fmt: skip
    rows = []
    for curve, name in names.items():
        cells = [
            f"{100 * every.loc[(curve, side), column]:.0f}"
            for side in ("bayesian", "frequentist")
            for column in ("pointwise", "simultaneous")
        ]
        bayesian, frequentist = (small.loc[(curve, side)] for side in ("bayesian", "frequentist"))
        ratios = [f"{bayesian[column] / frequentist[column]:.2f}" for column in ("width", "error")]
        rows.append([name, *cells, *ratios])
    head = ["curve", "Bayesian, points", "curves", "frequentist, points", "curves"]
    head += ["small: width, Bayesian by frequentist", "error"]
    return {"coverage": table(head, rows)}


def imputed() -> dict[str, str]:
    """Coverage of 95 % intervals of subgroups without rows where subgroups differ more than priors expect."""
    lines = read_csv(RECORDS / "imputed_coverage.csv").query("level == 0.95 and side == 'bayesian'")
    names = {"partial_pooling": "`PartialPooling`", "crossed_effects": "`CrossedEffects`", "confusion": "`ConfusionModel`",
             "structured_regression": "`StructuredRegression`", "model_based_metrics": "`ModelBasedMetrics`",
             "disagreement": "`DisagreementModel`"}  # fmt: skip
    lowest = lines.groupby(["estimator", "spread"])["coverage"].min()
    spreads = sorted(lines["spread"].unique())
    rows = [[name, *(percent(lowest[word, spread]) for spread in spreads)] for word, name in names.items()]
    return {"unseen": table(["Bayesian side", *(f"spread {spread:g}" for spread in spreads)], rows)}


def looks() -> dict[str, str]:
    """Shares of studies whose limits miss at any look, and at the last."""
    lines = read_csv(RECORDS / "anytime_coverage.csv")
    names = {"anytime_beta": "`anytime`, rates", "anytime_beta_uniform": "the same, uniform prior", "wilson": "`wilson`",
             "anytime_normal": "`anytime`, means", "t": "`t`"}  # fmt: skip
    rows = [
        [line["rows"], names[line["interval"]], f"{100 * line['ever_missed']:.1f}", f"{100 * line['missed_last']:.1f}"]
        for line in lines.to_dict("records")
    ]
    return {"missed": f"{lines['looks'].max():,} looks:\n\n{table(['rows', 'limits', 'at any', 'at the last'], rows)}"}


def score_calibration() -> dict[str, str]:
    """Smallest p-values of the ranks of the score model, by law."""
    lines = read_csv(RECORDS / "sbc_model_based_metrics.csv")
    names = {"normal": "normal", "skewed": "skewed", "row_covariates": "normal, two covariates of the rows"}
    rows = []
    for word, name in names.items():
        law = lines[lines["likelihood"] == word]
        values = law[["chi2_p", "ks_p"]].to_numpy()
        rows.append([name, law["replications"].iloc[0], len(law), values.size, f"{values.min():.3f}"])
    return {"calibration": table(["scores", "data sets", "quantities", "p-values", "smallest"], rows)}


def errata() -> dict[str, str]:
    """Values that the papers print, and ours, by erratum."""
    printed = read_csv(PUBLISHED / "printed_values.csv", dtype=str)
    structured = read_csv(RECORDS / "structured_coverage.csv", dtype={"penalty": str}).query(
        "size_class == 'all' and level == 0.95 and truth == 'rough' and penalty == '0.01' and errors == 'residual'"
    )
    goodness = blocks((DOCS / "examples" / "goodness_of_fit.md").read_text(encoding="utf-8"))["table 2"]
    f_test = next(
        line for line in goodness.splitlines() if line.startswith("| expl | expl+age+rc -> expl+age+rc+age.rc |")
    )
    certified = read_csv(DOCS / "examples" / "intersectionality.csv").query(
        "left_out == 'all' and judged == 'in_sample' and interval == 'wald' and statistic == 'optimist' and fraction == 1"
    )
    certified = certified.drop_duplicates("table").set_index("table")["value"]
    feedback = read_csv(RECORDS / "disagreement.csv").set_index("notion")
    deciles = read_csv(DOCS / "examples" / "disagreement_labels.csv").query("labels == 10").set_index("notion")["width"]
    moved = blocks((DOCS / "examples" / "model_selection.md").read_text(encoding="utf-8"))["ideal points"]
    added = pd.Series([float(line.strip("| ").split(" | ")[-1]) for line in moved.splitlines()[2:]])
    same, other = (
        feedback.loc[notion, "published_error"] for notion in ("equal_opportunity", "overall_misclassification")
    )
    predictive, equal = deciles["predictive_equality"], deciles["equal_opportunity"]
    before, after = (f"{certified[name]:.3f}" for name in ("compas", "compas_afterwards"))
    labels, critics = "`disagreement_labels.csv`", "`disagreement.csv`"
    goodness_page, selection_page = (
        f"[{name.replace('_', ' ')}](examples/{name}.md)" for name in ("goodness_of_fit", "model_selection")
    )
    covered = f"{100 * structured['coverage'].item():.1f} %"
    ours = [
        ["SR-11", "coverage of 95 % intervals of resampled residuals", covered, "`structured_coverage.csv`"],
        ["SR-13", "range of the p-value over draws", f_test.split(" | ")[7], goodness_page],
        ["INT-12", "optimist's value with what was known", before, "`intersectionality.csv`"],
        ["INT-12", "with columns that were filled in afterwards", after, "`intersectionality.csv`"],
        ["DIS-6", "width of sharp bounds of predictive equality, ten deciles", _range(predictive), labels],
        ["DIS-6", "of equal opportunity", _range(equal), labels],
        ["DIS-8", "published estimate", _range(feedback["published_estimate"]), critics],
        ["DIS-8", "truth", _range(feedback["truth"]), critics],
        ["DIS-13", "mean error, equal opportunity", _percents(same), critics],
        ["DIS-13", "mean error, overall misclassification", _percents(other), critics],
        ["FE-4", "points that moving the ideal point adds", f"{added.min():.1f} to {added.max():.1f}", selection_page],
    ]
    return {
        "printed": table(["Id", "Place", "What", "Printed"], printed.to_numpy().tolist()),
        "ours": table(["Id", "What", "Here", "Record"], ours),
    }


def _range(values: pd.Series) -> str:
    return f"{values.min():.2f} to {values.max():.2f}"


def _percents(values: pd.Series) -> str:
    return f"{100 * values.min():.1f} to {100 * values.max():.1f} %"


def _seconds(value: float) -> str:
    """Seconds in two digits, whole from 10 on."""
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


def _seconds_of_tables(record: str, *, checked: bool) -> str:
    """The least and the most seconds of the tables of a shape, by estimator; ``checked`` are those that may be not usable."""
    cells = read_csv(DOCS / record)
    shapes = cells[["subgroups", "components"]].drop_duplicates().to_numpy().tolist()
    every = []
    for word, lines in cells.groupby("word", sort=False):
        of_shapes = [lines.loc[lines["subgroups"] == subgroups, "seconds"] for subgroups, _ in shapes]
        spans = [
            f"{_seconds(seconds.min())} to {_seconds(seconds.max())}" if len(seconds) else "-" for seconds in of_shapes
        ]
        not_usable = [f"{(lines['answer'] != 'usable').sum()} of {len(lines)}"] if checked else []
        every.append([f"`{word}`", *spans, *not_usable])
    heads = [f"{subgroups} x {components}" for subgroups, components in shapes]
    return table(["Estimator", *heads, *(["Not usable"] if checked else [])], every)


def benchmarks() -> dict[str, str]:
    """Measurements of the benchmarks, and of time and memory by size."""
    record = read_csv(BENCHMARKS, dtype=str, keep_default_na=False)
    rows = []
    for line in record.to_dict("records"):
        spread = f" ({line['smallest']} to {line['largest']})" if line["smallest"] != "-" else ""
        note = f"; {line['note']}" if line["note"] else ""
        rows.append(
            [line["what"], line["peer"], line["bar"], f"{line['median']}{spread}{note}", line["met"], line["measured"]]
        )
    machines = record[["measured", "machine"]].drop_duplicates().to_numpy().tolist()
    sentence = "\n".join(f"- {day}: {machine}" for day, machine in machines)
    scaling = []
    for axis, lines in read_csv(DOCS / "scaling.csv").groupby("axis", sort=False):
        sizes, seconds = (
            ", ".join(f"{size:,}" for size in lines["size"]),
            ", ".join(f"{s:.2g}" for s in lines["seconds"]),
        )
        peak = f"{lines['megabytes'].min():.0f} to {lines['megabytes'].max():.0f}"
        scaling.append([AXES[str(axis)], sizes, seconds, peak, f"{lines['exponent'].iloc[0]:.2g}"])
    return {
        "seconds": _seconds_of_tables("seconds.csv", checked=True),
        "frequentist seconds": _seconds_of_tables("seconds_frequentist.csv", checked=False),
        "measured": f"{table(['What', 'Peer', 'Bar', 'Measured', 'Met', 'On'], rows)}\n\n{sentence}",
        "scaling": table(["Axis", "Sizes", "Seconds", "Peak, MB", "Exponent"], scaling),
    }


PAGES: dict[str, Callable[[], dict[str, str]]] = {
    "docs/benchmarks.md": benchmarks,
    "docs/errata.md": errata,
    "docs/estimators/appendix-crossed-effects.md": hostile_data,
    "docs/estimators/appendix-model-based-metrics.md": score_calibration,
    "docs/explanation/small-subgroups.md": limits,
    "docs/explanation/statuses-and-undefined.md": imputed,
    "docs/how-to/clusters.md": clusters,
    "docs/how-to/compare_systems.md": directions,
    "docs/how-to/contrasts.md": contrasts,
    "docs/how-to/threshold_curves.md": curves,
    "docs/how-to/watch_production.md": looks,
    "docs/how-to-choose.md": choice,
}
"""Function that makes the tables of each page, by the path of the page."""
