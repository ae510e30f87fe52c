"""A network and its tokenizer as one file for llama.cpp."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import gguf

from tests.integrations.tiny_llama.network import EPSILON, ROPE_BASE, Llama
from tests.integrations.tiny_llama.tokens import CHAT_TEMPLATE, SIGNS, Vocabulary

LONGEST: Final = 32768
"""Tokens of context that the file allows; a server is started with as many as it shall have, or fewer."""
NAME: Final = "tiny-llama"


def write(path: Path, network: Llama, vocabulary: Vocabulary) -> None:
    """Write the file."""
    sizes = network.sizes
    file = gguf.GGUFWriter(path, "llama")
    file.add_name(NAME)
    file.add_context_length(LONGEST)
    file.add_embedding_length(sizes.width)
    file.add_block_count(sizes.blocks)
    file.add_feed_forward_length(sizes.inner)
    file.add_head_count(sizes.heads)
    file.add_head_count_kv(sizes.heads)
    file.add_rope_dimension_count(sizes.width // sizes.heads)
    file.add_rope_freq_base(ROPE_BASE)
    file.add_layer_norm_rms_eps(EPSILON)
    file.add_file_type(gguf.LlamaFileType.ALL_F32)
    _add_tokenizer(file, vocabulary)
    for name, weight in network.state_dict().items():
        file.add_tensor(name, weight.numpy())
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


def _add_tokenizer(file: gguf.GGUFWriter, vocabulary: Vocabulary) -> None:
    end, begin = SIGNS
    file.add_tokenizer_model("gpt2")
    file.add_tokenizer_pre("gpt-2")
    file.add_vocab_size(len(vocabulary.tokens))
    file.add_token_list(vocabulary.tokens)
    kinds = [gguf.TokenType.CONTROL if token in SIGNS else gguf.TokenType.NORMAL for token in vocabulary.tokens]
    file.add_token_types(kinds)
    file.add_token_merges(vocabulary.merges)
    file.add_bos_token_id(vocabulary.tokens.index(begin))
    file.add_eos_token_id(vocabulary.tokens.index(end))
    file.add_add_bos_token(False)
    file.add_chat_template(CHAT_TEMPLATE)
