"""Make a small language model, let it imitate the heuristic and learn from whole games of Werewolf, and measure it.

Usage: python scripts/train_lm.py [--seed N] [--out DIR]. Needs the extra `lm`. Resumes after the last finished stage. The folder holds
report.md, report.json, curves, and three models that transformers reads: imitation/, learned/, longer/.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from parlour.envs.terminal import tell
from parlour.policies.files import atomic_write, write_json
from parlour.training.learn.language_model import report
from parlour.training.learn.language_model.config import LanguageModelConfig
from parlour.training.learn.language_model.run import train
from parlour.training.results import display

default = LanguageModelConfig()
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
parser.add_argument("--seed", type=int, default=default.seed, help="of everything")
parser.add_argument("--out", type=Path, default=Path("runs/train_lm"), help="folder of the run")
parser.add_argument("--imitation", type=int, default=default.imitation.steps, help="steps of imitation")
parser.add_argument("--learning", type=int, default=default.learning.steps, help="steps of learning")
parser.add_argument("--batch", type=int, default=default.learning.deals, help="deals in each step of learning")
parser.add_argument("--longer", type=int, default=default.longer_steps, help="steps of the longer imitation after it")
parser.add_argument("--deals", type=int, default=default.held_out, help="held-out deals of the measurement")
chosen = parser.parse_args()
config = replace(
    default,
    seed=chosen.seed,
    imitation=replace(default.imitation, steps=chosen.imitation),
    learning=replace(default.learning, steps=chosen.learning, deals=chosen.batch),
    longer_steps=chosen.longer,
    held_out=chosen.deals,
)
with display.stage_bars() as progress:
    found = train(config, chosen.out, progress)
atomic_write(chosen.out / "report.md", report.text(found))
write_json(chosen.out / "report.json", report.summary(found))
report.picture(found, chosen.out / "learning.png")
display.show_table(f"{config.game}, the seat of {config.role}", report.HEADINGS, report.table_rows(found))
for sentence in report.verdicts(found):
    tell(sentence)
tell(f"report: {chosen.out / 'report.md'}")
