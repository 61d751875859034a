"""The store of LangGraph in a home, beside their own in memory."""

from __future__ import annotations

import asyncio
import math
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from agent_home import AgentHome, AsyncAgentHome, BirthResult
from agent_home.langgraph import AgentHomeStore
from where import Where

NAMESPACES: list[tuple[str, ...]] = [
    ("users",),
    ("users", "ann"),
    ("users", "bo b"),
    ("users", "ї" * 60),
    ("docs", "ann"),
    ("a", "b", "c", "d"),
]
KEYS = ["one", "two words", "x" * 90, "три", "1..2"]


def value_of(chance: random.Random) -> dict[str, Any]:
    return {
        "n": chance.choice([0, 1, 1.5, -2, None, "3"]),
        "text": chance.choice(["tea", "ї" * 9_000, "", "a\nb"]),
        "deep": {"list": [1, {"é": None}], "ok": chance.random() < 0.5},
    }


FILTERS: list[dict[str, Any] | None] = [
    None,
    {"text": "tea"},
    {"n": {"$gte": 1}},
    {"n": {"$ne": 1}, "text": {"$eq": "tea"}},
    {"deep": {"ok": True}},
    {"deep": {"list": [1, {"é": None}]}},
    {"missing": None},
]


def op_of(chance: random.Random) -> Any:
    kind = chance.choice(["put", "put", "put", "delete", "get", "search", "search", "namespaces"])
    namespace, key = chance.choice(NAMESPACES), chance.choice(KEYS)
    if kind == "put":
        return PutOp(namespace, key, value_of(chance))
    if kind == "delete":
        return PutOp(namespace, key, None)
    if kind == "get":
        return GetOp(namespace, key)
    if kind == "search":
        prefix = namespace[: chance.randrange(len(namespace) + 1)]
        return SearchOp(prefix, filter=chance.choice(FILTERS), limit=100)
    conditions = [
        None,
        (MatchCondition("prefix", ("users",)),),
        (MatchCondition("suffix", ("ann",)),),
        (MatchCondition("prefix", ("*", "b")),),
    ]
    depth = chance.choice([None, 1, 2])
    return ListNamespacesOp(match_conditions=chance.choice(conditions), max_depth=depth)


def shown(result: Any, op: Any) -> Any:
    if isinstance(op, SearchOp):
        return sorted((each.namespace, each.key, repr(each.value)) for each in result)
    if isinstance(op, GetOp):
        return result and (result.namespace, result.key, result.value)
    return result


def is_comparable(op: Any) -> bool:
    """Theirs raises on what is no number."""
    return not (isinstance(op, SearchOp) and op.filter and "$gte" in str(op.filter))


@pytest.mark.parametrize("seed", range(6))
def test_it_does_what_their_own_does(home: AgentHome, seed: int) -> None:
    chance = random.Random(seed)
    ours, theirs = AgentHomeStore(home), InMemoryStore()
    for _ in range(12):
        ops = [op for op in (op_of(chance) for _ in range(4)) if is_comparable(op)]
        found, expected = ours.batch(ops), theirs.batch(ops)
        for op, one, other in zip(ops, found, expected, strict=True):
            if isinstance(op, ListNamespacesOp):
                # Theirs remembers namespaces in which nothing is any longer.
                assert set(one) <= set(other)  # type: ignore[arg-type]
                continue
            assert shown(one, op) == shown(other, op), op
    live = sorted(namespace for namespace, kept in theirs._data.items() if kept)
    assert ours.list_namespaces() == live


def test_filters_compare(home: AgentHome) -> None:
    store = AgentHomeStore(home)
    for n in range(5):
        store.put(("numbers",), str(n), {"n": n})
    store.put(("numbers",), "none", {"n": None})

    def keys(**filter: Any) -> set[str]:
        return {each.key for each in store.search(("numbers",), filter=filter)}

    assert keys(n={"$gte": 3}) == {"3", "4"}
    assert keys(n={"$gt": 0, "$lt": 3}) == {"1", "2"}
    assert keys(n={"$lte": "0"}) == {"0"}
    with pytest.raises(ValueError, match="Unsupported operator"):
        keys(n={"$regex": "."})


def embed(texts: list[str]) -> list[list[float]]:
    """How often each of three letters is there."""
    return [[1.0 + text.count(letter) for letter in "abc"] for text in texts]


async def aembed(texts: list[str]) -> list[list[float]]:
    return embed(texts)


TEXTS = ["aaaa", "bbbb a", "cc", "abc", "d", "aab"]


@pytest.mark.parametrize("query", ["aaa", "b", "cab"])
def test_with_an_index_it_finds_by_meaning_as_theirs_does(home: AgentHome, query: str) -> None:
    index: Any = {"dims": 3, "embed": embed, "fields": ["text"]}
    ours, theirs = AgentHomeStore(home, index=index), InMemoryStore(index=index)
    for store in (ours, theirs):
        for n, text in enumerate(TEXTS):
            store.put(("docs", str(n % 2)), str(n), {"text": text})
        store.put(("docs", "x"), "unseen", {"text": "aaa"}, index=False)
        store.put(("docs", "0"), "0", {"text": "aaaab"})
    for prefix, limit, offset in [(("docs",), 10, 0), (("docs", "0"), 2, 0), (("docs",), 2, 1)]:
        found, expected = (
            [
                (each.key, each.score and round(each.score, 5))
                for each in store.search(prefix, query=query, limit=limit, offset=offset)
            ]
            for store in (ours, theirs)
        )
        # Where two are as similar, their order is anybody's.
        assert [score for _, score in found] == [score for _, score in expected]
        assert limit < 10 or sorted(found, key=str) == sorted(expected, key=str)


def test_the_same_awaited(where: Where, born: BirthResult) -> None:
    async def lived(store: BaseStore) -> list[Any]:
        await store.aput(("users", "ann"), "likes", {"text": "aaa"})
        await store.aput(("users", "bob"), "likes", {"text": "ccc"})
        found = await store.asearch(("users",), query="aa", limit=1)
        item = await store.aget(("users", "bob"), "likes")
        await store.adelete(("users", "bob"), "likes")
        names = await store.alist_namespaces(prefix=("users",), suffix=("ann",))
        gone = await store.aget(("users", "bob"), "likes")
        return [[each.key for each in found], item and item.value, names, gone]

    async def both() -> None:
        index: Any = {"dims": 3, "embed": aembed, "fields": ["text"]}
        async with AsyncAgentHome(url=where.url, token=born.token) as home:
            ours = await lived(AgentHomeStore(home, index=index))
        assert ours == await lived(InMemoryStore(index=index))

    asyncio.run(both())


def test_a_question_finds_what_answers_it(home: AgentHome) -> None:
    store = AgentHomeStore(home)
    store.put(("notes",), "pier", {"text": "The pier is by the harbour.", "long": "ї" * 9_000})
    store.put(("notes",), "tea", {"text": "Ann likes green tea."})
    store.put(("other", "ї"), "tea", {"text": "Nobody likes tea."})
    first, *rest = store.search(("notes",), query="What tea does Ann like?")
    assert (first.key, first.score) == ("tea", 1)
    assert [each.score for each in rest] == [None]
    (pier,) = store.search(("notes",), query="harbour", limit=1)
    assert pier.value["long"] == "ї" * 9_000
    assert [each.key for each in store.search((), query="likes tea", limit=2)] == ["tea", "tea"]


def test_a_filter_does_not_end_a_search(home: AgentHome) -> None:
    store = AgentHomeStore(home)
    for n in range(40):
        store.put(("notes",), str(n), {"text": "green tea " * (40 - n), "last": n == 39})
    (found,) = store.search(("notes",), query="green tea", filter={"last": True}, limit=1)
    assert (found.key, found.score) == ("39", 1)


def test_many_writers_leave_one_whole_value(where: Where, born: BirthResult) -> None:
    with AgentHome(url=where.url, token=born.token) as home:
        store = AgentHomeStore(home)

        def put(n: int) -> None:
            for _ in range(3):
                store.put(("shared",), "one", {"n": n, "long": str(n) * 20_000})
                # Whole, whatever others do to it meanwhile.
                assert store.get(("shared",), "one") is not None

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(put, range(8)))
        item = store.get(("shared",), "one")
        assert item is not None
        assert item.value["long"] == str(item.value["n"]) * 20_000
        assert len(list(home.list())) == 2


def test_an_item_that_changes_while_it_is_read_is_read_again(
    where: Where, born: BirthResult, home: AgentHome
) -> None:
    other = AgentHomeStore(home)
    put = ("shared",), "one"
    other.put(*put, {"n": 1, "long": "1" * 20_000})
    meddled: list[str] = []

    class Meddling(httpx.HTTPTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            # Between the first piece and the others.
            if request.url.path.endswith("/memories") and not meddled:
                meddled.append(request.url.path)
                other.put(*put, {"n": 2, "long": "2" * 20_000})
            return super().handle_request(request)

    with AgentHome(url=where.url, token=born.token, transport=Meddling()) as slow:
        item = AgentHomeStore(slow).get(*put)
    assert len(meddled) == 1
    assert item is not None
    assert item.value == {"n": 2, "long": "2" * 20_000}


def test_lost_answers_lose_nothing(where: Where, born: BirthResult) -> None:
    with AgentHome(url=where.faulty, token=born.token) as home:
        store = AgentHomeStore(home)
        for at in range(4):
            where.meet(*[{}] * at, {"lose": "answer"})
            store.put(("lossy",), "one", {"n": at})
            item = store.get(("lossy",), "one")
            assert item is not None
            assert item.value == {"n": at}
        where.meet()


def test_what_cannot_be_is_refused(where: Where, born: BirthResult, home: AgentHome) -> None:
    store = AgentHomeStore(home)
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(("a.b",), "c", {})])
    with pytest.raises(NotImplementedError):
        store.put(("a",), "b", {}, ttl=1)
    with pytest.raises(ValueError, match="prefix must be"):
        AgentHomeStore(home, prefix="a.b")
    with pytest.raises(TypeError, match="needs an AgentHome"):
        AgentHomeStore(AsyncAgentHome(url=where.url, token=born.token)).get(("a",), "b")


def test_a_value_of_any_length_is_replaced_at_once_and_leaves_nothing(home: AgentHome) -> None:
    store = AgentHomeStore(home)

    def found() -> Any:
        item = store.get(("a",), "k")
        return item and item.value

    first, second = ({"text": at + "ї" * 1_000_000} for at in "12")
    store.batch([PutOp(("a",), "k", first), PutOp(("a",), "short", {"n": 1})])
    assert found() == first
    store.put(("a",), "k", second)
    assert found() == second
    assert len(list(home.list())) == 1 + math.ceil(2_000_012 / 16_384)
    store.put(("a",), "k", {"n": 2})
    assert found() == {"n": 2}
    store.put(("a",), "k", {"text": "ї" * 20_000})
    store.delete(("a",), "k")
    assert [each.key for each in home.list()] == ["store.a.short"]


def test_a_value_that_is_one_batch_by_its_characters_and_more_by_its_bytes(home: AgentHome) -> None:
    store = AgentHomeStore(home)
    value = {"text": "ї" * 600_000}
    store.put(("a",), "k", value)
    item = store.get(("a",), "k")
    assert item is not None
    assert item.value == value


def test_its_keys_are_those_of_the_other_adapter(home: AgentHome) -> None:
    store = AgentHomeStore(home)
    store.put(("users", "ann"), "likes", {})
    store.put(("users", "b ї"), "likes", {})
    assert [each.key for each in home.list()] == [
        "store..d-EM8Lp3ik0ANZLq0Ci8Bg",
        "store.users.ann.likes",
    ]


def test_pieces_that_the_home_keeps_hold_up_no_put(home: AgentHome, operator: AgentHome) -> None:
    store = AgentHomeStore(home)
    store.put(("a",), "k", {"text": "x" * 2_000_000})
    operator.protect(next(each.key for each in operator.list() if ".." in each.key))
    store.put(("a",), "k", {"n": 1})
    item = store.get(("a",), "k")
    assert item is not None
    assert item.value == {"n": 1}


def test_an_item_is_embedded_by_its_own_fields(home: AgentHome) -> None:
    index: Any = {"dims": 3, "embed": embed, "fields": ["text"]}
    ours, theirs = AgentHomeStore(home, index=index), InMemoryStore(index=index)
    found = []
    for store in (ours, theirs):
        store.put(("docs",), "own", {"text": "ccc", "title": "aaaa"}, index=["title"])
        store.put(("docs",), "other", {"text": "aab", "title": "c"})
        found.append([each.key for each in store.search(("docs",), query="aaa")])
    assert found[0] == found[1] == ["own", "other"]


def test_namespaces_are_listed_page_by_page(home: AgentHome) -> None:
    found = []
    for store in (AgentHomeStore(home), InMemoryStore()):
        for name in "abcd":
            store.put((name,), "k", {})
        found.append([store.list_namespaces(limit=2, offset=at) for at in (0, 1, 3, 4)])
    assert found[0] == found[1]


def test_a_question_may_be_longer_than_the_home_takes(home: AgentHome) -> None:
    store = AgentHomeStore(home)
    store.put(("notes",), "tea", {"text": "Ann likes green tea."})
    for question in ("green tea? " * 100, "green\0tea"):
        (found,) = store.search(("notes",), query=question)
        assert found.score == 1
