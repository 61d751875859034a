"""The items of a store in a home: read, listed and changed.

An item is a memory with its value as JSON, and more pieces of it where it is long.
"""

from __future__ import annotations

import builtins
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from langgraph.store.base import Item, PutOp

from .. import wire
from ..calls import Op, backoff, collected, sleep
from ..core import Core
from ..errors import HomeError, OutcomeUnknown
from ..exact import dumps
from ..fitting import (
    BATCH_BYTES,
    BATCH_OPERATIONS,
    contend,
    fresh,
    is_readable,
    pieces,
    remove_under,
    remove_unseen,
    segment,
    size_of,
    write_pieces,
)

Namespace = tuple[str, ...]

#: Characters of a readable key: with the pieces of a long value behind, a key takes no more.
_LONGEST = 85


def item_key(prefix: str, namespace: Namespace, key: str) -> str:
    """`prefix.label.label.key`; what cannot be said so is `prefix..hash`, which no label makes."""
    names = [*namespace, key]
    readable = ".".join([prefix, *names])
    if all(map(is_readable, names)) and len(readable) <= _LONGEST:
        return readable
    # A list as JSON is never readable, so its segment is a hash.
    return f"{prefix}..{segment(dumps(names), _LONGEST)}"


def _prefixes_of(prefix: str, namespace: Namespace) -> list[str]:
    """Prefixes of keys, of which every item under a namespace has one."""
    if not namespace:
        return [f"{prefix}."]
    readable = ".".join([prefix, *namespace, ""])
    can_be_read = all(map(is_readable, namespace)) and len(readable) < _LONGEST
    return [readable, f"{prefix}.."] if can_be_read else [f"{prefix}.."]


_Kept = wire.Memory | wire.MemorySummary


@dataclass(frozen=True)
class KeptItem:
    """The memories of one item."""

    namespace: Namespace
    key: str
    head: _Kept
    rests: Sequence[_Kept]
    #: How many other pieces there should be.
    count: int


def _rests_under(key: str) -> str:
    return f"{key}.."


_PIECE = re.compile(r"\.\.[a-zA-Z0-9_-]{4}\.[0-9]+\Z")


def _head_key_of(key: str) -> str:
    """Of an item's first memory, whichever of its memories has this key."""
    return _PIECE.sub("", key)


def _piece_key(key: str, parts: str, at: int | str) -> str:
    return f"{_rests_under(key)}{parts}.{at}"


def items_among(memories: Sequence[_Kept]) -> builtins.list[KeptItem]:
    """The items among memories, each with its pieces."""
    by_key = {memory.key: memory for memory in memories}
    found: list[KeptItem] = []
    for head in memories:
        said = head.metadata
        if not isinstance(said.get("namespace"), list):
            continue
        rest = said.get("rest", {"id": "", "count": 0})
        keys = [_piece_key(head.key, rest["id"], at) for at in range(rest["count"])]
        rests = [by_key[key] for key in keys if key in by_key]
        found.append(KeptItem(tuple(said["namespace"]), said["key"], head, rests, rest["count"]))
    return found


def _time(text: str) -> datetime:
    # Python 3.10 reads no Z.
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def item_of(kept: KeptItem) -> Item | None:
    """None while somebody else changes it: some of it is there no longer."""
    if len(kept.rests) != kept.count:
        return None
    text = "".join(memory.text or "" for memory in [kept.head, *kept.rests])
    return Item(
        value=json.loads(text),
        key=kept.key,
        namespace=kept.namespace,
        created_at=_time(kept.head.created_at),
        updated_at=_time(kept.head.updated_at),
    )


@dataclass(frozen=True)
class _Change:
    """What a put does: everybody sees it when the head is there."""

    head: wire.Operation
    pieces: Sequence[wire.Operation]
    #: How the keys of the pieces begin.
    under: str | None
    removals: Sequence[wire.Operation]

    def operations(self) -> list[wire.Operation]:
        return [self.head, *self.pieces, *self.removals]


def _writing(at: str, put: PutOp, before: KeptItem | None) -> _Change:
    """What makes it of what is there."""
    text, *others = pieces(dumps(put.value))
    parts = fresh(3)
    rest = {"rest": {"id": parts, "count": len(others)}} if others else {}
    metadata = {"namespace": list(put.namespace), "key": put.key, **rest}
    version = before.head.version if before else 0
    return _Change(
        wire.Write(at, text, version, metadata),
        [wire.Write(_piece_key(at, parts, n), piece, 0) for n, piece in enumerate(others)],
        _piece_key(at, parts, "") if others else None,
        [wire.Delete(each.key, each.version) for each in (before.rests if before else [])],
    )


def _removing(kept: KeptItem) -> _Change:
    rests = [wire.Delete(each.key, each.version) for each in kept.rests]
    return _Change(wire.Delete(kept.head.key, kept.head.version), [], None, rests)


def _is_under(namespace: Namespace, kept: KeptItem) -> bool:
    return kept.namespace[: len(namespace)] == namespace


def _worth_of(hit: wire.MemoryHit) -> float:
    """How similar it is, or how many words of the question it has."""
    return len(hit.matched) if hit.similarity is None else hit.similarity


def _merged(rankings: Sequence[Sequence[wire.MemoryHit]]) -> list[wire.MemoryHit]:
    """Several rankings as one."""
    left = [list(reversed(ranking)) for ranking in rankings if ranking]
    found: list[wire.MemoryHit] = []
    while left:
        best = max(left, key=lambda ranking: _worth_of(ranking[-1]))
        found.append(best.pop())
        left = [ranking for ranking in left if ranking]
    return found


_MOST_READS = 10

#: Code points that a search of the home takes.
_LONGEST_QUESTION = 500

Found = dict[str, Item]
"""Items under their keys of the home."""


class Items:
    def __init__(self, core: Core, prefix: str) -> None:
        self._core = core
        self._prefix = prefix

    def get(self, namespace: Namespace, key: str) -> Op[Item | None]:
        at = item_key(self._prefix, namespace, key)
        found = yield from self._whole(lambda: self._at(at))
        return found.get(at)

    def under(self, namespace: Namespace) -> Op[Found]:
        """By namespace and key; each under its key of the home."""

        def read() -> Op[list[KeptItem]]:
            memories: list[_Kept] = []
            for prefix in _prefixes_of(self._prefix, namespace):
                whole = self._core.list(prefix, None, None, "whole", None, {})
                memories += yield from collected(whole)
            kept = [each for each in items_among(memories) if _is_under(namespace, each)]
            return sorted(kept, key=lambda each: dumps([list(each.namespace), each.key]))

        return (yield from self._whole(read))

    def answering(
        self,
        question: str,
        namespace: Namespace,
        meaning: wire.Meaning | None,
        is_wanted: Callable[[Item], bool],
        most: int,
        listed: Found | None,
    ) -> Op[list[tuple[str, Item, float | None]]]:
        """What the home finds for a question, best first, with its similarity to a meaning.

        What is `listed` is not read again.
        """
        words = "" if meaning else question.replace("\0", " ")[:_LONGEST_QUESTION]
        limit = 2 * most
        items: Found = {}
        while True:
            rankings: list[list[wire.MemoryHit]] = []
            for prefix in _prefixes_of(self._prefix, namespace):
                sought = self._core.search(words, prefix, None, None, meaning, limit, [], {})
                rankings.append((yield from collected(sought)))
            found: dict[str, tuple[str, Item, float | None]] = {}
            seen: set[str] = set()
            for hit in _merged(rankings):
                key = _head_key_of(hit.key)
                if key in seen or len(found) == most:
                    continue
                seen.add(key)
                if key not in items:
                    item = (
                        listed.get(key)
                        if listed is not None
                        else (yield from self._found(hit, key, namespace))
                    )
                    if item is None:
                        continue
                    items[key] = item
                if is_wanted(items[key]):
                    found[key] = (key, items[key], hit.similarity)
            is_all = all(len(ranking) < limit for ranking in rankings)
            if is_all or len(found) == most:
                return list(found.values())
            limit *= 4

    def _found(self, hit: wire.MemoryHit, key: str, namespace: Namespace) -> Op[Item | None]:
        """A short item is in the hit itself."""
        head = next(iter(items_among([hit])), None)
        if head and not _is_under(namespace, head):
            return None
        if head and hit.text is not None:
            return item_of(head)

        def read() -> Op[list[KeptItem]]:
            kept = yield from self._at(key)
            return [each for each in kept if _is_under(namespace, each)]

        return (yield from self._whole(read)).get(key)

    def namespaces(self) -> Op[list[Namespace]]:
        listed = self._core.list(f"{self._prefix}.", None, None, None, None, {})
        return [each.namespace for each in items_among((yield from collected(listed)))]

    def put(
        self, puts: Sequence[PutOp], vectors: Mapping[str, Sequence[float]], model: str
    ) -> Op[None]:
        """One put of each item. `vectors`: by the item's key of the home."""
        for group in (yield from self._groups(puts)):
            written = yield from contend(lambda _, group=group: self._write(group), "again")  # type: ignore[misc]
            # What somebody else has put meanwhile gets the vector that they bring.
            new = [
                wire.NewVector(key, written[key], vector)
                for key, vector in vectors.items()
                if key in written
            ]
            if new:
                yield from self._core.store_vectors(model, new, {})

    def key_of(self, put: PutOp) -> str:
        return item_key(self._prefix, put.namespace, put.key)

    def _write(self, group: Sequence[PutOp]) -> Op[dict[str, int]]:
        """The new versions by key."""
        changes: list[_Change] = []
        for put in group:
            changes += yield from self._change(put)
        operations = [each for change in changes for each in change.operations()]
        if not operations:
            return {}
        if len(operations) > BATCH_OPERATIONS or size_of(operations) > BATCH_BYTES:
            results = yield from self._spread(changes)
        else:
            results = yield from self._core.batch(operations, True, {})
        return {each.memory.key: each.memory.version for each in results if each.memory}

    def _spread(self, changes: Sequence[_Change]) -> Op[builtins.list[Any]]:
        """The pieces are written first: nobody sees them until the head is there."""
        try:
            yield from write_pieces(self._core, [one for each in changes for one in each.pieces])
            results = yield from self._core.batch([each.head for each in changes], True, {})
        except HomeError as error:
            if not isinstance(error, OutcomeUnknown):
                for each in changes:
                    if each.under:
                        yield from remove_under(self._core, each.under)
            raise
        yield from remove_unseen(self._core, [one for each in changes for one in each.removals])
        return results

    def _change(self, put: PutOp) -> Op[list[_Change]]:
        at = self.key_of(put)
        before = next(iter((yield from self._at(at))), None)
        if put.value is not None:
            return [_writing(at, put, before)]
        return [_removing(before)] if before else []

    def _groups(self, puts: Sequence[PutOp]) -> Op[list[list[PutOp]]]:
        """As many at once as a batch takes."""
        groups: list[list[PutOp]] = []
        count = size = 0
        for put in puts:
            changes = (yield from self._change(put)) if len(puts) > 1 else []
            operations = [each for change in changes for each in change.operations()]
            own = size_of(operations)
            has_room = count + len(operations) <= BATCH_OPERATIONS and size + own <= BATCH_BYTES
            if not groups or not has_room:
                groups.append([])
                count = size = 0
            groups[-1].append(put)
            count, size = count + len(operations), size + own
        return groups

    def _at(self, key: str) -> Op[list[KeptItem]]:
        """The item at a key of the home, if there is one."""
        head = yield from self._core.read(key, None, {})
        if head is None:
            return []
        rests: list[_Kept] = []
        if head.metadata.get("rest"):
            under = self._core.list(_rests_under(key), None, None, "whole", None, {})
            rests = yield from collected(under)
        return items_among([head, *rests])

    def _whole(self, read: Callable[[], Op[list[KeptItem]]]) -> Op[Found]:
        """Reads again what somebody else changes meanwhile; what stays broken is left out."""
        reads = 1
        while True:
            kept = yield from read()
            found = {each.head.key: item for each in kept if (item := item_of(each))}
            if len(found) == len(kept) or reads == _MOST_READS:
                return found
            yield from sleep(backoff(reads, 0.01, 0.2))
            reads += 1
