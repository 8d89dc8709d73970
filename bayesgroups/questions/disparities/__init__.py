"""Disparity of subgroups: one number per metric from the values of the subgroups, with or without draws."""

from __future__ import annotations
