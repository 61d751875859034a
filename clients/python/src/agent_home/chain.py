"""The chain of a home's events, computed anew. The format: docs/proof.md of the service."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .errors import HistoryChanged
from .exact import decode_at, dumps, received
from .replay import Living, Made, Replay, how_of
from .wire import Link


def _utf16(name: str) -> bytes:
    return name.encode("utf-16-be", "surrogatepass")


def _canonical(value: Any) -> str:
    """RFC 8785, for what events hold: strings, whole numbers, objects."""
    if isinstance(value, dict):
        members = sorted(value.items(), key=lambda member: _utf16(member[0]))
        return "{" + ",".join(f"{dumps(name)}:{_canonical(each)}" for name, each in members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_canonical, value)) + "]"
    return dumps(value)


def beginning_of(agent_id: str) -> str:
    """The hash that the chain of an agent begins with."""
    return hashlib.sha256(f"agent-home chain v1\n{agent_id}".encode()).hexdigest()


def _hash_after(previous: str, event: Mapping[str, Any]) -> str:
    hashed = {name: value for name, value in event.items() if name != "hash"}
    inner = hashlib.sha256(_canonical(hashed).encode()).digest()
    return hashlib.sha256(bytes.fromhex(previous) + inner).hexdigest()


def follow(previous: Link, event: Mapping[str, Any]) -> Link:
    """Raises HistoryChanged unless the event, as the home shows it, follows on the link."""
    here = Link(previous.id + 1, _hash_after(previous.hash, event))
    shown = event.get("hash", "")
    if event["id"] == here.id and shown == here.hash:
        return here
    raise HistoryChanged(here, Link(event["id"], shown))


def content_of(salt: str, text: str, metadata: str) -> str:
    """What a version's text and metadata, as the home keeps them, are committed to."""
    content = text.encode()
    message = len(content).to_bytes(4, "big") + content + metadata.encode()
    return hmac.new(bytes.fromhex(salt), message, hashlib.sha256).hexdigest()


@dataclass(frozen=True, kw_only=True)
class ExportFault:
    """What does not fit together in an export."""

    #: A sentence, without a text of yours.
    fault: str
    #: The event, or a version: `key@version`.
    place: str


@dataclass(frozen=True, kw_only=True)
class VerifiedExport:
    agent_id: str
    #: What the first event of the file follows.
    previous: Link
    head: Link
    events: int
    #: Memories that the file has.
    memories: int
    #: Versions whose texts are those that an event committed to.
    proven: int
    #: Versions that no event of the file committed to: older than the chain or its oldest event.
    unproven: int
    #: Memories that no event of the file tells of: whether they should be there is not proven. Each
    #: of the others is there, or not, as the last event of its key left it.
    unproven_keys: int
    faults: list[ExportFault]


_SPACE = re.compile(r"[\t\n\r ]*")


def _after(text: str, at: int, character: str) -> tuple[int, bool]:
    """Steps over white space, and this character if it is there."""
    here = _end_of_space(text, at)
    if text[here : here + 1] != character:
        return here, False
    return _end_of_space(text, here + 1), True


def _end_of_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _is_end(text: str, at: int) -> bool:
    return _end_of_space(text, at) == len(text)


def _open(text: str, bracket: str) -> int:
    at, met = _after(text, 0, bracket)
    if not met:
        raise ValueError(f"The JSON does not begin with {bracket}.")
    return at


def _elements_of(text: str) -> Iterator[tuple[Any, str]]:
    """The elements of an array, in order: what they mean, and as they stand in the text."""
    at = _open(text, "[")
    while text[at : at + 1] != "]":
        value, end = decode_at(text, at)
        yield value, text[at:end]
        at, _ = _after(text, end, ",")


def _members_of(text: str) -> dict[str, str]:
    """The members of an object: names, and values as they stand in the text."""
    members: dict[str, str] = {}
    at = _open(text, "{")
    while text[at : at + 1] != "}":
        name, named = decode_at(text, at)
        begin, _ = _after(text, named, ":")
        _, end = decode_at(text, begin)
        if name in members:
            raise ValueError(f"The JSON has {name} twice.")
        members[name] = text[begin:end]
        at, _ = _after(text, end, ",")
    if not _is_end(text, at + 1):
        raise ValueError("The JSON has something after it.")
    return members


def _object_in(value: Any, **members: type) -> dict[str, Any]:
    """An object that has at least these members."""
    if not isinstance(value, dict):
        raise ValueError("The JSON does not begin with {.")
    for name, kind in members.items():
        if type(value.get(name)) is not kind:
            raise ValueError(f"The JSON lacks {name}, or it is invalid.")
    return value


#: Between two calls of `progress`.
_AT_ONCE = 1_000


class _Verification:
    def __init__(self, remembered: Link | None, progress: Callable[[int], object] | None) -> None:
        self.faults: list[ExportFault] = []
        self.remembered = remembered
        self.progress = progress
        self.checked = 0
        self.replay = Replay(self.fault)

    def fault(self, says: str, place: object) -> None:
        self.faults.append(ExportFault(fault=says, place=str(place)))

    def tick(self) -> None:
        self.checked += 1
        if self.progress and self.checked % _AT_ONCE == 0:
            self.progress(self.checked)

    def meet(self, link: Link) -> Link:
        remembered = self.remembered
        if remembered and link.id == remembered.id and link.hash != remembered.hash:
            self.fault("the event differs from the remembered one", link.id)
        return link

    def follow(self, previous: Link, events: str) -> tuple[Link, int]:
        head, count = self.meet(previous), 0
        for event, _ in _elements_of(events):
            self.replay.take(_object_in(event, id=int, hash=str))
            try:
                head = follow(head, event)
            except HistoryChanged:
                says = "the event differs from the chained one, or an earlier one does"
                self.fault(says, event["id"])
                # From what the file says, so that each fault is named once.
                head = Link(event["id"], event.get("hash", ""))
            self.meet(head)
            count += 1
            self.tick()
        if self.remembered and self.remembered.id > head.id:
            self.fault("the file is older than the remembered head", self.remembered.id)
        return head, count

    def texts(self, current: Mapping[str, _Current], history: str) -> tuple[int, int]:
        """How many versions are proven, and how many are not."""
        proven = unproven = 0
        last: tuple[str, int] | None = None
        for element, source in _elements_of(history):
            version = _object_in(element, key=str, version=int)
            self.tick()
            here = (version["key"], version["version"])
            if last and here <= last:
                self.fault("a version is in the file twice, or out of order", _place_of(version))
            last = here
            memory = current.get(version["key"])
            is_current = memory is not None and memory.version == version["version"]
            if memory and is_current:
                memory.is_kept = True
                if not memory.is_of(version):
                    says = "a memory has another id or time than its current version"
                    self.fault(says, _place_of(version))
            texts = _texts_of(source, version, memory if is_current else None)
            made = self.replay.made_by(*here)
            found = _text_fault(version, made, texts) if made else None
            if found:
                self.fault(found, _place_of(version))
            elif made and texts:
                proven += 1
            elif texts:
                unproven += 1
        return proven, unproven


def _place_of(version: Mapping[str, Any]) -> str:
    return f"{version['key']}@{version['version']}"


def _texts_of(
    source: str, version: Mapping[str, Any], memory: _Current | None
) -> list[Mapping[str, str]]:
    """Of a current version the home writes the text only into the list of memories."""
    is_without = memory is not None or version.get("operation") == "delete"
    texts = [] if memory is None else [memory.source]
    return texts if is_without and "text" not in version else [*texts, _members_of(source)]


def _text_fault(
    version: Mapping[str, Any], made: Made, texts: Iterable[Mapping[str, str]]
) -> str | None:
    """`texts`: of the version, wherever the file has one."""
    # Absent in exports of 2.0.0. What an import brought may have been made under another key: its
    # event does not tell.
    if made.how is not None and version.get("madeAs", made.key) != made.key:
        return "the version was made under another key than madeAs"
    if (version.get("operation") == "delete") != (made.content is None):
        return "a version is a deletion, but its event made a text, or the other way round"
    how = how_of(version.get("operation"), version.get("by"), version.get("updatedAt"))
    if made.how is not None and made.how != how:
        return "the version names another operation, author or time than its event"
    salt = version.get("salt")
    for text in texts:
        found = _commitment_of(salt, text) if isinstance(salt, str) else None
        if found is None or found != made.content:
            return "the text differs from the one that its event committed to"
    return None


@dataclass
class _Current(Living):
    """A memory, and its members as they stand in the file."""

    facts: Mapping[str, Any]
    source: Mapping[str, str]

    def is_of(self, version: Mapping[str, Any]) -> bool:
        return all(
            self.facts.get(name) == version.get(name) for name in ("id", "createdAt", "updatedAt")
        )


def _current_in(memories: str, fault: Callable[[str, object], object]) -> dict[str, _Current]:
    current: dict[str, _Current] = {}
    for element, source in _elements_of(memories):
        memory = _object_in(element, key=str, version=int)
        if memory["key"] in current:
            fault("a memory is in the file twice", _place_of(memory))
        current[memory["key"]] = _Current(
            version=memory["version"], facts=memory, source=_members_of(source)
        )
    return current


def _commitment_of(salt: str, kept: Mapping[str, str]) -> str | None:
    text = json.loads(kept.get("text", '""'))
    return content_of(salt, text, kept.get("metadata", "")) if isinstance(text, str) else None


#: As the import takes it, too: editors on Windows put it before a file.
_BYTE_ORDER_MARK = "\ufeff"


def verify_export(
    source: str | bytes | Iterable[bytes],
    *,
    remembered: Link | None = None,
    progress: Callable[[int], object] | None = None,
) -> VerifiedExport:
    """Recomputes the event hashes and text commitments of an export with history.

    `remembered`: a head that was stored elsewhere; the events must contain it.
    `progress` is called at intervals with the number of events and versions checked. Raises
    ValueError if the file is not an export with history.

    ```python
    verified = verify_export(home.export(history=True))
    print(verified.head.id, len(verified.faults))
    ```
    """
    if not isinstance(source, str | bytes):
        source = b"".join(source)
    text = source if isinstance(source, str) else source.decode()
    file = _members_of(text.removeprefix(_BYTE_ORDER_MARK))
    for name in ("agent", "previous", "events", "memories", "history"):
        if name not in file:
            raise ValueError(f"This is not an export with history: it has no {name}.")
    found = _Verification(remembered, progress)
    agent_id: str = _object_in(json.loads(file["agent"]), agent_id=str)["agent_id"]
    before = _object_in(json.loads(file["previous"]), id=int, hash=str)
    previous = received(Link, before)
    if previous.id == 0 and previous.hash != beginning_of(agent_id):
        found.fault("the chain does not begin as this agent’s", 0)
    head, events = found.follow(previous, file["events"])
    current = _current_in(file["memories"], found.fault)
    proven, unproven = found.texts(current, file["history"])
    unproven_keys = found.replay.compare(current, is_whole=previous.id == 0)
    return VerifiedExport(
        agent_id=agent_id,
        previous=previous,
        head=head,
        events=events,
        memories=len(current),
        proven=proven,
        unproven=unproven,
        unproven_keys=unproven_keys,
        faults=found.faults,
    )
