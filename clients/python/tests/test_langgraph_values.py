"""Values of a store, beside LangGraph's own in SQLite: what it takes, and how it comes back."""

from __future__ import annotations

import math
import uuid
from collections import OrderedDict, namedtuple
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Any

import pytest
from langgraph.store.sqlite import SqliteStore
from pydantic import BaseModel

from agent_home import AgentHome
from agent_home.langgraph import AgentHomeStore


class Colour(Enum):
    RED = "red"
    DEEP = ("a", 1)


class Named(str, Enum):
    ONE = "one"


class Level(IntEnum):
    HIGH = 3


@dataclass
class Address:
    street: str
    since: date
    _internal: int = 0
    others: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    _y: float = 2.0


class Model(BaseModel):
    name: str = "x"


class Text(str):
    pass


Pair = namedtuple("Pair", "a b")

MOMENT = datetime(2026, 11, 26, 22, 41, 7, 89)
ZONE = timezone(timedelta(hours=-3, minutes=-30))

TAKEN: dict[str, Any] = {
    "moment": MOMENT,
    "moment with a zone": MOMENT.replace(tzinfo=ZONE),
    "moment of UTC": MOMENT.replace(microsecond=0, tzinfo=timezone.utc),
    "early": datetime(1, 1, 1),
    "day": date(2026, 2, 28),
    "time": time(1, 2, 3, 4),
    "uuid": uuid.UUID(int=7),
    "enum": [Colour.RED, Colour.DEEP, Named.ONE, Level.HIGH],
    "dataclass": Address("Main St", date(2020, 1, 1), others=[Point(1.5), Colour.RED]),
    "slots": Point(math.nan),
    "not a number": [math.nan, math.inf, -math.inf, {"deep": math.nan}],
    "numbers": [0, -0.0, 1.0, 1.5, 1e300, 2**63, -(2**63), True, None, 1e22, 5e-324],
    "texts": ["", "\0", "\x1f\x7f", "\u2028", "😀", "ї" * 20_000, Text("own")],
    "nothing": [[], {}, (), "", None],
    "tuples": ((1, 2), [(3,)]),
    "ordered": OrderedDict(b=1, a=2),
    "odd names": {"": 1, "a.b": 2, "\0": 3, "$gt": 4, "__proto__": 5, "ї": 6},
}

REFUSED: dict[str, Any] = {
    "decimal": Decimal("1.5"),
    "bytes": b"x",
    "set": {1},
    "frozenset": frozenset((1,)),
    "pydantic": Model(),
    "complex": 1j,
    "object": object(),
    "names": {1: "a"},
    "names of an enum": {Level.HIGH: "a"},
    "class": Address,
    "time with a zone": time(1, tzinfo=timezone.utc),
    "duration": timedelta(1),
}


@pytest.fixture
def theirs() -> Iterator[SqliteStore]:
    with SqliteStore.from_conn_string(":memory:") as store:
        store.setup()
        yield store


@pytest.mark.parametrize("name", TAKEN)
def test_what_theirs_takes_comes_back_as_it_does_there(
    home: AgentHome, theirs: SqliteStore, name: str
) -> None:
    ours = AgentHomeStore(home)
    found = []
    for store in (ours, theirs):
        store.put(("values",), "one", {"value": TAKEN[name], "deep": [{"it": TAKEN[name]}]})
        item = store.get(("values",), "one")
        assert item is not None
        (sought,) = store.search(("values",))
        assert sought.value == item.value
        found.append(item.value)
    assert repr(found[0]) == repr(found[1])


@pytest.mark.parametrize("name", REFUSED)
def test_what_theirs_refuses_is_refused_and_nothing_is_put(
    home: AgentHome, theirs: SqliteStore, name: str
) -> None:
    for store in (AgentHomeStore(home), theirs):
        with pytest.raises(TypeError):
            store.put(("values",), "one", {"value": REFUSED[name]})
        assert store.get(("values",), "one") is None


def test_a_filter_finds_what_was_put(home: AgentHome) -> None:
    store = AgentHomeStore(home)
    for n, value in enumerate((MOMENT, uuid.UUID(int=7), Colour.RED, date(2026, 2, 28))):
        store.put(("values",), str(n), {"value": value})
        (found,) = store.search(("values",), filter={"value": value})
        assert found.key == str(n)


def test_what_contains_itself_is_refused(home: AgentHome) -> None:
    store = AgentHomeStore(home)
    endless: dict[str, Any] = {}
    endless["itself"] = [endless]
    with pytest.raises(ValueError, match="contains itself"):
        store.put(("values",), "one", {"value": endless})
    assert store.get(("values",), "one") is None
