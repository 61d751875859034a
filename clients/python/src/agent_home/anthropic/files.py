"""Files and directories over the keys of a home. A directory is there while a file is below it.

A plain path makes a readable key: /memories/notes/todo.md is `memories..notes..todo.md`. A path
that no key can spell (other scripts, spaces, more than 100 characters) has a key made of its hash,
and its path in the metadata.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anthropic.lib.tools import ToolError

from .. import wire
from ..calls import Op, collected
from ..core import Core
from ..wire import Memory

Names = tuple[str, ...]


@dataclass(frozen=True)
class Place:
    """A path that a model writes, and the names on the way from /memories."""

    #: As the model wrote it: answers say it so.
    path: str
    #: None: /memories itself.
    names: Names


def _resolved(path: str) -> Names:
    """What `.` and `..` come to; nothing where they lead above everything."""
    names: list[str] = []
    for name in path.split("/"):
        if name in ("", "."):
            continue
        if name != "..":
            names.append(name)
        elif names:
            names.pop()
        else:
            return ()
    return tuple(names)


#: UTF-8 bytes: what a memory's metadata have room for.
_LONGEST_PATH = 4_096

_MOST_SHOWN = 8_192


def place_of(path: str) -> Place:
    """Raises what the model is told of a path that leads elsewhere."""
    if len(path.encode(errors="surrogatepass")) > _LONGEST_PATH:
        shown = f"{path[:_MOST_SHOWN]}…" if len(path) > _MOST_SHOWN else path
        raise ToolError(f"The path {shown} is too long")
    if not re.match(r"/memories(/|\Z)", path):
        raise ToolError(f"Path must start with /memories, got: {path}")
    names = _resolved(path)
    if names[:1] != ("memories",):
        raise ToolError(f"Path {path} would escape /memories directory")
    return Place(path, names[1:])


def path_of(names: Names) -> str:
    return "/".join(["", "memories", *names])


def is_below(names: Names, directory: Names) -> bool:
    """Whether a file lies somewhere below a directory."""
    return len(names) > len(directory) and names[: len(directory)] == directory


_DIRECT = "memories.."
_HASHED = "memories.sha256."

#: Two dots are the slash, so a name has none at its ends and never two together.
_PLAIN = re.compile(r"[a-zA-Z0-9_-]+(\.[a-zA-Z0-9_-]+)*")

_MOST_CHARACTERS = 100


def is_hashed(key: str) -> bool:
    return key.startswith(_HASHED)


def _direct_key(names: Names) -> str | None:
    key = _DIRECT + "..".join(names)
    is_plain = all(_PLAIN.fullmatch(name) for name in names)
    return key if is_plain and len(key) <= _MOST_CHARACTERS else None


def key_of(names: Names) -> str:
    direct = _direct_key(names)
    return direct or _HASHED + hashlib.sha256(path_of(names).encode()).hexdigest()


def _prefixes_of(directory: Names) -> list[str]:
    """How the keys begin under which the files below a directory lie."""
    if not directory:
        return ["memories."]
    key = _direct_key(directory)
    if key is None or len(key) > _MOST_CHARACTERS - 2:
        return [_HASHED]
    return [f"{key}..", _HASHED]


def metadata_of(key: str, names: Names, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of a file under its key, beside what others said of it."""
    others = {name: value for name, value in metadata.items() if name != "path"}
    return {**others, "path": path_of(names)} if is_hashed(key) else others


def _names_of(key: str, metadata: Mapping[str, Any]) -> Names | None:
    """None: it is not a file of /memories."""
    if is_hashed(key):
        try:
            # Anybody may have changed it since.
            return place_of(str(metadata.get("path"))).names
        except ToolError:
            return None
    names = tuple(key[len(_DIRECT) :].split("..")) if key.startswith(_DIRECT) else ()
    return names if names and _direct_key(names) == key else None


_EMPTY = "\n"

_MOST_BYTES = 16_384


def text_in(memory: Memory) -> str:
    """What a file holds: the home keeps no empty text."""
    is_empty = memory.metadata.get("empty") is True and memory.text == _EMPTY
    return "" if is_empty else memory.text


def content_of(text: str, metadata: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    kept = {name: value for name, value in metadata.items() if name != "empty"}
    return (text, kept) if text else (_EMPTY, {**kept, "empty": True})


def too_large(path: str, code: str) -> ToolError:
    """What the model is told of a write that the home refused with 413."""
    if code == "metadata_too_large":
        return ToolError(f"The path {path} is too long")
    return ToolError(
        f"The file {path} was not changed: it would be larger than {_MOST_BYTES} bytes of UTF-8, "
        "the most that one file can hold. Split it into several files."
    )


def missing(path: str) -> ToolError:
    return ToolError(f"The path {path} does not exist. Please provide a valid path.")


@dataclass(frozen=True)
class FoundFile:
    key: str
    names: Names
    version: int
    metadata: dict[str, Any]
    bytes: int


def _file_of(memory: wire.MemorySummary, names: Names) -> FoundFile:
    is_empty = memory.metadata.get("empty") is True and memory.bytes == len(_EMPTY)
    size = 0 if is_empty else memory.bytes
    return FoundFile(memory.key, names, memory.version, memory.metadata, size)


class Files:
    def __init__(self, core: Core) -> None:
        self.core = core

    def read(self, names: Names) -> Op[Memory | None]:
        if not names:
            return None
        return (yield from self.core.read(key_of(names), None, {}))

    def below(self, directory: Names) -> Op[Sequence[FoundFile]]:
        """Every file below a directory, however deep."""
        found: list[FoundFile] = []
        for prefix in _prefixes_of(directory):
            listed = yield from collected(self.core.list(prefix, None, None, None, None, {}))
            for memory in listed:
                names = _names_of(memory.key, memory.metadata)
                if names and is_below(names, directory):
                    found.append(_file_of(memory, names))
        return found

    def is_directory(self, names: Names) -> Op[bool]:
        return not names or bool((yield from self.below(names)))

    def at(self, names: Names) -> Op[Sequence[FoundFile]]:
        """The file of this path, and what is below it."""
        file = yield from self.read(names)
        own = [FoundFile(file.key, names, file.version, file.metadata, 0)] if file else []
        return [*own, *(yield from self.below(names))]

    def require_parents(self, place: Place) -> Op[None]:
        """Raises where a file stands in the place of a directory."""
        for depth in range(1, len(place.names)):
            parent = place.names[:depth]
            if (yield from self.read(parent)):
                raise ToolError(f"The path {path_of(parent)} is a file, not a directory.")
