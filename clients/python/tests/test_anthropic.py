"""The memory tool: the same strings and the same keys as the adapter for TypeScript."""

from __future__ import annotations

import asyncio
import json
import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from anthropic.lib.tools import ToolError

from agent_home import AgentHome, AsyncAgentHome, BirthResult, Write
from agent_home.anthropic import AgentHomeMemoryTool, AsyncAgentHomeMemoryTool
from agent_home.anthropic.commands import size_shown
from agent_home.anthropic.files import key_of, metadata_of
from where import Where


def answer_of(tool: AgentHomeMemoryTool, command: dict[str, Any]) -> str:
    try:
        return str(tool.call(command))
    except ToolError as error:
        return f"Error: {error}"


async def awaited_of(tool: AsyncAgentHomeMemoryTool, command: dict[str, Any]) -> str:
    try:
        return str(await tool.call(command))
    except ToolError as error:
        return f"Error: {error}"


@pytest.fixture
def tool(home: AgentHome) -> AgentHomeMemoryTool:
    return AgentHomeMemoryTool(home)


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    """A session with the adapter for TypeScript, what it answered, and what it left."""
    told: dict[str, Any] = json.loads(Path(os.environ["AGENT_HOME_TEST_SESSION"]).read_text())
    assert len(told["commands"]) > 100
    return told


def tree_of(home: AgentHome) -> list[Any]:
    return [[each.key, each.text, each.metadata, each.version] for each in home.list(view="whole")]


def test_a_session_is_answered_as_by_the_other_adapter_and_leaves_the_same(
    recorded: dict[str, Any], home: AgentHome, tool: AgentHomeMemoryTool
) -> None:
    for command, said in zip(recorded["commands"], recorded["answers"], strict=True):
        assert answer_of(tool, command) == said, str(command)[:200]
    assert tree_of(home) == recorded["tree"]


def test_the_same_session_awaited(
    recorded: dict[str, Any], where: Where, born: BirthResult, home: AgentHome
) -> None:
    async def session() -> list[str]:
        async with AsyncAgentHome(url=where.url, token=born.token) as other:
            tool = AsyncAgentHomeMemoryTool(other)
            return [await awaited_of(tool, command) for command in recorded["commands"]]

    assert asyncio.run(session()) == recorded["answers"]
    assert tree_of(home) == recorded["tree"]


def test_it_is_the_tool_that_the_model_knows(tool: AgentHomeMemoryTool) -> None:
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory"}
    cached = AgentHomeMemoryTool.__init__.__kwdefaults__
    assert cached == {"cache_control": None}


def create(path: str, text: str) -> dict[str, Any]:
    return {"command": "create", "path": path, "file_text": text}


def test_a_file_over_16_kib_is_left_as_it_was(tool: AgentHomeMemoryTool) -> None:
    sentence = (
        "Error: The file /memories/a.md was not changed: it would be larger than 16384 bytes of "
        "UTF-8, the most that one file can hold. Split it into several files."
    )
    assert answer_of(tool, create("/memories/a.md", "x" * 16_385)) == sentence
    answer_of(tool, create("/memories/a.md", "ї" * 8_191 + "ab"))
    added = {"command": "insert", "path": "/memories/a.md", "insert_line": 0, "insert_text": "x"}
    assert answer_of(tool, added) == sentence
    named = f"/memories/{'x' * 5_000}"
    assert answer_of(tool, create(named, "A")) == f"Error: The path {named} is too long"


def test_a_directory_that_no_batch_holds_is_moved_and_deleted(
    home: AgentHome, tool: AgentHomeMemoryTool
) -> None:
    paths = [("many", f"{'file' if n % 2 else 'файл'} {n}") for n in range(104)]
    keys = {key_of(names): names for names in paths}
    files = [Write(key, "\n" * 16_000, 0, metadata_of(key, at, {})) for key, at in keys.items()]
    for at in range(0, len(files), 26):
        home.batch(files[at : at + 26], minimal=True)
    for old, new in (("/memories/many", "/memories/інші"), ("/memories/інші", "/memories/many")):
        moved = {"command": "rename", "old_path": old, "new_path": new}
        assert answer_of(tool, moved) == f"Successfully renamed {old} to {new}"
    deleted = answer_of(tool, {"command": "delete", "path": "/memories/many"})
    assert deleted == "Successfully deleted /memories/many"
    assert list(home.list()) == []


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (create("/memories/new.md", "A"), "File created successfully at: /memories/new.md"),
        (
            {"command": "insert", "path": "/memories/a/1", "insert_line": 0, "insert_text": "x"},
            "The file /memories/a/1 has been edited.",
        ),
        (
            {"command": "rename", "old_path": "/memories/a", "new_path": "/memories/b"},
            "Successfully renamed /memories/a to /memories/b",
        ),
        ({"command": "delete", "path": "/memories/a"}, "Successfully deleted /memories/a"),
    ],
)
def test_a_lost_answer_is_found_out(
    where: Where,
    born: BirthResult,
    tool: AgentHomeMemoryTool,
    command: dict[str, Any],
    said: str,
) -> None:
    for n in range(2):
        answer_of(tool, create(f"/memories/a/{n}", str(n)))
    for lost_at in range(8):
        with AgentHome(url=where.faulty, token=born.token) as lossy:
            where.meet(*[{}] * lost_at, {"lose": "answer"})
            assert answer_of(AgentHomeMemoryTool(lossy), command) == said
            is_met = where.asked() > lost_at
        if not is_met:
            return
        answer_of(tool, {"command": "delete", "path": "/memories/new.md"})
        answer_of(tool, {"command": "delete", "path": "/memories/b"})
        for n in range(2):
            answer_of(tool, create(f"/memories/a/{n}", str(n)))


def test_two_that_rename_to_one_name_overwrite_nothing(where: Where, born: BirthResult) -> None:
    with AgentHome(url=where.url, token=born.token) as home:
        for at in range(6):
            tool = AgentHomeMemoryTool(home)
            files = [f"/memories/{at}-{n}" for n in range(2)]
            for path in files:
                answer_of(tool, create(path, path))
            new = f"/memories/{at}-new"
            with ThreadPoolExecutor(2) as pool:
                moves = [{"command": "rename", "old_path": path, "new_path": new} for path in files]
                refused, done = sorted(pool.map(partial(answer_of, tool), moves))
            assert refused == f"Error: The destination {new} already exists"
            assert done.startswith("Successfully renamed")


def test_two_that_insert_into_one_file_lose_nothing(
    where: Where, born: BirthResult, home: AgentHome, tool: AgentHomeMemoryTool
) -> None:
    answer_of(tool, create("/memories/log.md", "start"))

    def insert(who: str) -> set[str]:
        at = {"command": "insert", "path": "/memories/log.md", "insert_line": 1}
        with AgentHome(url=where.url, token=born.token) as own:
            theirs = AgentHomeMemoryTool(own)
            return {answer_of(theirs, {**at, "insert_text": f"{who}{n}"}) for n in range(20)}

    with ThreadPoolExecutor(2) as pool:
        said = list(pool.map(insert, "AB"))
    assert said == [{"The file /memories/log.md has been edited."}] * 2
    kept = home.read("memories..log.md")
    assert kept is not None
    lines = [f"{who}{n}" for who in "AB" for n in range(20)]
    assert sorted(kept.text.split("\n")) == sorted([*lines, "start"])


def test_sizes_are_those_of_du() -> None:
    sizes = [0, 1, 1023, 1024, 1280, 1536, 1024**2 - 1, 1024**2, 1024**3 * 5]
    said = ["0B", "1B", "1023B", "1K", "1.3K", "1.5K", "1024.0K", "1M", "5G"]
    assert list(map(size_shown, sizes)) == said


@pytest.mark.parametrize("name", ["x" * 200_000, "x/" * 100_000])
def test_the_model_is_told_of_every_200_kb_in_a_few_words(
    home: AgentHome, tool: AgentHomeMemoryTool, name: str
) -> None:
    answer_of(tool, {"command": "create", "path": "/memories/a.md", "file_text": "A"})
    at = {"path": "/memories/a.md"}
    for command in (
        {"command": "create", "path": "/memories/b.md", "file_text": name},
        {"command": "str_replace", **at, "old_str": "A", "new_str": name},
        {"command": "insert", **at, "insert_line": 0, "insert_text": name},
    ):
        told = answer_of(tool, command)
        assert "was not changed: it would be larger than 16384" in told
        assert len(told) < 500
    path = f"/memories/{name}"
    for command in (
        {"command": "create", "path": path, "file_text": "A"},
        {"command": "rename", "old_path": "/memories/a.md", "new_path": path},
        {"command": "view", "path": path},
        {"command": "delete", "path": path},
    ):
        told = answer_of(tool, command)
        assert told.endswith("… is too long")
        assert len(told) < 9_000
    assert [each.text for each in home.list(view="whole")] == ["A"]
