"""Levels and settings as text, in the one form that files and labels share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def level_text(value: object) -> str:
    """A level of an attribute as text: whole floats as integers, everything else as Python prints it.

    >>> level_text(1.0), level_text(True), level_text("18-34")
    ('1', 'True', '18-34')
    """
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def as_json(notes: Mapping[str, Any]) -> str:
    """Settings as one JSON string, the only form in which a NetCDF attribute can hold them."""
    return json.dumps(dict(notes), sort_keys=True, default=str, ensure_ascii=False)


def is_storable(text: str) -> bool:
    r"""True unless a text has a NUL, which ends a text in files and arrays, or half of a surrogate pair, which is no character.

    >>> is_storable("é"), is_storable("a\x00"), is_storable("\ud800")
    (True, False, False)
    """
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)
