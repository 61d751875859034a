"""The client's types say what the description says."""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

import pytest

from agent_home import AgentHome, errors, wire
from agent_home.core import operation
from agent_home.exact import wire_name
from where import Where

#: Each with the described one: a schema's name, and where in it.
PAIRS: dict[Any, str] = {
    wire.Memory: "Memory",
    wire.MemorySummary: "MemorySummary",
    wire.MemoryHit: "MemoryHit",
    wire.VectorsStored: "VectorsStored",
    wire.DeletedMemory: "DeletedMemory.deleted",
    wire.RestorableMemory: "RestorableMemory",
    wire.Author: "Author",
    wire.Version: "Versions.versions",
    wire.Link: "Link",
    wire.Head: "Head",
    wire.HeadResult: "HeadResult",
    wire.HomeEvent: "HomeEvent",
    wire.Profile: "Profile",
    wire.ProfileResult: "ProfileResult",
    wire.Context: "Context",
    wire.BirthResult: "BirthResult",
    wire.Preview: "Preview",
    wire.Write: "MemoryWrite",
    wire.Patch: "MemoryPatch",
    wire.Append: "MemoryAppend",
    wire.Edit: "MemoryEdit",
    wire.Delete: "MemoryDelete",
    wire.Restore: "MemoryRestore",
    wire.Rename: "MemoryRename",
    wire.Read: "MemoryRead",
    wire.Imported: "Imported",
    wire.NamedKey: "NamedKey",
    wire.NewNamedKey: "NewNamedKey",
    wire.Protection: "Protected.memory",
    wire.RolledBack: "RolledBack",
    wire.Erased: "Erased.erased",
    errors.Fault: "Problem.errors",
}

Schema = Mapping[str, Any]
Shape = Any
"""Of a schema and of a type alike: a word, a set of values, a list, or members by name."""


@pytest.fixture(scope="module")
def description(where: Where) -> dict[str, Any]:
    described: dict[str, Any] = where.http.get(f"{where.url}/openapi.json").json()
    return described


@pytest.fixture(scope="module")
def schemas(description: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = description["components"]["schemas"]
    return found


def optional(shape: Shape) -> Shape:
    return shape if isinstance(shape, tuple) and shape[0] == "or nothing" else ("or nothing", shape)


def shape_of_schema(schema: Schema, schemas: Schema) -> Shape:
    if "$ref" in schema:
        return shape_of_schema(schemas[schema["$ref"].split("/")[-1]], schemas)
    if "allOf" in schema:
        every = (shape_of_schema(each, schemas) for each in schema["allOf"])
        return reduce(lambda all_of, each: {**all_of, **each}, every)
    if "anyOf" in schema:
        kinds = [each for each in schema["anyOf"] if each.get("type") != "null"]
        shape = shape_of_schema(kinds[0], schemas)
        return shape if len(kinds) == len(schema["anyOf"]) else optional(shape)
    if "const" in schema:
        return {"one of": frozenset([schema["const"]])}
    if "enum" in schema:
        return {"one of": frozenset(schema["enum"])}
    kind = schema.get("type")
    if isinstance(kind, list):
        (word,) = (each for each in kind if each != "null")
        return optional(word)
    if kind == "array":
        return [shape_of_schema(schema["items"], schemas)]
    if (kind == "object" and "additionalProperties" not in schema) or schema.get("required"):
        required = schema.get("required", [])
        members = {
            name: shape_of_schema(member, schemas)
            for name, member in schema.get("properties", {}).items()
        }
        return {
            name: member if name in required else optional(member)
            for name, member in members.items()
        }
    return kind


WORDS = {str: "string", int: "integer", float: "number", bool: "boolean"}


def shape_of_type(hint: Any) -> Shape:
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        (inner,) = (each for each in args if each is not type(None))
        return optional(shape_of_type(inner))
    if origin is Literal:
        return {"one of": frozenset(args)}
    if origin in (list, Sequence):
        return [shape_of_type(args[0])]
    if origin in (dict, Mapping):
        return "object"
    if dataclasses.is_dataclass(hint):
        hints = get_type_hints(hint)
        return {
            wire_name(each.name): shape_of_type(hints[each.name])
            for each in dataclasses.fields(cast(Any, hint))
        }
    return WORDS[hint]


def described(path: str, schemas: Schema) -> Shape:
    name, *members = path.split(".")
    shape = shape_of_schema(schemas[name], schemas)
    for member in members:
        shape = shape[member]
    if isinstance(shape, tuple):
        shape = shape[1]
    return shape[0] if isinstance(shape, list) else shape


#: What the description says in more words than a type has.
LOOSE: dict[str, Shape] = {"Preview.limits": "object"}


@pytest.mark.parametrize(("kind", "path"), PAIRS.items(), ids=PAIRS.values())
def test_a_type_is_the_described_one(kind: Any, path: str, schemas: dict[str, Any]) -> None:
    expected = described(path, schemas)
    for place, shape in LOOSE.items():
        name, member = place.split(".")
        if name == path:
            expected = {**expected, member: shape}
    assert shape_of_type(kind) == expected


def test_each_answer_that_is_read_is_compared() -> None:
    named = {
        each for each in vars(wire).values() if dataclasses.is_dataclass(each) and each not in PAIRS
    }
    parts = {
        inner
        for kind in PAIRS
        for hint in get_type_hints(kind).values()
        for inner in [hint, *get_args(hint), *(a for h in get_args(hint) for a in get_args(h))]
        if dataclasses.is_dataclass(inner)
    }
    deeper = {
        inner
        for part in parts
        for hint in get_type_hints(part).values()
        for inner in [hint, *get_args(hint)]
        if dataclasses.is_dataclass(inner)
    }
    # What is sent in another form, what has more than one, and what only the stream has.
    others = {
        wire.Meaning,
        wire.NewVector,
        wire.BatchResult,
        wire.BatchReceipt,
        wire.Receipt,
        wire.MissedEvents,
    }
    assert named - parts - deeper == others


def test_operations_are_the_verbs_of_the_description(schemas: dict[str, Any]) -> None:
    said: list[wire.Operation] = [
        wire.Write("k", "t", 0),
        wire.Patch("k", 0),
        wire.Append("k", "t"),
        wire.Edit("k", "o", "n"),
        wire.Delete("k", 0),
        wire.Restore("k", 1, 0),
        wire.Rename("k", "l", 0),
        wire.Read("k"),
    ]
    assert set(get_args(wire.Operation)) == {type(each) for each in said}
    verbs = {next(iter(operation(each))) for each in said}
    assert verbs == set(schemas["Operation"]["properties"])


@pytest.mark.parametrize(
    ("operation_id", "parameter", "method"),
    [
        ("listMemories", "order", "list"),
        ("listMemories", "view", "list"),
        ("searchMemories", "match", "search"),
        ("listEvents", "order", "events"),
        ("listEvents", "type", "events"),
        ("importMemories", "onConflict", "import_"),
    ],
)
def test_an_option_has_the_values_of_its_parameter(
    operation_id: str, parameter: str, method: str, description: dict[str, Any]
) -> None:
    (found,) = (
        each
        for operations in description["paths"].values()
        for each in operations.values()
        if each.get("operationId") == operation_id
    )
    (schema,) = (each["schema"] for each in found["parameters"] if each.get("name") == parameter)
    if "$ref" in schema:
        schema = description["components"]["schemas"][schema["$ref"].split("/")[-1]]
    name = {"onConflict": "on_conflict"}.get(parameter, parameter)
    source = inspect.get_annotations(getattr(AgentHome, method))[name]
    scope = {**vars(wire), "wire": wire, "Literal": Literal}
    literal = get_args(eval(source, scope))[0]
    assert set(get_args(literal)) == set(schema["enum"])


def test_a_property_that_were_missing_or_of_another_kind_is_seen(schemas: dict[str, Any]) -> None:
    """Each of them: otherwise the comparison says nothing."""
    seen = 0
    for kind, path in PAIRS.items():
        name = path.split(".")[0]
        for member in schemas[name].get("properties", {}):
            if "." in path or f"{path}.{member}" in LOOSE:
                continue
            without = {
                "properties": {
                    each: schema
                    for each, schema in schemas[name]["properties"].items()
                    if each != member
                }
            }
            required = set(schemas[name].get("required", [])) ^ {member}
            flipped = {"required": [*required, "nothing"]}
            for change in (without, flipped):
                changed = {**schemas, name: {**schemas[name], **change}}
                shape = described(path, changed)
                is_nullable = shape == described(path, schemas)
                assert is_nullable or shape_of_type(kind) != shape, (path, member)
                seen += not is_nullable
    assert seen > 150
