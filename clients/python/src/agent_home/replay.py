"""What lives by the events of a home, compared with what is there. The rule: docs/proof.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Living:
    """A memory that is there."""

    version: int
    #: Whether a version of the history says what its text is committed to.
    is_kept: bool = field(default=False, kw_only=True)


@dataclass(frozen=True)
class _Left:
    """What the last event of a key left there."""

    version: int
    lives: bool


def _fault_of(memory: Living, left: _Left) -> str | None:
    if not left.lives:
        return "a memory exists, but its last event ended it"
    if memory.version != left.version:
        return "a memory is not at the version that its last event made"
    return None if memory.is_kept else "the history lacks the current version of a memory"


@dataclass(frozen=True)
class Made:
    """What an event says of the version that it made."""

    key: str
    #: None if it is a deletion.
    content: str | None
    #: The operation, author and time; None if an import brought those of another home.
    how: tuple[Any, Any, Any] | None


def how_of(operation: Any, by: Any, at: Any) -> tuple[Any, Any, Any]:
    """An operation with its author and time, to be compared.

    A rollback restores and deletes: a version is never older than the one before it, but its event
    may be.
    """
    return operation, by, None if operation in ("restore", "delete") else at


class Replay:
    """Takes the events of a home in their order."""

    def __init__(self, fault: Callable[[str, str], object]) -> None:
        self._fault = fault
        self._last: dict[str, _Left] = {}
        #: By the key that their memory has at the end.
        self._made: dict[str, dict[int, Made]] = {}

    def take(self, event: Mapping[str, Any]) -> None:
        key, version = event.get("key"), event.get("version")
        if not isinstance(key, str) or not isinstance(version, int):
            return
        left = event.get("from")
        if isinstance(left, str):
            self._made[key] = self._made.pop(left, {})
            self._last[left] = _Left(version, lives=False)
        self._last[key] = _Left(version, lives="content" in event)
        # What was erased may be put back from an old copy, with the text that was committed to.
        kind = event.get("type")
        if kind == "erase":
            self._made.pop(key, None)
        else:
            how = (
                None if kind == "import" else how_of(kind, event.get("by"), event.get("createdAt"))
            )
            self._made.setdefault(key, {})[version] = Made(key, event.get("content"), how)

    def made_by(self, key: str, version: int) -> Made | None:
        """The key of the version then, and what it was committed to; None if no event made it."""
        return self._made.get(key, {}).get(version)

    def compare(self, living: Mapping[str, Living], *, is_whole: bool) -> int:
        """Names what is there and should not be, and the other way round.

        Returns how many memories no event tells of. `is_whole`: no event was pruned, so there is
        one of each memory.
        """
        unproven = 0
        for key, memory in living.items():
            left = self._last.get(key)
            found = _fault_of(memory, left) if left else None
            if not left and is_whole:
                found = "no event mentions a memory"
            if found:
                self._fault(found, f"{key}@{memory.version}")
            elif not left:
                unproven += 1
        for key, left in self._last.items():
            if left.lives and key not in living:
                self._fault("a memory is missing, but no event ended it", f"{key}@{left.version}")
        return unproven
