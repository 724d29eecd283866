"""Asks the lake at argv[1] what the SQL in the file argv[2] says, with DuckDB.

Prints the columns of the lake, then the rows of the answer, separated by tabs; times are
milliseconds since 1970.
"""
import sys

import duckdb


def text(value):
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, float) else str(value)


folder, sql = sys.argv[1:]
db = duckdb.connect()
db.execute("SET TimeZone = 'UTC'")
db.execute(
    f"""CREATE VIEW lake AS SELECT * FROM read_parquet('{folder}/*/*/*.parquet',
    hive_partitioning = true, hive_types = {{'host': VARCHAR, 'day': DATE}})"""
)
print(*(f"{name} {kind}" for name, kind, *_ in db.sql("DESCRIBE lake").fetchall()), sep="\t")
with open(sql) as f:
    answer = db.sql(f.read())
# As a number: Python would need a time zone library.
columns = (f"epoch_ms({c}) AS {c}" if str(t).startswith("TIMESTAMP") else c for c, t in zip(answer.columns, answer.types))
for row in answer.project(", ".join(columns)).fetchall():
    print(*map(text, row), sep="\t")
