"""What the table of behaviours does not say: Python's own, and what takes several clients."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import inspect
import json
import os
import pickle
import re
import secrets
import sqlite3
import traceback
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

import agent_home
from agent_home import (
    AgentHome,
    AsyncAgentHome,
    BirthResult,
    Checked,
    Content,
    HistoryChanged,
    HomeError,
    ImportConflict,
    Link,
    Meaning,
    Memory,
    NewVector,
    Number,
    OutcomeUnknown,
    Read,
    TurnedBack,
    Write,
    chain,
    verify_export,
)
from agent_home.calls import VERSION
from agent_home.chain import _hash_after
from agent_home.core import Core
from agent_home.exact import dumps, loads
from where import Where

PROFILE: dict[str, Any] = {
    "name": "Atlas",
    "purpose": "Remembers.",
    "symbol": "zerno",
    "operator_consent": True,
}


def public(kind: type) -> dict[str, Any]:
    return {name: member for name, member in inspect.getmembers(kind) if not name.startswith("_")}


def test_both_clients_take_the_same_and_say_the_same() -> None:
    ours, theirs = public(AgentHome), public(AsyncAgentHome)
    assert ours.pop("close")
    assert theirs.pop("aclose")
    assert ours.keys() == theirs.keys()
    for name, method in ours.items():
        parameters = inspect.signature(method).parameters
        assert list(parameters) == list(inspect.signature(theirs[name]).parameters), name
        assert method.__doc__ == theirs[name].__doc__, name


def test_addresses_and_tokens_are_from_the_environment_unless_told(
    where: Where, born: BirthResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_HOME_URL", where.url)
    monkeypatch.setenv("AGENT_HOME_TOKEN", born.token)
    with AgentHome() as home:
        assert home.profile().profile.agent_id == born.agent_id
    monkeypatch.delenv("AGENT_HOME_URL")
    with pytest.raises(ValueError, match="url is missing: pass it, or set AGENT_HOME_URL"):
        AgentHome()
    monkeypatch.delenv("AGENT_HOME_TOKEN")
    for token in (None, ""):
        with pytest.raises(ValueError, match="token is missing: pass it, or set AGENT_HOME_TOKEN"):
            AgentHome(url=where.url, token=token)


def test_a_run_is_called_as_told_or_by_the_environment(
    where: Where, born: BirthResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    def named(run: str | None = None) -> AgentHome:
        return AgentHome(url=where.url, token=born.token, run=run)

    monkeypatch.setenv("AGENT_HOME_RUN", "of the environment")
    named().append("runs", "a")
    named(" nächtlich 🌙 ").append("runs", "b")
    named("").append("runs", "c")
    monkeypatch.delenv("AGENT_HOME_RUN")
    named().append("runs", "d")
    runs = [each.by and each.by.run for each in named().versions("runs")]
    assert runs == [None, None, "nächtlich 🌙", "of the environment"]
    assert [each.version for each in named().events(run="nächtlich 🌙")] == [2]
    for run in ("x" * 81, "a\nb", "a\u200eb"):
        with pytest.raises(ValueError, match="run must have 1 to 80 visible characters"):
            named(run)


def test_an_append_with_a_key_of_its_own_is_the_same_one_later(
    where: Where, born: BirthResult
) -> None:
    with AgentHome(url=where.url, token=born.token) as home:
        key = secrets.token_hex(32)
        first = home.append("once", "A", idempotency_key=key)
        home.append("once", "B")
        assert home.append("once", "A", idempotency_key=key) == first
        with pytest.raises(HomeError, match="used for another append"):
            home.append("once", "C", idempotency_key=key)


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("https://a.example/home/", "https://a.example/home"),
        ("http://[::1]:8787", "http://[::1]:8787"),
        ("https://a.example?x=1#y", "https://a.example"),
    ],
)
def test_an_address_is_taken_as_people_write_it(given: str, address: str) -> None:
    assert repr(AgentHome(url=given, token="t")) == f"AgentHome({address!r})"


TOKEN = f"aha_{'s' * 43}ecret0"


@pytest.mark.parametrize(
    ("url", "token"),
    [
        ("http://127.0.0.1:1", f"{TOKEN}\n"),
        ("http://127.0.0.1:1", f"{TOKEN}é"),
        ("ftp://a.example", TOKEN),
        (f"http://me:{TOKEN}@a.example", TOKEN),
        (f"http://[{TOKEN}", TOKEN),
        ("nothing", TOKEN),
    ],
)
def test_what_cannot_be_sent_is_refused_without_being_shown(url: str, token: str) -> None:
    with pytest.raises(ValueError) as raised:  # noqa: PT011
        AgentHome(url=url, token=token)
    assert "aha_" not in "".join(traceback.format_exception(raised.value))


def shown(error: BaseException | None) -> str:
    """Everything that a log would show of an error, its causes and their members included."""
    if error is None:
        return ""
    # Those of httpx hold the request, and so the token.
    assert not isinstance(error, httpx.HTTPError)
    own = "".join(traceback.format_exception(error)) + repr(vars(error)) + repr(error.args)
    return own + shown(error.__cause__) + shown(error.__context__)


def test_no_error_shows_the_token(where: Where) -> None:
    echo = {"code": "insufficient_scope", "detail": f"Bearer {TOKEN} may not do this."}
    with AgentHome(url=where.faulty, token=TOKEN, retries=0) as home:
        where.meet({"answer": {"status": 403, "body": echo}})
        with pytest.raises(HomeError) as refused:
            home.read("plan")
        assert refused.value.detail == "Bearer … may not do this."
        where.meet({"answer": {"status": 200, "body": f'{{"token": {TOKEN}}}'}})
        with pytest.raises(OutcomeUnknown) as broken:
            home.rotate()
        where.meet({"lose": "request"})
        with pytest.raises(HomeError) as lost:
            home.read("plan")
        with (
            AgentHome(url="http://127.0.0.1:1", token=TOKEN, retries=0) as nobody,
            pytest.raises(HomeError) as unreached,
        ):
            nobody.read("plan")
        assert unreached.value.detail == "There is no answer from this address."
        for error in (refused, broken, lost, unreached):
            assert "aha_" not in shown(error.value)
        assert "aha_" not in repr(home)


def test_what_is_born_shows_no_token(born: BirthResult, operator: AgentHome) -> None:
    key = operator.create_key(name="reader", access="read")
    assert "aha_" not in repr(born) + repr(key)
    assert "aho_" not in repr(born)


@pytest.mark.parametrize("error", [httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout])
def test_where_nobody_listens_nothing_was_sent(
    where: Where, born: BirthResult, error: type[httpx.TransportError]
) -> None:
    tries: list[int] = []

    class Absent(httpx.HTTPTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            tries.append(1)
            if len(tries) < 3:
                raise error("nobody")
            return super().handle_request(request)

    with AgentHome(url=where.url, token=born.token, transport=Absent()) as home:
        assert home.append("log", "A").text == "A"
    assert len(tries) == 3


def test_a_home_for_each_user(where: Where) -> None:
    secret = f"a secret of a product, {secrets.token_hex(8)}"
    asked: dict[str, Any] = {"url": where.url, "secret": secret}
    first = AgentHome.home_of(user="ann", **asked)
    first.home.write("notes", "Likes tea.", expected_version=0)

    async def again() -> Any:
        return await AsyncAgentHome.home_of(user="ann", **asked)

    assert asyncio.run(again()).agent_id == first.agent_id
    assert first.operator.profile().profile.name == "A user"
    assert "aha_" not in repr(first)
    others = [
        AgentHome.home_of(user="Ann", **asked),
        AgentHome.home_of(user="ann", **{**asked, "secret": f"{secret}!"}),
    ]
    assert len({each.agent_id for each in [first, *others]}) == 3
    with pytest.raises(HomeError) as refused:
        AgentHome.home_of(user="ann", name="Ann", **asked)
    assert refused.value.code == "birth_conflict"
    first.operator.rotate()
    with pytest.raises(HomeError) as rotated:
        AgentHome.home_of(user="ann", **asked)
    assert rotated.value.code == "credentials_rotated"
    with pytest.raises(ValueError, match="secret must have at least 32 characters"):
        AgentHome.home_of(user="ann", secret="short", url=where.url)
    with pytest.raises(ValueError, match="user must not be empty"):
        AgentHome.home_of(user="", **asked)


def test_the_home_of_a_user_is_that_of_the_other_client(where: Where) -> None:
    secret = "a secret of a product, which nobody else has"
    found = AgentHome.home_of(user="ann", secret=secret, url=where.url)
    assert found.agent_id == os.environ["AGENT_HOME_TEST_USER"]


def test_a_lost_birth_gives_the_same_tokens_again(where: Where) -> None:
    where.meet({"lose": "answer"}, {"lose": "answer"})
    born = AgentHome.birth(url=where.faulty, **PROFILE)
    assert born.replayed is True
    key = agent_home.new_idempotency_key()
    first = AgentHome.birth(url=where.url, idempotency_key=key, **PROFILE)
    again = AgentHome.birth(url=where.url, idempotency_key=key, **PROFILE)
    assert again == dataclasses.replace(first, replayed=True)
    assert AgentHome.preview(url=where.url).available


def test_each_response_is_given_and_says_which_client_asked(
    where: Where, born: BirthResult
) -> None:
    seen: list[Any] = []

    def note(response: httpx.Response) -> None:
        asked = response.request.headers["user-agent"]
        seen.append((response.status_code, response.headers.get("etag"), asked))

    with AgentHome(url=where.url, token=born.token) as home:
        home.write("plan", "A", expected_version=0, response=note)
        home.read("none", response=note)
    agent = f"agent-home-client-python/{VERSION}"
    assert seen == [(200, '"1"', agent), (404, None, agent)]
    project = (Path(__file__).parents[1] / "pyproject.toml").read_text()
    assert f'version = "{VERSION}"' in project


def test_metadata_that_were_read_are_sent_digit_for_digit(
    where: Where, born: BirthResult, home: AgentHome
) -> None:
    headers = {"authorization": f"Bearer {born.token}", "content-type": "application/json"}
    metadata = '{"b":1.50,"a":[9007199254740993,-0,1e2,1e400,0.1],"n":null}'
    content = f'{{"key":"plan","text":"A","metadata":{metadata},"expectedVersion":0}}'
    where.http.post(f"{where.url}/api/agents/me/memory", headers=headers, content=content)
    found = home.read("plan")
    assert found is not None
    # They are numbers like any other.
    assert found.metadata["b"] * 2 == 3.0
    assert found.metadata["a"][0] == 9007199254740993
    home.update("plan", lambda now: Content("B", now.metadata if now else None))
    home.write("copy", "C", expected_version=0, metadata=found.metadata)
    for key in ("plan", "copy"):
        answer = where.http.get(f"{where.url}/api/agents/me/memory?key={key}", headers=headers)
        assert f'"metadata":{metadata}' in answer.text


def test_numbers_survive_what_python_does_with_them() -> None:
    (number,) = loads("[1.50]")
    assert dumps(pickle.loads(pickle.dumps(number))) == "1.50"
    assert isinstance(number, Number)
    assert hash(number) == hash(1.5)
    assert (
        dumps({"a": (1, True, None, 1.5, "\ud800", "é")}) == '{"a":[1,true,null,1.5,"\\ud800","é"]}'
    )
    for odd in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="not JSON compliant"):
            dumps({"a": odd})
    with pytest.raises(TypeError):
        dumps({1: "a"})
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="contains itself"):
        dumps(endless)


def test_a_change_from_one_to_true_is_a_change(home: AgentHome) -> None:
    home.write("plan", "A", expected_version=0, metadata={"done": 1})
    changed = home.update("plan", lambda now: Content("A", {"done": True}))
    assert changed is not None
    assert changed.version == 2
    assert changed.metadata["done"] is True


def test_what_an_update_raises_is_raised_and_nothing_is_written(home: AgentHome) -> None:
    def broken(_: Memory | None) -> str:
        raise RuntimeError("not today")

    with pytest.raises(RuntimeError, match="not today"):
        home.update("plan", broken)
    assert home.read("plan") is None


def added(line: str) -> Any:
    return lambda now: (now.text + "\n" if now else "") + line


def test_ten_threads_and_ten_tasks_update_one_key_and_nothing_is_lost(
    where: Where, born: BirthResult, home: AgentHome
) -> None:
    lines = [f"thread {n}" for n in range(10)]
    with ThreadPoolExecutor(10) as pool:
        list(pool.map(lambda line: home.update("list", added(line)), lines))

    async def tasks() -> None:
        async def change(now: Memory | None) -> str:
            await asyncio.sleep(0)
            return (now.text if now else "") + "\ntask"

        async with AsyncAgentHome(url=where.url, token=born.token) as other:
            await asyncio.gather(*(other.update("list", change) for _ in range(10)))

    asyncio.run(tasks())
    found = home.read("list")
    assert found is not None
    assert found.version == 20
    assert sorted(found.text.split("\n")) == sorted([*lines, *["task"] * 10])


def test_lists_are_given_over_all_pages_and_no_more_is_asked_for(
    where: Where, born: BirthResult, home: AgentHome
) -> None:
    names = [f"m{n:04}" for n in range(250)]
    for at in range(0, 250, 100):
        home.batch([Write(name, "tea", 0) for name in names[at : at + 100]], minimal=True)
    with AgentHome(url=where.faulty, token=born.token) as counted:
        where.meet()
        assert [each.key for each in counted.list()] == names
        assert where.asked() == 3
        where.meet()
        listed = counted.list()
        assert [next(listed).key, next(listed).key] == names[:2]
        assert where.asked() == 1
        assert len(list(counted.list(limit=105))) == 105


def test_a_batch_without_texts_has_those_that_were_read(home: AgentHome) -> None:
    home.write("a", "A", expected_version=0)
    written, read = home.batch([Write("b", "B", 0), Read("a")], minimal=True)
    assert written.memory is not None
    assert (written.memory.version, written.memory.text) == (1, None)
    assert read.memory is not None
    assert (read.memory.text, read.memory.metadata) == ("A", {})


def test_what_is_meant_is_found(home: AgentHome) -> None:
    pier = home.write("pier", "By the harbour.", expected_version=0)
    vector = [0.12, -0.48, 0.87]
    vectors = [NewVector(pier.key, pier.version, vector), NewVector("none", 1, vector)]
    stored = home.store_vectors("my-model", vectors)
    assert stored.stored == 1
    assert [(each.key, each.current_version) for each in stored.stale] == [("none", 0)]
    (hit,) = home.search("", meaning=Meaning("my-model", vector))
    assert hit.similarity == pytest.approx(1)
    assert (hit.key, hit.text, hit.matched) == ("pier", "By the harbour.", [])


def test_missing_words_are_told_once_they_are_known(home: AgentHome) -> None:
    home.write("plan", "tea", expected_version=0)
    hits = home.search("Zebra tea")
    assert hits.missing == []
    assert next(hits).key == "plan"
    assert hits.missing == ["zebra"]
    hits.close()
    assert list(hits) == []
    none = home.search("zebra yak")
    assert (list(none), none.missing) == ([], ["zebra", "yak"])


def test_an_export_goes_into_the_import_of_another_agent(
    where: Where, home: AgentHome, tmp_path: Path
) -> None:
    home.write("plan", "Step 1 ї", expected_version=0, metadata={"n": 1})
    home.append("plan", "0")
    born = where.born()
    with AgentHome(url=where.url, token=born.operator_token) as other:
        assert other.import_(home.export(history=True)).imported == 1
        assert [each.version for each in other.versions("plan")] == [2, 1]
        whole = b"".join(home.export())
        with pytest.raises(ImportConflict) as refused:
            other.import_(whole)
        assert refused.value.conflicts == ["plan"]
        file = tmp_path / "home.json"
        file.write_bytes(whole)
        with file.open("rb") as source:
            assert other.import_(source, on_conflict="skip").skipped == 1
        assert other.import_(whole.decode(), on_conflict="skip", dry_run=True).skipped == 1

    async def again() -> None:
        async with (
            AsyncAgentHome(url=where.url, token=born.operator_token) as other,
            AsyncAgentHome(url=where.url, token=home_token(home)) as own,
        ):
            done = await other.import_(own.export(), on_conflict="replace")
            assert (done.imported, done.skipped) == (1, 0)
            assert (await other.import_([whole], on_conflict="skip")).skipped == 1

    asyncio.run(again())


def home_token(home: AgentHome) -> str:
    return home._core.transport._token


def test_an_upload_that_was_read_is_not_sent_again(where: Where, born: BirthResult) -> None:
    with AgentHome(url=where.faulty, token=born.operator_token) as other:
        where.meet({"lose": "request"})
        with pytest.raises(OutcomeUnknown):
            other.import_(iter([b"{}"]))
        assert where.asked() == 1
        where.meet({"lose": "request"})
        with pytest.raises(HomeError, match="no_answer"):
            other.import_(iter([b"{}"]), dry_run=True)
        assert where.asked() == 1
        where.meet({"lose": "answer"})
        with pytest.raises(OutcomeUnknown):
            other.import_(b"{}")
        assert where.asked() == 1
        # What changes nothing is asked again.
        whole = b"".join(other.export())
        where.meet({"lose": "answer"})
        assert other.import_(whole, dry_run=True).imported == 0
        assert where.asked() == 2


def test_no_cookie_is_sent_back() -> None:
    sent: list[str | None] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request.headers.get("cookie"))
        return httpx.Response(404, headers={"set-cookie": "session=1; Path=/"})

    transport = httpx.MockTransport(answer)
    with AgentHome(url="http://127.0.0.1:1", token=TOKEN, transport=transport) as home:
        for _ in range(2):
            with pytest.raises(HomeError):
                home.read("plan")
    assert sent == [None, None]


def test_who_stops_early_leaves_no_connection_behind(where: Where, born: BirthResult) -> None:
    with AgentHome(url=where.url, token=born.token) as home:
        home.append("log", ".")
        watched = home.watch(after=0)
        assert isinstance(watched, Iterator)
        next(watched)
        pool = home._places.here().http._transport._pool  # type: ignore[attr-defined]
        assert len(pool.connections) == 1
        del watched
        gc.collect()
        assert len(pool.connections) == 0

    async def same() -> None:
        async with AsyncAgentHome(url=where.url, token=born.token) as home:
            watched = home.watch(after=0)
            await watched.__anext__()
            pool = home._places.here(asyncio.get_running_loop()).http._transport._pool  # type: ignore[attr-defined]
            assert len(pool.connections) == 1
            await watched.aclose()  # type: ignore[attr-defined]
            assert len(pool.connections) == 0

    asyncio.run(same())


def test_a_task_that_is_cancelled_ends_its_call(where: Where, born: BirthResult) -> None:
    async def cancelled() -> None:
        async with AsyncAgentHome(url=where.faulty, token=born.token) as home:
            where.meet({"silence": True})
            task = asyncio.create_task(home.append("log", "A"))
            while where.asked() == 0:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(cancelled())


# The chain


class Remembered:
    def __init__(self, head: Link | None = None) -> None:
        self.head = head

    def load(self) -> Link | None:
        return self.head

    def save(self, head: Link) -> None:
        self.head = head


ZERO = "0" * 64


@pytest.fixture
def lived(home: AgentHome) -> AgentHome:
    home.write("plan", "one", expected_version=0, metadata={"a": [1, 'x"]}'], "n": 1.50})
    home.write("plan", "two", expected_version=1)
    home.rename("plan", "moved", expected_version=2)
    home.write("gone", "soon", expected_version=0)
    home.delete("gone", expected_version=1)
    return home


def test_a_client_finds_the_history_that_it_remembers(
    where: Where, born: BirthResult, lived: AgentHome
) -> None:
    heads = Remembered()
    with AgentHome(url=where.url, token=born.token, heads=heads) as waking:
        waking.profile()
    assert heads.head is not None
    assert heads.head.id == 5
    lived.write("next", "x", expected_version=0)
    checked = lived.check(remembered=heads.head)
    assert (checked.events, checked.since) == (1, heads.head)
    head = lived.head().head
    assert checked.head == Link(head.id, head.hash) == lived.context(proof=True).head


def test_a_client_is_told_until_it_accepts(
    where: Where, born: BirthResult, lived: AgentHome
) -> None:
    head = lived.check().head
    heads = Remembered(Link(head.id, ZERO))
    with AgentHome(url=where.url, token=born.token, heads=heads) as waking:
        for _ in range(2):
            with pytest.raises(HistoryChanged) as raised:
                waking.read("moved")
            assert (raised.value.remembered.hash, raised.value.found) == (ZERO, head)
        with pytest.raises(HistoryChanged):
            list(waking.list())
        waking.check(accept=True)
        assert waking.read("moved") is not None
    assert heads.head == head

    class Awaited:
        head = Link(5, ZERO)

        async def load(self) -> Link:
            await asyncio.sleep(0)
            return self.head

        async def save(self, head: Link) -> None:
            await asyncio.sleep(0)
            self.head = head

    async def same() -> None:
        async with AsyncAgentHome(url=where.url, token=born.token, heads=Awaited()) as waking:
            with pytest.raises(HistoryChanged):
                await waking.read("moved")
            await waking.check(accept=True)
            assert await waking.read("moved") is not None

    asyncio.run(same())


def shown_after(previous: Link, count: int, at: str = "now") -> dict[str, Any]:
    events: list[dict[str, Any]] = []
    head = previous
    for _ in range(count):
        event: dict[str, Any] = {"id": head.id + 1, "createdAt": at}
        event["hash"] = _hash_after(head.hash, event)
        head = Link(event["id"], event["hash"])
        events.append(event)
    return {"previous": dataclasses.asdict(previous), "events": events, "next": head.id}


def test_each_page_of_events_follows_on_the_one_before() -> None:
    begun = Link(5, ZERO)

    def checked(*pages: dict[str, Any]) -> Link | None:
        left = list(pages)

        class Shown:
            def ask(self, *_: object) -> Generator[None, None, dict[str, Any]]:
                yield from ()
                page = left.pop(0)
                return page if left else {**page, "next": None}

        with pytest.raises(StopIteration) as ended:
            next(Core(Shown()).check(begun, False, {}))  # type: ignore[arg-type]
        assert isinstance(ended.value.value, Checked)
        return ended.value.value.since

    first = shown_after(begun, 3)
    last = Link(8, first["events"][-1]["hash"])
    assert checked(first, shown_after(last, 2)) == begun
    later = Link(9, ZERO)
    assert checked(first, shown_after(later, 2)) == later
    with pytest.raises(HistoryChanged):
        checked(shown_after(begun, 3, "then"), shown_after(last, 2))
    with pytest.raises(TurnedBack):
        checked(first, shown_after(Link(7, first["events"][-2]["hash"]), 2))


def test_a_client_is_told_that_a_home_was_turned_back(lived: AgentHome) -> None:
    with pytest.raises(TurnedBack) as raised:
        lived.check(remembered=Link(6, ZERO))
    assert (raised.value.remembered.id, raised.value.found.id) == (6, 5)
    assert raised.value.code == "turned_back"


def altered(where: Where, born: BirthResult, sql: str) -> None:
    """Behind the service's back, as whoever owns the disk may."""
    database = sqlite3.connect(where.database, timeout=30)
    with database:
        database.execute(f"UPDATE log SET {sql} AND agent_id = ?", (born.agent_id,))
    database.close()


def whole(home: AgentHome) -> agent_home.VerifiedExport:
    return verify_export(home.export(history=True))


@pytest.mark.parametrize(
    "sql",
    [
        "author = replace(author, 'agent', 'operator') WHERE id = 2",
        "updated_at = updated_at - 1 WHERE id = 3",
        "event = 'append' WHERE id = 2",
        "key = 'palm' WHERE id = 1",
        "hash = zeroblob(32) WHERE id = 2",
    ],
)
def test_a_changed_event_is_found(
    where: Where, born: BirthResult, lived: AgentHome, sql: str
) -> None:
    begun = whole(lived)
    assert (begun.faults, begun.events, begun.proven, begun.unproven) == ([], 5, 4, 0)
    assert lived.check(remembered=begun.previous).since == begun.previous
    altered(where, born, sql)
    with pytest.raises(HistoryChanged):
        lived.check(remembered=begun.previous)
    assert whole(lived).faults


def test_a_version_that_names_another_key_than_its_event_is_found(lived: AgentHome) -> None:
    file = b"".join(lived.export(history=True)).decode()
    assert '"madeAs":"' in file
    forged = re.sub(r'"madeAs":"[^"]*"', '"madeAs":"other"', file)
    faults = {each.fault for each in verify_export(forged).faults}
    assert faults == {"the version was made under another key than madeAs"}
    # As exports of 2.0.0 are.
    assert not verify_export(re.sub(r'"madeAs":"[^"]*",', "", file)).faults


def test_what_an_import_brought_may_have_been_made_under_another_key(
    where: Where, lived: AgentHome
) -> None:
    file = b"".join(lived.export(history=True)).decode()
    with AgentHome(url=where.url, token=where.born().operator_token) as operator:
        operator.import_(file)
        brought = b"".join(operator.export(history=True)).decode()
    assert '"madeAs":"' in brought
    assert not verify_export(brought).faults


@pytest.mark.parametrize(
    "sql",
    [
        "text = 'owt' WHERE id = 2",
        "text = 'eno' WHERE id = 1",
        "metadata = replace(metadata, '1', '2') WHERE id = 1",
        "salt = zeroblob(32) WHERE id = 3",
        "salt = NULL WHERE id = 3",
        "text = 'late' WHERE id = 4",
    ],
)
def test_a_changed_text_is_found_in_an_export(
    where: Where, born: BirthResult, lived: AgentHome, sql: str
) -> None:
    altered(where, born, sql)
    faults = {each.fault for each in whole(lived).faults}
    assert "the text differs from the one that its event committed to" in faults


def test_an_export_is_held_to_what_somebody_else_remembers(lived: AgentHome) -> None:
    head = lived.check().head
    file = b"".join(lived.export(history=True)).decode()

    def faults(remembered: Link) -> list[str]:
        return [each.fault for each in verify_export(file, remembered=remembered).faults]

    assert faults(head) == []
    assert faults(Link(head.id, ZERO)) == ["the event differs from the remembered one"]
    assert faults(Link(99, head.hash)) == ["the file is older than the remembered head"]
    other = verify_export(file.replace('"agent_id":"', '"agent_id":"x', 1))
    assert [(each.fault, each.place) for each in other.faults] == [
        ("the chain does not begin as this agent’s", "0")
    ]
    spaced = json.dumps(json.loads(file)).replace("[]", "[ ]")
    assert verify_export(spaced).head == verify_export(file).head
    for marked in (f"\ufeff{file}", f"\ufeff{file}".encode()):
        assert verify_export(marked) == verify_export(file)
    twice = file.replace('"memories":', '"memories":[],"memories":')
    no_event = file.replace('"events":[', '"events":[1,')
    for broken in (
        '{"format":"x"}',
        file[:-2],
        "[]",
        f"\ufeff\ufeff{file}",
        file + "{}",
        twice,
        no_event,
    ):
        with pytest.raises(ValueError, match=r"\w"):
            verify_export(broken)


def test_a_verification_tells_of_every_event_and_every_version(
    lived: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chain, "_AT_ONCE", 3)
    told: list[int] = []
    # Five events and four versions.
    verify_export(lived.export(history=True), progress=told.append)
    assert told == [3, 6, 9]


FORGERIES = json.loads(
    (Path(__file__).parents[3] / "test/client/forgeries.json").read_text(encoding="utf-8")
)


def settle(home: AgentHome) -> None:
    for key, texts in FORGERIES["home"]:
        for version, text in enumerate(texts):
            if text is None:
                home.delete(key, expected_version=version)
            else:
                home.write(key, text, expected_version=version)


@pytest.mark.parametrize("forgery", FORGERIES["forgeries"], ids=lambda forgery: forgery["name"])
def test_what_was_forged_is_found_in_an_export(
    where: Where, born: BirthResult, lived: AgentHome, forgery: dict[str, list[str]]
) -> None:
    settle(lived)
    before = whole(lived)
    assert (before.faults, before.unproven_keys) == ([], 0)
    database = sqlite3.connect(where.database, timeout=30)
    with database:
        for sql in forgery["sql"] + FORGERIES["adjust"]:
            database.execute(sql, {"agent": born.agent_id})
    database.close()
    lived.check(remembered=before.head)
    assert [f"{each.fault}: {each.place}" for each in whole(lived).faults] == forgery["faults"]


@pytest.mark.parametrize("forgery", FORGERIES["files"], ids=lambda forgery: forgery["name"])
def test_what_was_forged_in_a_file_is_found(lived: AgentHome, forgery: dict[str, Any]) -> None:
    settle(lived)
    file = json.loads(b"".join(lived.export(history=True)))
    entry = forgery["entry"]
    listed = file[entry["list"]]
    at, was = next(
        (at, each)
        for at, each in enumerate(listed)
        if (each["key"], each["version"]) == (entry["key"], entry["version"])
    )
    listed[at : at + 1] = [was | forged for forged in forgery["becomes"]]
    faults = verify_export(dumps(file)).faults
    assert [f"{each.fault}: {each.place}" for each in faults] == forgery["faults"]


@pytest.mark.parametrize(
    ("name", "entries"), [("id", "events"), ("hash", "events"), ("version", "history")]
)
def test_an_export_that_lacks_what_is_compared_is_none(
    lived: AgentHome, name: str, entries: str
) -> None:
    file = json.loads(b"".join(lived.export(history=True)))
    del file[entries][0][name]
    with pytest.raises(ValueError, match=f"lacks {name}, or it is invalid"):
        verify_export(dumps(file))


def test_an_erased_version_that_is_put_back_is_not_proven(
    operator: AgentHome, lived: AgentHome
) -> None:
    lived.write("z", "one", expected_version=0)
    older = json.loads(b"".join(lived.export(history=True)))["history"][-1]
    operator.erase("z", "all")
    file = json.loads(b"".join(lived.export(history=True)))
    before = verify_export(dumps(file))
    file["history"].append(older)
    after = verify_export(dumps(file))
    assert (after.proven, after.unproven) == (before.proven, before.unproven + 1)


def test_what_no_kept_event_tells_of_is_counted(operator: AgentHome, lived: AgentHome) -> None:
    file = json.loads(b"".join(lived.export(history=True)))
    # As if the first three events were pruned, of which one made the memory.
    file["previous"] = {name: file["events"][2][name] for name in ("id", "hash")}
    file["events"] = file["events"][3:]
    found = verify_export(dumps(file))
    assert (found.faults, found.unproven_keys, found.proven, found.unproven) == ([], 1, 1, 3)
    assert found.memories == len(file["memories"])
    previous = Link(file["previous"]["id"], ZERO)
    assert [
        (each.fault, each.place) for each in verify_export(dumps(file), remembered=previous).faults
    ] == [("the event differs from the remembered one", str(previous.id))]
    operator.protect("moved")
    operator.unprotect("moved")
    operator.erase("moved", "history")
    lived.rename("moved", "again", expected_version=3)
    lived.write("moved", "new", expected_version=0)
    operator.erase("moved", "all")
    assert whole(lived).faults == []


def test_a_paused_agent_may_ask_who_it_is_and_is_checked_later(
    where: Where, born: BirthResult, operator: AgentHome, lived: AgentHome
) -> None:
    heads = Remembered(Link(lived.check().head.id, ZERO))
    with AgentHome(url=where.url, token=born.token, heads=heads) as waking:
        operator.pause()
        assert waking.profile().profile.status == "paused"
        operator.activate()
        with pytest.raises(HistoryChanged):
            waking.profile()


def test_a_key_with_a_prefix_checks_nothing(where: Where, operator: AgentHome) -> None:
    token = operator.create_key(name="p", access="read", prefix="a").token
    with AgentHome(url=where.url, token=token) as reader:
        with pytest.raises(HomeError):
            reader.check()
        with pytest.raises(ValueError, match="a key with a prefix cannot check the chain"):
            reader.check(remembered=Link(0, ZERO))


def test_what_the_operator_does(
    where: Where, born: BirthResult, home: AgentHome, operator: AgentHome
) -> None:
    home.write("plan", "A", expected_version=0)
    (last,) = home.events(limit=1, order="newest", type="write", by="agent")
    home.write("plan", "B", expected_version=1)
    back = operator.roll_back(to=last.id)
    assert (back.restored, back.deleted, back.skipped) == (1, 0, [])
    assert operator.erase("plan", [1, 2]).versions == [1, 2]
    named = operator.create_key(name="one", access="read", expires_at="2199-01-01T00:00:00Z")
    operator.revoke_key(named.key.id)
    assert operator.keys() == []
    with AgentHome(url=where.url, token=operator.rotate()) as agent:
        assert agent.profile().memory_count == 1
    with pytest.raises(HomeError) as refused:
        home.profile()
    assert refused.value.status == 401
    with pytest.raises(HomeError) as absent:
        operator.edit("plan", "absent", "x")
    assert absent.value.details["occurrences"] == 0
    with AgentHome(url=where.url, token=operator.replace_operator_key()) as successor:
        successor.erase_agent(born.agent_id)
        with pytest.raises(HomeError) as gone:
            successor.profile()
        assert gone.value.status == 401
