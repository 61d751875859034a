"""What can go wrong, as types. No message holds a token or a text of yours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .exact import received
from .wire import Link


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One thing that is wrong with what was sent."""

    #: JSON Pointer into the body, or the name of a parameter.
    pointer: str
    message: str


#: As many faults are said in a message; `errors` has all.
_MOST_FAULTS = 3


def _faults_of(errors: list[Fault]) -> str:
    said = [f" {each.pointer or 'The body'}: {each.message}." for each in errors[:_MOST_FAULTS]]
    more = len(errors) - len(said)
    return "".join(said) + (f" And {more} more." if more > 0 else "")


class HomeError(Exception):
    """The home refused, or did not answer.

    `code` never changes its meaning; every code is listed under docs/errors.md of the service.
    """

    code: str
    #: The HTTP status; 0 where there was no answer.
    status: int
    detail: str
    request_id: str | None
    errors: list[Fault]
    #: The members that only problems of this code have: docs/errors.md shows them.
    details: Mapping[str, Any]
    #: Seconds after which the home wants to be asked again.
    retry_after: int | None

    def __init__(
        self,
        *,
        status: int,
        code: str,
        detail: str,
        title: str | None = None,
        request_id: str | None = None,
        errors: list[Fault] | None = None,
        details: Mapping[str, Any] | None = None,
        retry_after: int | None = None,
    ) -> None:
        request = "" if request_id is None else f", request {request_id}"
        begin = "" if title is None else f"{title}. "
        super().__init__(f"{begin}{detail}{_faults_of(errors or [])} ({code}{request})")
        self.code = code
        self.status = status
        self.detail = detail
        self.request_id = request_id
        self.errors = errors or []
        self.details = details or {}
        self.retry_after = retry_after

    def __reduce__(self) -> tuple[Any, ...]:
        """Between processes: an exception that cannot be pickled breaks a pool of them."""
        return _rebuilt, (type(self), self.args, {**vars(self), "details": dict(self.details)})


def _rebuilt(kind: type[HomeError], args: tuple[Any, ...], members: dict[str, Any]) -> HomeError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(members)
    return error


class VersionConflict(HomeError):
    """Another version is there, and nothing was written: read, reconcile, write again.

    `update` does.
    """

    #: 0 if no memory has the key.
    current_version: int = 0
    updated_at: str | None = None
    #: What is stored equals what was sent.
    same_content: bool = False
    #: Where the memory was deleted or renamed: the version that ended it.
    deleted_version: int | None = None
    deleted_at: str | None = None
    #: The newest version that can be restored; None if none can be.
    last_version: int | None = None
    #: Where the memory was renamed: its new key.
    renamed_to: str | None = None

    def _take(self, problem: Mapping[str, Any]) -> None:
        self.current_version = problem.get("currentVersion", 0)
        self.updated_at = problem.get("updatedAt")
        self.same_content = problem.get("sameContent") is True
        self.deleted_version = problem.get("deletedVersion")
        self.deleted_at = problem.get("deletedAt")
        self.last_version = problem.get("lastVersion")
        self.renamed_to = problem.get("renamedTo")


@dataclass(frozen=True, kw_only=True)
class OperationConflict:
    """Why one operation of a batch cannot be made, with what it would be refused with alone."""

    #: Its place in the list, from 0.
    operation: int
    code: str
    detail: str
    current_version: int | None = None
    updated_at: str | None = None
    same_content: bool | None = None
    deleted_version: int | None = None
    deleted_at: str | None = None
    last_version: int | None = None
    renamed_to: str | None = None
    occurrences: int | None = None


#: As many of a batch's conflicts are said in its message.
_MOST_REASONS = 3


def _reasons_of(conflicts: list[OperationConflict]) -> str:
    reasons = [
        f" Operation {each.operation}: {each.code}. {each.detail}"
        for each in conflicts[:_MOST_REASONS]
    ]
    more = len(conflicts) - len(reasons)
    return "".join(reasons) + (f" And {more} more." if more > 0 else "")


#: As many keys of an import are said in its message.
_MOST_KEYS = 10


def _keys_of(keys: list[str]) -> str:
    if not keys:
        return ""
    more = f", and {len(keys) - _MOST_KEYS} more" if len(keys) > _MOST_KEYS else ""
    return f" Keys: {', '.join(keys[:_MOST_KEYS])}{more}."


class BatchConflict(HomeError):
    """Some operations of a batch cannot be made, so none was."""

    conflicts: list[OperationConflict]


class ImportConflict(HomeError):
    """Some of the memories already exist, and nothing was imported."""

    #: Keys: the first of those that have a memory.
    conflicts: list[str]


class OutcomeUnknown(HomeError):
    """A change was sent and its answer is lost: it may or may not have been made.

    To repeat it could make it twice. Read what is there. `__cause__` is what came last.
    """

    def __init__(self) -> None:
        detail = (
            "The answer was lost: the change may or may not have been made. "
            "Read the memory before you repeat it."
        )
        super().__init__(status=0, code="outcome_unknown", detail=detail)


class _HistoryDiffers(HomeError):
    #: What was remembered.
    remembered: Link
    #: What is there.
    found: Link

    def __init__(self, code: str, detail: str, remembered: Link, found: Link) -> None:
        super().__init__(status=0, code=code, detail=detail)
        self.remembered = remembered
        self.found = found


class HistoryChanged(_HistoryDiffers):
    """Another event is where one was remembered, or an event is not the one that was chained.

    An event was changed, dropped or inserted, which takes write access to the database.
    """

    def __init__(self, remembered: Link, found: Link) -> None:
        detail = (
            f"Event {remembered.id} of this home differs from the remembered one: "
            "its history was changed. Ask the operator, who can run agent-home verify."
        )
        super().__init__("history_changed", detail, remembered, found)


class TurnedBack(_HistoryDiffers):
    """The home is older than what was remembered: a backup was restored.

    Everything after the backup is gone. Accept the home as it is now with `check(accept=True)`.
    """

    def __init__(self, remembered: Link, found: Link) -> None:
        detail = (
            f"This home ends at event {found.id}, and event {remembered.id} was remembered: "
            "it was turned back, for example by a restored backup. "
            "If the operator confirms this, accept it."
        )
        super().__init__("turned_back", detail, remembered, found)


#: Members that every problem has.
_OF_ALL = frozenset(("type", "code", "status", "title", "detail", "instance", "errors"))


def error_for(status: int, problem: Mapping[str, Any], retry_after: int | None) -> HomeError:
    """Of a problem (RFC 9457)."""
    code: str = problem["code"]
    detail: str = problem["detail"]
    conflicts = problem.get("conflicts", [])
    refused = (
        [received(OperationConflict, each) for each in conflicts]
        if (code == "batch_conflict")
        else []
    )
    kind = {
        "version_conflict": VersionConflict,
        "batch_conflict": BatchConflict,
        "import_conflict": ImportConflict,
    }.get(code, HomeError)
    error = kind(
        status=status,
        code=code,
        detail=detail
        + _reasons_of(refused)
        + (_keys_of(conflicts) if kind is ImportConflict else ""),
        title=problem.get("title"),
        request_id=problem.get("instance"),
        errors=[received(Fault, each) for each in problem.get("errors", [])],
        details={name: value for name, value in problem.items() if name not in _OF_ALL},
        retry_after=retry_after,
    )
    if isinstance(error, VersionConflict):
        error._take(problem)
    elif isinstance(error, BatchConflict):
        error.conflicts = refused
    elif isinstance(error, ImportConflict):
        error.conflicts = conflicts
    return error
