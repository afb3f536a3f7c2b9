"""Profiles, with the path of each region: what they say is its name and the id of the region above."""
import json


def with_paths(profile):
    paths = {None: []}
    for region in profile["regions"]:
        region.setdefault("path", paths.get(region["parent"], []) + [region.get("name")])
        paths.setdefault(region["id"], region["path"])
    return profile


def read(text):
    return with_paths(json.loads(text))
