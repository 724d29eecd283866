"""Asks a lake with Spark: runs the Python in the file argv[1], then each question in the files argv[2:].

Prints the columns of the lake and the rows of the answers, separated by tabs; times are
milliseconds since 1970.
"""
import sys

from pyspark.sql import SparkSession


def text(value):
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, float) else str(value)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.sql.shuffle.partitions", "2")
    .getOrCreate()
)
exec(read(sys.argv[1]), {"spark": spark})
print(*(f"{name} {kind}" for name, kind in spark.table("lake").dtypes), sep="\t")
for question in sys.argv[2:]:
    answer = spark.sql(read(question))
    # As a number: Python would make it a local time.
    columns = (f"unix_millis({c}) AS {c}" if t == "timestamp" else c for c, t in answer.dtypes)
    print("--")
    for row in answer.selectExpr(*columns).collect():
        print(*map(text, row), sep="\t")
