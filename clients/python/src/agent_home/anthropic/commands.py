"""The six commands of the memory tool: what they do to the files, and what the model is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from anthropic.lib.tools import ToolError

from .. import wire
from ..calls import Op, backoff, sleep
from ..core import Content
from ..errors import BatchConflict, HomeError, OperationConflict, OutcomeUnknown, VersionConflict
from ..fitting import BATCH_BYTES, BATCH_OPERATIONS, size_of
from ..wire import Memory
from .files import (
    Files,
    FoundFile,
    Names,
    Place,
    content_of,
    is_below,
    is_hashed,
    key_of,
    metadata_of,
    missing,
    place_of,
    text_in,
    too_large,
)

# View

_UNITS = "BKMG"

_LEVELS = 2


def size_shown(size: int) -> str:
    """12B, 1K, 1.5K: as `du` shows it."""
    power = min((max(size, 1).bit_length() - 1) // 10, len(_UNITS) - 1)
    unit: int = 1024**power
    if size % unit == 0:
        return f"{size // unit}{_UNITS[power]}"
    tenths = (20 * size + unit) // (2 * unit)
    return f"{tenths // 10}.{tenths % 10}{_UNITS[power]}"


_Sized = tuple[Names, int]


def _total_of(files: Iterable[_Sized]) -> str:
    return size_shown(sum(size for _, size in files))


def _lines_of(files: Sequence[_Sized], base: str, levels: int) -> list[str]:
    if levels == 0:
        return []
    by_name: dict[str, list[_Sized]] = {}
    for (name, *rest), size in files:
        by_name.setdefault(name, []).append((tuple(rest), size))
    lines: list[str] = []
    for name in sorted(by_name, key=lambda name: name.encode("utf-16-be", "surrogatepass")):
        if name.startswith(".") or name == "node_modules":
            continue
        path = f"{base}/{name}"
        below = [each for each in by_name[name] if each[0]]
        lines += [f"{size_shown(size)}\t{path}" for names, size in by_name[name] if not names]
        if below:
            lines.append(f"{_total_of(below)}\t{path}/")
        lines += _lines_of(below, path, levels - 1)
    return lines


def _numbered(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{at:6}\t{line}" for at, line in enumerate(lines, first))


def view(files: Files, path: str, view_range: Sequence[int] | None) -> Op[str]:
    place = place_of(path)
    file = yield from files.read(place.names)
    if file is None:
        return (yield from _directory_view(files, place))
    first, last = view_range if view_range and len(view_range) == 2 else (1, -1)
    start = max(1, first) - 1
    lines = text_in(file).split("\n")[start : None if last == -1 else last]
    return f"Here's the content of {path} with line numbers:\n{_numbered(lines, start + 1)}"


def _directory_view(files: Files, place: Place) -> Op[str]:
    below = yield from files.below(place.names)
    if not below and place.names:
        raise missing(place.path)
    found = [(file.names[len(place.names) :], file.bytes) for file in below]
    return "\n".join(
        [
            f"Here're the files and directories up to 2 levels deep in {place.path}, "
            "excluding hidden items and node_modules:",
            f"{_total_of(found)}\t{place.path}",
            *_lines_of(found, place.path, _LEVELS),
        ]
    )


# Create and change


def create(files: Files, path: str, text: str) -> Op[str]:
    place = place_of(path)
    yield from files.require_parents(place)
    if (yield from files.is_directory(place.names)):
        raise ToolError(f"File {path} already exists")
    key = key_of(place.names)
    content, metadata = content_of(text, metadata_of(key, place.names, {}))
    try:
        yield from files.core.write(key, content, 0, metadata, {})
    except VersionConflict:
        raise ToolError(f"File {path} already exists") from None
    except HomeError as error:
        raise _told(path, error) from error
    return f"File created successfully at: {path}"


def _told(path: str, error: HomeError) -> Exception:
    return too_large(path, error.code) if error.status == 413 else error


def _edit(files: Files, place: Place, change: Callable[[str], str]) -> Op[None]:
    """`change` is asked again, with the text that is there by then."""

    def changed(current: Memory | None) -> Content | None:
        if current is None:
            return None
        return Content(*content_of(change(text_in(current)), current.metadata))

    found = None
    if place.names:
        try:
            found = yield from files.core.update(key_of(place.names), changed, {})
        except HomeError as error:
            raise _told(place.path, error) from error
    if found is None:
        if (yield from files.is_directory(place.names)):
            raise ToolError(f"The path {place.path} is not a file.")
        raise missing(place.path)


def _only_one_of(text: str, sought: str, path: str) -> int:
    """Where it is; raises what the model is told of none, or of several."""
    found: list[int] = []
    at = text.find(sought)
    while at != -1:
        found.append(at)
        at = text.find(sought, at + 1)
    if not found:
        raise ToolError(
            f"No replacement was performed, old_str `{sought}` did not appear verbatim in {path}."
        )
    if len(found) > 1:
        lines = dict.fromkeys(text.count("\n", 0, at) + 1 for at in found)
        raise ToolError(
            f"No replacement was performed. Multiple occurrences of old_str `{sought}` "
            f"in lines: {', '.join(map(str, lines))}. Please ensure it is unique"
        )
    return found[0]


_CONTEXT_LINES = 2


def str_replace(files: Files, path: str, old: str, new: str) -> Op[str]:
    place = place_of(path)
    snippet = ""

    def change(text: str) -> str:
        nonlocal snippet
        at = _only_one_of(text, old, path)
        changed = text[:at] + new + text[at + len(old) :]
        line = text.count("\n", 0, at) + 1
        start = max(0, line - 1 - _CONTEXT_LINES)
        snippet = _numbered(changed.split("\n")[start : line + _CONTEXT_LINES], start + 1)
        return changed

    yield from _edit(files, place, change)
    return (
        "The memory file has been edited. "
        f"Here is the snippet showing the change (with line numbers):\n{snippet}"
    )


def insert(files: Files, path: str, line: int, added: str) -> Op[str]:
    place = place_of(path)

    def change(text: str) -> str:
        lines = text.split("\n")
        if not 0 <= line <= len(lines):
            raise ToolError(
                f"Invalid `insert_line` parameter: {line}. "
                f"It should be within the range of lines of the file: [0, {len(lines)}]"
            )
        return "\n".join([*lines[:line], added.removesuffix("\n"), *lines[line:]])

    yield from _edit(files, place, change)
    return f"The file {path} has been edited."


# Leave

#: After so many conflicts in a row, another run never stops changing the file.
_MOST_TRIES = 50

_Operations = list[wire.Operation]


def _batches_of(groups: Iterable[_Operations]) -> list[_Operations]:
    """As much as fits into one batch; each group goes whole into one: all of it, or nothing."""
    batches: list[_Operations] = []
    size = 0
    for group in groups:
        own = size_of(group)
        is_room = batches and len(batches[-1]) + len(group) <= BATCH_OPERATIONS
        if is_room and size + own <= BATCH_BYTES:
            batches[-1].extend(group)
            size += own
        else:
            batches.append(list(group))
            size = own
    return batches


def _empty(
    files: Files,
    place: Place,
    operations_of: Callable[[FoundFile], Op[_Operations]],
    learn: Callable[[OperationConflict, wire.Operation], None],
) -> Op[bool]:
    """Until nothing is left at a place: somebody may write there meanwhile.

    An answer may be lost, too, so it is looked again. False: nothing was there. `learn` raises
    where it is no use to look again.
    """
    is_begun = False
    for tries in range(_MOST_TRIES):
        left = yield from files.at(place.names)
        if not left:
            return is_begun
        is_done = True
        groups = []
        for file in left:
            groups.append((yield from operations_of(file)))
        for batch in _batches_of(groups):
            try:
                yield from files.core.batch(batch, True, {})
                is_begun = True
            except OutcomeUnknown:
                is_begun, is_done = True, False
            except BatchConflict as error:
                is_done = False
                for each in error.conflicts:
                    learn(each, batch[each.operation])
        if is_done:
            return True
        yield from sleep(backoff(tries, 0.01, 1.0))
    raise ToolError(f"Others write to {place.path} all the time: try again later.")


def delete(files: Files, path: str) -> Op[str]:
    place = place_of(path)
    if not place.names:
        raise ToolError("Cannot delete the /memories directory itself")

    def operations_of(file: FoundFile) -> Op[_Operations]:
        yield from ()
        return [wire.Delete(file.key, file.version)]

    if not (yield from _empty(files, place, operations_of, lambda *_: None)):
        raise ToolError(f"The path {path} does not exist")
    return f"Successfully deleted {path}"


def _metadata_at(file: FoundFile, key: str, names: Names) -> dict[str, Any]:
    """What others said of it stays; where neither key needs a path, all of it."""
    if is_hashed(file.key) or is_hashed(key):
        return metadata_of(key, names, file.metadata)
    return file.metadata


def _moved(file: FoundFile, key: str, names: Names) -> _Operations:
    """With its id and its history."""
    metadata = _metadata_at(file, key, names)
    if metadata is file.metadata:
        return [wire.Rename(file.key, key, file.version)]
    patch = wire.Patch(file.key, file.version, metadata=metadata)
    return [patch, wire.Rename(file.key, key, file.version + 1)]


def _copied(files: Files, file: FoundFile, key: str, names: Names) -> Op[_Operations]:
    """Where a key has the history of a file that was deleted: both stay where they are."""
    memory = yield from files.core.read(file.key, None, {})
    leave = wire.Delete(file.key, file.version)
    # Somebody was quicker: the delete will say so.
    if memory is None:
        return [leave]
    return [leave, wire.Write(key, memory.text, 0, _metadata_at(file, key, names))]


def rename(files: Files, old_path: str, new_path: str) -> Op[str]:
    old, new = place_of(old_path), place_of(new_path)
    taken = ToolError(f"The destination {new_path} already exists")
    if not old.names:
        raise ToolError("Cannot rename the /memories directory itself")
    if (yield from files.read(new.names)) or (yield from files.is_directory(new.names)):
        raise taken
    yield from files.require_parents(new)
    if is_below(new.names, old.names):
        raise ToolError(f"Cannot rename {old_path} into itself")
    occupied: set[str] = set()

    def operations_of(file: FoundFile) -> Op[_Operations]:
        names = (*new.names, *file.names[len(old.names) :])
        key = key_of(names)
        if key in occupied:
            return (yield from _copied(files, file, key, names))
        return _moved(file, key, names)

    def learn(conflict: OperationConflict, operation: wire.Operation) -> None:
        if isinstance(operation, wire.Rename) and conflict.code == "key_taken":
            occupied.add(operation.to)
        if isinstance(operation, wire.Write) and conflict.code == "version_conflict":
            raise taken

    try:
        is_moved = yield from _empty(files, old, operations_of, learn)
    except HomeError as error:
        raise _told(new_path, error) from error
    if not is_moved:
        raise ToolError(f"The path {old_path} does not exist")
    return f"Successfully renamed {old_path} to {new_path}"
