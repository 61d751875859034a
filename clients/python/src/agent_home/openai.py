"""For the OpenAI Agents SDK: conversations that are kept in a home."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from . import wire
from .async_client import AsyncAgentHome
from .calls import Op, collected
from .core import Core
from .errors import HomeError
from .exact import dumps, loads
from .fitting import (
    BATCH_OPERATIONS,
    TEXT_BYTES,
    contend,
    fresh,
    pieces,
    require_prefix,
    segment,
    shown,
    write_pieces,
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

_NUMBERED = re.compile(rf"\.[0-9]{{{_DIGITS}}}\Z")

#: A line that stands for a long one, whose pieces lie in memories of their own.
_SPREAD = re.compile(r'\{"add":"[\w-]+","parts":"([\w-]+)","count":([0-9]+)\}\n?', re.ASCII)

#: Bytes of lines that one batch takes, though every character may be escaped.
_AT_ONCE = 400_000

#: Bytes of a line that is spread where all of them are too much for one batch.
_LONG_LINE = 8_192


def _bytes_of(text: str) -> int:
    return len(text.encode())


def _groups_of(lines: Sequence[str]) -> list[str]:
    """Lines, each group as long as one batch takes."""
    groups: list[list[str]] = []
    size = 0
    for line in lines:
        own = _bytes_of(line)
        if not groups or size + own > _AT_ONCE:
            groups.append([])
            size = 0
        groups[-1].append(line)
        size += own
    return ["".join(group) for group in groups]


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

    def _under(self, prefix: str, view: str | None = None) -> Op[list[wire.MemorySummary]]:
        return collected(self._core.list(prefix, None, None, view, None, {}))

    def _summaries(self) -> Op[list[wire.MemorySummary]]:
        return [each for each in (yield from self._under(f"{self._base}.")) if _is_numbered(each)]

    def _piece_key(self, parts: str, at: int | str) -> str:
        return f"{self._base}..{parts}.{at}"

    def _whole(self, line: str, texts: Mapping[str, str]) -> str:
        spread = _SPREAD.fullmatch(line)
        if spread is None:
            return line
        keys = [self._piece_key(spread[1], at) for at in range(int(spread[2]))]
        if not all(key in texts for key in keys):
            raise ValueError("a line is not whole")
        return "".join(texts[key] for key in keys) + "\n"

    def text(self) -> Op[str]:
        """Pages are not read in one moment: a line may be cut where others write meanwhile.

        Raises ValueError where pieces are missing.
        """
        found = yield from self._under(f"{self._base}.", "whole")
        texts = {each.key: each.text or "" for each in found}
        text = "".join(each.text or "" for each in found if _is_numbered(each))
        lines = [f"{line}\n" for line in text.split("\n")]
        return "".join(self._whole(line, texts) for line in lines)[:-1]

    def holds(self, lines: str) -> Op[bool]:
        """Whether lines were appended: the first says which it is, and is never cut there."""
        begin = lines[: lines.index(",") + 1]
        found = yield from self._under(f"{self._base}.", "whole")
        return any(begin in (each.text or "") for each in found if _is_numbered(each))

    def prepare(self, lines: Sequence[str]) -> Op[list[str]]:
        """What is appended at once, in order: all of the lines, unless they are very much."""
        if _bytes_of("".join(lines)) <= _AT_ONCE:
            return ["".join(lines)]
        short: list[str] = []
        for line in lines:
            if _bytes_of(line) <= _LONG_LINE:
                short.append(line)
            else:
                short.append((yield from contend(partial(self._spread, line), "again")))
        return _groups_of(short)

    def _spread(self, line: str, _: bool) -> Op[str]:
        """The pieces are written first: nobody sees them until the line is there."""
        parts = fresh(6)
        writes = [
            wire.Write(self._piece_key(parts, at), text, 0, self._metadata)
            for at, text in enumerate(pieces(line.removesuffix("\n")))
        ]
        yield from write_pieces(self._core, writes)
        begin = line[: line.index(",")]
        return f'{begin},"parts":"{parts}","count":{len(writes)}}}\n'

    def append(self, lines: str) -> Op[None]:
        """Raises BatchConflict and OutcomeUnknown."""
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
        yield from self._core.batch(operations, True, {})

    def whole(self, line: str) -> Op[str]:
        """The whole of a line that stands for its pieces. Raises ValueError if some are missing."""
        spread = _SPREAD.fullmatch(line)
        if spread is None:
            return line
        found = yield from self._under(self._piece_key(spread[1], ""), "whole")
        return self._whole(line, {each.key: each.text or "" for each in found})

    def drop(self, line: str) -> Op[None]:
        """Its pieces, once the line is gone. What stays of them is in nobody's way."""
        spread = _SPREAD.fullmatch(line)
        if spread is None:
            return
        try:
            yield from self._clear(self._piece_key(spread[1], ""))
        except HomeError:
            return

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
        yield from self._clear(f"{self._base}.")

    def _clear(self, prefix: str) -> Op[None]:
        while True:
            left = (yield from self._under(prefix))[-BATCH_OPERATIONS:]
            if not left:
                return
            gone = [wire.Delete(each.key, each.version) for each in left]
            yield from self._core.batch(gone, True, {})


def _is_numbered(memory: wire.MemorySummary) -> bool:
    return _NUMBERED.search(memory.key) is not None


def _json_of(item: object) -> str:
    """The tool has run by now: what is no JSON is kept as text, sooner than the run is lost."""
    try:
        return dumps(item)
    except (TypeError, ValueError):
        return json.dumps(item, default=str, skipkeys=True)


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
        self._log = _Log(home._core, base, {"session_id": shown(session_id)})

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The last `limit` of them, oldest first; all unless told here or in the settings."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        if limit is not None and limit <= 0:
            return []
        items = await self._run(self._items())
        return items if limit is None else items[-limit:]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """All of them or none, next to each other; more than about 400 KB in several steps.

        No item is too long. They are added once, also when an answer was lost.
        """
        if not items:
            return
        add = fresh(9)
        lines = [
            f'{{"add":"{add}-{at}","item":{_json_of(item)}}}\n' for at, item in enumerate(items)
        ]
        await self._run(self._add(lines))

    def _add(self, lines: Sequence[str]) -> Op[None]:
        for group in (yield from self._log.prepare(lines)):

            def attempt(is_unsure: bool, group: str = group) -> Op[None]:
                if is_unsure and (yield from self._log.holds(group)):
                    return
                yield from self._log.append(group)

            yield from contend(attempt, "again")

    async def pop_item(self) -> TResponseInputItem | None:
        """Takes the last one away.

        Raises OutcomeUnknown where an answer was lost and nobody can tell.
        """
        popped: TResponseInputItem | None = await self._run(self._pop())
        return popped

    def _pop(self) -> Op[Any]:
        def attempt(_: bool) -> Op[tuple[str, str] | None]:
            last = yield from self._log.last_line()
            if last is None:
                return None
            whole = yield from self._log.whole(last.line)
            yield from self._log.cut(last)
            return last.line, whole

        popped = yield from contend(attempt)
        if popped is None:
            return None
        line, whole = popped
        yield from self._log.drop(line)
        return _items_in(whole)[0]

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
