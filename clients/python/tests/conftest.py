"""A real home, whose address `npm test` gives; the tests are skipped without one."""

from __future__ import annotations

import os
from collections.abc import Iterator

import httpx
import pytest

from agent_home import AgentHome, BirthResult
from where import Where


@pytest.fixture(scope="session")
def where() -> Iterator[Where]:
    names = ("AGENT_HOME_TEST_URL", "AGENT_HOME_TEST_FAULTY", "AGENT_HOME_TEST_DATABASE")
    url, faulty, database = (os.environ.get(name, "") for name in names)
    if not url:
        pytest.skip("no home is running: npm test starts one")
    with httpx.Client() as http:
        yield Where(url, faulty, database, http)


@pytest.fixture
def born(where: Where) -> BirthResult:
    return where.born()


@pytest.fixture
def home(where: Where, born: BirthResult) -> Iterator[AgentHome]:
    with AgentHome(url=where.url, token=born.token) as home:
        yield home


@pytest.fixture
def operator(where: Where, born: BirthResult) -> Iterator[AgentHome]:
    with AgentHome(url=where.url, token=born.operator_token) as operator:
        yield operator
