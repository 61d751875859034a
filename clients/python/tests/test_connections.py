"""A client in programs that fork, that have several threads or event loops, or a proxy."""

from __future__ import annotations

import asyncio
import copy
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import Any

import httpx
import pytest

from agent_home import (
    AgentHome,
    AsyncAgentHome,
    BirthResult,
    HomeError,
    Link,
    Memory,
    OutcomeUnknown,
    VersionConflict,
)
from agent_home.connections import is_loopback
from where import Quiet, Where, serving

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system forks nothing")


def in_child(work: Callable[[], object]) -> Callable[[], Any]:
    """Starts it in a fork of this process; what is given waits for what came of it."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            came: Any = work()
        except BaseException as error:
            came = error
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(came, pipe)
        os._exit(0)
    os.close(writing)

    def wait() -> Any:
        with os.fdopen(reading, "rb") as pipe:
            came = pickle.load(pipe)
        os.waitpid(pid, 0)
        return came

    return wait


def text_at(home: AgentHome, key: str) -> str | None:
    memory = home.read(key)
    return memory.text if memory else None


NAMES = ("ann", "ben", "cem", "dan")


def added(line: str) -> Callable[[Memory | None], str]:
    return lambda now: (now.text if now else "") + line


def read_often(home: AgentHome, name: str) -> list[str | None]:
    """What was read under a name; writes, too."""
    texts = []
    for n in range(10):
        texts.append(text_at(home, name))
        home.update(f"{name}.log", added(f"{name} {n}\n"))
    return texts


@forks
def test_children_of_a_fork_read_and_write_what_is_theirs(home: AgentHome) -> None:
    for name in NAMES:
        home.write(name, f"I am {name}.", expected_version=0)
    works = [partial(read_often, home, name) for name in NAMES[1:]]
    children = [in_child(work) for work in works]
    read = [read_often(home, NAMES[0])]
    read += [wait() for wait in children]
    assert read == [[f"I am {name}."] * 10 for name in NAMES]
    for name in NAMES:
        log = "".join(f"{name} {n}\n" for n in range(10))
        assert text_at(home, f"{name}.log") == log


def of_pool(at: int) -> str | None:
    return text_at(_inherited, NAMES[at % len(NAMES)])


_inherited: AgentHome


@forks
def test_a_pool_of_processes_uses_the_client_that_it_inherits(home: AgentHome) -> None:
    global _inherited
    _inherited = home
    for name in NAMES:
        home.write(name, f"I am {name}.", expected_version=0)
    with multiprocessing.get_context("fork").Pool(4) as pool:
        found = pool.map(of_pool, range(40), chunksize=3)
    assert found == [f"I am {NAMES[at % len(NAMES)]}." for at in range(40)]


def socket_of(home: AgentHome) -> tuple[str, int]:
    """Our end of the connection that a call uses."""
    ends: list[Any] = []

    def note(response: httpx.Response) -> None:
        ends.append(response.extensions["network_stream"].get_extra_info("client_addr"))

    home.read("none", response=note)
    (end,) = ends
    return end[0], end[1]


@forks
def test_a_child_opens_its_own_connections_and_leaves_those_of_its_parent(home: AgentHome) -> None:
    before = socket_of(home)

    def child() -> tuple[str, int]:
        end = socket_of(home)
        home.close()
        return end

    assert in_child(child)() != before
    assert socket_of(home) == before


@forks
def test_a_stream_belongs_to_the_process_that_opened_it(home: AgentHome) -> None:
    for n in range(3):
        home.append("log", f"{n}\n")
    watch = home.watch(after=0)
    assert next(watch).type == "append"
    export = home.export(history=True)
    begun = next(export)

    def of_watch() -> object:
        # What came in one piece with the first is there already.
        return list(islice(watch, 4))

    for refused in (in_child(of_watch)(), in_child(lambda: list(export))()):
        assert isinstance(refused, HomeError)
        assert (refused.code, refused.status) == ("other_process", 0)
    in_child(lambda: export.close())()  # type: ignore[attr-defined]
    assert begun + b"".join(export)
    home.append("log", "on\n")
    seen = [getattr(each, "version", 0) for each in islice(watch, 4)]
    assert seen == [2, 3, None, 4], "the third is the export"
    watch.close()  # type: ignore[attr-defined]


@forks
def test_a_transport_of_the_callers_stays_in_its_process(where: Where, born: BirthResult) -> None:
    with AgentHome(url=where.url, token=born.token, transport=httpx.HTTPTransport()) as home:
        home.append("log", "parent\n")
        refused = in_child(lambda: home.append("log", "child\n"))()
        assert isinstance(refused, HomeError)
        assert refused.code == "other_process"
        assert "nothing was sent" in str(refused)
        assert [each.version for each in home.versions("log")] == [1]


class SlowHeads:
    """Whoever loads the first head waits until it is told."""

    def __init__(self) -> None:
        self.is_loading = threading.Event()
        self.may_go_on = threading.Event()
        self.pid = os.getpid()

    def load(self) -> None:
        if os.getpid() == self.pid:
            self.is_loading.set()
            self.may_go_on.wait(60)

    def save(self, _: Link) -> None:
        pass


@forks
def test_a_lock_that_another_thread_holds_at_the_fork_holds_up_no_child(
    where: Where, born: BirthResult
) -> None:
    heads = SlowHeads()
    home = AgentHome(url=where.url, token=born.token, heads=heads)
    with home, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(home.read, "none")
        heads.is_loading.wait()
        assert in_child(lambda: home.append("log", "child\n").version)() == 1
        heads.may_go_on.set()
        assert waiting.result() is None


def test_an_async_client_works_in_each_event_loop(where: Where, born: BirthResult) -> None:
    home = AsyncAgentHome(url=where.url, token=born.token)

    async def add() -> int:
        await asyncio.gather(*(home.read("none") for _ in range(3)))
        return (await home.append("log", "x\n")).version

    assert [asyncio.run(add()) for _ in range(4)] == [1, 2, 3, 4]
    with ThreadPoolExecutor(4) as pool:
        versions = pool.map(lambda _: asyncio.run(add()), range(8))
        assert sorted(versions) == list(range(5, 13))
    assert len(home._places._places) <= 4, "the connections of closed loops are dropped"


def test_an_async_client_that_was_closed_or_copied_still_works(
    where: Where, born: BirthResult
) -> None:
    home = AsyncAgentHome(url=where.url, token=born.token)

    async def use() -> None:
        async with home:
            await home.append("log", "x\n")
        async with copy.deepcopy(home) as again:
            await again.append("log", "x\n")
        assert (await home.append("log", "x\n")).version % 3 == 0
        await home.aclose()
        await home.aclose()

    asyncio.run(use())
    asyncio.run(use())


def test_a_transport_of_the_callers_stays_in_its_event_loop(
    where: Where, born: BirthResult
) -> None:
    transport = httpx.AsyncHTTPTransport()
    home = AsyncAgentHome(url=where.url, token=born.token, transport=transport)
    assert asyncio.run(home.append("log", "first\n")).version == 1
    with pytest.raises(HomeError, match="belongs to another event loop, and nothing was sent"):
        asyncio.run(home.append("log", "second\n"))
    with AgentHome(url=where.url, token=born.token) as sync:
        assert [each.version for each in sync.versions("log")] == [1]


def test_a_stream_belongs_to_the_event_loop_that_opened_it(
    where: Where, born: BirthResult, home: AgentHome
) -> None:
    for n in range(3):
        home.append("log", f"{n}\n")
    theirs = AsyncAgentHome(url=where.url, token=born.token)
    first, second = asyncio.new_event_loop(), asyncio.new_event_loop()
    watch: AsyncIterator[Any] = theirs.watch(after=0)

    async def take(most: int) -> list[int]:
        return [(await watch.__anext__()).version for _ in range(most)]

    assert first.run_until_complete(take(1)) == [1]
    with pytest.raises(HomeError) as refused:
        second.run_until_complete(take(4))
    assert refused.value.code == "other_loop"
    assert second.run_until_complete(theirs.append("log", "on\n")).version == 4
    for loop in (first, second):
        loop.run_until_complete(theirs.aclose())
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


@forks
def test_a_fork_within_an_event_loop_leaves_its_parent_alone(
    where: Where, born: BirthResult
) -> None:
    home = AsyncAgentHome(url=where.url, token=born.token)

    async def use() -> int:
        await home.append("log", "parent\n")

        def child() -> int:
            return asyncio.run(home.append("log", "child\n")).version

        # A loop is told to be no loop of its thread in a fork.
        version: int = in_child(child)()
        assert version == 2
        return (await home.append("log", "parent\n")).version

    assert asyncio.run(use()) == 3


def test_many_threads_share_a_client_whatever_they_do(home: AgentHome) -> None:
    # A home is exported once at a time.
    exporting = threading.Lock()

    def work(n: int) -> list[str | None]:
        name = f"key{n}"
        home.write(name, name, expected_version=0)
        found = [text_at(home, name) for _ in range(5)]
        list(islice(home.list(view="whole"), 5))
        with exporting:
            b"".join(home.export())
        return found

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(work, range(16))) == [[f"key{n}"] * 5 for n in range(16)]


def test_a_client_that_was_closed_or_copied_still_works(home: AgentHome) -> None:
    with home, copy.copy(home) as same:
        same.append("log", "x\n")
    with copy.deepcopy({"home": home})["home"] as again:
        again.append("log", "x\n")
    home.close()
    home.close()
    assert home.append("log", "x\n").version == 3


@pytest.mark.parametrize("kind", [AgentHome, AsyncAgentHome])
def test_a_client_is_not_pickled_and_says_why(kind: Any, born: BirthResult) -> None:
    home = kind(url="https://home.example", token=born.token)
    with pytest.raises(TypeError, match="make one in the other process") as refused:
        pickle.dumps(home)
    assert born.token not in str(refused.value)


def refusals(home: AgentHome) -> Iterator[HomeError]:
    calls: list[Callable[[], object]] = [
        lambda: home.write("log", "x", expected_version=7),
        lambda: home.write("log", "x" * 17_000, expected_version=0),
        lambda: home.read("log", version=9),
    ]
    for work in calls:
        with pytest.raises(HomeError) as refused:
            work()
        yield refused.value
    yield OutcomeUnknown()


def test_errors_pass_from_process_to_process(home: AgentHome) -> None:
    home.append("log", "x\n")
    for error in refusals(home):
        for passed in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
            assert type(passed) is type(error)
            assert str(passed) == str(error)
            assert vars(passed) == vars(error)
            assert isinstance(passed, VersionConflict) is (error.code == "version_conflict")


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, TimeoutError])
def test_an_update_that_is_interrupted_writes_nothing(
    home: AgentHome, error: type[BaseException]
) -> None:
    home.append("log", "x\n")

    def change(_: object) -> str:
        raise error

    with pytest.raises(error):
        home.update("log", change)
    assert home.append("log", "x\n").version == 2


class Stop(BaseException):
    pass


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="this system has no such signal")
def test_a_signal_in_the_middle_of_a_call_leaves_no_answer_for_the_next(
    where: Where, born: BirthResult, home: AgentHome
) -> None:
    home.write("ann", "I am ann.", expected_version=0)
    home.write("ben", "I am ben.", expected_version=0)

    def stop(*_: object) -> None:
        raise Stop

    before = signal.signal(signal.SIGUSR1, stop)
    try:
        with AgentHome(url=where.faulty, token=born.token) as client:
            for _ in range(5):
                assert client.read("ann")
                where.meet({"silence": True})
                threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGUSR1)).start()
                with pytest.raises(Stop):
                    client.read("ann")
                where.meet({})
                assert text_at(client, "ben") == "I am ben."
    finally:
        signal.signal(signal.SIGUSR1, before)


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """It sees what is sent to it, and answers nothing of use."""
    seen: list[str] = []

    class Answers(Quiet):
        def do_GET(self) -> None:
            seen.append(f"{self.path} {self.headers.get('authorization')}")
            self.send_error(502)

        do_POST = do_PATCH = do_DELETE = do_CONNECT = do_GET

    with serving(Answers) as url:
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            for each in (name, name.upper()):
                monkeypatch.setenv(each, url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        yield seen


def test_loopback_is_never_asked_by_a_proxy_of_the_environment(
    where: Where, born: BirthResult, proxy: list[str]
) -> None:
    port = httpx.URL(where.url).port
    for host in ("127.0.0.1", "localhost", "127.1", "0.0.0.0", "[::ffff:127.0.0.1]"):
        with AgentHome(url=f"http://{host}:{port}", token=born.token) as home:
            home.update("log", added("x\n"))
            b"".join(home.export())
    AgentHome.preview(url=where.url)

    async def use() -> None:
        async with AsyncAgentHome(url=where.url, token=born.token) as home:
            await home.append("log", "x\n")

    asyncio.run(use())
    assert proxy == []


def test_other_hosts_are_asked_as_the_environment_says(
    proxy: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask() -> None:
        home = AgentHome(url="http://10.255.255.1:9", token="t", retries=0, timeout=0.2)
        with home, pytest.raises(HomeError):
            home.read("log")

    ask()
    assert len(proxy) == 1
    monkeypatch.setenv("NO_PROXY", "10.255.255.1")
    monkeypatch.setenv("no_proxy", "10.255.255.1")
    ask()
    assert len(proxy) == 1


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "127.9.9.9", "127.1", "2130706433", "0x7f.0.0.1", "0.0.0.0"),
        *("localhost", "LOCALHOST", "localhost.", "home.localhost", "home.localhost."),
        *("[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::]"),
    ],
)
def test_a_loopback_address_is_one_however_it_is_written(host: str) -> None:
    assert is_loopback(f"http://{host}:8787/home")


@pytest.mark.parametrize(
    "host",
    [
        *("home.example", "localhost.example", "notlocalhost", "127.0.0.1.example", "home"),
        *("10.0.0.1", "192.168.1.1", "169.254.1.1", "128.0.0.1", "[fe80::1]", "[fd00::1]"),
        "[::ffff:10.0.0.1]",
    ],
)
def test_other_addresses_are_none(host: str) -> None:
    assert not is_loopback(f"https://{host}")
