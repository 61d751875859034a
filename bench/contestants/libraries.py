"""
Memory libraries for Python, in the process of whoever uses them: by a thread for each connection.

    python libraries.py <library> <directory> <keys to begin with> <text of 1 KB>

A cell comes as a line of JSON, and its sample goes back as one; the first line says that the keys are there.
"""

import json
import logging
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from random import randrange
from sqlite3 import Connection
from threading import Lock
from time import perf_counter
from typing import NamedTuple


class Library(NamedTuple):
    write: Callable[[int, str], object]
    read: Callable[[int], str]
    connections: tuple[Connection, ...]


@contextmanager
def langgraph_store(directory: str) -> Iterator[Library]:
    """One item per key; a write replaces it, whatever is there."""
    from langgraph.store.sqlite import SqliteStore

    with SqliteStore.from_conn_string(f"{directory}/store.db") as store:
        store.setup()
        bench = ("bench",)
        yield Library(
            write=lambda key, text: store.put(bench, f"k{key}", {"text": text}),
            read=lambda key: store.get(bench, f"k{key}").value["text"],
            connections=(store.conn,),
        )


@contextmanager
def langgraph_saver(directory: str) -> Iterator[Library]:
    """One thread of checkpoints per key, as a graph writes them; all of them are kept."""
    from langgraph.checkpoint.base import empty_checkpoint
    from langgraph.checkpoint.sqlite import SqliteSaver

    def thread(key: int) -> dict:
        return {"configurable": {"thread_id": f"k{key}", "checkpoint_ns": ""}}

    with SqliteSaver.from_conn_string(f"{directory}/saver.db") as saver:
        saver.setup()
        newest: dict[int, dict] = {}

        def write(key: int, text: str) -> None:
            versions = {"text": 1}
            checkpoint = empty_checkpoint() | {
                "channel_values": {"text": text},
                "channel_versions": versions,
            }
            metadata = {"source": "update", "step": 1, "parents": {}}
            parent = newest.get(key) or thread(key)
            newest[key] = saver.put(parent, checkpoint, metadata, versions)

        def read(key: int) -> str:
            return saver.get_tuple(thread(key)).checkpoint["channel_values"]["text"]

        yield Library(write, read, connections=(saver.conn,))


class NoModel:
    """In place of an embedder: it takes no time."""

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return [0.1] * 384


@contextmanager
def mem0(directory: str) -> Iterator[Library]:
    """Memories as they stand, without a model; they have ids, and what they were is kept beside them."""
    # It reports home unless told otherwise, and wants a model's address, which is asked nothing.
    os.environ |= {
        "MEM0_TELEMETRY": "False",
        "MEM0_DIR": directory,
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": "http://127.0.0.1:9",
    }
    from mem0 import Memory

    points = {"path": f"{directory}/qdrant", "embedding_model_dims": 384}
    memory = Memory.from_config(
        {
            "vector_store": {"provider": "qdrant", "config": points},
            "history_db_path": f"{directory}/history.db",
        }
    )
    memory.embedding_model = NoModel()
    ids: dict[int, str] = {}
    # Threads that meet in it get "cannot start a transaction within a transaction".
    lock = Lock()

    def write(key: int, text: str) -> None:
        with lock:
            if key in ids:
                memory.update(ids[key], text)
            else:
                added = memory.add(text, user_id="bench", infer=False)
                ids[key] = added["results"][0]["id"]

    def read(key: int) -> str:
        with lock:
            return memory.get(ids[key])["memory"]

    client = memory.vector_store.client
    stored = client._client.collections[memory.collection_name].storage.storage
    try:
        yield Library(write, read, connections=(stored, memory.db.connection))
    finally:
        client.close()


LIBRARIES: dict[str, Callable[[str], AbstractContextManager[Library]]] = {
    each.__name__: each for each in (langgraph_store, langgraph_saver, mem0)
}


def main(name: str, directory: str, keys: int, text: str) -> None:
    logging.disable(logging.WARNING)
    numbers = count()

    def write(library: Library, key: int) -> None:
        # Different from write to write, as long as the others'.
        library.write(key, f"{next(numbers)} {text}"[: len(text)])

    def read(library: Library, key: int) -> None:
        if len(library.read(key)) != len(text):
            raise ValueError(f"k{key} is not what was written")

    fresh = count(keys)
    operations: dict[str, Callable[[Library], None]] = {
        "create": lambda library: write(library, next(fresh)),
        "update": lambda library: write(library, randrange(keys)),
        "read": lambda library: read(library, randrange(keys)),
    }

    def measure(library: Library, operation: str, connections: int, seconds: float) -> dict:
        latencies: list[float] = []
        started_at = perf_counter()

        def keep_asking() -> None:
            # Once at least: a cell may be over before a thread begins.
            ended_at = started_at
            while ended_at - started_at < seconds:
                asked_at = perf_counter()
                operations[operation](library)
                ended_at = perf_counter()
                latencies.append(ended_at - asked_at)

        with ThreadPoolExecutor(connections) as threads:
            running = [threads.submit(keep_asking) for _ in range(connections)]
        for each in running:
            each.result()
        per_second = len(latencies) / (perf_counter() - started_at)
        latencies.sort()
        return {
            "perSecond": per_second,
            "savedPerSecond": per_second,
            "p50": latencies[len(latencies) // 2] * 1_000,
            "p99": latencies[len(latencies) * 99 // 100] * 1_000,
            "failed": 0,
        }

    def say(message: object) -> None:
        print(json.dumps(message), flush=True)

    with LIBRARIES[name](directory) as library:
        for connection in library.connections:
            # As they leave it, and as SQLite has it unless it was built otherwise.
            connection.execute("PRAGMA synchronous = FULL")
        for key in range(keys):
            write(library, key)
        say("filled")
        for line in sys.stdin:
            say(measure(library, **json.loads(line)))


if __name__ == "__main__":
    name, directory, keys, text = sys.argv[1:]
    main(name, directory, int(keys), text)
