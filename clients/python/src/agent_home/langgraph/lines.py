"""What is kept of a checkpoint: lines of JSON, itself and what was written to it."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from langgraph.checkpoint.base import WRITES_IDX_MAP, PendingWrite, writes_sort_key
from langgraph.checkpoint.serde.base import SerializerProtocol

from .. import wire
from ..calls import Op, backoff, collected, sleep
from ..core import Core
from ..errors import HomeError, OutcomeUnknown
from ..exact import dumps, loads
from ..fitting import contend, fresh, pieces, remove_under, write_pieces

T = TypeVar("T")

Line = dict[str, Any]
"""`{checkpoint, metadata, parent, values, holders}`: a checkpoint, with the values that are its own
and, of each other channel that has a value, the checkpoint that has it among its own.
`{task, path, at, writes: [[channel, index, value], …]}`: what one task wrote.
`{parts, of, count}`: a line that is too long lies in memories of its own.
"""

Packed = Mapping[str, Any]


def pack(serde: SerializerProtocol, value: Any) -> Packed:
    """Readable in the home where the serializer's are."""
    kind, content = serde.dumps_typed(value)
    if kind == "json":
        try:
            return {"type": kind, "json": loads(content.decode())}
        except ValueError:
            pass
    return {"type": kind, "bytes": base64.b64encode(content).decode()}


def unpack(serde: SerializerProtocol, packed: Packed) -> Any:
    if "bytes" in packed:
        return serde.loads_typed((packed["type"], base64.b64decode(packed["bytes"])))
    return serde.loads_typed((packed["type"], dumps(packed["json"]).encode()))


def is_of_checkpoint(line: Line) -> bool:
    return bool(line["of"] == "checkpoint") if "parts" in line else "checkpoint" in line


def lines_in(text: str) -> list[Line]:
    return [json.loads(line) for line in text.split("\n") if line]


def _part_key(key: str, parts: str, at: int | str) -> str:
    return f"{key}.{parts}.{at}"


#: Bytes of a line beside which others have room in one memory.
_LONGEST = {"checkpoint": 12_288, "writes": 4_096}


@dataclass(frozen=True)
class LineText:
    """A line as it stands in a memory, ended."""

    text: str
    #: How the keys of its parts begin.
    under: str | None


def line_for(core: Core, key: str, of: Literal["checkpoint", "writes"], line: Line) -> Op[LineText]:
    """The parts of a long one are written first: nobody sees them until the line is there."""
    text = dumps(line)
    if len(text.encode()) <= _LONGEST[of]:
        return LineText(f"{text}\n", None)

    def spread(_: bool) -> Op[LineText]:
        parts = fresh(3)
        writes = [
            wire.Write(_part_key(key, parts, at), piece, 0) for at, piece in enumerate(pieces(text))
        ]
        under = _part_key(key, parts, "")
        try:
            yield from write_pieces(core, writes)
        except HomeError as error:
            if not isinstance(error, OutcomeUnknown):
                yield from remove_under(core, under)
            raise
        short = dumps({"parts": parts, "of": of, "count": len(writes)})
        return LineText(f"{short}\n", under)

    return (yield from contend(spread, "again"))


@dataclass(frozen=True)
class Loaded:
    #: None where only writes are.
    own: Line | None
    writes: Sequence[Line]


class Torn(Exception):
    """It was changed while it was read."""


_MOST_READS = 5


def untorn(read: Callable[[], Op[T]]) -> Op[T | None]:
    """Reads again what somebody else changed meanwhile. None for what gave way in part."""
    for reads in range(1, _MOST_READS + 1):
        try:
            return (yield from read())
        except Torn:
            if reads < _MOST_READS:
                yield from sleep(backoff(reads, 0.01, 0.1))
    return None


def _whole(line: Line, key: str, texts: Mapping[str, str]) -> Line:
    if "parts" not in line:
        return line
    keys = [_part_key(key, line["parts"], at) for at in range(line["count"])]
    if not all(each in texts for each in keys):
        raise Torn
    whole: Line = json.loads("".join(texts[each] for each in keys))
    return whole


def load(core: Core, key: str) -> Op[Loaded | None]:
    """A checkpoint in one request for all of its memories. None where nothing is. Raises Torn."""
    listed = yield from collected(core.list(key, None, None, "whole", None, {}))
    memories = [each for each in listed if each.key == key or each.key.startswith(f"{key}.")]
    texts = {each.key: each.text or "" for each in memories}
    head = [each for each in memories if each.key == key]
    beside = [each for each in memories if each.metadata.get("lines") is True]
    found = [line for each in [*head, *beside] for line in lines_in(texts[each.key])]
    if not found:
        return None
    whole = [_whole(line, key, texts) for line in found]
    own = next((line for line in whole if "checkpoint" in line), None)
    return Loaded(own, [line for line in whole if "task" in line])


def writes_line(
    serde: SerializerProtocol, writes: Sequence[tuple[str, Any]], task: str, path: str
) -> Line:
    return {
        "task": task,
        "path": path,
        # Milliseconds: what is overwritten is older.
        "at": time.time_ns() // 1_000_000,
        "writes": [
            [channel, WRITES_IDX_MAP.get(channel, at), pack(serde, value)]
            for at, (channel, value) in enumerate(writes)
        ],
    }


def pending_writes(serde: SerializerProtocol, lines: Sequence[Line]) -> list[PendingWrite]:
    """What tasks wrote to a checkpoint, in the order in which a graph applies it."""
    found: dict[tuple[str, int], tuple[str, str, Packed]] = {}
    for line in sorted(lines, key=lambda line: line["at"]):
        for channel, index, value in line["writes"]:
            # A task that runs again writes nothing twice; its error or interrupt is its last.
            if index < 0 or (line["task"], index) not in found:
                found[line["task"], index] = (line["path"], channel, value)
    ordered = sorted(found, key=lambda name: writes_sort_key(found[name][0], *name))
    return [(name[0], found[name][1], unpack(serde, found[name][2])) for name in ordered]
