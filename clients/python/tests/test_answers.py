"""What a home answers, as far as it can be wrong: another memory, and what an error says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agent_home import AgentHome, AsyncAgentHome, HomeError, ImportConflict, Read
from where import Quiet, serving

TOKEN = "aha_secret"

TIMES = {"createdAt": "2026-11-21T10:06:00.000Z", "updatedAt": "2026-11-21T10:06:00.000Z"}
OTHER = {"id": "1", "key": "others", "text": "A", "metadata": {}, "version": 1, **TIMES}
MINE = {**OTHER, "key": "plan"}


class Scripted:
    def __init__(self) -> None:
        self.status = 200
        self.body: Any = {}
        self.url = ""


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    """A server that gives one prepared answer."""
    prepared = Scripted()

    class Answers(Quiet):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            kind = "json" if prepared.status < 400 else "problem+json"
            body = json.dumps(prepared.body).encode()
            self.send_response(prepared.status)
            self.send_header("content-type", f"application/{kind}")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_PATCH = do_DELETE = do_GET

    with serving(Answers) as prepared.url:
        yield prepared


MIXED_UP: dict[str, tuple[dict[str, Any], Callable[[Any], Any]]] = {
    "read": ({"memory": OTHER}, lambda home: home.read("plan")),
    "version": ({"memory": OTHER}, lambda home: home.read("plan", version=1)),
    "write": ({"memory": OTHER}, lambda home: home.write("plan", "A", expected_version=0)),
    "patch": ({"memory": OTHER}, lambda home: home.write("plan", "A", expected_version=1)),
    "update": ({"memory": OTHER}, lambda home: home.update("plan", lambda _: "B")),
    "append": ({"memory": OTHER}, lambda home: home.append("plan", "A")),
    "edit": ({"memory": OTHER}, lambda home: home.edit("plan", "A", "B")),
    "restore": ({"memory": OTHER}, lambda home: home.restore("plan", 1, expected_version=2)),
    "delete": (
        {"deleted": {"key": "others", "version": 2, "deletedAt": TIMES["createdAt"]}},
        lambda home: home.delete("plan", expected_version=1),
    ),
    "protect": (
        {"memory": {"key": "others", "version": 1, "protected": True}},
        lambda home: home.protect("plan"),
    ),
    "erase": (
        {"erased": {"key": "others", "versions": [1]}},
        lambda home: home.erase("plan", "all"),
    ),
    "rename": (
        {"results": [{"memory": OTHER}]},
        lambda home: home.rename("plan", "plan.old", expected_version=1),
    ),
    "batch": (
        {"results": [{"memory": MINE}, {"memory": OTHER}]},
        lambda home: home.batch([Read("plan"), Read("second")]),
    ),
    "batch with too few results": (
        {"results": []},
        lambda home: home.batch([Read("plan")]),
    ),
}


@pytest.mark.parametrize("name", MIXED_UP)
def test_an_answer_about_another_memory_is_not_returned(scripted: Scripted, name: str) -> None:
    scripted.body, ask = MIXED_UP[name]

    async def awaited() -> None:
        async with AsyncAgentHome(url=scripted.url, token=TOKEN) as home:
            await ask(home)

    with AgentHome(url=scripted.url, token=TOKEN) as home:
        for call in (lambda: ask(home), lambda: asyncio.run(awaited())):
            with pytest.raises(HomeError) as refused:
                call()
            assert (refused.value.code, refused.value.status) == ("other_memory", 0)
            assert "others" not in str(refused.value)


def problem(code: str, **members: Any) -> dict[str, Any]:
    return {"type": f"/problems/{code}", "code": code, "detail": "Nothing was done.", **members}


def test_a_message_says_what_is_wrong_with_what_was_sent(scripted: Scripted) -> None:
    faults = [{"pointer": f"/m/{n}", "message": "must be a string"} for n in range(5)]
    scripted.status, scripted.body = 400, problem("invalid_body", errors=faults)
    with AgentHome(url=scripted.url, token=TOKEN) as home, pytest.raises(HomeError) as refused:
        home.read("plan")
    assert str(refused.value) == (
        "Nothing was done. /m/0: must be a string. /m/1: must be a string. "
        "/m/2: must be a string. And 2 more. (invalid_body)"
    )


def test_conflicts_of_an_import_are_named(scripted: Scripted) -> None:
    keys = [f"key.{n}" for n in range(12)]
    scripted.status, scripted.body = 409, problem("import_conflict", conflicts=keys)
    with AgentHome(url=scripted.url, token=TOKEN) as home, pytest.raises(ImportConflict) as refused:
        home.import_("{}")
    assert refused.value.conflicts == keys
    assert "Keys: key.0, key.1, " in str(refused.value)
    assert str(refused.value).endswith("key.9, and 2 more. (import_conflict)")
