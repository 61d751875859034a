"""Checkpoints: the conformance suite of LangGraph, and graphs beside their own InMemorySaver."""

from __future__ import annotations

import asyncio
import operator
import sys
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver, Checkpoint, empty_checkpoint
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt

from agent_home import AgentHome, AsyncAgentHome, BirthResult, HomeError
from agent_home.langgraph import AgentHomeSaver, AgentHomeStore
from where import Where


def test_it_passes_their_conformance_suite(where: Where) -> None:
    @checkpointer_test(name="AgentHomeSaver")
    async def fresh() -> AsyncGenerator[BaseCheckpointSaver[int], None]:
        async with AsyncAgentHome(url=where.url, token=where.born().token) as home:
            yield AgentHomeSaver(home, keep=1_000)

    report = asyncio.run(validate(fresh))
    failures = {name: result.failures for name, result in report.results.items()}
    assert {name: found for name, found in failures.items() if found} == {}
    assert report.passed_all_base()


class State(TypedDict):
    said: Annotated[list[str], operator.add]
    big: str
    n: int


def build(saver: BaseCheckpointSaver[Any]) -> Any:
    """A graph with a loop, parallel tasks, an interrupt and a subgraph."""
    inner = StateGraph(State)
    inner.add_node("deep", lambda state: {"said": [f"deep {state['n']}"]})
    inner.add_edge(START, "deep")

    def ask(state: State) -> dict[str, Any]:
        answer = interrupt({"question": state["n"]})
        return {"said": [f"heard {answer}"], "n": state["n"] + 1}

    graph = StateGraph(State)
    graph.add_node("wide", lambda state: {"big": "ї" * 9_000 * (state["n"] + 1)})
    graph.add_node("task", lambda state: {"said": [f"task {state['n']}"]})
    graph.add_node("inner", inner.compile())
    graph.add_node("ask", ask)
    graph.add_edge(START, "wide")
    graph.add_conditional_edges(
        "wide", lambda state: [Send("task", {"said": [], "big": "", "n": at}) for at in range(3)]
    )
    graph.add_edge("task", "inner")
    graph.add_edge("inner", "ask")
    graph.add_conditional_edges("ask", lambda state: "wide" if state["n"] < 2 else END)
    return graph.compile(checkpointer=saver)


def bare(value: Any) -> Any:
    """Without what differs in each run: ids and times."""
    if isinstance(value, dict):
        names = ("checkpoint_id", "ts", "created_at", "task_id")
        return {name: bare(each) for name, each in value.items() if name not in names}
    return value


def shown(state: Any) -> Any:
    return bare(state.values), state.next, bare(state.metadata), [t.name for t in state.tasks]


def test_a_graph_does_what_it_does_with_their_own(where: Where, born: BirthResult) -> None:
    thread: Any = {"configurable": {"thread_id": "ann 1"}}

    def lived(saver: BaseCheckpointSaver[Any]) -> list[Any]:
        graph = build(saver)
        seen = [graph.invoke({"said": ["begin"], "big": "", "n": 0}, thread)["said"]]
        # Each time as another process would: it has nothing but what is kept.
        seen.append(shown(graph.get_state(thread)))
        seen.append(graph.invoke(Command(resume="one"), thread)["said"])
        seen.append(build(saver).invoke(Command(resume="two"), thread)["said"])
        history = list(graph.get_state_history(thread))
        seen.append([shown(state) for state in history])
        # And from an earlier point on.
        seen.append(graph.invoke(None, history[-2].config)["said"])
        graph.update_state(thread, {"said": ["told"]})
        seen.append(shown(graph.get_state(thread)))
        return seen

    with AgentHome(url=where.url, token=born.token) as home:
        ours = lived(AgentHomeSaver(home, keep=100))
        assert ours == lived(InMemorySaver())
        keys = [each.key for each in home.list()]
        assert keys
        assert all(key.startswith("graph.") for key in keys)
        AgentHomeSaver(home).delete_thread("ann 1")
        assert list(home.list()) == []


@pytest.mark.skipif(sys.version_info < (3, 11), reason="LangGraph interrupts none of it there")
def test_the_same_graph_awaited(where: Where, born: BirthResult) -> None:
    thread: Any = {"configurable": {"thread_id": "ann 1"}}

    async def lived(saver: BaseCheckpointSaver[Any]) -> list[Any]:
        graph = build(saver)
        seen = [(await graph.ainvoke({"said": ["begin"], "big": "", "n": 0}, thread))["said"]]
        seen.append((await graph.ainvoke(Command(resume="one"), thread))["said"])
        seen.append((await build(saver).ainvoke(Command(resume="two"), thread))["said"])
        seen.append([shown(state) async for state in graph.aget_state_history(thread)])
        return seen

    async def both() -> None:
        async with AsyncAgentHome(url=where.url, token=born.token) as home:
            ours = await lived(AgentHomeSaver(home, keep=100))
        assert ours == await lived(InMemorySaver())

    asyncio.run(both())


def counting(saver: BaseCheckpointSaver[Any]) -> Any:
    graph = StateGraph(State)
    graph.add_node("add", lambda state: {"said": [str(len(state["said"]))]})
    graph.add_edge(START, "add")
    graph.add_edge("add", END)
    return graph.compile(checkpointer=saver)


def test_old_checkpoints_give_way_and_the_state_stays(where: Where, born: BirthResult) -> None:
    thread: Any = {"configurable": {"thread_id": "long"}}
    with AgentHome(url=where.url, token=born.token) as home:
        saver = AgentHomeSaver(home, keep=3)
        graph = counting(saver)
        for _ in range(6):
            said = graph.invoke({"said": ["ask"], "big": "ї" * 9_000, "n": 0}, thread)["said"]
        assert len(said) == 12
        assert len(list(saver.list(thread))) == 3
        assert len({each.key.split(".")[3] for each in home.list()}) <= 6
        again = counting(AgentHomeSaver(home, keep=3))
        assert len(again.invoke({"said": ["ask"]}, thread)["said"]) == 14
        for state in again.get_state_history(thread):
            assert state.values["big"] == "ї" * 9_000


def test_answers_that_are_lost_change_nothing(where: Where, born: BirthResult) -> None:
    thread: Any = {"configurable": {"thread_id": "lossy"}}
    with AgentHome(url=where.faulty, token=born.token) as home:
        for at in range(8):
            where.meet(*[{}] * at, {"lose": "answer"})
            graph = counting(AgentHomeSaver(home))
            said = graph.invoke({"said": ["ask"], "big": "", "n": 0}, thread)["said"]
            assert len(said) == 2 * (at + 1)
        where.meet()


def test_two_on_one_thread_overwrite_nothing(where: Where, born: BirthResult) -> None:
    thread: Any = {"configurable": {"thread_id": "shared"}}
    with AgentHome(url=where.url, token=born.token) as home:

        def turns(_: int) -> None:
            graph = counting(AgentHomeSaver(home, keep=500))
            for _ in range(3):
                graph.invoke({"said": ["ask"], "big": "", "n": 0}, thread)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(turns, range(2)))
        saver = AgentHomeSaver(home, keep=500)
        kept = list(saver.list(thread))
        # Of each turn three: what was asked, the loop's beginning, and its end.
        assert len(kept) == 18
        for each in kept:
            if each.parent_config:
                assert saver.get_tuple(each.parent_config) is not None


def test_lists_are_filtered(where: Where, born: BirthResult) -> None:
    with AgentHome(url=where.url, token=born.token) as home:
        saver = AgentHomeSaver(home)
        for name in ("a", "b"):
            thread: Any = {"configurable": {"thread_id": name}}
            counting(saver).invoke({"said": ["ask"], "big": "", "n": 0}, thread)
        assert len(list(saver.list(None))) == 6
        (first, *_) = saver.list(thread, limit=1)
        assert list(saver.list(thread, limit=0)) == []
        older = list(saver.list(thread, before=first.config))
        assert len(older) == 2
        assert [each.metadata["step"] for each in saver.list(thread, filter={"step": 0})] == [0]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda home: AgentHomeSaver(home, keep=1),
        lambda home: AgentHomeSaver(home, prefix="a.b"),
        lambda home: AgentHomeSaver(home).get_tuple({"configurable": {}}),
    ],
)
def test_what_cannot_be_is_refused(
    wrong: Callable[[AgentHome], object], home: AgentHome, where: Where, born: BirthResult
) -> None:
    with pytest.raises(ValueError, match="must be"):
        wrong(home)
    other = AgentHomeSaver(AsyncAgentHome(url=where.url, token=born.token))
    with pytest.raises(TypeError, match="needs an AgentHome"):
        other.delete_thread("a")


def checkpoint(at: int, values: dict[str, Any], versions: dict[str, int]) -> Checkpoint:
    return {
        **empty_checkpoint(),
        "id": f"{at:08}-0000-6000-8000-000000000000",
        "channel_values": values,
        "channel_versions": dict(versions),
    }


def put(saver: AgentHomeSaver, parent: Any, made: Checkpoint, new: dict[str, int]) -> Any:
    new_versions: Any = new
    return saver.put(parent, made, {"source": "loop", "step": 1}, new_versions)


THREAD: Any = {"configurable": {"thread_id": "by hand", "checkpoint_ns": ""}}


def test_what_is_written_before_a_checkpoint_is_there_stays(home: AgentHome) -> None:
    saver = AgentHomeSaver(home)
    made = checkpoint(1, {"a": "A"}, {"a": 1})
    names = {**THREAD["configurable"], "checkpoint_id": made["id"]}
    early: Any = {"configurable": names}
    saver.put_writes(early, [("a", "early")], "task-1")
    assert saver.get_tuple(early) is None
    put(saver, THREAD, made, {"a": 1})
    saver.put_writes(early, [("a", "again"), ("b", "ї" * 9_000)], "task-0", "path")
    saver.put_writes(early, [("c", "between")], "task-2", "a path")
    # A task that runs again writes nothing twice.
    saver.put_writes(early, [("a", "twice")], "task-1")
    found = saver.get_tuple(early)
    assert found is not None
    assert found.pending_writes == [
        ("task-1", "a", "early"),
        ("task-2", "c", "between"),
        ("task-0", "a", "again"),
        ("task-0", "b", "ї" * 9_000),
    ]


def test_what_is_written_before_a_checkpoint_is_measured_in_bytes(home: AgentHome) -> None:
    saver = AgentHomeSaver(home)
    made = checkpoint(1, {"a": "A" * 6_000}, {"a": 1})
    early: Any = {"configurable": {**THREAD["configurable"], "checkpoint_id": made["id"]}}
    tasks = [f"{n}{'ї' * 1_500}" for n in range(3)]
    for task in tasks:
        saver.put_writes(early, [("a", "early")], task)
    put(saver, THREAD, made, {"a": 1})
    found = saver.get_tuple(early)
    assert found is not None
    assert [task for task, _, _ in found.pending_writes or []] == tasks


def test_writes_of_a_checkpoint_whose_id_begins_alike_are_not_its_own(home: AgentHome) -> None:
    saver = AgentHomeSaver(home)
    for name in ("1", "10"):
        made: Checkpoint = {**checkpoint(1, {}, {}), "id": name}
        written = put(saver, THREAD, made, {})
        # More than one memory holds.
        for n in range(6):
            saver.put_writes(written, [("a", "A" * 2_500)], f"{name} {n}")
    for name in ("1", "10"):
        found = saver.get_tuple({"configurable": {**THREAD["configurable"], "checkpoint_id": name}})
        assert found is not None
        tasks = [task for task, _, _ in found.pending_writes or []]
        assert tasks == [f"{name} {n}" for n in range(6)]


def test_values_outlive_the_checkpoint_that_held_them(home: AgentHome) -> None:
    slow, quick = AgentHomeSaver(home, keep=2), AgentHomeSaver(home, keep=2)
    first = put(slow, THREAD, checkpoint(1, {"a": "A"}, {"a": 1}), {"a": 1})
    second = put(slow, first, checkpoint(2, {"a": "A"}, {"a": 1}), {})
    # Another process goes on, until what the slow one remembers is no longer there.
    last = second
    for at in range(3, 7):
        last = put(quick, last, checkpoint(at, {"a": str(at)}, {"a": at}), {"a": at})
    forked = put(slow, second, checkpoint(9, {"a": "A", "b": "B"}, {"a": 1, "b": 2}), {})
    found = AgentHomeSaver(home).get_tuple(forked)
    assert found is not None
    assert found.checkpoint["channel_values"] == {"a": "A", "b": "B"}
    # A version that is not the parent's is a change, whether or not it is said to be one.
    unsaid = put(quick, last, checkpoint(10, {"a": "X"}, {"a": 99}), {})
    found = AgentHomeSaver(home).get_tuple(unsaid)
    assert found is not None
    assert found.checkpoint["channel_values"] == {"a": "X"}


def test_a_checkpoint_of_which_a_part_is_gone_is_none(home: AgentHome) -> None:
    saver = AgentHomeSaver(home)
    first = put(saver, THREAD, checkpoint(1, {"a": "A"}, {"a": 1}), {"a": 1})
    put(saver, first, checkpoint(2, {"a": "A", "b": "B"}, {"a": 1, "b": 2}), {"b": 2})
    (holder, _) = home.list()
    home.delete(holder.key, expected_version=holder.version)
    assert saver.get_tuple(THREAD) is None


def test_a_thread_that_is_rebuilt_from_its_ancestors_keeps_them_all(home: AgentHome) -> None:
    saver = AgentHomeSaver(home, keep=2)
    config = THREAD
    for at in range(5):
        made = checkpoint(at, {}, {"a": at})
        config = saver.put(
            config, made, {"step": at, "counters_since_delta_snapshot": {"a": (at, at)}}, {"a": at}
        )
    assert len(list(saver.list(THREAD))) == 5


def test_values_of_several_batches_are_kept_and_give_way_with_their_pieces(
    home: AgentHome,
) -> None:
    saver = AgentHomeSaver(home, keep=2)
    counts: list[int] = []
    config = THREAD
    for at in range(1, 5):
        big = f"{at}{'ї' * 600_000}"
        config = put(saver, config, checkpoint(at, {"big": big}, {"big": at}), {"big": at})
        saver.put_writes(config, [("big", big)], "task")
        found = AgentHomeSaver(home).get_tuple(THREAD)
        assert found is not None
        assert found.checkpoint["channel_values"]["big"] == big
        assert [value == big for _, _, value in found.pending_writes or []] == [True]
        counts.append(home.profile().memory_count)
    assert counts[2] > 300
    assert counts[3] == counts[2]
    saver.delete_thread("by hand")
    assert home.profile().memory_count == 0


def test_of_a_line_that_the_home_refuses_no_piece_stays(where: Where, born: BirthResult) -> None:
    problem = {"title": "t", "detail": "d", "code": "memory_quota_reached", "status": 409}
    refusal: dict[str, object] = {"answer": {"status": 409, "body": problem}}
    with AgentHome(url=where.faulty, token=born.token) as home:
        saver = AgentHomeSaver(home)
        config = put(saver, THREAD, checkpoint(1, {"a": "A"}, {"a": 1}), {"a": 1})
        # Six batches of pieces, and the line.
        for pieces in (3, 6):
            where.meet(*[{}] * pieces, refusal)
            with pytest.raises(HomeError, match="memory_quota_reached"):
                saver.put_writes(config, [("a", "ї" * 1_000_000)], "task")
        # The item that is there, and as many.
        store = AgentHomeStore(home)
        where.meet(*[{}] * 6, refusal)
        with pytest.raises(HomeError, match="memory_quota_reached"):
            store.put(("a",), "k", {"text": "ї" * 1_000_000})
        where.meet()
        assert home.profile().memory_count == 1


def test_what_a_task_waits_for_last_is_what_it_waits_for(home: AgentHome) -> None:
    saver = AgentHomeSaver(home)
    written = put(saver, THREAD, checkpoint(1, {}, {}), {})
    for asked in ("first", "second"):
        saver.put_writes(written, [("__interrupt__", asked)], "task")
    found = saver.get_tuple(written)
    assert found is not None
    assert found.pending_writes == [("task", "__interrupt__", "second")]


def test_a_subgraph_of_one_run_gives_way_with_it_and_one_of_every_run_stays(
    home: AgentHome,
) -> None:
    saver = AgentHomeSaver(home, keep=2)
    names = THREAD["configurable"]
    of_run: Any = {"configurable": {**names, "checkpoint_ns": "inner:task"}}
    of_every: Any = {"configurable": {**names, "checkpoint_ns": "inner"}}
    for config in (of_run, of_every):
        put(saver, config, checkpoint(1, {}, {}), {})
    config = THREAD
    for at in range(2, 5):
        config = put(saver, config, checkpoint(at, {}, {}), {})
    assert saver.get_tuple(of_run) is None
    assert saver.get_tuple(of_every) is not None
