"""Every operation of a home, written once for both clients: what is asked, and what it means."""

from __future__ import annotations

import base64
import hashlib
import hmac
import inspect
import re
import secrets
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from types import MappingProxyType
from typing import Any, Literal, Protocol, TypeVar
from urllib.parse import quote

from . import wire
from .calls import (
    Asked,
    Call,
    Drop,
    Give,
    Lost,
    Op,
    Query,
    Settled,
    Take,
    Transport,
    backoff,
    call,
    collected,
    cut_off,
    sleep,
)
from .chain import follow
from .errors import HistoryChanged, HomeError, TurnedBack, VersionConflict
from .exact import dumps, loads, received, sent
from .wire import DeletedMemory, HomeEvent, Link, Memory, Metadata, Version

T = TypeVar("T")


@dataclass(frozen=True)
class Content:
    """What a memory becomes; metadata that are None stay."""

    text: str
    metadata: Metadata | None = None


#: What `update` gives if it leaves the memory alone.
N = TypeVar("N", bound=None)


def _content_of(changed: object) -> Content:
    """Raises TypeError for what no memory becomes, such as a coroutine that nobody awaits."""
    if isinstance(changed, str):
        return Content(changed)
    if isinstance(changed, Content):
        return changed
    if inspect.iscoroutine(changed):
        changed.close()
        raise TypeError("only an AsyncAgentHome accepts an asynchronous change")
    raise TypeError(f"change must give a str, Content or None, not {type(changed).__name__}")


class Heads(Protocol):
    """Where the last head of a home is remembered.

    Keep it beside the token: what is remembered elsewhere cannot be changed with the home. An
    async client awaits what the two return.
    """

    def load(self) -> Any: ...

    def save(self, head: Link, /) -> Any: ...


@dataclass(frozen=True, kw_only=True)
class Checked:
    #: The newest event, now remembered.
    head: Link
    #: How many events were computed anew.
    events: int
    #: What the first of them follows: the remembered head, or a later event if those in between
    #: are no longer in the log. None if nothing was remembered.
    since: Link | None


def new_idempotency_key() -> str:
    """32 random bytes, as the home wants them: a secret, to be kept until the answer is."""
    return secrets.token_hex(32)


_LEAST_SECRET = 32


def derived_key(secret: str, user: str) -> str:
    """HMAC-SHA-256 of the user's id: the same key for the same user. Raises ValueError."""
    if len(secret) < _LEAST_SECRET:
        raise ValueError(f"secret must have at least {_LEAST_SECRET} characters")
    if user == "":
        raise ValueError("user must not be empty")
    return hmac.new(secret.encode(), user.encode(), hashlib.sha256).hexdigest()


def same(a: Any, b: Any) -> bool:
    """Of JSON. `==` takes True for 1."""
    return dumps(a) == dumps(b)


def _same_content(found: Memory, text: str, metadata: Metadata) -> bool:
    return found.text == text and same(found.metadata, metadata)


#: Attempts of an update. More conflicts in a row mean that another writer never pauses.
_MOST_CONFLICTS = 200

Words = list[str]

_AT_ONCE = 100
#: Longer words are sent in a body, because URLs are short.
_LONGEST_IN_URL = 500
_CHECKED_AT_ONCE = 1_000
_IMPORT_SECONDS = 3_600.0
_EXPORT_IDLE = 30.0

#: The home says something every 15 seconds.
_WATCH_IDLE = 45.0

#: No event of the home is a hundredth of it.
_MOST_CHARACTERS = 1_000_000

_MEMORY = "/me/memory"
_MINIMAL = {"prefer": "return=minimal"}


class _Named(Protocol):
    @property
    def key(self) -> str: ...


M = TypeVar("M", bound=_Named)


def _about(key: str, found: M | None) -> M:
    """A proxy may mix up two answers."""
    if found is not None and found.key == key:
        return found
    detail = (
        "The answer is about another memory than the one that was asked for, and nothing of it is "
        "returned. Whatever is between this program and the home mixes up answers: check it before "
        "you go on. If a change was asked for, read what became of it."
    )
    raise HomeError(status=0, code="other_memory", detail=detail)


def _about_operation(asked: wire.Operation | None, result: Any) -> None:
    """A read of a batch finds None where nothing is."""
    found = None if result is None else result.deleted or result.memory
    if result is not None and found is None and isinstance(asked, wire.Read):
        return
    if isinstance(asked, wire.Rename):
        _about(asked.to, found)
    elif asked is not None:
        _about(asked.key, found)


def operation(each: wire.Operation) -> dict[str, Any]:
    """As a batch takes it: under its verb."""
    return {type(each).__name__.lower(): sent(each)}


def _base64_of(vector: Sequence[float]) -> str:
    """32-bit floats in little-endian order: a third of what the same numbers take as text."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


#: Of one request.
_MOST_VECTORS = 100
_MOST_VECTOR_BYTES = 2_000_000


def _requests_of(vectors: Iterable[wire.NewVector]) -> Iterable[list[dict[str, Any]]]:
    """As many at once as a request takes."""
    request: list[dict[str, Any]] = []
    size = 0
    for each in vectors:
        vector = _base64_of(each.vector)
        is_full = len(request) == _MOST_VECTORS or size + len(vector) > _MOST_VECTOR_BYTES
        if is_full and request:
            yield request
            request, size = [], 0
        request.append({"key": each.key, "version": each.version, "vector": vector})
        size += len(vector)
    if request:
        yield request


class Core:
    def __init__(self, transport: Transport, heads: Heads | None = None) -> None:
        self.transport = transport
        self.heads = heads

    # Memories

    def read(self, key: str, version: int | None, options: Call) -> Op[Memory | None]:
        query: Query = {"key": key, "version": version}
        try:
            found = yield from self.transport.ask(Asked(_MEMORY, query=query), options)
        except HomeError as error:
            if error.code == "memory_not_found":
                return None
            raise
        return _about(key, received(Memory, found["memory"]))

    def write(
        self,
        key: str,
        text: str,
        expected_version: int,
        metadata: Metadata | None,
        options: Call,
    ) -> Op[Memory]:
        if metadata is None and expected_version > 0:
            return (yield from self.patch(key, text, None, expected_version, options))
        kept: Metadata = {} if metadata is None else metadata
        body = {"key": key, "text": text, "metadata": kept, "expectedVersion": expected_version}

        def is_ours(found: Memory) -> Op[bool]:
            yield from ()
            return _same_content(found, text, kept)

        return (yield from self._save("POST", _MEMORY, body, is_ours, options))

    def update(self, key: str, change: Callable[[Memory | None], Any], options: Call) -> Op[Any]:
        conflicts = 0
        while True:
            current = yield from self.read(key, None, options)
            changed = yield from call(change, current)
            if changed is None:
                return current
            content = _content_of(changed)
            if (
                current
                and current.text == content.text
                and (content.metadata is None or same(content.metadata, current.metadata))
            ):
                return current
            version = current.version if current else 0
            try:
                return (
                    yield from self.write(key, content.text, version, content.metadata, options)
                )
            except VersionConflict:
                if conflicts == _MOST_CONFLICTS:
                    raise
            yield from sleep(backoff(conflicts, 0.01, 1.0))
            conflicts += 1

    def append(
        self,
        key: str,
        text: str,
        expected_version: int | None,
        line: bool | None,
        options: Call,
        idempotency_key: str | None = None,
    ) -> Op[Memory]:
        def is_ours(found: Memory) -> Op[bool]:
            yield from ()
            return found.text.endswith(text)

        added = {"key": key, "text": text, **({} if line is None else {"line": line})}
        body = _with_version(added, expected_version)
        headers = {"idempotency-key": idempotency_key or new_idempotency_key()}
        return (yield from self._save("POST", f"{_MEMORY}/append", body, is_ours, options, headers))

    def edit(
        self, key: str, old: str, new: str, expected_version: int | None, options: Call
    ) -> Op[Memory]:
        def is_ours(found: Memory) -> Op[bool]:
            before = yield from self.read(key, found.version - 1, options)
            return before is not None and before.text.replace(old, new, 1) == found.text

        body = _with_version({"key": key, "old": old, "new": new}, expected_version)
        return (yield from self._save("POST", f"{_MEMORY}/edit", body, is_ours, options))

    def patch(
        self,
        key: str,
        text: str | None,
        metadata: Metadata | None,
        expected_version: int,
        options: Call,
    ) -> Op[Memory]:
        def is_ours(found: Memory) -> Op[bool]:
            yield from ()
            kept = found.metadata if metadata is None else metadata
            return _same_content(found, found.text if text is None else text, kept)

        body = sent(wire.Patch(key, expected_version, text, metadata))
        return (yield from self._save("PATCH", _MEMORY, body, is_ours, options))

    def restore(self, key: str, version: int, expected_version: int, options: Call) -> Op[Memory]:
        def is_ours(found: Memory) -> Op[bool]:
            restored = yield from self.read(key, version, options)
            return restored is not None and _same_content(found, restored.text, restored.metadata)

        body = {"key": key, "version": version, "expectedVersion": expected_version}
        return (yield from self._save("POST", f"{_MEMORY}/restore", body, is_ours, options))

    def delete(self, key: str, expected_version: int, options: Call) -> Op[DeletedMemory]:
        def settle(_: HomeError) -> Op[Settled]:
            made = yield from self._version_at(key, expected_version + 1, options)
            if made == "gone":
                return "unknown"
            if made is None or made.operation != "delete":
                return "not made"
            deleted = {"key": key, "version": made.version, "deletedAt": made.created_at}
            return "made", {"deleted": deleted}

        query: Query = {"key": key, "expectedVersion": expected_version}
        asked = Asked(_MEMORY, method="DELETE", query=query, settle=settle)
        answer = yield from self.transport.ask(asked, options)
        return _about(key, received(DeletedMemory, answer["deleted"]))

    def versions(self, key: str, options: Call) -> Op[None]:
        asked = Asked(f"{_MEMORY}/versions", query={"key": key})
        return self._pages(asked, "before", "versions", Version, None, None, options)

    def _save(
        self,
        method: Literal["POST", "PATCH"],
        path: str,
        body: Mapping[str, Any],
        is_ours: Callable[[Memory], Op[bool]],
        options: Call,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> Op[Memory]:
        expected: int | None = body.get("expectedVersion")

        def settle(refusal: HomeError) -> Op[Settled]:
            return (
                yield from self._settle_save(body["key"], expected or 0, is_ours, options, refusal)
            )

        asked = Asked(
            path,
            method=method,
            body=body,
            headers=headers,
            once=expected is None,
            keyed="idempotency-key" in headers,
            settle=settle,
        )
        answer = yield from self.transport.ask(asked, options)
        if isinstance(answer, Memory):
            return answer
        memory = answer["memory"]
        # An append that was answered before, and whose version is no longer kept, has no text.
        if answer.get("replayed") and "text" not in memory:
            memory = {**memory, "text": "", "metadata": {}}
        return _about(body["key"], received(Memory, memory))

    def _settle_save(
        self,
        key: str,
        expected_version: int,
        is_ours: Callable[[Memory], Op[bool]],
        options: Call,
        refusal: HomeError,
    ) -> Op[Settled]:
        """The version that came after the expected one is ours, or somebody else's."""
        if not isinstance(refusal, VersionConflict):
            return "unknown"
        following = (
            expected_version + 1
            if expected_version > 0
            else (yield from self._first_version(key, options))
        )
        if following is None:
            return "not made"
        made = yield from self._version_at(key, following, options)
        if made == "gone":
            return "unknown"
        if made is None or made.operation == "delete":
            return "not made"
        memory = yield from self.read(key, made.version, options)
        is_made = memory is not None and (yield from is_ours(memory))
        return ("made", memory) if is_made else "not made"

    def _version_at(
        self, key: str, version: int, options: Call
    ) -> Op[Version | Literal["gone"] | None]:
        """None: there never was one of that number."""
        kept: list[Version] = yield from collected(self.versions(key, options))
        for each in kept:
            if each.version <= version:
                return each if each.version == version else None
        return "gone"

    def _first_version(self, key: str, options: Call) -> Op[int | None]:
        """Of a memory that was created meanwhile: the first version since nothing was there."""
        first: int | None = None
        kept: list[Version] = yield from collected(self.versions(key, options))
        for each in kept:
            if each.operation == "delete":
                break
            first = each.version
        return first

    # Several at once

    def batch(
        self,
        operations: Iterable[wire.Operation],
        minimal: bool,
        options: Call,
    ) -> Op[list[Any]]:
        every = list(operations)
        relative = (each for each in every if isinstance(each, wire.Append | wire.Edit))
        asked = Asked(
            "/me/batch",
            method="POST",
            body={"operations": [operation(each) for each in every]},
            reads=all(isinstance(each, wire.Read) for each in every),
            once=any(each.expected_version is None for each in relative),
            headers=_MINIMAL if minimal else {},
        )
        answer = yield from self.transport.ask(asked, options)
        kind: Any = wire.BatchReceipt if minimal else wire.BatchResult
        results = [received(kind, each) for each in answer["results"]]
        for sent_one, result in zip_longest(every, results):
            _about_operation(sent_one, result)
        return results

    def rename(self, from_: str, to: str, expected_version: int, options: Call) -> Op[Memory]:
        moved = wire.Rename(from_, to, expected_version)
        (result,) = yield from self.batch([moved], False, options)
        memory: Memory = result.memory
        return memory

    # Finding

    def profile(self, options: Call) -> Op[wire.ProfileResult]:
        return received(wire.ProfileResult, (yield from self.transport.ask(Asked("/me"), options)))

    def context(
        self,
        about: str | None,
        around: int | None,
        size: int | None,
        since: str | None,
        proof: bool | None,
        options: Call,
    ) -> Op[wire.Context]:
        query: Query = {"about": about, "around": around, "bytes": size}
        asked = _sent("/me/context", {**query, "since": since, "proof": proof}, about)
        return received(wire.Context, (yield from self.transport.ask(asked, options)))

    def list(
        self,
        prefix: str | None,
        after: str | None,
        order: str | None,
        view: str | None,
        limit: int | None,
        options: Call,
    ) -> Op[None]:
        asked = Asked("/me/memories", query={"prefix": prefix, "order": order, "view": view})
        kind = wire.MemorySummary
        return self._pages(asked, "after", "memories", kind, after, limit, options)

    def deleted(
        self, prefix: str | None, after: str | None, limit: int | None, options: Call
    ) -> Op[None]:
        asked = Asked("/me/memories", query={"deleted": True, "prefix": prefix})
        kind = wire.RestorableMemory
        return self._pages(asked, "after", "memories", kind, after, limit, options)

    def search(
        self,
        question: str,
        prefix: str | None,
        match: str | None,
        around: int | None,
        meaning: wire.Meaning | None,
        limit: int | None,
        missing: Words,
        options: Call,
    ) -> Op[None]:
        path = "/me/memories/search"
        words = None if meaning and question == "" else question
        sought: Query = {"q": words, "prefix": prefix, "match": match, "around": around}
        if meaning:
            meant = {"model": meaning.model, "vector": _base64_of(meaning.vector)}
            asked = Asked(path, method="POST", body={**sought, **meant}, reads=True)
        else:
            asked = _sent(path, sought, words)
        kind = wire.MemoryHit
        return self._pages(asked, "after", "memories", kind, None, limit, options, missing)

    def store_vectors(
        self, model: str, vectors: Iterable[wire.NewVector], options: Call
    ) -> Op[wire.VectorsStored]:
        stored, stale, protected = 0, [], []
        for some in _requests_of(vectors):
            body = {"model": model, "vectors": some}
            asked = Asked("/me/memories/vectors", method="POST", body=body)
            answer = received(wire.VectorsStored, (yield from self.transport.ask(asked, options)))
            stored += answer.stored
            stale += answer.stale
            protected += answer.protected or []
        return wire.VectorsStored(stored=stored, stale=stale, protected=protected or None)

    def events(self, query: Query, after: int | None, limit: int | None, options: Call) -> Op[None]:
        asked = Asked("/me/events", query=query)
        return self._pages(asked, "after", "events", HomeEvent, after, limit, options)

    def _pages(
        self,
        asked: Asked,
        cursor: str,
        items: str,
        kind: type[Any],
        start: str | int | None,
        limit: int | None,
        options: Call,
        missing: Words | None = None,
    ) -> Op[None]:
        """Asks for the next page when the last one is used up: who stops early asks no further.

        `missing` becomes what a page tells as such, if it does.
        """
        after, left = start, limit
        while left is None or left > 0:
            most = _AT_ONCE if left is None else min(_AT_ONCE, left)
            where = {cursor: after, "limit": most}
            page = yield from self.transport.ask(_with(asked, where), options)
            found = [received(kind, each) for each in page[items]]
            if missing is not None:
                missing[:] = page.get("missing", missing)
            yield Give(found)
            left = None if left is None else left - len(found)
            if page["next"] is None:
                return
            after = page["next"]

    # What happens

    def watch(self, after: int | None, options: Call) -> Op[None]:
        """Goes on where it was cut off. Raises what the home refuses."""
        seen = None if after is None else str(after)
        idle = 0
        while True:
            headers = {} if seen is None else {"last-event-id": seen}
            asked = Asked("/me/events/stream", headers=headers, idle=_WATCH_IDLE)
            stream = yield from self.transport.ask(asked, options)
            text = b""
            while True:
                try:
                    piece: bytes | None = yield Take(stream)
                except Lost:
                    piece = None
                if piece is None:
                    break
                *blocks, text = (text + piece).split(b"\n\n")
                if len(text) > _MOST_CHARACTERS:
                    yield Drop(stream)
                    detail = "An event has no end."
                    raise HomeError(status=200, code="answer_too_large", detail=detail)
                for block in blocks:
                    message = _message_of(block.decode(errors="replace"))
                    event = _event_in(message)
                    # Set before the yield: a caller who stops there resumes after this event.
                    seen = message.get("id", seen)
                    if event:
                        idle = 0
                        yield Give([event])
            yield Drop(stream)
            yield from sleep(backoff(idle, 0.25, 10.0))
            idle += 1

    # Proof

    def head(self, options: Call) -> Op[wire.HeadResult]:
        asked = Asked("/me/head")
        return received(wire.HeadResult, (yield from self.transport.ask(asked, options)))

    def check(self, remembered: Link | None, accept: bool, options: Call) -> Op[Checked]:
        begin = remembered
        if accept:
            begin = None
        elif begin is None and self.heads:
            begin = yield from call(self.heads.load)
        if begin:
            checked = yield from self._check_from(begin, options)
        else:
            found = (yield from self.head(options)).head
            checked = Checked(head=Link(found.id, found.hash), events=0, since=None)
        if self.heads:
            yield from call(self.heads.save, checked.head)
        return checked

    def _check_from(self, remembered: Link, options: Call) -> Op[Checked]:
        head = remembered
        since: Link | None = None
        events = 0
        after: int | None = remembered.id
        while after is not None:
            query: Query = {"after": after, "limit": _CHECKED_AT_ONCE}
            page = yield from self.transport.ask(Asked("/me/events", query=query), options)
            if "previous" not in page:
                raise ValueError("a key with a prefix cannot check the chain")
            previous = received(Link, page["previous"])
            if previous.id < head.id:
                raise TurnedBack(head, previous)
            if previous.id == head.id and previous.hash != head.hash:
                raise HistoryChanged(head, previous)
            # What came between is no longer in the log.
            if since is None or previous.id > head.id:
                since = previous
            head = previous
            for event in page["events"]:
                head = follow(head, event)
            events += len(page["events"])
            after = page["next"]
        return Checked(head=head, events=events, since=since)

    def wake(self) -> Op[bool]:
        """Whether the history was checked: a paused agent cannot, and may still ask who it is."""
        try:
            yield from self.check(None, False, {})
        except HomeError as error:
            if error.code == "agent_paused":
                return False
            raise
        return True

    # Leaving

    def export(self, history: bool | None, options: Call) -> Op[None]:
        timeout = options.get("timeout")
        idle = _EXPORT_IDLE if timeout is None else timeout
        asked = Asked("/me/export", query={"history": history}, idle=idle)
        stream = yield from self.transport.ask(asked, options)
        while True:
            try:
                piece: bytes | None = yield Take(stream)
            except Lost as lost:
                raise cut_off(lost.__cause__) from lost.__cause__
            if piece is None:
                return
            yield Give([piece])

    def import_(
        self,
        source: Any,
        on_conflict: str | None,
        dry_run: bool | None,
        options: Call,
    ) -> Op[wire.Imported]:
        asked = Asked(
            "/me/import",
            method="POST",
            query={"onConflict": on_conflict, "dryRun": dry_run},
            upload=source.encode() if isinstance(source, str) else source,
            reads=dry_run is True,
            spent=not isinstance(source, str | bytes),
            once=not dry_run,
        )
        answer = yield from self.transport.ask(asked, _patiently(options))
        return received(wire.Imported, answer)

    # The operator's

    def roll_back(
        self,
        to: int,
        prefix: str | None,
        by: str | None,
        run: str | None,
        dry_run: bool | None,
        options: Call,
    ) -> Op[wire.RolledBack]:
        given = {"to": to, "prefix": prefix, "by": by, "run": run, "dryRun": dry_run}
        body = {name: value for name, value in given.items() if value is not None}
        asked = Asked("/me/rollback", method="POST", body=body, reads=dry_run is True)
        answer = yield from self.transport.ask(asked, _patiently(options))
        return received(wire.RolledBack, answer)

    def set_status(
        self, status: Literal["active", "paused"], options: Call
    ) -> Op[wire.ProfileResult]:
        asked = Asked("/me", method="PATCH", body={"status": status})
        return received(wire.ProfileResult, (yield from self.transport.ask(asked, options)))

    def change_profile(
        self, name: str | None, purpose: str | None, symbol: str | None, options: Call
    ) -> Op[wire.ProfileResult]:
        given = {"name": name, "purpose": purpose, "symbol": symbol}
        body = {member: value for member, value in given.items() if value is not None}
        asked = Asked("/me/profile", method="PATCH", body=body)
        return received(wire.ProfileResult, (yield from self.transport.ask(asked, options)))

    def set_protected(self, key: str, protected: bool, options: Call) -> Op[wire.Protection]:
        body = {"key": key, "protected": protected}
        asked = Asked(f"{_MEMORY}/protect", method="POST", body=body)
        answer = yield from self.transport.ask(asked, options)
        return _about(key, received(wire.Protection, answer["memory"]))

    def erase(self, key: str, versions: str | Sequence[int], options: Call) -> Op[wire.Erased]:
        def settle(refusal: HomeError) -> Op[Settled]:
            yield from ()
            if refusal.code != "memory_not_found":
                return "unknown"
            return "made", {"erased": {"key": key, "versions": []}}

        which = versions if isinstance(versions, str) else list(versions)
        body = {"key": key, "versions": which}
        asked = Asked(f"{_MEMORY}/erase", method="POST", body=body, settle=settle)
        answer = yield from self.transport.ask(asked, options)
        return _about(key, received(wire.Erased, answer["erased"]))

    def erase_agent(self, agent_id: str, options: Call) -> Op[None]:
        def settle(refusal: HomeError) -> Op[Settled]:
            yield from ()
            return ("made", None) if refusal.status == 401 else "unknown"

        body = {"agent_id": agent_id}
        asked = Asked("/me/erase", method="POST", body=body, settle=settle)
        yield from self.transport.ask(asked, options)

    def rotate(self, options: Call) -> Op[str]:
        answer = yield from self.transport.ask(Asked("/me/keys", method="POST"), options)
        token: str = answer["token"]
        return token

    def replace_operator_key(self, idempotency_key: str | None, options: Call) -> Op[str]:
        headers = {"idempotency-key": idempotency_key or new_idempotency_key()}
        asked = Asked("/me/operator-keys", method="POST", headers=headers)
        answer = yield from self.transport.ask(asked, options)
        token: str = answer["operator_token"]
        return token

    def keys(self, options: Call) -> Op[Any]:
        answer = yield from self.transport.ask(Asked("/me/keys"), options)
        return [received(wire.NamedKey, each) for each in answer["keys"]]

    def create_key(
        self,
        name: str,
        access: str,
        prefix: str | None,
        expires_at: str | None,
        options: Call,
    ) -> Op[wire.NewNamedKey]:
        given = {"name": name, "access": access, "prefix": prefix, "expiresAt": expires_at}
        body = {member: value for member, value in given.items() if value is not None}
        asked = Asked("/me/keys/named", method="POST", body=body, once=True)
        return received(wire.NewNamedKey, (yield from self.transport.ask(asked, options)))

    def revoke_key(self, key_id: str, options: Call) -> Op[None]:
        def settle(refusal: HomeError) -> Op[Settled]:
            yield from ()
            return ("made", None) if refusal.code == "key_not_found" else "unknown"

        path = f"/me/keys/{quote(key_id, safe='')}"
        yield from self.transport.ask(Asked(path, method="DELETE", settle=settle), options)

    # Without a token

    def birth(
        self, body: Mapping[str, Any], idempotency_key: str, options: Call
    ) -> Op[wire.BirthResult]:
        headers = {"idempotency-key": idempotency_key}
        asked = Asked("/birth", method="POST", headers=headers, body=body)
        return received(wire.BirthResult, (yield from self.transport.ask(asked, options)))

    def preview(self, options: Call) -> Op[wire.Preview]:
        asked = Asked("/preview")
        return received(wire.Preview, (yield from self.transport.ask(asked, options)))


def _with_version(body: dict[str, Any], expected_version: int | None) -> dict[str, Any]:
    return body if expected_version is None else {**body, "expectedVersion": expected_version}


def _sent(path: str, asked: Query, words: str | None) -> Asked:
    if words is not None and len(words) > _LONGEST_IN_URL:
        known = {name: value for name, value in asked.items() if value is not None}
        return Asked(path, method="POST", body=known, reads=True)
    return Asked(path, query=asked)


def _with(asked: Asked, where: dict[str, Any]) -> Asked:
    given = {**(asked.query if asked.body is None else asked.body), **where}
    known = {name: value for name, value in given.items() if value is not None}
    if asked.body is None:
        return Asked(asked.path, query=known)
    return Asked(asked.path, method=asked.method, body=known, reads=asked.reads)


def _patiently(options: Call) -> Call:
    """An import may take long, and its answer comes at the end."""
    return (
        options if options.get("timeout") is not None else {**options, "timeout": _IMPORT_SECONDS}
    )


_FIELD = re.compile(r"(id|event|data):(.*)")


def _message_of(block: str) -> dict[str, str]:
    """Server-sent events, as far as the home sends them."""
    found = filter(None, map(_FIELD.fullmatch, block.split("\n")))
    return {each[1]: each[2].strip() for each in found}


def _event_in(message: Mapping[str, str]) -> HomeEvent | wire.MissedEvents | None:
    # After `end` the home is asked again, and says why in its refusal.
    if "data" not in message or message.get("event") == "end":
        return None
    said = loads(message["data"])
    kind: Any = HomeEvent if "type" in said else wire.MissedEvents
    event: HomeEvent | wire.MissedEvents = received(kind, said)
    return event
