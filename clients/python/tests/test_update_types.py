"""What a type checker knows of `update`: mypy checks this file, as a program that uses it."""

from __future__ import annotations

import asyncio

import pytest
from typing_extensions import assert_type

from agent_home import AgentHome, AsyncAgentHome, BirthResult, Content, Memory
from where import Where


def longer(now: Memory | None) -> str | None:
    return now.text + "\n" if now else None


async def said(now: Memory | None) -> str:
    return now.text if now else "said"


async def maybe(now: Memory | None) -> Content | None:
    return Content(now.text, {"seen": True}) if now else None


def test_a_change_is_given_a_memory_or_none_and_tells_what_comes_back(home: AgentHome) -> None:
    assert_type(home.update("plan", lambda now: now.text if now else "Step 1"), Memory)
    home.update("plan", lambda now: "Step 2" if assert_type(now, Memory | None) else "None")
    assert_type(home.update("plan", lambda _: Content("Step 3")), Memory)
    assert_type(home.update("plan", lambda _: None), Memory | None)
    assert_type(home.update("plan", longer), Memory | None)
    # Each is an error, and an `ignore` that nothing needs is one, too.
    home.update("plan", lambda now: now.text)  # type: ignore[union-attr]
    with pytest.raises(TypeError, match=r"^change must give a str, Content or None, not dict$"):
        home.update("plan", lambda _: {"text": "x"})  # type: ignore[arg-type, return-value]


def test_an_async_change_too(where: Where, born: BirthResult, home: AgentHome) -> None:
    async def use() -> None:
        async with AsyncAgentHome(url=where.url, token=born.token) as theirs:
            assert_type(await theirs.update("plan", said), Memory)
            assert_type(await theirs.update("plan", maybe), Memory | None)
            assert_type(await theirs.update("plan", longer), Memory | None)
            assert_type(await theirs.update("plan", lambda now: "x"), Memory)

    asyncio.run(use())
    with pytest.raises(TypeError, match="only an AsyncAgentHome accepts"):
        home.update("plan", said)  # type: ignore[arg-type]
