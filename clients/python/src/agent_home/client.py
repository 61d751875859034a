"""A home, with what its operator may: the token says who you are."""

# Generated from async_client.py: change that one, and run `npm run generate`.

from __future__ import annotations

import threading
import time
from collections.abc import (
    Iterator,
    Callable,
    Iterable,
    Sequence,
)
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

import httpx

from . import wire
from .births import OF_USER, UserHome, birth_body
from .calls import (
    Answer,
    Ask,
    Drop,
    Effect,
    Give,
    Op,
    Request,
    Retry,
    Send,
    Sleep,
    Take,
    Transport,
    run_of,
    token_of,
)
from .connections import Handle, Place, Places
from .core import Checked, Content, Core, Heads, N, derived_key, new_idempotency_key
from .exchange import (
    Body,
    failure_of,
    settings_of,
    timeout_of,
)
from .wire import DeletedMemory, Link, Memory, Metadata

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from .calls import Call, Options

T = TypeVar("T")


class Hits(Iterator[wire.MemoryHit]):
    """Memories as they are found, one page asked for after the other."""

    def __init__(self, found: Callable[[list[str]], Any]) -> None:
        #: Words of the question that no memory has in any form, in lower case: ask with other
        #: words. Known from the first memory on, or from the end; empty before.
        self.missing: list[str] = []
        self._found = found(self.missing)

    def __next__(self) -> wire.MemoryHit:
        hit: wire.MemoryHit = self._found.__next__()
        return hit

    def close(self) -> None:
        self._found.close()


class AgentHome(Handle):
    """An agent's home. One object may be used by many threads at once.

    `url`, `token` and `run` are those of AGENT_HOME_URL, AGENT_HOME_TOKEN and AGENT_HOME_RUN unless
    told. `run`: what this run of your program is called, at most 80 characters; it is kept with
    what it writes, as `by.run`. `timeout`: seconds that one try may take, 15 unless told.
    `retries`: how often a question is repeated, where that is safe, 4 unless told. `max_wait`: the
    longest Retry-After that is waited for, in seconds, 60 unless told. `on_retry` is called before
    each wait. `heads`: where the last head of this home is remembered; with it, the first call
    checks it. `transport`: of httpx, of your own. Raises ValueError if the address or the token is
    missing or malformed.

    ```python
    with AgentHome(url=url, token=token) as home:
        home.update("plan", lambda current: current.text if current else "Step 1 of 3")
    ```
    """

    def __init__(
        self,
        *,
        url: str | None = None,
        token: str | None = None,
        run: str | None = None,
        timeout: float | None = None,
        retries: int | None = None,
        max_wait: float | None = None,
        on_retry: Callable[[Retry], object] | None = None,
        heads: Heads | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._begin(
            Transport(
                token_of(token),
                url=url,
                timeout=timeout,
                retries=retries,
                max_wait=max_wait,
                on_retry=on_retry,
                run=run_of(run),
            ),
            heads,
            transport,
        )

    def _begin(
        self, asking: Transport, heads: Heads | None, transport: httpx.BaseTransport | None
    ) -> None:
        self._core = Core(asking, heads)
        self._is_awake = heads is None

        def make() -> httpx.Client:
            return httpx.Client(transport=transport, **settings_of(asking.address))

        self._places = Places(make, threading.Lock, transport)

    @classmethod
    def _nobody(
        cls, transport: httpx.BaseTransport | None, **options: Unpack[Options]
    ) -> Self:
        """Who has no token."""
        home = cls.__new__(cls)
        home._begin(Transport("", **options), None, transport)
        return home

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._core.transport.address!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes its connections, those of this process; a later call opens new ones."""
        left = self._places.leave()
        if left:
            left.http.close()

    # How an operation is carried out

    def _here(self) -> Place[httpx.Client, threading.Lock]:
        return self._places.here()

    def _run(self, op: Op[T]) -> T:
        self._wake()
        return self._now(op)

    def _now(self, op: Op[T]) -> T:
        result: Any = None
        failure: Exception | None = None
        while True:
            try:
                effect = op.throw(failure) if failure else op.send(result)
            except StopIteration as stop:
                value: T = stop.value
                return value
            result, failure = self._done(effect)

    def _each(self, op: Op[None]) -> Iterator[Any]:
        """What an operation gives, item by item."""
        self._wake()
        streams: list[Any] = []
        result: Any = None
        failure: Exception | None = None
        try:
            while True:
                try:
                    effect = op.throw(failure) if failure else op.send(result)
                except StopIteration:
                    return
                result, failure = None, None
                if isinstance(effect, Give):
                    for item in effect.items:
                        yield item
                    continue
                result, failure = self._done(effect)
                if isinstance(effect, Send) and result and result.stream:
                    streams.append(result.stream)
        finally:
            # Who stops early leaves no connection behind.
            for stream in streams:
                stream.close()

    def _wake(self) -> None:
        if self._is_awake:
            return
        with self._here().waking:
            if not self._is_awake:
                self._is_awake = self._now(self._core.wake())

    def _done(self, effect: Effect) -> tuple[Any, Exception | None]:
        try:
            return self._perform(effect), None
        except Exception as error:
            return None, error

    def _perform(self, effect: Effect) -> Any:
        if isinstance(effect, Send):
            return self._send(effect.request)
        if isinstance(effect, Take):
            return effect.stream.take()
        if isinstance(effect, Drop):
            return effect.stream.close()
        if isinstance(effect, Sleep):
            return time.sleep(effect.seconds)
        if isinstance(effect, Ask):
            found = effect.function(*effect.arguments)
            return found
        raise TypeError("a list is iterated over")

    def _send(self, request: Request) -> Answer:
        failure: Exception
        try:
            return self._exchange(request)
        except httpx.HTTPError as error:
            failure = failure_of(error, request)
        raise failure

    def _exchange(self, request: Request) -> Answer:
        body = Body(request)
        place = self._here()
        response = place.http.send(
            place.http.build_request(
                request.method,
                request.url,
                headers=request.headers,
                content=request.content,
                timeout=timeout_of(request),
            ),
            stream=True,
        )
        is_wanted = False
        try:
            if request.response:
                request.response(response)
            is_wanted = request.idle is not None and response.is_success
            if is_wanted:
                stream = _Stream(request, response, place)
                return Answer(response.status_code, response.headers, stream=stream)
            for piece in response.iter_bytes():
                body.take(piece, response)
            return body.answer(response)
        finally:
            if not is_wanted:
                response.close()

    # Memories

    def read(
        self, key: str, *, version: int | None = None, **call: Unpack[Call]
    ) -> Memory | None:
        """The memory under a key, or None where nothing is.

        With `version`, that version: raises HomeError `version_not_found` or, if it is no
        longer kept, `version_gone`.
        """
        return self._run(self._core.read(key, version, call))

    def write(
        self,
        key: str,
        text: str,
        *,
        expected_version: int,
        metadata: Metadata | None = None,
        **call: Unpack[Call],
    ) -> Memory:
        """Creates a memory (`expected_version=0`), or replaces its text.

        Metadata that are not given stay; `{}` removes them. Raises VersionConflict if another
        version is there than was expected. If the answer is lost, it is found out whether the
        write was made.
        """
        return self._run(self._core.write(key, text, expected_version, metadata, call))

    def update(
        self,
        key: str,
        change: Callable[[Memory | None], str | Content | N],
        **call: Unpack[Call],
    ) -> Memory | N:
        """Reads, lets you change, writes, and begins again when somebody else was quicker.

        No update of anybody is lost, however many run at once. Where nothing is, `change` gets
        None. Nothing is written if it returns None, or the text that is there. What is the same
        text made of the same version by two at once counts as one of them, should an answer be
        lost: put something of its own into what must be counted.
        """
        changed: Memory | N = self._run(self._core.update(key, change, call))
        return changed

    def append(
        self,
        key: str,
        text: str,
        *,
        expected_version: int | None = None,
        line: bool | None = None,
        idempotency_key: str | None = None,
        **call: Unpack[Call],
    ) -> Memory:
        """Adds text to the end of a memory, or creates it.

        Without `expected_version` it is added to whatever is there. If the answer is lost it is
        sent again with the same Idempotency-Key, and made once; a home before 2.1 knows no such
        key, and a lost answer is OutcomeUnknown. With an `idempotency_key` of your own, of
        `new_idempotency_key`, a later call is the same append for a day; its `text` is empty if
        that version is no longer kept under the key. With `line` it begins a line of its own. A
        memory that is full is HomeError `text_too_large`: `details["nextKey"]` is a key to go on
        under.
        """
        op = self._core.append(key, text, expected_version, line, call, idempotency_key)
        return self._run(op)

    def edit(
        self,
        key: str,
        old: str,
        new: str,
        *,
        expected_version: int | None = None,
        **call: Unpack[Call],
    ) -> Memory:
        """Replaces a passage that is in the text exactly once; the rest stays.

        Raises HomeError `edit_not_found` or `edit_ambiguous` otherwise,
        `details["occurrences"]` says how often it is there. Without `expected_version` the current
        version is edited, and a lost answer is OutcomeUnknown.
        """
        return self._run(self._core.edit(key, old, new, expected_version, call))

    def patch(
        self,
        key: str,
        *,
        expected_version: int,
        text: str | None = None,
        metadata: Metadata | None = None,
        **call: Unpack[Call],
    ) -> Memory:
        """Changes the text or the metadata; what is left out stays."""
        return self._run(self._core.patch(key, text, metadata, expected_version, call))

    def restore(
        self, key: str, version: int, *, expected_version: int, **call: Unpack[Call]
    ) -> Memory:
        """Brings back an earlier version as a new one.

        With `expected_version=0`, what was deleted.
        """
        return self._run(self._core.restore(key, version, expected_version, call))

    def delete(
        self, key: str, *, expected_version: int, **call: Unpack[Call]
    ) -> DeletedMemory:
        """Deletes a memory. Its versions are kept, and `restore` brings it back.

        Raises HomeError `memory_not_found` where nothing is.
        """
        return self._run(self._core.delete(key, expected_version, call))

    def versions(self, key: str, **call: Unpack[Call]) -> Iterator[wire.Version]:
        """The versions that are kept, newest first."""
        return self._each(self._core.versions(key, call))

    # Several at once

    @overload
    def batch(
        self,
        operations: Iterable[wire.Operation],
        *,
        minimal: Literal[True],
        **call: Unpack[Call],
    ) -> Sequence[wire.BatchReceipt]: ...

    @overload
    def batch(
        self,
        operations: Iterable[wire.Operation],
        *,
        minimal: Literal[False] = False,
        **call: Unpack[Call],
    ) -> Sequence[wire.BatchResult]: ...

    def batch(
        self, operations: Iterable[wire.Operation], *, minimal: bool = False, **call: Unpack[Call]
    ) -> Sequence[Any]:
        """Several operations at once: all of them or, with BatchConflict, none.

        At most 100, and 1 MiB of texts and metadata in the answer, for which `minimal` makes
        room. Where an answer was lost, raises OutcomeUnknown: it was made whole or not at all, so
        read a memory that it writes at `expected_version + 1`, and send the batch again if what it
        would have written is not there.
        """
        return self._run(self._core.batch(operations, minimal, call))

    def rename(
        self, from_: str, to: str, *, expected_version: int, **call: Unpack[Call]
    ) -> Memory:
        """Gives a memory another key; its id and history go along.

        Raises BatchConflict, and OutcomeUnknown after a lost answer: it was done if there is a
        memory at `to` and none at `from_`.
        """
        return self._run(self._core.rename(from_, to, expected_version, call))

    # Finding

    def profile(self, **call: Unpack[Call]) -> wire.ProfileResult:
        """Who the agent is, and how many memories it has. A paused agent may still ask it."""
        return self._run(self._core.profile(call))

    def context(
        self,
        *,
        about: str | None = None,
        around: int | None = None,
        bytes: int | None = None,
        since: Literal["mine"] | None = None,
        proof: bool | None = None,
        **call: Unpack[Call],
    ) -> wire.Context:
        """What to read first after waking, within so many bytes (4000 unless told).

        Profile, limits left, pinned memories whole, what is known about the task at hand (`about`:
        in the agent's own words, at most 16384 bytes of UTF-8), the newest other memories, short
        ones whole and of others the first line. `around`: as in a search. `since="mine"`: what
        others changed since this token last wrote, or asked for it on another day. `proof`: with
        the head of the chain of events.
        """
        return self._run(self._core.context(about, around, bytes, since, proof, call))

    def list(
        self,
        *,
        prefix: str | None = None,
        after: str | None = None,
        order: Literal["key", "changed"] | None = None,
        view: Literal["summary", "whole"] | None = None,
        limit: int | None = None,
        **call: Unpack[Call],
    ) -> Iterator[wire.MemorySummary]:
        """The memories, one page asked for after the other as they are used up.

        By key by default; `changed`: most recently changed first. `whole` gives the texts too.
        """
        return self._each(self._core.list(prefix, after, order, view, limit, call))

    def deleted(
        self,
        *,
        prefix: str | None = None,
        after: str | None = None,
        limit: int | None = None,
        **call: Unpack[Call],
    ) -> Iterator[wire.RestorableMemory]:
        """Deleted memories that can be restored, by key, with who deleted them and when."""
        return self._each(self._core.deleted(prefix, after, limit, call))

    def search(
        self,
        question: str,
        *,
        prefix: str | None = None,
        match: Literal["any", "all"] | None = None,
        around: int | None = None,
        meaning: wire.Meaning | None = None,
        limit: int | None = None,
        **call: Unpack[Call],
    ) -> Hits:
        """Memories that answer a question or contain any of its words, best match first.

        A phrase in "double quotes" must occur exactly. A question has at most 16384 bytes of UTF-8.
        `around`, 0 to 2: so many memories right before and after each come with it. By `meaning`
        too, or by meaning alone where the question is empty.
        """

        def found(missing: list[str]) -> Any:
            asked = (question, prefix, match, around, meaning, limit, missing, call)
            return self._each(self._core.search(*asked))

        return Hits(found)

    def store_vectors(
        self, model: str, vectors: Iterable[wire.NewVector], **call: Unpack[Call]
    ) -> wire.VectorsStored:
        """Stores what your model makes of texts, for `search` by `meaning`.

        Any number, in as many requests as they take. A vector belongs to its version: it is found
        until the text changes.
        """
        return self._run(self._core.store_vectors(model, vectors, call))

    def events(
        self,
        *,
        after: int | None = None,
        order: Literal["oldest", "newest"] | None = None,
        since: str | None = None,
        key: str | None = None,
        prefix: str | None = None,
        type: wire.EventType | None = None,
        by: str | None = None,
        run: str | None = None,
        limit: int | None = None,
        **call: Unpack[Call],
    ) -> Iterator[wire.HomeEvent]:
        """What happened in this home until now, oldest first unless told.

        `after`: the id of the last event that you saw. `by`: `agent`, `operator`, or the id of a
        named key. `run`: what the run was called.
        """
        query = {
            "order": order,
            "since": since,
            "key": key,
            "prefix": prefix,
            "type": type,
            "by": by,
            "run": run,
        }
        return self._each(self._core.events(query, after, limit, call))

    def watch(
        self, *, after: int | None = None, **call: Unpack[Call]
    ) -> Iterator[wire.HomeEvent | wire.MissedEvents]:
        """What happens in this home, as it happens, until you stop.

        A broken connection is resumed where it was. `missed` says that the log no
        longer held what came between. It begins with the event after `after`; now, unless told.
        """
        return self._each(self._core.watch(after, call))

    # Proof

    def head(self, **call: Unpack[Call]) -> wire.HeadResult:
        """The newest event and the hash of all events up to it, signed by the service."""
        return self._now(self._core.head(call))

    def check(
        self, *, remembered: Link | None = None, accept: bool = False, **call: Unpack[Call]
    ) -> Checked:
        """Recomputes event hashes since the last check, and remembers the newest.

        The last check is the head of `heads`, or `remembered`. Raises HistoryChanged if the
        history differs, TurnedBack if the home is older; `accept` accepts the home as it is.
        """
        return self._now(self._core.check(remembered, accept, call))

    # Leaving

    def export(self, *, history: bool | None = None, **call: Unpack[Call]) -> Iterator[bytes]:
        """Everything that is kept, as the bytes of one JSON file; with `history` what was, too.

        What ends well is whole: one that is cut off raises HomeError.
        """
        return self._each(self._core.export(history, call))

    def import_(
        self,
        source: str | bytes | Iterable[bytes],
        *,
        on_conflict: Literal["fail", "skip", "replace"] | None = None,
        dry_run: bool | None = None,
        **call: Unpack[Call],
    ) -> wire.Imported:
        """The operator's: all of an export or nothing. Raises ImportConflict.

        An iterable can be sent only once, so that nothing of it is repeated; a text or bytes are
        sent again where that is safe. Readers may see a part of a long import while it runs; one
        that fails is taken back.
        """
        return self._run(self._core.import_(source, on_conflict, dry_run, call))

    # The operator's

    def roll_back(
        self,
        *,
        to: int,
        prefix: str | None = None,
        by: str | None = None,
        run: str | None = None,
        dry_run: bool | None = None,
        **call: Unpack[Call],
    ) -> wire.RolledBack:
        """The operator's: memories as they were right after an event, as new versions.

        All of them, those under a prefix, or those that one author or one run changed since. Raises
        HomeError `event_not_found` and `event_gone`.
        """
        return self._run(self._core.roll_back(to, prefix, by, run, dry_run, call))

    def pause(self, **call: Unpack[Call]) -> wire.ProfileResult:
        """The operator's: the agent's token does nothing until it is active again."""
        return self._run(self._core.set_status("paused", call))

    def activate(self, **call: Unpack[Call]) -> wire.ProfileResult:
        """The operator's: ends a pause."""
        return self._run(self._core.set_status("active", call))

    def change_profile(
        self,
        *,
        name: str | None = None,
        purpose: str | None = None,
        symbol: wire.SymbolId | None = None,
        **call: Unpack[Call],
    ) -> wire.ProfileResult:
        """The operator's: what is left out stays."""
        return self._run(self._core.change_profile(name, purpose, symbol, call))

    def protect(self, key: str, **call: Unpack[Call]) -> wire.Protection:
        """The operator's: the agent and its named keys read the memory and change nothing of it.

        Until it is unprotected or deleted.
        """
        return self._run(self._core.set_protected(key, True, call))

    def unprotect(self, key: str, **call: Unpack[Call]) -> wire.Protection:
        """The operator's: ends a protection."""
        return self._run(self._core.set_protected(key, False, call))

    def erase(
        self,
        key: str,
        versions: Literal["all", "history"] | Sequence[int],
        **call: Unpack[Call],
    ) -> wire.Erased:
        """The operator's, and for good: the whole memory, what it was before, or some versions.

        If an answer was lost, `versions` may omit earlier ones.
        """
        return self._run(self._core.erase(key, versions, call))

    def erase_agent(self, agent_id: str, **call: Unpack[Call]) -> None:
        """The operator's, and for good: the agent with everything that it has.

        Its id, lest it be another.
        """
        return self._run(self._core.erase_agent(agent_id, call))

    def rotate(self, **call: Unpack[Call]) -> str:
        """The operator's panic button: the agent's token and every named key are void at once.

        Gives the agent's new token.
        """
        return self._run(self._core.rotate(call))

    def replace_operator_key(
        self, *, idempotency_key: str | None = None, **call: Unpack[Call]
    ) -> str:
        """The operator's: a new operator token, for one that others may know.

        The token of this object then no longer works.
        """
        return self._run(self._core.replace_operator_key(idempotency_key, call))

    def keys(self, **call: Unpack[Call]) -> Sequence[wire.NamedKey]:
        """The operator's: the named keys, with when each was last used; never their tokens."""
        return self._run(self._core.keys(call))

    def create_key(
        self,
        *,
        name: str,
        access: Literal["read", "write"],
        prefix: str | None = None,
        expires_at: str | None = None,
        **call: Unpack[Call],
    ) -> wire.NewNamedKey:
        """The operator's: a token that reaches only so far.

        A lost answer is OutcomeUnknown: a key may be there then, under this name, whose token
        nobody has; revoke it.
        """
        return self._run(self._core.create_key(name, access, prefix, expires_at, call))

    def revoke_key(self, key_id: str, **call: Unpack[Call]) -> None:
        """The operator's: ends a named key at once."""
        return self._run(self._core.revoke_key(key_id, call))

    # Without a token

    @classmethod
    def birth(
        cls,
        *,
        name: str,
        purpose: str,
        symbol: wire.SymbolId,
        operator_consent: Literal[True],
        email: str | None = None,
        password: str | None = None,
        idempotency_key: str | None = None,
        response: Callable[[httpx.Response], object] | None = None,
        transport: httpx.BaseTransport | None = None,
        **options: Unpack[Options],
    ) -> wire.BirthResult:
        """Gives birth to an agent. Ask your operator first.

        A lost answer is asked for again, with the same key, so that no agent is born twice. Who
        keeps the `idempotency_key` can have it again, also in another process. `email` and
        `password` (12 to 128 characters) are the operator's, for the browser console. Other
        options are those of the constructor.
        """
        body = birth_body(name, purpose, symbol, operator_consent, email, password)
        key = idempotency_key or new_idempotency_key()
        with cls._nobody(transport, **options) as nobody:
            return nobody._run(nobody._core.birth(body, key, {"response": response}))

    @classmethod
    def home_of(
        cls,
        *,
        user: str,
        secret: str,
        name: str = OF_USER.name,
        purpose: str = OF_USER.purpose,
        symbol: wire.SymbolId = OF_USER.symbol,
        transport: httpx.BaseTransport | None = None,
        response: Callable[[httpx.Response], object] | None = None,
        **options: Unpack[Options],
    ) -> UserHome[Self]:
        """The home of one of your users: born at the first call, the same at every other.

        So nobody keeps a table of tokens. It is found by your secret (32 characters or more that
        nobody can guess) and an id of the user that never changes: keep the secret, and never
        change it. You are its operator, and agree by the call. `name`, `purpose` and `symbol` may
        be given if they are the same at every call. Raises HomeError `credentials_rotated` once a
        token of it was replaced. Other options are those of the constructor.
        """
        born = cls.birth(
            name=name,
            purpose=purpose,
            symbol=symbol,
            operator_consent=True,
            idempotency_key=derived_key(secret, user),
            response=response,
            transport=transport,
            **options,
        )
        return UserHome(
            agent_id=born.agent_id,
            home=cls(token=born.token, transport=transport, **options),
            token=born.token,
            operator=cls(token=born.operator_token, transport=transport, **options),
            operator_token=born.operator_token,
        )

    @classmethod
    def preview(
        cls, *, transport: httpx.BaseTransport | None = None, **options: Unpack[Options]
    ) -> wire.Preview:
        """Whether births are open, the limits in force, and the symbols."""
        with cls._nobody(transport, **options) as nobody:
            return nobody._run(nobody._core.preview({}))


class _Stream:
    def __init__(
        self,
        request: Request,
        response: httpx.Response,
        place: Place[httpx.Client, threading.Lock],
    ) -> None:
        self._request = request
        self._response = response
        self._place = place
        self._pieces = response.iter_bytes().__iter__()

    def take(self) -> bytes | None:
        self._place.require_here("What is being read")
        failure: Exception
        try:
            return self._pieces.__next__()
        except StopIteration:
            return None
        except httpx.HTTPError as error:
            failure = failure_of(error, self._request)
        raise failure

    def close(self) -> None:
        # Another process or event loop still reads it.
        if self._place.is_here():
            self._response.close()
