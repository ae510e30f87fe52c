"""HotpotQA, 2WikiMultihopQA and MuSiQue as their authors publish them; an entry is a question with its articles.

| form | after | read |
|---|---|---|
| `hotpotqa` | Yang et al. 2018 (distractor) | `_id`, `question`, `answer`, `type`, `context`: `[title, [sentences]]` |
| `2wikimultihopqa` | Ho et al. 2020 | the same; more types |
| `musique` | Trivedi et al. 2022 | `id`, `question`, `answer`, `answer_aliases`, `answerable`, `paragraphs` |

Supporting facts, evidences, decompositions and `is_supporting` are left alone. `context` may also be `{title, sentences}`, two
lists, as the library `datasets` keeps it.
"""

from __future__ import annotations

from typing import Final

from parlour.envs.mediated_qa.corpora.documents import passage
from parlour.envs.mediated_qa.corpora.fields import FileEntry
from parlour.envs.mediated_qa.corpora.own import Asked, article, decoys_among, question
from parlour.envs.mediated_qa.corpus import Passage

HOTPOT_KINDS: Final = {"bridge": "bridge", "comparison": "comparison"}
WIKI_KINDS: Final = {
    "comparison": "comparison",
    "bridge_comparison": "comparison",
    "inference": "bridge",
    "compositional": "bridge",
}
"""Types of questions in the files -> kinds here."""


def hotpot_question(entry: FileEntry) -> Asked:
    """An entry of HotpotQA. Raises `ParlourError` for a field that is missing or of another type."""
    return _with_articles(entry, HOTPOT_KINDS)


def wiki_question(entry: FileEntry) -> Asked:
    """An entry of 2WikiMultihopQA. Raises `ParlourError` for a field that is missing or of another type."""
    return _with_articles(entry, WIKI_KINDS)


def musique_question(entry: FileEntry) -> Asked:
    """An entry of MuSiQue; one that is not answerable has no answer.

    Raises:
        ParlourError: A field is missing or of another type.
    """
    articles = [passage(one.words("title"), one.words("paragraph_text")) for one in entry.objects("paragraphs")]
    answers: tuple[str, ...] = ()
    if entry.truth("answerable", True):
        aliases = entry.texts("answer_aliases") if entry.has("answer_aliases") else ()
        answers = (entry.words("answer"), *aliases)
    decoys = decoys_among(answers, articles)
    return question(entry.identity("id"), entry.words("question"), answers, "", decoys), articles


def _with_articles(entry: FileEntry, kinds: dict[str, str]) -> Asked:
    articles = _articles(entry)
    kind = entry.words("type")
    if kind not in kinds:
        raise entry.refused("type", kinds)
    answers = (entry.words("answer"),)
    identity = entry.identity("_id") or entry.identity("id")
    decoys = decoys_among(answers, articles)
    return question(identity, entry.words("question"), answers, kinds[kind], decoys), articles


def _articles(entry: FileEntry) -> list[Passage]:
    if isinstance(entry.fields.get("context"), dict):
        inner = FileEntry(entry.place.within("context"), entry.fields["context"])
        lists = inner.items("sentences" if "sentences" in inner.fields else "content")
        pairs = [list(pair) for pair in zip(inner.items("title"), lists, strict=False)]
    else:
        pairs = entry.items("context", "a list of [title, [sentences]]")
    return [article(entry.place.within("context", k), pair) for k, pair in enumerate(pairs)]
