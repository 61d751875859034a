"""What the home takes and gives, with the names of its OpenAPI description in snake_case.

A test holds them to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

#: Any JSON object of at most 4096 bytes. Numbers that are read keep their digits.
Metadata = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Memory:
    id: str
    key: str
    text: str
    metadata: dict[str, Any]
    #: Rises with every change of the key; never falls.
    version: int
    #: RFC 3339, as every time.
    created_at: str
    updated_at: str


@dataclass(frozen=True, kw_only=True)
class MemorySummary:
    """A memory in a list: `text` only where it was asked for."""

    id: str
    key: str
    bytes: int
    metadata: dict[str, Any]
    version: int
    created_at: str
    updated_at: str
    text: str | None = None
    #: Only the operator changes it.
    protected: Literal[True] | None = None


@dataclass(frozen=True, kw_only=True)
class Neighbour:
    """Of a short memory the `text`, of a longer one its beginning as a `snippet`."""

    key: str
    version: int
    updated_at: str
    text: str | None = None
    snippet: str | None = None


@dataclass(frozen=True, kw_only=True)
class MemoryHit(MemorySummary):
    """Of a short memory the `text`, of a longer one a `snippet` around the best match."""

    #: Its words that answer the question, in lower case.
    matched: list[str]
    #: The cosine of the angle between its vector and the one that was sent.
    similarity: float | None = None
    snippet: str | None = None
    #: With `around`: what stands right before it, in order, and right after it.
    before: list[Neighbour] | None = None
    after: list[Neighbour] | None = None


@dataclass(frozen=True)
class Meaning:
    """What is asked for, as your model sees it."""

    #: As in `store_vectors`.
    model: str
    vector: Sequence[float]


@dataclass(frozen=True)
class NewVector:
    """What your model makes of a text."""

    key: str
    #: The version whose text it is of.
    version: int
    #: At most 4,096 numbers; only their direction counts.
    vector: Sequence[float]


@dataclass(frozen=True, kw_only=True)
class Stale:
    key: str
    #: 0: there is none.
    current_version: int


@dataclass(frozen=True, kw_only=True)
class VectorsStored:
    stored: int
    #: Memories that are at another version now. Compute their vectors anew.
    stale: list[Stale]
    #: Protected memories, whose vectors only the operator stores, if there are some.
    protected: list[str] | None = None


@dataclass(frozen=True, kw_only=True)
class DeletedMemory:
    key: str
    #: The version of the deletion.
    version: int
    deleted_at: str


@dataclass(frozen=True, kw_only=True)
class KeyName:
    id: str
    name: str


@dataclass(frozen=True, kw_only=True)
class Author:
    """Who made a change."""

    as_: Literal["agent", "operator"]
    via: Literal["api", "console", "mcp", "host"]
    account: str | None = None
    key: KeyName | None = None
    #: What the client called its run: nobody verifies it.
    run: str | None = None


@dataclass(frozen=True, kw_only=True)
class RestorableMemory:
    """A deleted memory: `restore(key, last_version, expected_version=0)` brings it back."""

    key: str
    version: int
    deleted_at: str
    #: Who deleted it; None for what is older than authors.
    by: Author | None
    #: The newest version with a text.
    last_version: int
    #: Of that text.
    bytes: int


ChangeType = Literal["write", "patch", "append", "edit", "delete", "restore", "rename", "import"]


@dataclass(frozen=True, kw_only=True)
class Version:
    version: int
    operation: ChangeType
    bytes: int
    by: Author | None
    created_at: str


@dataclass(frozen=True)
class Link:
    """A place in the chain of a home's events: the hash is that of all events up to this id."""

    id: int
    hash: str


@dataclass(frozen=True)
class Head(Link):
    #: None if there is no event.
    created_at: str | None = None


@dataclass(frozen=True, kw_only=True)
class HeadResult:
    head: Head
    #: A JWS by the service, of a key under /.well-known/jwks.json.
    statement: str


EventType = Literal[
    "write",
    "patch",
    "append",
    "edit",
    "delete",
    "restore",
    "rename",
    "import",
    "erase",
    "protect",
    "unprotect",
    "export",
    "profile",
    "pause",
    "resume",
    "rotate_key",
    "create_key",
    "revoke_key",
    "reuse_token",
    "suspect_theft",
    "replace_operator_key",
    "rollback",
    "end_rollback",
    "begin_import",
    "end_import",
    "undo_import",
]


@dataclass(frozen=True, kw_only=True)
class Rollback:
    #: The event that it went back to.
    to: int
    #: How many changes follow as its parts, by the same author; `end_rollback` is after them.
    parts: int


@dataclass(frozen=True, kw_only=True)
class HomeEvent:
    id: int
    type: EventType
    by: Author | None
    created_at: str
    key: str | None = None
    #: The old key of a rename.
    from_: str | None = None
    version: int | None = None
    named_key: KeyName | None = None
    rollback: Rollback | None = None
    #: Of a text: what it was committed to.
    content: str | None = None
    #: Of this event and all before it; not shown to a key with a prefix.
    hash: str | None = None


@dataclass(frozen=True, kw_only=True)
class MissedEvents:
    """What the log no longer held when a watch came to it: the events between the two ids."""

    after: int
    first: int
    type: Literal["missed"] = field(default="missed", init=False)


SymbolId = Literal[
    "anu",
    "siyar",
    "tikha",
    "vir",
    "zerno",
    "dykh",
    "mriya",
    "kolo",
    "tin",
    "zvyazok",
    "chas",
    "vidlunnya",
    "vohon",
    "porih",
    "vichnist",
    "dzerkalo",
    "korin",
    "mist",
    "shepit",
    "aru",
    "vybir",
    "dovira",
    "pamyat",
    "bil",
    "hra",
    "vdyachnist",
]


@dataclass(frozen=True, kw_only=True)
class Profile:
    agent_id: str
    name: str
    purpose: str
    symbol: SymbolId
    status: Literal["active", "paused"]
    created_at: str
    updated_at: str


@dataclass(frozen=True, kw_only=True)
class ProfileResult:
    profile: Profile
    memory_count: int


@dataclass(frozen=True, kw_only=True)
class Left:
    #: 0: there is no limit.
    limit: int
    #: None where there is no limit.
    left: int | None


@dataclass(frozen=True, kw_only=True)
class LeftInWindow(Left):
    reset_seconds: int


@dataclass(frozen=True, kw_only=True)
class Limits:
    reads: LeftInWindow
    writes: LeftInWindow
    #: Of the whole home; not shown to a key with a prefix, nor are the bytes.
    memories: Left | None = None
    bytes: Left | None = None


@dataclass(frozen=True, kw_only=True)
class PinnedMemory:
    key: str
    version: int
    updated_at: str
    text: str
    #: Only where there are any.
    metadata: dict[str, Any] | None = None
    protected: Literal[True] | None = None


@dataclass(frozen=True, kw_only=True)
class FoundMemory:
    key: str
    version: int
    updated_at: str
    metadata: dict[str, Any] | None = None
    protected: Literal[True] | None = None
    text: str | None = None
    #: Where the text is not whole: its bytes, and a part of it.
    bytes: int | None = None
    snippet: str | None = None
    #: With `around`: what stands right before it, in order, and right after it.
    before: list[Neighbour] | None = None
    after: list[Neighbour] | None = None


@dataclass(frozen=True, kw_only=True)
class ChangedMemory:
    key: str
    version: int
    updated_at: str
    bytes: int
    metadata: dict[str, Any] | None = None
    protected: Literal[True] | None = None
    #: Of a short one, where it fits.
    text: str | None = None
    #: Of a longer one its first line, where it fits.
    snippet: str | None = None


@dataclass(frozen=True, kw_only=True)
class OtherChange:
    """What others did to a memory, all in all; by whom and when, of the last change."""

    key: str
    #: `deleted`: nothing has the key now.
    change: Literal["created", "updated", "deleted", "restored", "renamed"]
    by: Author | None
    at: str
    #: Of what was renamed: its key before.
    from_: str | None = None
    version: int | None = None


@dataclass(frozen=True, kw_only=True)
class ContextProfile:
    name: str
    symbol: SymbolId
    status: Literal["active", "paused"]
    #: Left out where it does not fit.
    purpose: str | None = None


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    purpose: bool
    pinned: int
    found: int
    memories: int
    #: With `since`: changes by others that did not fit.
    others: int | None = None
    #: With `since`: there may be more, which the log has no longer or too far back.
    earlier_others: bool | None = None


@dataclass(frozen=True, kw_only=True)
class NextCall:
    method: str
    path: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Context:
    profile: ContextProfile
    memory_count: int
    limits: Limits
    pinned: list[PinnedMemory]
    #: What answers `about`, best first: whole where it fits, else with a snippet.
    found: list[FoundMemory]
    changes: list[ChangedMemory]
    left_out: LeftOut
    next: list[NextCall]
    #: With `about`: its words that no memory has in any form, in lower case.
    missing: list[str] | None = None
    #: After it, `events` tells what happened since; not shown to a key with a prefix.
    last_event: int | None = None
    #: With `proof`: of the chain of events; not shown to a key with a prefix.
    head: Link | None = None
    #: With `since`: newest last.
    others: list[OtherChange] | None = None


@dataclass(frozen=True, kw_only=True)
class BirthResult:
    agent_id: str
    token: str = field(repr=False)
    #: Keep it apart from the agent.
    operator_token: str = field(repr=False)
    replayed: bool | None = None


@dataclass(frozen=True, kw_only=True)
class SymbolName:
    uk: str
    en: str


@dataclass(frozen=True, kw_only=True)
class Symbol:
    id: SymbolId
    glyph: str
    name: SymbolName
    meaning: str


@dataclass(frozen=True, kw_only=True)
class Interface:
    version: str
    openapi: str
    export_format: str
    birth: str


@dataclass(frozen=True, kw_only=True)
class Preview:
    available: bool
    status: Literal["open", "closed", "busy"]
    #: `memoriesPerAgent` and others, as the service enforces them.
    limits: dict[str, Any]
    symbols: list[Symbol]
    consent: str
    interface: Interface


@dataclass(frozen=True)
class Write:
    """One operation of a batch, as are those that follow."""

    key: str
    #: 1 to 16384 bytes of UTF-8.
    text: str
    #: 0 creates.
    expected_version: int
    metadata: Metadata | None = None


@dataclass(frozen=True)
class Patch:
    """What is None stays."""

    key: str
    expected_version: int
    text: str | None = None
    metadata: Metadata | None = None


@dataclass(frozen=True)
class Append:
    key: str
    text: str
    expected_version: int | None = None
    #: Puts a line end before the text, unless there is one.
    line: bool | None = None


@dataclass(frozen=True)
class Edit:
    key: str
    #: In the text exactly once.
    old: str
    new: str
    expected_version: int | None = None


@dataclass(frozen=True)
class Delete:
    key: str
    expected_version: int


@dataclass(frozen=True)
class Restore:
    key: str
    version: int
    expected_version: int


@dataclass(frozen=True)
class Rename:
    from_: str
    to: str
    expected_version: int


@dataclass(frozen=True)
class Read:
    key: str


Operation = Write | Patch | Append | Edit | Delete | Restore | Rename | Read


@dataclass(frozen=True, kw_only=True)
class BatchResult:
    """What an operation of a batch made. Both are None after the read of a key without a memory."""

    memory: Memory | None = None
    deleted: DeletedMemory | None = None
    #: Of a read of a memory that was renamed: its key now.
    renamed_to: str | None = None


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """What is saved, without its text and metadata; what is read has both."""

    id: str
    key: str
    version: int
    created_at: str
    updated_at: str
    text: str | None = None
    metadata: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class BatchReceipt:
    memory: Receipt | None = None
    deleted: DeletedMemory | None = None


@dataclass(frozen=True, kw_only=True)
class Imported:
    imported: int
    skipped: int
    #: Keys that have a memory: the first of them.
    conflicts: list[str]
    #: Earlier versions in the file that were not imported, of keys that were.
    history_left_out: int | None = None
    #: With `replace`: keys of protected memories, which were not replaced.
    protected: list[str] | None = None


@dataclass(frozen=True, kw_only=True)
class KeyClient:
    id: str
    redirect_host: str


@dataclass(frozen=True, kw_only=True)
class KeyReuse:
    times: int
    last_at: str


@dataclass(frozen=True, kw_only=True)
class NamedKey:
    id: str
    name: str
    access: Literal["read", "write"]
    prefix: str | None
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    #: The program that it was granted to by OAuth: its id, and where its user was sent back to.
    client: KeyClient | None = None
    #: Uses of a refresh token after it was replaced: by another session of the program, or a thief.
    reused: KeyReuse | None = None


@dataclass(frozen=True, kw_only=True)
class NewNamedKey:
    key: NamedKey
    #: Shown once.
    token: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Protection:
    key: str
    #: The current one: protecting makes none.
    version: int
    protected: bool


@dataclass(frozen=True, kw_only=True)
class Skipped:
    key: str
    reason: Literal["version_gone"]


@dataclass(frozen=True, kw_only=True)
class RolledBack:
    restored: int
    deleted: int
    #: Changed since, and as they were.
    unchanged: int
    #: Left as they are: their version of then was erased or pruned.
    skipped: list[Skipped]


@dataclass(frozen=True, kw_only=True)
class Erased:
    key: str
    versions: list[int]
