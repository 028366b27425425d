"""validate.py SCHEMA FILE...: exit 1 and one line per fault if a file is not valid."""

import json
import sys

import jsonschema


def refuse_constant(name):
    raise ValueError(f"{name} is no JSON")


def main(schema_path, paths):
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    faults = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            document = json.load(file, parse_constant=refuse_constant)
        faults += [f"{path}: {e.json_path}: {e.message}" for e in validator.iter_errors(document)]
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
