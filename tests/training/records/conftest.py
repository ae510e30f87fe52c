"""Records are refused or taken: fixtures for the tests of their forms."""

from __future__ import annotations

import json

import pytest
from parlour.envs.core import ParlourError
from parlour.training.records.avalon.importing import import_records, transcripts


@pytest.fixture
def refused(tmp_path):
    """`refused(game, ...)`: why records are refused; nothing may have been written."""

    def refuse(*games, form="auto", name="games.jsonl"):
        path = tmp_path / name
        path.write_text("".join(json.dumps(game) + "\n" for game in games))
        with pytest.raises(ParlourError) as caught:
            import_records(path, tmp_path / "out", form=form)
        assert not (tmp_path / "out").exists()
        message = str(caught.value)
        assert "\n" not in message
        assert "accepted: " in message
        return message

    return refuse


@pytest.fixture
def taken(tmp_path):
    """`taken(game, ...)`: their transcripts."""

    def take(*games, form="auto"):
        path = tmp_path / "taken.jsonl"
        path.write_text("".join(json.dumps(game) + "\n" for game in games))
        return list(transcripts(path, form=form).values())

    return take
