"""Values as LangGraph's own stores keep them: what they take as JSON becomes that JSON."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from datetime import date, time
from enum import Enum
from typing import Any
from uuid import UUID

from ..exact import bounded


def plain(value: Any) -> Any:
    """Times, dates and UUIDs as their text, an enum as its value, a dataclass as its fields.

    NaN and infinity are null. Raises TypeError for anything else that is no JSON, and ValueError
    for what contains itself.
    """
    return bounded(_plain, value)


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return _plain(value.value)
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {_name(name): _plain(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _fields(value)
    if isinstance(value, date) or (isinstance(value, time) and value.tzinfo is None):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"{type(value).__name__} is not JSON serializable")


def _name(name: object) -> str:
    if isinstance(name, str):
        return str(name)
    raise TypeError("the names of a value must be strings")


def _fields(value: Any) -> dict[str, Any]:
    """Without those that are the class's own business."""
    names = (each.name for each in dataclasses.fields(value))
    members = vars(value) if hasattr(value, "__dict__") else {n: getattr(value, n) for n in names}
    return {name: _plain(each) for name, each in members.items() if not name.startswith("_")}
