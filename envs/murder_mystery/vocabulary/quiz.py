"""The questions of the quiz after a murder mystery, of three sorts with 10, 5 and 2 points (PLAYER*, section 2)."""

from __future__ import annotations

from typing import Final, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

QuestionKind = Literal[
    "who",
    "how",
    "why",
    "relationship",
    "where",
    "when",
    "suspect",
    "individual",
    "one_relation",
    "two_relations",
    "three_relations",
]
QUESTION_KINDS: Final[tuple[str, ...]] = get_args(QuestionKind)
SORTS: Final = {10: "objective", 5: "reasoning", 2: "relations"}
"""Points -> sort of question."""
LETTERS: Final = "abcde"


class QuizQuestion(BaseModel):
    """One question of the quiz after the game."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    points: Literal[10, 5, 2]
    kind: QuestionKind
    pick: Literal[1, 2] = 1
    """2: the two likeliest are named, and it is right if a key is among them."""
    victim: int | None = None
    """Index of the victim it is about, if it is about one."""
    text: str
    options: tuple[str, ...] = Field(min_length=2, max_length=5)
    keys: tuple[int, ...] = Field(min_length=1)
    """Indices of the options that count as right."""

    @property
    def sort(self) -> str:
        """`"objective"`, `"reasoning"` or `"relations"`."""
        return SORTS[self.points]

    def right(self, picked: tuple[int, ...]) -> bool:
        """Whether an answer is right: one option (`pick` 1), or one or two options that include a key (`pick` 2)."""
        return 0 < len(set(picked)) <= self.pick and any(option in self.keys for option in picked)

    @model_validator(mode="after")
    def _keys_are_options(self) -> QuizQuestion:
        if not all(0 <= key < len(self.options) for key in self.keys):
            raise ValueError(f"question {self.id}: keys {self.keys} of {len(self.options)} options")
        return self
