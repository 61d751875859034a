"""For the OpenAI Agents SDK: conversations that are kept in a home."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import wire
from .async_client import AsyncAgentHome
from .calls import Op, collected
from .core import Core
from .exact import dumps, loads
from .fitting import (
    BATCH_BYTES,
    BATCH_OPERATIONS,
    TEXT_BYTES,
    contend,
    fresh,
    pieces,
    require_prefix,
    segment,
    size_of,
)
from .wire import Memory

if TYPE_CHECKING:
    from agents import TResponseInputItem
    from agents.memory import SessionSettings

__all__ = ["AgentHomeSession"]

_DIGITS = 6
_LONGEST_PREFIX = 20
_LONGEST_READABLE_ID = 60
_MOST_READS = 20


@dataclass(frozen=True)
class _LastLine:
    """The end of a log: where its last line begins, and everything from there on."""

    line: str
    #: What stands before it in the memory where it begins; "" where it begins the memory.
    before: str
    memories: Sequence[Memory]


class _Log:
    """A text of any length that grows at its end: memories with consecutive numbers."""

    def __init__(self, core: Core, base: str, metadata: wire.Metadata) -> None:
        self._core = core
        self._base = base
        #: What every memory of it says, for whoever looks into the home.
        self._metadata = metadata

    def _summaries(self, view: str | None = None) -> Op[list[wire.MemorySummary]]:
        return collected(self._core.list(f"{self._base}.", None, None, view, None, {}))

    def text(self) -> Op[str]:
        """Pages are not read in one moment: a line may be cut where others write meanwhile."""
        return "".join(each.text or "" for each in (yield from self._summaries("whole")))

    def append(self, lines: str) -> Op[None]:
        """Raises BatchConflict, OutcomeUnknown, and ValueError for what no batch takes."""
        last = next(reversed((yield from self._summaries())), None)
        operations: list[wire.Operation]
        if last and last.bytes + len(lines.encode()) <= TEXT_BYTES:
            operations = [wire.Append(last.key, lines, last.version)]
        else:
            first = int(last.key[-_DIGITS:]) + 1 if last else 1
            operations = [
                wire.Write(f"{self._base}.{at:0{_DIGITS}}", text, 0, self._metadata)
                for at, text in enumerate(pieces(lines), first)
            ]
        if len(operations) > BATCH_OPERATIONS or size_of(operations) > BATCH_BYTES:
            raise ValueError("items of more than about 500 KB cannot be added at once")
        yield from self._core.batch(operations, True, {})

    def last_line(self) -> Op[_LastLine | None]:
        memories: list[Memory] = []
        for each in reversed((yield from self._summaries())):
            memory = yield from self._core.read(each.key, None, {})
            if memory is None:
                continue
            if memories and memory.text.endswith("\n"):
                break
            memories.insert(0, memory)
            if "\n" in memory.text[:-1]:
                break
        if not memories:
            return None
        text = "".join(memory.text for memory in memories)
        start = text.rfind("\n", 0, len(text) - 1) + 1
        return _LastLine(text[start:], text[:start], memories)

    def cut(self, last: _LastLine) -> Op[None]:
        """Raises VersionConflict, BatchConflict; OutcomeUnknown of a line in several memories."""
        first, *rest = last.memories
        if rest:
            begin: wire.Operation = (
                wire.Patch(first.key, first.version, text=last.before)
                if last.before
                else wire.Delete(first.key, first.version)
            )
            gone = [wire.Delete(each.key, each.version) for each in rest]
            yield from self._core.batch([begin, *gone], True, {})
        elif last.before:
            yield from self._core.patch(first.key, last.before, None, first.version, {})
        else:
            yield from self._core.delete(first.key, first.version, {})

    def clear(self) -> Op[None]:
        while True:
            left = (yield from self._summaries())[-BATCH_OPERATIONS:]
            if not left:
                return
            gone = [wire.Delete(each.key, each.version) for each in left]
            yield from self._core.batch(gone, True, {})


def _items_in(text: str) -> list[Any]:
    """Raises ValueError where a line is cut."""
    if text and not text.endswith("\n"):
        raise ValueError("the last line is cut")
    return [loads(line)["item"] for line in text.split("\n")[:-1]]


class AgentHomeSession:
    """A Session whose items survive the process.

    Runners of one session lose nothing of each other, wherever they run; items longer than a
    memory's text are spread over several. `session_id` is any string: two sessions of one id are
    the same conversation. The keys begin with `prefix`, 1 to 20 characters. Raises ValueError.

    ```python
    session = AgentHomeSession(home, "support-4711")
    await Runner.run(agent, "My name is Ann.", session=session)
    ```
    """

    def __init__(
        self,
        home: AsyncAgentHome,
        session_id: str,
        *,
        prefix: str = "session",
        session_settings: SessionSettings | None = None,
    ) -> None:
        if session_id == "":
            raise ValueError("session_id must not be empty")
        self.session_id = session_id
        self.session_settings = session_settings
        base = (
            f"{require_prefix(prefix, _LONGEST_PREFIX)}.{segment(session_id, _LONGEST_READABLE_ID)}"
        )
        self._run = home._run
        self._log = _Log(home._core, base, {"session_id": session_id})

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The last `limit` of them, oldest first; all unless told here or in the settings."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        if limit is not None and limit <= 0:
            return []
        items = await self._run(self._items())
        return items if limit is None else items[-limit:]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """All of them or none, next to each other. Raises ValueError for more than about 500 KB.

        They are added once, also when an answer was lost.
        """
        if not items:
            return
        add = fresh(9)
        lines = "".join(f"{dumps({'add': add, 'item': item})}\n" for item in items)

        def attempt(is_unsure: bool) -> Op[None]:
            if is_unsure and f'{{"add":"{add}",' in (yield from self._log.text()):
                return
            yield from self._log.append(lines)

        await self._run(contend(attempt, "again"))

    async def pop_item(self) -> TResponseInputItem | None:
        """Takes the last one away.

        Raises OutcomeUnknown where an answer was lost and nobody can tell.
        """

        def attempt(_: bool) -> Op[Any]:
            last = yield from self._log.last_line()
            if last is None:
                return None
            yield from self._log.cut(last)
            return _items_in(last.line)[0]

        popped: TResponseInputItem | None = await self._run(contend(attempt))
        return popped

    async def clear_session(self) -> None:
        """Takes all of them away."""
        await self._run(contend(lambda _: self._log.clear(), "again"))

    def _items(self) -> Op[list[Any]]:
        reads = 1
        while True:
            try:
                return _items_in((yield from self._log.text()))
            except ValueError:
                if reads == _MOST_READS:
                    raise
            reads += 1
