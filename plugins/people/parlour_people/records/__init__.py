"""Formats of records of Avalon: `avalonlogs` and `proavalon`, the records of two sites where people play."""
