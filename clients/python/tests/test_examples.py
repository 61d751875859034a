"""The examples of the README, of the guides and of the docstrings do what they show."""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
import textwrap
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, Runner, set_tracing_disabled
from agents.models.openai_provider import OpenAIProvider
from agents.testing import ScriptedModel, assistant_message

import agent_home
from agent_home import AgentHome, BirthResult, anthropic, langgraph, openai
from where import Quiet, Where, serving

set_tracing_disabled(True)

ROOT = Path(__file__).parents[3]
SOURCES = Path(__file__).parents[1] / "src/agent_home"

_BLOCK = re.compile(r"^( *)```python\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_SAID = re.compile(r"print\(.*\)  # (.*)$", re.MULTILINE)


def blocks_in(path: Path) -> list[str]:
    found = _BLOCK.finditer(path.read_text())
    return [re.sub(f"^{each[1]}", "", each[2], flags=re.MULTILINE) for each in found]


def run(program: str, **given: Any) -> list[str]:
    """What it prints; it has to be what it says that it prints."""
    printed = io.StringIO()
    module = types.ModuleType("example")
    vars(module).update(given)
    # Where what reads annotations looks for their names.
    sys.modules["example"] = module
    with contextlib.redirect_stdout(printed):
        exec(compile(program, "example", "exec"), vars(module))
    lines = printed.getvalue().splitlines()
    said = _SAID.findall(program)
    assert [line for line in lines if line in said] == said
    return lines


@pytest.fixture
def copied(where: Where, born: BirthResult, monkeypatch: pytest.MonkeyPatch) -> BirthResult:
    """As it was copied: the environment says which home, and who asks."""
    monkeypatch.setenv("AGENT_HOME_URL", where.url)
    monkeypatch.setenv("AGENT_HOME_TOKEN", born.token)
    return born


def test_the_readme_of_the_client(where: Where, monkeypatch: pytest.MonkeyPatch) -> None:
    # As printed: a home, and nothing else that it has not made itself.
    monkeypatch.setenv("AGENT_HOME_URL", where.url)
    monkeypatch.delenv("AGENT_HOME_TOKEN", raising=False)
    blocks = blocks_in(ROOT / "clients/python/README.md")
    assert len(blocks) == 6
    run("\n".join(blocks))


def test_the_readme_of_the_service(where: Where, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_HOME_URL", where.url)
    (block,) = blocks_in(ROOT / "README.md")
    assert run(block) == ["1"]


def test_the_readme_names_every_method() -> None:
    text = (ROOT / "clients/python/README.md").read_text()
    rows = "\n".join(line for line in text.splitlines() if line.startswith("| "))
    named = set(re.findall(r"`(\w+)`", rows))
    methods = {name for name in vars(AgentHome) if not name.startswith("_")}
    assert methods - named == {"close", "birth", "home_of", "preview"}
    assert set(agent_home.__all__) <= set(vars(agent_home))


def test_the_guide_to_langgraph(copied: BirthResult) -> None:
    blocks = blocks_in(ROOT / "docs/adapters/python-langgraph.md")
    assert len(blocks) == 2
    run("\n".join(blocks))


def test_the_guide_to_the_agents_sdk(copied: BirthResult, monkeypatch: pytest.MonkeyPatch) -> None:
    said = [[assistant_message("Hello.")], [assistant_message("You are Ann.")]]
    model = ScriptedModel(said)
    monkeypatch.setattr(OpenAIProvider, "get_model", lambda *_: model)
    (block,) = blocks_in(ROOT / "docs/adapters/python-openai.md")
    run(block)


def message(content: dict[str, Any], reason: str) -> bytes:
    """An answer of the Messages API."""
    return json.dumps(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-5-5",
            "content": [content],
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    ).encode()


@pytest.fixture
def claude(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Claude, as far as the guide needs it: it remembers, and says so."""
    command = {
        "command": "create",
        "path": "/memories/people/ada.md",
        "file_text": "Likes short answers.",
    }
    use = {"type": "tool_use", "id": "toolu_1", "name": "memory", "input": command}
    answers = [message(use, "tool_use"), message({"type": "text", "text": "I will."}, "end_turn")]

    class Handler(Quiet):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            answer = answers.pop(0)
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

    with serving(Handler) as url:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
        yield
    assert answers == []


def test_the_guide_to_the_memory_tool(copied: BirthResult, claude: None) -> None:
    blocks = blocks_in(ROOT / "docs/adapters/python-anthropic.md")
    assert run("\n".join(blocks)) == ["I will.", "Likes short answers."]


DOCUMENTED = {
    f"{path.parent.name}/{path.name}": path for path in SOURCES.rglob("*.py") if blocks_in(path)
}


@pytest.mark.parametrize("name", sorted(DOCUMENTED))
def test_the_examples_of_a_module(
    name: str, where: Where, copied: BirthResult, home: AgentHome
) -> None:
    program = "\n".join(blocks_in(DOCUMENTED[name]))
    given: dict[str, Any] = {**vars(agent_home), "home": home, "Runner": Runner}
    for module in (anthropic, langgraph, openai):
        given |= {each: getattr(module, each) for each in module.__all__}
    given["agent"] = Agent(name="Clerk", model=ScriptedModel([[assistant_message("Hello.")]]))
    if "await " in program:
        begin = "" if "async with" in program else "home = AsyncAgentHome()\n"
        body = textwrap.indent(begin + program, "    ")
        program = f"import asyncio\nasync def example():\n{body}\nasyncio.run(example())"
    run(program, url=where.url, token=copied.token, **given)
