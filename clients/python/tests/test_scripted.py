"""What no home of a test has time for, or says: its answers are written here."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx
import pytest

from agent_home import (
    AgentHome,
    AsyncAgentHome,
    HistoryChanged,
    HomeError,
    Link,
    Meaning,
    NewVector,
    OutcomeUnknown,
    VersionConflict,
)
from agent_home import core as core_module
from agent_home.chain import follow

URL: dict[str, Any] = {"url": "http://127.0.0.1:1", "token": "aha_scripted"}


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core_module, "backoff", lambda *_: 0.0)


class Stream(httpx.SyncByteStream, httpx.AsyncByteStream):
    """Ends as a connection does that breaks."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.is_closed = False

    def __iter__(self) -> Iterator[bytes]:
        yield self.text.encode()
        raise httpx.ReadError("broken")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self.text.encode()
        raise httpx.ReadError("broken")

    def close(self) -> None:
        self.is_closed = True

    async def aclose(self) -> None:
        self.is_closed = True


def said(event: int) -> str:
    told = {"type": "export", "createdAt": "2026-11-21T12:00:00.000Z", "hash": "0" * 64}
    data = {"id": event, "by": {"as": "agent", "via": "http"}, **told}
    return f"id: {event}\nevent: event\ndata: {json.dumps(data)}\n\n"


class Watched:
    """Streams that each break after one of these parts; the next connection is refused."""

    def __init__(self, *texts: str) -> None:
        self.streams = [Stream(text) for text in texts]
        self.seen: list[str | None] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        # Nothing of what was read is still open.
        assert all(each.is_closed for each in self.streams[: len(self.seen)])
        at = len(self.seen)
        self.seen.append(request.headers.get("last-event-id"))
        if at == len(self.streams):
            return httpx.Response(403, json={"code": "agent_paused", "detail": "Paused."})
        headers = {"content-type": "text/event-stream"}
        return httpx.Response(200, headers=headers, stream=self.streams[at])


QUIET = ": still here\n\n"


def test_a_watch_goes_on_where_it_was_after_a_quiet_time(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []

    def backoff(idle: int, *_: float) -> float:
        tries.append(idle)
        return 0.0

    monkeypatch.setattr(core_module, "backoff", backoff)

    def scripted() -> Watched:
        # The last one is cut off within an event.
        return Watched(said(7) + QUIET, QUIET, QUIET + said(8)[:30], said(8))

    async def awaited(home: AsyncAgentHome, found: list[Any]) -> None:
        async with home:
            async for event in home.watch():
                found.append(event)

    ours, theirs = scripted(), scripted()
    by_us: list[Any] = []
    by_them: list[Any] = []
    home = AgentHome(**URL, transport=httpx.MockTransport(ours))
    with home, pytest.raises(HomeError, match="Paused"):
        by_us.extend(home.watch())
    other = AsyncAgentHome(**URL, transport=httpx.MockTransport(theirs))
    with pytest.raises(HomeError, match="Paused"):
        asyncio.run(awaited(other, by_them))
    assert [event.id for event in by_us] == [7, 8]
    assert by_them == by_us
    assert ours.seen == theirs.seen == [None, "7", "7", "7", "8"]
    # Each pause is longer than the last one, until something happens.
    assert tries == [0, 1, 2, 0] * 2


@pytest.mark.parametrize(("size", "says"), [(1_000_000, "Paused"), (1_000_001, "has no end")])
def test_an_event_may_be_so_long_and_no_longer(size: int, says: str) -> None:
    async def awaited(home: AsyncAgentHome) -> None:
        async with home:
            async for _ in home.watch():
                pass

    home = AgentHome(**URL, transport=httpx.MockTransport(Watched("x" * size)))
    with home, pytest.raises(HomeError, match=says):
        list(home.watch())
    other = AsyncAgentHome(**URL, transport=httpx.MockTransport(Watched("x" * size)))
    with pytest.raises(HomeError, match=says):
        asyncio.run(awaited(other))


def test_more_vectors_than_a_request_takes_are_counted_together() -> None:
    sent: list[int] = []

    def answer(request: httpx.Request) -> httpx.Response:
        vectors = json.loads(request.content)["vectors"]
        sent.append(len(vectors))
        told = {"stored": len(vectors) - 2, "protected": [vectors[0]["key"]]}
        stale = [{"key": vectors[-1]["key"], "currentVersion": 2}]
        return httpx.Response(200, json={**told, "stale": stale})

    with AgentHome(**URL, transport=httpx.MockTransport(answer)) as home:
        # One is too long for the request of the others, and so are those after it for its own.
        vectors = [NewVector(f"k{n}", 1, [1.0]) for n in range(205)]
        long = NewVector("long", 1, [1.0] * 375_000)
        behind = [NewVector(f"l{n}", 1, [1.0]) for n in range(3)]
        stored = home.store_vectors("m", [*vectors, long, *behind])
    assert sent == [100, 100, 5, 1, 3]
    assert stored.stored == 209 - 10
    assert [each.key for each in stored.stale] == ["k99", "k199", "k204", "long", "l2"]
    assert stored.protected == ["k0", "k100", "k200", "long", "l0"]


def test_an_update_that_others_overtake_for_ever_gives_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(core_module, "_MOST_CONFLICTS", 2)
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.method)
        assert len(asked) < 10
        if request.method == "GET":
            return httpx.Response(404, json={"code": "memory_not_found", "detail": "None."})
        detail = {"code": "version_conflict", "detail": "Another was quicker."}
        return httpx.Response(409, json={**detail, "currentVersion": 1})

    home = AgentHome(**URL, transport=httpx.MockTransport(answer))
    with home, pytest.raises(VersionConflict):
        home.update("plan", lambda _: "ours")
    assert asked == ["GET", "POST"] * 3


def test_a_lost_change_stays_unknown_where_the_look_for_it_is_refused() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.method)
        if len(asked) == 1:
            raise httpx.ReadError("lost")
        if request.method == "DELETE":
            told = {"code": "version_conflict", "detail": "Another is there.", "currentVersion": 2}
            return httpx.Response(409, json=told)
        return httpx.Response(401, json={"code": "invalid_token", "detail": "Revoked."})

    home = AgentHome(**URL, transport=httpx.MockTransport(answer))
    with home, pytest.raises(OutcomeUnknown) as raised:
        home.delete("plan", expected_version=1)
    assert isinstance(raised.value.__cause__, VersionConflict)
    assert asked == ["DELETE", "DELETE", "GET"]


def test_a_search_by_meaning_that_is_lost_changed_nothing() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        page = json.loads(request.content)
        if "after" in page:
            raise httpx.ReadError("lost")
        return httpx.Response(200, json={"memories": [], "next": "7"})

    home = AgentHome(**URL, retries=0, transport=httpx.MockTransport(answer))
    with home, pytest.raises(HomeError, match="no_answer"):
        list(home.search("", meaning=Meaning("m", [1.0])))


def test_two_first_calls_at_once_check_the_history_once() -> None:
    done: list[str] = []

    class Remembered:
        async def load(self) -> None:
            done.append("load")
            await asyncio.sleep(0)  # the other one's turn

        async def save(self, head: Link, /) -> None:
            done.append(f"save {head.id}")

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/head"):
            told = {"head": {"id": 7, "hash": "0" * 64, "createdAt": None}, "statement": "s"}
            return httpx.Response(200, json=told)
        done.append("read")
        return httpx.Response(404, json={"code": "memory_not_found", "detail": "None."})

    async def both() -> None:
        transport = httpx.MockTransport(answer)
        async with AsyncAgentHome(**URL, heads=Remembered(), transport=transport) as home:
            await asyncio.gather(home.read("a"), home.read("b"))

    asyncio.run(both())
    assert done == ["load", "save 7", "read", "read"]


def test_just_the_longest_wait_is_waited() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.method)
        told = {"code": "rate_limited", "detail": "Wait."}
        return httpx.Response(429, headers={"retry-after": "0"}, json=told)

    home = AgentHome(**URL, max_wait=0, retries=1, transport=httpx.MockTransport(answer))
    with home, pytest.raises(HomeError, match="Wait"):
        home.read("plan")
    assert len(asked) == 2


def event_after(link: Link, **facts: Any) -> dict[str, Any]:
    event = {"id": link.id + 1, "type": "export", "createdAt": "2026-11-21T12:00:00.000Z", **facts}
    try:
        follow(link, event)
    except HistoryChanged as raised:
        return {**event, "hash": raised.remembered.hash}
    raise AssertionError("an event without a hash follows on nothing")


def test_a_page_that_does_not_follow_on_the_last_is_found() -> None:
    start = Link(1, "0" * 64)
    true, forged = event_after(start), event_after(start, by={"as": "operator"})
    then = event_after(Link(2, true["hash"]))

    def pages(first: dict[str, Any]) -> AgentHome:
        def answer(request: httpx.Request) -> httpx.Response:
            if request.url.params["after"] == "1":
                begin = {"id": 1, "hash": start.hash}
                return httpx.Response(200, json={"previous": begin, "events": [first], "next": 2})
            link = {"id": 2, "hash": true["hash"]}
            return httpx.Response(200, json={"previous": link, "events": [then], "next": None})

        return AgentHome(**URL, transport=httpx.MockTransport(answer))

    checked = pages(true).check(remembered=start)
    assert (checked.events, checked.since, checked.head.hash) == (2, start, then["hash"])
    with pytest.raises(HistoryChanged) as raised:
        pages(forged).check(remembered=start)
    assert raised.value.found == Link(2, true["hash"])


def refused(request: httpx.Request) -> httpx.Response:
    return httpx.Response(403, json={"code": "agent_paused", "detail": "Paused."})


def asked_by(call: Callable[[AgentHome], Any]) -> httpx.Request:
    """The request of a call."""
    asked: list[httpx.Request] = []

    def note(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return refused(request)

    home = AgentHome(**URL, transport=httpx.MockTransport(note))
    with home, pytest.raises(HomeError, match="Paused"):
        next(call(home))
    (request,) = asked
    return request


SENT: list[tuple[Callable[[AgentHome], Any], dict[str, Any]]] = [
    (lambda home: home.context(about="tea", bytes=500), {"about": "tea", "bytes": "500"}),
    (
        lambda home: home.list(prefix="p.", after="p.a", order="changed", view="whole", limit=7),
        {"prefix": "p.", "after": "p.a", "order": "changed", "view": "whole", "limit": "7"},
    ),
    (
        lambda home: home.deleted(prefix="p.", after="p.a", limit=7),
        {"deleted": "true", "prefix": "p.", "after": "p.a", "limit": "7"},
    ),
    (
        lambda home: home.search("tea", prefix="p.", match="all", limit=7),
        {"q": "tea", "prefix": "p.", "match": "all", "limit": "7"},
    ),
    (
        lambda home: home.search("tea", prefix="p.", meaning=Meaning("m", [1.0]), limit=7),
        {"q": "tea", "prefix": "p.", "model": "m", "vector": "AACAPw==", "limit": 7},
    ),
    (
        lambda home: home.events(
            after=0, order="newest", since="26", key="k", prefix="p.", type="edit", by="b", limit=7
        ),
        dict(
            {"after": "0", "order": "newest", "since": "26", "key": "k", "prefix": "p."},
            type="edit",
            by="b",
            limit="7",
        ),
    ),
    (lambda home: home.versions("k"), {"key": "k", "limit": "100"}),
    (lambda home: home.export(history=True), {"history": "true"}),
    (
        lambda home: home.import_("{}", on_conflict="skip", dry_run=True),
        {"onConflict": "skip", "dryRun": "true"},
    ),
    (
        lambda home: home.roll_back(to=7, prefix="p.", by="agent", dry_run=True),
        {"to": 7, "prefix": "p.", "by": "agent", "dryRun": True},
    ),
    (
        lambda home: home.change_profile(name="N", purpose="P", symbol="mist"),
        {"name": "N", "purpose": "P", "symbol": "mist"},
    ),
    (
        lambda home: home.create_key(name="N", access="read", prefix="p.", expires_at="2199"),
        {"name": "N", "access": "read", "prefix": "p.", "expiresAt": "2199"},
    ),
]


@pytest.mark.parametrize(("call", "sent"), SENT, ids=range(len(SENT)))
def test_everything_that_a_call_is_told_is_sent(
    call: Callable[[AgentHome], Any], sent: dict[str, Any]
) -> None:
    request = asked_by(call)
    query = dict(request.url.params)
    assert (query or json.loads(request.content)) == sent


def test_a_replacement_has_the_key_that_it_is_told() -> None:
    request = asked_by(lambda home: home.replace_operator_key(idempotency_key="k" * 64))
    assert request.headers["idempotency-key"] == "k" * 64


@pytest.mark.parametrize(
    ("call", "seconds"),
    [
        (lambda home: home.read("k"), (15, 15)),
        (lambda home: home.read("k", timeout=0.5), (0.5, 0.5)),
        # The home is quiet for 15 seconds at a time.
        (lambda home: home.watch(), (15, 45)),
        (lambda home: home.export(), (15, 30)),
        (lambda home: home.export(timeout=5), (5, 5)),
        (lambda home: home.roll_back(to=1), (3_600, 3_600)),
        (lambda home: home.import_("{}"), (3_600, 3_600)),
        (lambda home: home.import_("{}", timeout=5), (5, 5)),
    ],
)
def test_each_call_has_its_time(
    call: Callable[[AgentHome], Any], seconds: tuple[float, float]
) -> None:
    timeout = asked_by(call).extensions["timeout"]
    assert (timeout["connect"], timeout["read"]) == seconds


def test_what_a_birth_is_told_holds_for_both_clients_of_a_user() -> None:
    asked: list[tuple[Any, ...]] = []
    seen: list[int] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append((request.headers.get("authorization"), request.extensions["timeout"]["read"]))
        if not request.url.path.endswith("/birth"):
            return refused(request)
        born = {"agent_id": "a", "token": "aha_a", "operator_token": "aho_b"}
        return httpx.Response(201, json=born)

    found = AgentHome.home_of(
        user="ann",
        secret="s" * 32,
        url=URL["url"],
        timeout=3,
        transport=httpx.MockTransport(answer),
        response=lambda response: seen.append(response.status_code),
    )
    for home in (found.home, found.operator):
        with home, pytest.raises(HomeError, match="Paused"):
            home.profile()
    assert asked == [(None, 3), ("Bearer aha_a", 3), ("Bearer aho_b", 3)]
    assert seen == [201]


def test_a_birth_with_an_account_sends_both_of_it() -> None:
    sent: list[dict[str, Any]] = []

    def note(request: httpx.Request) -> httpx.Response:
        sent.append(json.loads(request.content))
        return refused(request)

    about = {"name": "N", "purpose": "P", "symbol": "mist"}
    account = {"email": "ann@example.org", "password": "a long password"}
    told: dict[str, Any] = {**about, **account, "operator_consent": True}
    with pytest.raises(HomeError, match="Paused"):
        AgentHome.birth(url=URL["url"], transport=httpx.MockTransport(note), **told)
    assert sent == [{**about, **account, "operatorConsent": True}]


def cursors_of(request: httpx.Request) -> dict[str, Any]:
    given: dict[str, Any] = dict(request.url.params) or json.loads(request.content)
    return given


@pytest.mark.parametrize(
    ("call", "items", "cursor"),
    [
        (lambda home: home.list(prefix="p."), "memories", "after"),
        (lambda home: home.deleted(prefix="p."), "memories", "after"),
        (lambda home: home.search("tea"), "memories", "after"),
        (lambda home: home.search("", meaning=Meaning("m", [1.0])), "memories", "after"),
        (lambda home: home.events(type="edit"), "events", "after"),
        (lambda home: home.versions("k"), "versions", "before"),
    ],
)
def test_a_page_is_asked_for_where_the_last_one_ended(
    call: Callable[[AgentHome], Iterator[Any]], items: str, cursor: str
) -> None:
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, json={items: [], "next": None if asked[1:] else "7"})

    with AgentHome(**URL, transport=httpx.MockTransport(answer)) as home:
        assert list(call(home)) == []
    first, second = asked
    assert (second.method, second.url.path) == (first.method, first.url.path)
    assert cursors_of(second) == {**cursors_of(first), cursor: "7"}


@pytest.mark.parametrize(
    ("call", "code", "status", "is_made"),
    [
        (lambda home: home.erase("k", "all"), "memory_not_found", 404, True),
        (lambda home: home.erase("k", "all"), "invalid_token", 401, False),
        (lambda home: home.erase_agent("a"), "invalid_token", 401, True),
        (lambda home: home.erase_agent("a"), "insufficient_scope", 403, False),
        (lambda home: home.revoke_key("a"), "key_not_found", 404, True),
        (lambda home: home.revoke_key("a"), "invalid_token", 401, False),
    ],
)
def test_what_was_lost_is_made_only_where_the_refusal_says_so(
    call: Callable[[AgentHome], Any], code: str, status: int, is_made: bool
) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.method)
        if len(asked) == 1:
            raise httpx.ReadError("lost")
        return httpx.Response(status, json={"code": code, "detail": "Refused."})

    with AgentHome(**URL, transport=httpx.MockTransport(answer)) as home:
        if is_made:
            call(home)
        else:
            with pytest.raises(OutcomeUnknown):
                call(home)
    assert len(asked) == 2
