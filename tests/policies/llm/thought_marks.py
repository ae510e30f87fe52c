"""Marks of thoughts, as models write them, and a draft that stands in a thought."""

from __future__ import annotations

DRAFT = 'One idea: {"choice": "vote:4"}. But then'
CLOSED = {
    "<think>": "</think>",
    "<Thinking>": "</Thinking>",
    '<think time="3">': "</think>",
    "<thought id=1 kind='deep'>": "</thought>",
    "<seed:think>": "</seed:think>",
    "<scratch_pad>": "</scratch_pad>",
    "<inner_monologue>": "</inner_monologue>",
    "<思考>": "</思考>",
    "[THINK]": "[/THINK]",
    "[REASONING]": "[/REASONING]",
    "◁think▷": "◁/think▷",
    "◁muse▷": "◁/muse▷",
    "<|START_THINKING|>": "<|END_THINKING|><|START_RESPONSE|>",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<start_of_thought>": "<end_of_thought>",
    "<|thinking|>": "<|/thinking|>",
    "<｜think｜>": "<｜/think｜>",
    "<|channel|>analysis<|message|>": "<|end|><|start|>assistant<|channel|>final<|message|>",
    "<|channel|>commentary to=x <|constrain|>json<|message|>": "<|call|><|start|>assistant<|channel|>final<|message|>",
    "<|channel|>reflection<|message|>": "<|channel|>final <|constrain|>json<|message|>",
    "analysisWe vote. ": "assistantfinal",
    "<|channel>thought\n": "<channel|>",
    "<unused94>thought\n": "<unused95>",
    "<|inner_prefix|>": "<|inner_suffix|>",
}
"""Marks of thoughts -> what closes them. Those whose word is not known today are of the same shapes."""
DOUBTFUL = {
    "[thinking]": "[/thinking]",
    "[Reflection]": "[/Reflection]",
    "【分析】": "【/分析】",
    "《反思》": "《/反思》",
    "Here is my thought process:": "Here is my response:",
}
"""The same, where the opening alone may be a heading or a stage direction."""
UNKNOWN = ("<wondering>", "[MULL OVER]", "<|START_MUSE|>", '<gedanken mode="x">', "<|ruminatio|>")
"""Marks of these shapes with words that no table has."""
