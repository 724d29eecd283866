"""Asks a lake with DuckDB: runs the SQL in the file argv[1], then each question in the files argv[2:].

Prints the columns of the lake and the rows of the answers, separated by tabs; times are
milliseconds since 1970.
"""
import sys

import duckdb


def text(value):
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, float) else str(value)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


db = duckdb.connect()
db.execute("SET TimeZone = 'UTC'")
db.execute(read(sys.argv[1]))
print(*(f"{name} {kind}" for name, kind, *_ in db.sql("DESCRIBE lake").fetchall()), sep="\t")
for question in sys.argv[2:]:
    answer = db.sql(read(question))
    # As a number: Python would need a time zone library.
    columns = (f"epoch_ms({c}) AS {c}" if str(t).startswith("TIMESTAMP") else c for c, t in zip(answer.columns, answer.types))
    print("--")
    for row in answer.project(", ".join(columns)).fetchall():
        print(*map(text, row), sep="\t")
