"""A tokenizer made on the spot for one game, and the layout of a game as tokens.

Byte-level byte-pair encoding learned from the words of games. Seats' names stand alone, as tokens of their own; what is often said
between two of them becomes one token, however long. Each message is encoded alone between special tokens, as the chat template
writes it:

    <|user|> message <|end|> <|assistant|> reply <|end|> <|user|> news <|end|> ...
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

USER, ASSISTANT, END, PAD = "<|user|>", "<|assistant|>", "<|end|>", "<|pad|>"
_SPECIAL: Final = (PAD, END, USER, ASSISTANT)
_SEAT: Final = r"player_\d+"
CHAT_TEMPLATE: Final = (
    "{% for message in messages %}"
    "{{ ('<|assistant|>' if message['role'] == 'assistant' else '<|user|>') + message['content'] + '<|end|>' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)
"""A system message is read as one of the user's."""


def make_tokenizer(lines: Iterable[str], vocabulary: int) -> Any:
    """A tokenizer of transformers, with the chat template, learned from what is said in games.

    Args:
        lines: Messages and replies.
        vocabulary: Tokens at most.
    """
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_SEAT), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=list(_SPECIAL),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    made.train_from_iterator(lines, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        eos_token=END,
        pad_token=PAD,
        additional_special_tokens=[USER, ASSISTANT],
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
    )


class ChatTokens:
    """Messages and replies as tokens, and back.

    Args:
        tokenizer: One of `make_tokenizer`, or what `read` loads.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.pad, self.end, self.user, self.assistant = tokenizer.convert_tokens_to_ids(list(_SPECIAL))

    @classmethod
    def read(cls, folder: Path) -> ChatTokens:
        """Those of a saved model."""
        return cls(PreTrainedTokenizerFast.from_pretrained(str(folder), local_files_only=True))

    def __len__(self) -> int:
        """Tokens in the vocabulary."""
        return len(self.tokenizer)

    def encode(self, words: str) -> list[int]:
        """Tokens of words, none of them special."""
        return list(self.tokenizer.backend_tokenizer.encode(words, add_special_tokens=False).ids)

    def message(self, words: str) -> list[int]:
        """A message, and that the model speaks next."""
        return [self.user, *self.encode(words), self.end, self.assistant]

    def decode(self, tokens: Sequence[int]) -> str:
        """The words of a reply; special tokens say nothing."""
        return str(self.tokenizer.decode(list(tokens), skip_special_tokens=True))
