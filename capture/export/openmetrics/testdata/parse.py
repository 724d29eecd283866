"""Reads the OpenMetrics text at argv[1] with the strict parser of prometheus_client.

Prints a line for each point: type, unit, name, labels, the value as the bits of a double, time.
"""
import json
import struct
import sys

from prometheus_client.openmetrics.parser import text_fd_to_metric_families

with open(sys.argv[1], encoding="utf-8", newline="\n") as f:
    for family in text_fd_to_metric_families(f):
        for s in family.samples:
            labels = json.dumps(s.labels, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
            bits = struct.unpack("<Q", struct.pack("<d", s.value))[0]
            print(family.type, family.unit, s.name, labels, bits, s.timestamp, sep="\t")
