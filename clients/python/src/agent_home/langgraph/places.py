"""Where the checkpoints of a thread are, and which of them stay.

Keys are `prefix.thread.namespace.checkpoint`, and parts behind.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .. import wire
from ..calls import Op, collected
from ..core import Core
from ..fitting import segment

# Characters of the names that are readable in a key; with parts behind, a key takes no more.
_THREAD = 22
_NAMESPACE = 22
_ID = 36

_SEGMENTS_OF_A_HEAD = 4


@dataclass(frozen=True)
class Named:
    """A checkpoint's names."""

    thread_id: str
    checkpoint_ns: str
    checkpoint_id: str

    def config(self) -> Any:
        return {
            "configurable": {
                "thread_id": self.thread_id,
                "checkpoint_ns": self.checkpoint_ns,
                "checkpoint_id": self.checkpoint_id,
            }
        }

    def sibling(self, checkpoint_id: str) -> Named:
        return Named(self.thread_id, self.checkpoint_ns, checkpoint_id)


@dataclass(frozen=True)
class Head:
    """The metadata of its memory, also for whoever looks into the home."""

    named: Named
    #: The older checkpoints that hold values of this one.
    holders: Sequence[str]
    #: It has channels whose values are what was written since an ancestor.
    delta: bool

    def metadata(self) -> dict[str, Any]:
        return {
            "thread_id": self.named.thread_id,
            "checkpoint_ns": self.named.checkpoint_ns,
            "checkpoint_id": self.named.checkpoint_id,
            "holders": builtins.list(self.holders),
            **({"delta": True} if self.delta else {}),
        }

    def needs(self) -> list[Named]:
        return [self.named.sibling(holder) for holder in self.holders]


@dataclass(frozen=True)
class Entry:
    """A checkpoint's memories, as a list shows them."""

    key: str
    #: 0 where only parts are.
    version: int
    #: None until the checkpoint is there: what is written to it may come first.
    head: Head | None
    parts: Sequence[wire.MemorySummary]

    def removal(self) -> list[wire.Operation]:
        own: list[wire.Operation] = [wire.Delete(self.key, self.version)] if self.version else []
        return [*own, *(wire.Delete(part.key, part.version) for part in self.parts)]


def thread_key(prefix: str, thread: str) -> str:
    return f"{prefix}.{segment(thread, _THREAD)}"


def namespace_key(prefix: str, thread: str, namespace: str) -> str:
    return f"{thread_key(prefix, thread)}.{segment(namespace, _NAMESPACE)}"


def head_key(prefix: str, named: Named) -> str:
    begin = namespace_key(prefix, named.thread_id, named.checkpoint_ns)
    return f"{begin}.{segment(named.checkpoint_id, _ID)}"


def _head_in(memory: wire.MemorySummary) -> Head | None:
    said = memory.metadata
    if not isinstance(said.get("checkpoint_id"), str):
        return None
    named = Named(said["thread_id"], said["checkpoint_ns"], said["checkpoint_id"])
    return Head(named, said["holders"], said.get("delta") is True)


def _entry_of(key: str, memories: Sequence[wire.MemorySummary]) -> Entry:
    first = next((each for each in memories if each.key == key), None)
    parts = [each for each in memories if each.key != key]
    return Entry(key, first.version if first else 0, _head_in(first) if first else None, parts)


def entries_under(core: Core, key: str) -> Op[list[Entry]]:
    """Every checkpoint under a key, of a thread or a namespace."""
    memories = yield from collected(core.list(f"{key}.", None, None, None, None, {}))
    by_head: dict[str, list[wire.MemorySummary]] = {}
    for memory in memories:
        head = ".".join(memory.key.split(".")[:_SEGMENTS_OF_A_HEAD])
        by_head.setdefault(head, []).append(memory)
    return [_entry_of(head, own) for head, own in by_head.items()]


def newest_first(heads: Iterable[Head]) -> list[Head]:
    """Ids are made to rise with time."""
    return sorted(heads, key=lambda head: head.named.checkpoint_id, reverse=True)


def staying(heads: Iterable[Head], keep: int) -> list[Head]:
    """Which checkpoints of a thread stay.

    Of each namespace the newest `keep`, and of a subgraph's run what is not older than those of
    the graph itself. A thread with channels that are rebuilt from its ancestors keeps them all.
    """
    ordered = newest_first(heads)
    if any(head.delta for head in ordered):
        return ordered
    by_namespace: dict[str, list[Head]] = {}
    for head in ordered:
        by_namespace.setdefault(head.named.checkpoint_ns, []).append(head)
    root = by_namespace.get("", [])[:keep]
    kept: list[Head] = []
    for namespace, own in by_namespace.items():
        # A subgraph's namespace of one run has the task in it; another is used by later runs.
        is_of_one_task = ":" in namespace
        newest = own[0].named.checkpoint_id
        if is_of_one_task and root and newest < root[-1].named.checkpoint_id:
            continue
        kept += own[:keep]
    return kept


def leaving(entries: Sequence[Entry], added: Head, keep: int) -> list[Entry] | None:
    """Which give way to a new one.

    None: what it needs of an older one is no longer there.
    """
    others = [each.head for each in entries if each.head and each.head.named != added.named]
    there = {head.named for head in others}
    if not there.issuperset(added.needs()):
        return None
    kept = staying([*others, added], keep)
    needed = {head.named for head in kept} | {each for head in kept for each in head.needs()}
    return [each for each in entries if each.head and each.head.named not in needed]
