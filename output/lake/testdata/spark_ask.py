"""Asks the lake at argv[1] what the SQL in the file argv[2] says, with Spark.

Prints the columns of the lake, then the rows of the answer, separated by tabs; times are
milliseconds since 1970.
"""
import sys

from pyspark.sql import SparkSession


def text(value):
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, float) else str(value)


folder, sql = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    .getOrCreate()
)
lake = spark.read.parquet(folder)
lake.createOrReplaceTempView("lake")
print(*(f"{name} {kind}" for name, kind in lake.dtypes), sep="\t")
with open(sql) as f:
    answer = spark.sql(f.read())
# As a number: Python would make it a local time.
answer = answer.selectExpr(*(f"unix_millis({c}) AS {c}" if t == "timestamp" else c for c, t in answer.dtypes))
for row in answer.collect():
    print(*map(text, row), sep="\t")
