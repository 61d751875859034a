"""Conversations of the OpenAI Agents SDK: its own runner, and a model that follows a script."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any, cast

import httpx
import pytest
from agents import Agent, Runner, SQLiteSession, function_tool, set_tracing_disabled
from agents.memory import Session, SessionSettings
from agents.testing import ScriptedModel, assistant_message, function_call

from agent_home import (
    AgentHome,
    AsyncAgentHome,
    BatchConflict,
    BirthResult,
    OutcomeUnknown,
    fitting,
)
from agent_home.openai import AgentHomeSession
from where import Where, promised

set_tracing_disabled(True)


def on(where: Where, born: BirthResult, work: Callable[[AsyncAgentHome], Awaitable[Any]]) -> Any:
    """Runs it with a client on the way that meets faults."""

    async def run() -> Any:
        async with AsyncAgentHome(url=where.faulty, token=born.token) as home:
            return await work(home)

    where.meet()
    return asyncio.run(run())


def user(text: str) -> Any:
    return {"role": "user", "content": text}


def test_the_runner_goes_on_where_an_earlier_process_stopped(
    where: Where, born: BirthResult
) -> None:
    async def talk(home: AsyncAgentHome) -> None:
        model = ScriptedModel([[assistant_message("Hello Ann.")], [assistant_message("Ann.")]])
        agent = Agent(name="Clerk", model=model)
        session = AgentHomeSession(home, "support")
        assert isinstance(session, Session)
        await Runner.run(agent, "My name is Ann.", session=session)
        later = AgentHomeSession(home, "support")
        result = await Runner.run(agent, "Who am I?", session=later)
        assert result.final_output == "Ann."
        assert [each.get("role") for each in model.calls[1].input] == ["user", "assistant", "user"]
        assert len(await later.get_items()) == 4

    on(where, born, talk)


def test_calls_of_tools_and_their_outputs_are_kept(where: Where, born: BirthResult) -> None:
    @function_tool
    def weather(town: str) -> str:
        """The weather of a town."""
        return f"rain in {town}"

    async def talk(home: AsyncAgentHome) -> None:
        steps = [
            [function_call("weather", {"town": "Lviv"}, call_id="1")],
            [assistant_message("Take a coat.")],
        ]
        agent = Agent(name="Clerk", model=ScriptedModel(steps), tools=[weather])
        session = AgentHomeSession(home, "any id, ї")
        streamed = Runner.run_streamed(agent, "A coat?", session=session)
        async for _ in streamed.stream_events():
            pass
        items = await session.get_items()
        assert [each.get("type", "message") for each in items] == [
            "message",
            "function_call",
            "function_call_output",
            "message",
        ]

    on(where, born, talk)


async def done(session: Session, kind: str, said: list[Any], limit: int | None) -> Any:
    if kind == "add":
        await session.add_items(said)
    elif kind == "pop":
        return await session.pop_item()
    elif kind == "get":
        return await session.get_items(limit)
    elif kind == "clear":
        await session.clear_session()
    return None


@pytest.mark.parametrize("seed", range(4))
def test_it_does_what_their_own_does_whatever_is_done(
    where: Where, born: BirthResult, seed: int
) -> None:
    chance = random.Random(seed)
    texts = ["", "A", "ї" * 9_000, "line\nbreak\u2028", "😀", '{"add":"x"}\n']

    async def compare(home: AsyncAgentHome) -> None:
        ours = AgentHomeSession(home, "any")
        theirs = SQLiteSession("any")
        for _ in range(12):
            kind = chance.choice(["add", "add", "add", "pop", "get", "clear"])
            said = [user(text) for text in chance.choices(texts, k=chance.randrange(4))]
            said = [{**each, "n": chance.random(), "deep": [{"é": None}]} for each in said]
            limit = chance.choice([None, 0, 1, 3])
            ours_found, theirs_found = [
                await done(cast(Session, session), kind, said, limit) for session in (ours, theirs)
            ]
            assert ours_found == theirs_found
            assert await ours.get_items() == await theirs.get_items()

    on(where, born, compare)


def test_what_the_settings_limit_is_limited(where: Where, born: BirthResult) -> None:
    async def limited(home: AsyncAgentHome) -> None:
        settings = SessionSettings(limit=1)
        session = AgentHomeSession(home, "a", session_settings=settings)
        await session.add_items([user("1"), user("2")])
        assert await session.get_items() == [user("2")]
        assert len(await session.get_items(5)) == 2

    on(where, born, limited)


def test_two_runners_lose_nothing_and_keep_what_belongs_together(
    where: Where, born: BirthResult
) -> None:
    wide = "x" * 3_000

    async def talk(home: AsyncAgentHome) -> list[str]:
        async def runner(name: str) -> None:
            session = AgentHomeSession(home, "shared")
            for n in range(12):
                await session.add_items([user(f"{name}{n} ask {wide}"), user(f"{name}{n} answer")])

        await asyncio.gather(runner("A"), runner("B"))
        items: list[Any] = list(await AgentHomeSession(home, "shared").get_items())
        return [each["content"].removesuffix(f" {wide}") for each in items]

    said = on(where, born, talk)
    for name in "AB":
        own = [f"{name}{n} {what}" for n in range(12) for what in ("ask", "answer")]
        assert [each for each in said if each.startswith(name)] == own
    for at in range(0, len(said), 2):
        assert said[at].replace("ask", "answer") == said[at + 1]


@pytest.mark.parametrize("lost_at", range(4))
def test_lost_answers_add_nothing_twice(where: Where, born: BirthResult, lost_at: int) -> None:
    async def talk(home: AsyncAgentHome) -> None:
        session = AgentHomeSession(home, "lossy")
        await session.add_items([user("first")])
        where.meet(*[{}] * lost_at, {"lose": "answer"})
        await session.add_items([user("second"), user("ї" * 20_000)])
        where.meet()
        assert await session.get_items() == [user("first"), user("second"), user("ї" * 20_000)]
        where.meet(*[{}] * lost_at, {"lose": "answer"})
        await session.clear_session()
        where.meet()
        assert await session.get_items() == []

    on(where, born, talk)


MUCH = {
    "one of several batches, every character escaped": [user('"\n' * 400_000)],
    "several of 300 KB": [user(each * n) for each in "єb\1" for n in (150_000, 1)],
    "2,500 short ones": [user(f"{n} of many items of one turn") for n in range(2_500)],
    "many of 7.5 KB in 2,500 characters": [user("€" * 2_500)] * 180,
    "odd characters, and nothing": [user("\0\1\x7f\ud800"), user("")],
}


@pytest.mark.parametrize("much", MUCH)
def test_no_item_is_too_much(where: Where, born: BirthResult, home: AgentHome, much: str) -> None:
    async def talk(theirs: AsyncAgentHome) -> None:
        session = AgentHomeSession(theirs, "much")
        items = MUCH[much]
        await session.add_items([user("before")])
        await session.add_items(items)
        await session.add_items([user("after")])
        assert await session.get_items() == [user("before"), *items, user("after")]
        assert await session.pop_item() == user("after")
        assert await session.pop_item() == items[-1]
        assert await session.get_items() == [user("before"), *items[:-1]]
        await session.clear_session()

    on(where, born, talk)
    assert list(home.list()) == []


def test_what_is_no_json_is_kept_as_text(where: Where, born: BirthResult) -> None:
    async def talk(home: AsyncAgentHome) -> None:
        session = AgentHomeSession(home, "odd")
        odd: Any = {"role": "user", "content": "a", "extra": [float("inf"), b"x", None, 1.5]}
        await session.add_items([odd])
        found: Any = await session.get_items()
        assert found[0]["extra"] == [float("inf"), "b'x'", None, 1.5]

    on(where, born, talk)


@pytest.mark.parametrize("lost_at", promised(range(8), 1))
def test_much_is_there_once_though_answers_are_lost(
    where: Where, born: BirthResult, lost_at: int
) -> None:
    async def talk(home: AsyncAgentHome) -> None:
        session = AgentHomeSession(home, "lossy")
        items = [user("x" * 1_000_000), user("y")]
        where.meet(*[{}] * lost_at, {"lose": "answer"})
        await session.add_items(items)
        where.meet()
        assert await session.get_items() == items

    on(where, born, talk)


@pytest.mark.parametrize("session_id", ["x" * 5_000, "a\0b", "half \ud800", "😀" * 2_000])
def test_any_id_is_a_session(where: Where, born: BirthResult, session_id: str) -> None:
    async def talk(home: AsyncAgentHome) -> None:
        session = AgentHomeSession(home, session_id)
        await session.add_items([user("A")])
        assert await session.get_items() == [user("A")]

    on(where, born, talk)


def test_what_cannot_be_is_refused(where: Where, born: BirthResult) -> None:
    async def refused(home: AsyncAgentHome) -> None:
        with pytest.raises(ValueError, match="session_id must not be empty"):
            AgentHomeSession(home, "")
        with pytest.raises(ValueError, match="prefix must be 1 to 20"):
            AgentHomeSession(home, "a", prefix="a.b")

    on(where, born, refused)


def test_its_keys_are_those_of_the_other_adapter(
    where: Where, born: BirthResult, home: AgentHome
) -> None:
    async def talk(other: AsyncAgentHome) -> None:
        for name in ("support-4711", "a b", "x" * 22, "x" * 61):
            await AgentHomeSession(other, name).add_items([user("A")])

    on(where, born, talk)
    assert [(each.key, each.metadata) for each in home.list()] == sorted(
        [
            ("session.support-4711.000001", {"session_id": "support-4711"}),
            ("session.yGh6CKpdbtIEQyj6aml6uA.000001", {"session_id": "a b"}),
            ("session.7EpPzZFadnIIWTa7R3zFBQ.000001", {"session_id": "x" * 22}),
            ("session.xQjnXyTiXblN_1LJVkpRAg.000001", {"session_id": "x" * 61}),
        ]
    )


def test_pieces_that_the_home_keeps_hold_up_no_pop(
    where: Where, born: BirthResult, operator: AgentHome
) -> None:
    async def talk(home: AsyncAgentHome) -> None:
        session = AgentHomeSession(home, "kept")
        much = user("x" * 500_000)
        await session.add_items([user("before"), much])
        operator.protect(next(each.key for each in operator.list() if ".." in each.key))
        assert await session.pop_item() == much
        assert await session.get_items() == [user("before")]

    on(where, born, talk)


@pytest.mark.parametrize(
    ("codes", "tries"),
    [
        # Answers that are lost one after the other.
        ([], 5),
        # What no other try would change.
        (["version_conflict", "memory_protected"], 1),
    ],
)
def test_what_is_of_no_use_is_not_tried_for_ever(
    monkeypatch: pytest.MonkeyPatch, codes: list[str], tries: int
) -> None:
    monkeypatch.setattr(fitting, "backoff", lambda *_: 0.0)
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return httpx.Response(200, json={"memories": [], "next": None})
        asked.append(request.url.path)
        if not codes or len(asked) > 9:
            raise httpx.ReadError("lost")
        conflicts = [{"operation": at, "code": code, "detail": ""} for at, code in enumerate(codes)]
        told = {"code": "batch_conflict", "detail": "Nothing was done.", "conflicts": conflicts}
        return httpx.Response(409, json=told)

    async def add() -> None:
        url, transport = "http://127.0.0.1:1", httpx.MockTransport(answer)
        async with AsyncAgentHome(url=url, token="aha_t", retries=0, transport=transport) as home:
            with pytest.raises(BatchConflict if codes else OutcomeUnknown):
                await AgentHomeSession(home, "any").add_items([user("A"), user("B")])

    asyncio.run(add())
    assert asked == ["/api/agents/me/batch"] * tries
