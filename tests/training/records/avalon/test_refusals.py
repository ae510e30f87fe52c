"""Every damaged field of a published game is refused in the words on file, `tests/refusals/published_2023.txt`."""

from __future__ import annotations

import json
from pathlib import Path

from parlour.training.records.avalon.importing import transcripts

from tests.refused_values import check, sentences


def test_every_damaged_field_is_refused_in_these_words(record, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = Path("made.jsonl")

    def read(game):
        path.write_text(json.dumps(game) + "\n", encoding="utf-8")
        transcripts(path, form="published-2023")

    check("published_2023", sentences(record(), read))
