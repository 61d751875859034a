"""The table of behaviours, which the client for TypeScript is held to as well."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import agent_home
from agent_home import AgentHome, AsyncAgentHome, BirthResult, Retry
from agent_home.exact import wire_name
from where import Where, promised

TABLE = Path(__file__).parents[3] / "test/client/behaviours.json"
CASES: list[dict[str, Any]] = json.loads(TABLE.read_text())["cases"]


def snake(name: str) -> str:
    """`expectedVersion` is `expected_version`; what Python keeps for itself ends with `_`."""
    word = re.sub(r"[A-Z]", lambda found: "_" + found[0].lower(), name)
    return f"{word}_" if word in ("from", "import") else word


def operation(each: Mapping[str, Any]) -> Any:
    ((verb, given),) = each.items()
    return getattr(agent_home, verb.capitalize())(
        **{snake(name): value for name, value in given.items()}
    )


def arguments(step: Mapping[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {snake(name): value for name, value in step["with"].items()}
    if step["call"] == "update":
        text, added = given.pop("text", None), given.pop("append", None)
        given["change"] = lambda now: text if added is None else (now.text if now else "") + added
    if "operations" in given:
        given["operations"] = [operation(each) for each in given["operations"]]
    return given


def shown(value: Any) -> Any:
    """As the other client has it."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        named = {wire_name(each.name): each.name for each in dataclasses.fields(value)}
        return {name: shown(getattr(value, own)) for name, own in named.items()}
    if isinstance(value, list):
        return [shown(each) for each in value]
    return value


def holds(found: Any, expected: Any) -> bool:
    """Whether it has at least what is expected."""
    if isinstance(expected, dict):
        return isinstance(found, dict) and all(
            name in found and holds(found[name], value) for name, value in expected.items()
        )
    if isinstance(expected, list):
        return (
            isinstance(found, list)
            and len(found) == len(expected)
            and all(map(holds, found, expected))
        )
    return type(found) is type(expected) and bool(found == expected)


def of_error(error: agent_home.HomeError, names: list[str]) -> dict[str, Any]:
    return {name: shown(getattr(error, snake(name))) for name in names}


def run_sync(step: Mapping[str, Any], options: dict[str, Any]) -> Any:
    with AgentHome(**options) as home:
        found = getattr(home, snake(step["call"]))(**arguments(step))
        if step["call"] == "export":
            return json.loads(b"".join(found))
        if isinstance(found, Iterator):
            return list(islice(found, step.get("take")))
        return found


async def run_async(step: Mapping[str, Any], options: dict[str, Any]) -> Any:
    async with AsyncAgentHome(**options) as home:
        found = getattr(home, snake(step["call"]))(**arguments(step))
        if not isinstance(found, AsyncIterator):
            return await found
        items: list[Any] = []
        async for item in found:
            items.append(item)
            if len(items) == step.get("take"):
                break
        return json.loads(b"".join(items)) if step["call"] == "export" else items


def take(step: Mapping[str, Any], options: dict[str, Any], kind: str, where: Where) -> None:
    where.meet(*step.get("faults", []))
    told: list[str] = []

    def on_retry(retry: Retry) -> None:
        told.append(retry.error.code)

    options = {**options, "on_retry": on_retry}

    def found() -> Any:
        if kind == "sync":
            return run_sync(step, options)
        return asyncio.run(run_async(step, options))

    if "throws" in step:
        expected = {**step["throws"]}
        with pytest.raises(agent_home.HomeError) as raised:
            found()
        assert type(raised.value).__name__ == expected.pop("type")
        has = of_error(raised.value, list(expected))
        assert holds(has, expected), has
    else:
        has = shown(found())
        assert holds(has, step["gives"]), has
    if "asked" in step:
        assert where.asked() == step["asked"]
    if "retries" in step:
        assert told == step["retries"]


# The client that blocks is generated from the other one: a short run tries it with some.
RUNS = [(case, "async") for case in CASES] + [(case, "sync") for case in promised(CASES)]


@pytest.mark.parametrize(
    ("case", "kind"), RUNS, ids=[f"{case['name']}-{kind}" for case, kind in RUNS]
)
def test_behaviour(case: dict[str, Any], where: Where, born: BirthResult, kind: str) -> None:
    told = case.get("client", {})
    for step in case["steps"]:
        token = born.operator_token if step.get("as") == "operator" else born.token
        if "raw" in step:
            raw = step["raw"]
            headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
            path, content = where.url + raw["path"], raw.get("body")
            answer = where.http.request(raw["method"], path, headers=headers, content=content)
            assert step.get("contains", "") in answer.text
            continue
        options = {
            "url": where.faulty,
            "token": token,
            "timeout": told["timeoutMs"] / 1000 if "timeoutMs" in told else None,
            "retries": told.get("retries"),
        }
        take(step, options, kind, where)
