"""Checkpoints of a LangGraph graph, kept in a home."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from .. import AgentHome, AsyncAgentHome, HomeError, OutcomeUnknown, wire
from ..calls import Give, Op
from ..fitting import (
    BATCH_OPERATIONS,
    TEXT_BYTES,
    contend,
    fresh,
    remove_under,
    remove_unseen,
    require_prefix,
)
from ..wire import Memory
from .lines import (
    Line,
    LineText,
    Loaded,
    Packed,
    Torn,
    is_of_checkpoint,
    line_for,
    lines_in,
    load,
    pack,
    pending_writes,
    unpack,
    untorn,
    writes_line,
)
from .places import (
    Head,
    Named,
    entries_under,
    head_key,
    leaving,
    namespace_key,
    newest_first,
    staying,
    thread_key,
)
from .sides import async_home, sync_home

_KEEP = 20
_LONGEST_PREFIX = 8

#: Operations that filing a checkpoint takes at most, beside what gives way.
_FILING = 2

#: Ids that the metadata of a memory has room for.
_MOST_HOLDERS = 50

_MOST_REMEMBERED = 200


class _HolderGone(Exception):
    """An older checkpoint that has values of this one gave way meanwhile."""


@dataclass(frozen=True)
class _Parent:
    """What of a parent decides where a child's values are."""

    id: str
    versions: ChannelVersions
    #: The channels whose values are its own.
    own: frozenset[str]
    holders: Mapping[str, str]


#: `none` where a thread begins, `gone` where it gave way.
_Ancestor = _Parent | Literal["none", "gone"]


def _parent_in(line: Line) -> _Parent:
    checkpoint = line["checkpoint"]
    own = frozenset(line["values"])
    return _Parent(checkpoint["id"], checkpoint["channel_versions"], own, line["holders"])


def _placed(
    versions: ChannelVersions,
    values: Mapping[str, Packed],
    changed: ChannelVersions,
    ancestor: _Ancestor,
) -> tuple[Mapping[str, Packed], Mapping[str, str]]:
    """Which values a checkpoint keeps, and where those are that it shares with its ancestors."""
    own: dict[str, Packed] = {}
    holders: dict[str, str] = {}
    for channel, version in versions.items():
        is_own = channel in changed or ancestor == "gone"
        if isinstance(ancestor, _Parent):
            # What did not change is not kept again, unless the parent has it no longer.
            is_own = is_own or ancestor.versions.get(channel) != version
            holder = ancestor.id if channel in ancestor.own else ancestor.holders.get(channel)
            if not is_own and holder is not None:
                holders[channel] = holder
        if is_own and channel in values:
            own[channel] = values[channel]
    is_scattered = len(set(holders.values())) > _MOST_HOLDERS
    return (values, {}) if is_scattered else (own, holders)


#: More lines of a checkpoint whose memory is full.
_BESIDE: dict[str, Any] = {"lines": True}


def _filing(key: str, head: Head, text: str, there: Memory | None) -> list[wire.Operation]:
    """What tasks wrote may have come before the checkpoint, or belong to it as it was before."""
    kept = there.text.split("\n") if there else []
    lines = [line for line in kept if line and not is_of_checkpoint(lines_in(line)[0])]
    written = "".join(f"{line}\n" for line in lines)
    version = there.version if there else 0
    if len(text.encode()) + len(written.encode()) <= TEXT_BYTES:
        return [wire.Write(key, text + written, version, head.metadata())]
    beside = wire.Write(f"{key}.{fresh(3)}", written, 0, _BESIDE)
    return [wire.Write(key, text, version, head.metadata()), beside]


def _names_in(config: RunnableConfig) -> Mapping[str, Any]:
    return config.get("configurable", {})


def _namespace_of(config: RunnableConfig) -> str:
    namespace: str = _names_in(config).get("checkpoint_ns", "")
    return namespace


def _required(name: str, value: Any) -> str:
    if value is None or value == "":
        raise ValueError(f"{name} must be a string that is not empty")
    return str(value)


def _named_in(config: RunnableConfig, checkpoint_id: Any) -> Named:
    return Named(
        _required("thread_id", _names_in(config).get("thread_id")),
        _namespace_of(config),
        _required("checkpoint_id", checkpoint_id),
    )


def _is_asked(named: Named, config: RunnableConfig | None, before: RunnableConfig | None) -> bool:
    names = _names_in(config) if config else {}
    end = get_checkpoint_id(before) if before else None
    return (
        names.get("checkpoint_ns", named.checkpoint_ns) == named.checkpoint_ns
        and (names.get("checkpoint_id") or named.checkpoint_id) == named.checkpoint_id
        and (not end or named.checkpoint_id < end)
    )


class AgentHomeSaver(BaseCheckpointSaver[int]):
    """A checkpoint saver whose threads survive the process.

    With an AgentHome it is for graphs that are invoked, with an AsyncAgentHome for those that are
    awaited. Of each thread and namespace the newest `keep` checkpoints (20 unless told, at least
    2) stay, older ones give way, so that no thread fills a home. The keys begin with `prefix`, 1
    to 8 characters. Raises ValueError.

    ```python
    checkpointer = AgentHomeSaver(home, keep=20)
    checkpointer.delete_thread("thread-1")
    ```
    """

    def __init__(
        self,
        home: AgentHome | AsyncAgentHome,
        *,
        prefix: str = "graph",
        keep: int = _KEEP,
        serde: SerializerProtocol | None = None,
    ) -> None:
        super().__init__(serde=serde)
        if not keep >= 2:
            raise ValueError("keep must be at least 2")
        self._home = home
        self._core = home._core
        self._prefix = require_prefix(prefix, _LONGEST_PREFIX)
        self._keep = keep
        #: The last checkpoints, so that a child need not read its parent.
        self._remembered: OrderedDict[Named, _Parent] = OrderedDict()

    # For graphs that are invoked

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return sync_home(self._home)._run(self._get(config))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Newest first."""
        return sync_home(self._home)._each(self._list(config, filter, before, limit))

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return sync_home(self._home)._run(self._put(config, checkpoint, metadata, new_versions))

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        sync_home(self._home)._run(self._put_writes(config, writes, task_id, task_path))

    def delete_thread(self, thread_id: str) -> None:
        sync_home(self._home)._run(self._delete_thread(thread_id))

    # For graphs that are awaited

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await async_home(self._home)._run(self._get(config))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Newest first."""
        listed = self._list(config, filter, before, limit)
        async for each in async_home(self._home)._each(listed):
            yield each

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        put = self._put(config, checkpoint, metadata, new_versions)
        return await async_home(self._home)._run(put)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        put = self._put_writes(config, writes, task_id, task_path)
        await async_home(self._home)._run(put)

    async def adelete_thread(self, thread_id: str) -> None:
        await async_home(self._home)._run(self._delete_thread(thread_id))

    # What both do

    def _get(self, config: RunnableConfig) -> Op[CheckpointTuple | None]:
        thread = _required("thread_id", _names_in(config).get("thread_id"))
        namespace = _namespace_of(config)
        checkpoint_id = get_checkpoint_id(config)

        def read() -> Op[CheckpointTuple | None]:
            named = Named(thread, namespace, checkpoint_id) if checkpoint_id else None
            if named is None:
                key = namespace_key(self._prefix, thread, namespace)
                heads = yield from self._heads_under(key)
                if not heads:
                    return None
                named = heads[0].named
            return (yield from self._read(named))

        return (yield from untorn(read))

    def _list(
        self,
        config: RunnableConfig | None,
        filter: Mapping[str, Any] | None,
        before: RunnableConfig | None,
        limit: int | None,
    ) -> Op[None]:
        thread = _names_in(config).get("thread_id") if config else None
        key = self._prefix if thread is None else thread_key(self._prefix, str(thread))
        by_thread: dict[str, list[Head]] = {}
        for head in (yield from self._heads_under(key)):
            by_thread.setdefault(head.named.thread_id, []).append(head)
        kept = [head for own in by_thread.values() for head in staying(own, self._keep)]
        given = 0
        for head in newest_first(kept):
            named = head.named
            if limit is not None and given >= limit:
                return
            if not _is_asked(named, config, before):
                continue
            found = yield from untorn(lambda named=named: self._read(named))  # type: ignore[misc]
            said: Mapping[str, Any] = found.metadata if found else {}
            wanted = (filter or {}).items()
            if found and all(said.get(name) == value for name, value in wanted):
                given += 1
                yield Give([found])

    def _put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> Op[RunnableConfig]:
        named = _named_in(config, checkpoint["id"])
        parent = get_checkpoint_id(config)
        rest = {name: value for name, value in checkpoint.items() if name != "channel_values"}
        values = {
            channel: pack(self.serde, value)
            for channel, value in checkpoint["channel_values"].items()
        }
        said = get_checkpoint_metadata(config, metadata)
        packed = pack(self.serde, said)
        versions = checkpoint["channel_versions"]

        def file(ancestor: _Ancestor) -> Op[None]:
            own, holders = _placed(versions, values, new_versions, ancestor)
            line: Line = {
                "checkpoint": rest,
                "metadata": packed,
                "parent": parent,
                "values": own,
                "holders": holders,
            }
            is_delta = bool(said.get("counters_since_delta_snapshot"))
            yield from self._file(Head(named, sorted(set(holders.values())), is_delta), line)
            self._remembered[named] = _parent_in(line)
            while len(self._remembered) > _MOST_REMEMBERED:
                self._remembered.popitem(last=False)

        try:
            yield from file((yield from self._ancestor(named, parent)))
        except _HolderGone:
            yield from file("gone")
        config_of: RunnableConfig = named.config()
        return config_of

    def _put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str,
    ) -> Op[None]:
        named = _named_in(config, _names_in(config).get("checkpoint_id"))
        key = head_key(self._prefix, named)
        line = writes_line(self.serde, writes, task_id, task_path)
        written = yield from line_for(self._core, key, "writes", line)

        def attempt(text: str) -> Op[None]:
            # A line that is there twice says nothing new.
            try:
                yield from self._core.append(key, text, None, None, {})
            except HomeError as error:
                if error.code != "text_too_large":
                    raise
            else:
                return
            yield from self._core.write(f"{key}.{fresh(3)}", text, 0, _BESIDE, {})

        yield from self._show(written, attempt)

    def _delete_thread(self, thread: str) -> Op[None]:
        key = thread_key(self._prefix, _required("thread_id", thread))

        def attempt(_: bool) -> Op[None]:
            while True:
                entries = yield from entries_under(self._core, key)
                operations = [each for entry in entries for each in entry.removal()]
                if not operations:
                    return
                yield from self._core.batch(operations[:BATCH_OPERATIONS], True, {})

        yield from contend(attempt, "again")

    def _heads_under(self, key: str) -> Op[Sequence[Head]]:
        entries = yield from entries_under(self._core, key)
        return newest_first(each.head for each in entries if each.head)

    def _file(self, head: Head, line: Line) -> Op[None]:
        """With what gives way to it. Raises _HolderGone."""
        key = head_key(self._prefix, head.named)
        written = yield from line_for(self._core, key, "checkpoint", line)

        def attempt(text: str) -> Op[None]:
            # Filed again after a lost answer, it replaces itself.
            thread = thread_key(self._prefix, head.named.thread_id)
            entries = yield from entries_under(self._core, thread)
            is_there = any(entry.key == key and entry.version > 0 for entry in entries)
            there = (yield from self._core.read(key, None, {})) if is_there else None
            left = leaving(entries, head, self._keep)
            if left is None:
                raise _HolderGone
            removals = [each for entry in left for each in entry.removal()]
            room = BATCH_OPERATIONS - _FILING
            filing = _filing(key, head, text, there)
            yield from self._core.batch([*filing, *removals[:room]], True, {})
            yield from remove_unseen(self._core, removals[room:])

        yield from self._show(written, attempt)

    def _show(self, written: LineText, work: Callable[[str], Op[None]]) -> Op[None]:
        """The parts of a line that was certainly not kept are removed again."""
        may_be_there = False

        def attempt(is_unsure: bool) -> Op[None]:
            nonlocal may_be_there
            may_be_there = may_be_there or is_unsure
            yield from work(written.text)

        try:
            yield from contend(attempt, "again")
        except (HomeError, _HolderGone) as error:
            if written.under and not may_be_there and not isinstance(error, OutcomeUnknown):
                yield from remove_under(self._core, written.under)
            raise

    def _load(self, named: Named) -> Op[Loaded | None]:
        return load(self._core, head_key(self._prefix, named))

    def _ancestor(self, child: Named, checkpoint_id: str | None) -> Op[_Ancestor]:
        if checkpoint_id is None:
            return "none"
        named = child.sibling(checkpoint_id)
        remembered = self._remembered.get(named)
        if remembered:
            return remembered
        read: Callable[[], Op[Loaded | None]] = lambda: self._load(named)  # noqa: E731
        loaded = yield from untorn(read)
        return _parent_in(loaded.own) if loaded and loaded.own else "gone"

    def _read(self, named: Named) -> Op[CheckpointTuple | None]:
        """None where there is none, or no longer. Raises Torn."""
        loaded = yield from self._load(named)
        if loaded is None or loaded.own is None:
            return None
        own = loaded.own
        values = yield from self._values(named, own)
        parent = own["parent"]
        return CheckpointTuple(
            config=named.config(),
            checkpoint=cast(Checkpoint, {**own["checkpoint"], "channel_values": values}),
            metadata=unpack(self.serde, own["metadata"]),
            parent_config=named.sibling(parent).config() if parent else None,
            pending_writes=pending_writes(self.serde, loaded.writes),
        )

    def _values(self, named: Named, own: Line) -> Op[dict[str, Any]]:
        """Its own values, and those that it shares with older ones. Raises Torn."""
        packed: dict[str, Packed] = dict(own["values"])
        held: dict[str, Mapping[str, Packed]] = {}
        for channel, holder in own["holders"].items():
            if holder not in held:
                loaded = yield from self._load(named.sibling(holder))
                held[holder] = loaded.own["values"] if loaded and loaded.own else {}
            if channel not in held[holder]:
                # It gave way meanwhile.
                raise Torn
            packed[channel] = held[holder][channel]
        return {
            channel: unpack(self.serde, packed[channel])
            for channel in own["checkpoint"]["channel_versions"]
            if channel in packed
        }
