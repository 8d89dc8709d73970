"""Report as a tree that notebooks show by its verdict, its estimand and its table."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import xarray as xr


class Report(xr.DataTree):  # type: ignore[no-untyped-call]
    """A report: an `xarray.DataTree` with nothing added but what a notebook shows of it.

    Copies, selections and pickles are reports; what computes with all groups, as ``report.map_over_datasets`` does, gives plain
    trees, and is no report any more. ArviZ and files see a tree. A part of a report, or a tree that lacks what the table is
    made of, is shown as xarray shows it.
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        from bayesgroups.report.notebook import is_whole, page

        tree: str = super()._repr_html_()  # type: ignore[no-untyped-call]
        return page(self, tree) if is_whole(self) else tree


def as_report(tree: xr.DataTree) -> Report:
    """The groups and attributes of a tree as a report."""
    return report_of({str(name): group.to_dataset() for name, group in tree.children.items()}, tree.attrs)


def report_of(groups: Mapping[str, xr.Dataset], attrs: Mapping[Hashable, object] | Mapping[str, object]) -> Report:
    """A report of groups and attributes."""
    report = Report.from_dict(dict(groups))
    report.attrs = dict(attrs)
    return report
