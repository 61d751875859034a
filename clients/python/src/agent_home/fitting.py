"""What the adapters share: work that is begun again, names as parts of keys, and long texts."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeVar

from . import wire
from .calls import Op, backoff, collected, sleep
from .core import Core, operation
from .errors import BatchConflict, HomeError, OutcomeUnknown, VersionConflict
from .exact import dumps

T = TypeVar("T")

_MOST_TRIES = 200

#: Answers lost one after the other: whoever never hears anything gives up.
_MOST_LOST = 5

#: A memory changed, came or went since it was read. Anything else would be refused again.
_ELSEWHERE = frozenset(("version_conflict", "memory_not_found"))


def _was_overtaken(error: Exception) -> bool:
    if isinstance(error, BatchConflict):
        return all(each.code in _ELSEWHERE for each in error.conflicts)
    return isinstance(error, VersionConflict)


def contend(
    attempt: Callable[[bool], Op[T]], when_unknown: Literal["again", "throw"] = "throw"
) -> Op[T]:
    """Tries until nobody was quicker.

    Raises OutcomeUnknown, unless told to try again a few times: then the attempt is told that what
    an earlier try would have done may be there already.
    """
    lost = 0
    tries = 0
    while True:
        tries += 1
        try:
            return (yield from attempt(lost > 0))
        except (OutcomeUnknown, VersionConflict, BatchConflict) as error:
            is_unknown = isinstance(error, OutcomeUnknown) and when_unknown == "again"
            lost += is_unknown
            goes_on = lost < _MOST_LOST if is_unknown else _was_overtaken(error)
            if not goes_on or tries == _MOST_TRIES:
                raise
        yield from sleep(backoff(tries, 0.01, 1.0))


#: Pieces that one batch takes, though every character of them may be escaped.
_PIECES_AT_ONCE = 30


def _in_batches(core: Core, operations: Sequence[wire.Operation], most: int) -> Op[None]:
    for at in range(0, len(operations), most):
        yield from core.batch(operations[at : at + most], True, {})


def write_pieces(core: Core, writes: Sequence[wire.Operation]) -> Op[None]:
    yield from _in_batches(core, writes, _PIECES_AT_ONCE)


def remove_unseen(core: Core, deletes: Sequence[wire.Operation]) -> Op[None]:
    """Nobody is waiting for it: what the home refuses to remove stays, in nobody's way."""
    try:
        yield from _in_batches(core, deletes, BATCH_OPERATIONS)
    except HomeError:
        return


def remove_under(core: Core, prefix: str) -> Op[None]:
    """Pieces of what was certainly not done. What the home refuses to remove stays."""
    try:
        found = yield from collected(core.list(prefix, None, None, None, None, {}))
    except HomeError:
        return
    yield from remove_unseen(core, [wire.Delete(each.key, each.version) for each in found])


#: UTF-8 bytes that one memory's text takes.
TEXT_BYTES = 16_384

#: What one batch takes: operations, and bytes of its body.
BATCH_OPERATIONS = 100
BATCH_BYTES = 1_000_000


def size_of(operations: Iterable[wire.Operation]) -> int:
    """Bytes of their JSON."""
    return len(dumps([operation(each) for each in operations]).encode())


def pieces(text: str) -> list[str]:
    """Cut between characters, each piece as long as a memory's text may be."""
    content = text.encode()
    found: list[str] = []
    at = 0
    while at < len(content):
        end = min(at + TEXT_BYTES, len(content))
        # Not within a character: what goes on with one begins with the bits 10.
        while end < len(content) and content[end] & 0xC0 == 0x80:
            end -= 1
        found.append(content[at:end].decode())
        at = end
    return found


_READABLE = re.compile(r"[a-zA-Z0-9_-]+")

#: Bytes of SHA-256 that are kept: nobody finds two names that share them.
_HASH_BYTES = 16

#: Characters that such a hash takes.
_HASH_LENGTH = 22


def _key_characters(content: bytes) -> str:
    return base64.b64encode(content, b"-_").decode().rstrip("=")


def is_readable(name: str) -> bool:
    return _READABLE.fullmatch(name) is not None


def segment(name: str, most: int) -> str:
    """A name as one part of a key, without dots.

    Itself where it fits into `most` characters (22 at least), else 22 characters of its hash. No
    readable name is as long as a hash, so none is one.
    """
    if is_readable(name) and len(name) <= most and len(name) != _HASH_LENGTH:
        return name
    # Half a surrogate pair is hashed as the other client does.
    content = name.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
    return _key_characters(hashlib.sha256(content).digest()[:_HASH_BYTES])


_MOST_SHOWN = 500


def shown(name: str) -> str:
    """A name as metadata hold it, for whoever looks into the home: any string has its place."""
    whole = name.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return whole.replace("\0", "\ufffd")[:_MOST_SHOWN]


def fresh(size: int) -> str:
    """A part of a key that nobody has used before. `size`: a multiple of 3 bytes."""
    return _key_characters(secrets.token_bytes(size))


def require_prefix(prefix: str, most: int) -> str:
    """Raises ValueError unless it can stand before the first dot of a key."""
    if is_readable(prefix) and len(prefix) <= most:
        return prefix
    raise ValueError(f"prefix must be 1 to {most} ASCII letters, digits, _ or -")
