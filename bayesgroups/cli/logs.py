"""Evaluation logs as rows: ``bayesgroups read-logs | read-inspect | read-lm-eval``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from bayesgroups.cli.log_options import LOGS, LogOptions
from bayesgroups.cli.options import Escape, Output

if TYPE_CHECKING:
    import pandas as pd


def read_logs(*logs: Path, output: Output, escape_formulas: Escape = True, options: LogOptions = LOGS) -> int:
    """Turn the logs of several systems into rows, one per answer.

    For example:

        bayesgroups read-logs logs/ --score match --unscored wrong --output rows.csv
        bayesgroups paired-tally rows.csv --by metadata_language --system system --item item --correct score --output pairs.nc

    Parameters
    ----------
    logs
        Logs of Inspect (.eval, .json), samples of lm-evaluation-harness (.jsonl), or folders of them.
    output
        The rows (.csv).
    """
    _check_ending(output)
    return _rows(options.rows(logs), output, escape_formulas)


def read_inspect(log: Path, *, output: Output, escape_formulas: Escape = True) -> int:
    """Turn a log of Inspect into rows, one per sample.

    For example:

        bayesgroups read-inspect run.eval --output rows.csv
        bayesgroups tally rows.csv --by metadata_language --metric correct --correct score --cluster item

    Parameters
    ----------
    log
        The log (.eval, .json).
    output
        The rows (.csv).
    """
    from bayesgroups.interop import read_inspect as read

    _check_ending(output)
    return _rows(read(log), output, escape_formulas)


def read_lm_eval(samples: Path, *, output: Output, filter: str | None = None, escape_formulas: Escape = True) -> int:
    """Turn samples of lm-evaluation-harness into rows, one per document.

    For example:

        bayesgroups read-lm-eval samples_xcopa.jsonl --output rows.csv
        bayesgroups tally rows.csv --by doc_language --metric correct --correct acc

    Parameters
    ----------
    samples
        The samples (.jsonl).
    output
        The rows (.csv).
    filter
        Which filter's answers, where there are several.
    """
    from bayesgroups.interop import read_lm_eval as read

    _check_ending(output)
    return _rows(read(samples, filter=filter), output, escape_formulas)


def _check_ending(output: Path) -> None:
    from bayesgroups.errors import InputError

    if output.suffix.lower() != ".csv":
        raise InputError(f"file {str(output)!r}: rows are written as .csv; give it this ending")


def _rows(frame: pd.DataFrame, output: Path, escape_formulas: bool) -> int:
    from bayesgroups.cli import consoles
    from bayesgroups.data.csv_files import write_csv

    write_csv(output, frame, escape_formulas=escape_formulas)
    consoles.output().print(Text(f"Wrote {len(frame)} rows to {output}: {', '.join(map(str, frame.columns))}"))
    return 0
