"""Profiles, with the path of each region: the files have its name and the id of the region above."""
import json
import pathlib

SCHEMA = json.loads((pathlib.Path(__file__).resolve().parent.parent.parent / "docs/profile-schema.json").read_text(encoding="utf-8"))


def resolved(schema):
    """The type, and whether it may be null."""
    name = schema.get("$ref", "").rpartition("/")[2]
    if name:
        return resolved({**SCHEMA["definitions"][name]})
    if "oneOf" in schema:
        return resolved(schema["oneOf"][0])[0], True
    return schema, isinstance(schema.get("type"), list) and "null" in schema["type"]


def completed(value, schema=SCHEMA):
    """A profile made by hand, with all that its schema requires: what is missing is not known, or there is none of it."""
    schema, _ = resolved(schema)
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        return [completed(element, schema["items"]) for element in value]
    if not isinstance(value, dict):
        return value
    properties = schema.get("properties", {})
    others = schema.get("additionalProperties") or {}
    made = {key: completed(inner, properties.get(key, others)) for key, inner in value.items()}
    for key in schema.get("required", []):
        if key not in made:
            of, may_be_null = resolved(properties[key])
            made[key] = None if may_be_null else {"object": {}, "array": [], "string": ""}.get(of.get("type"), 0)
            made[key] = completed(made[key], of)
    return made


def with_paths(profile):
    paths = {None: []}
    for region in profile["regions"]:
        region.setdefault("path", paths.get(region["parent"], []) + [region.get("name")])
        paths.setdefault(region["id"], region["path"])
    return profile


def read_member(text, name):
    """One member of a profile: to read all of a file with 100 MB takes ten seconds."""
    key = f'\n "{name}": '
    return json.JSONDecoder().raw_decode(text, text.index(key) + len(key))[0]


def read(text):
    return with_paths(json.loads(text))
