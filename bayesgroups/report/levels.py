"""The interval levels every report carries."""

from __future__ import annotations

LEVELS: tuple[float, ...] = (0.5, 0.8, 0.9, 0.95)
"""Levels along the dimension ``level`` of every table of estimates."""
