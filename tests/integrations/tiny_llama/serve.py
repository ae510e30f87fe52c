"""llama.cpp's own server with one model, on this machine alone, until its standard input ends.

    python -m integrations.tiny_llama.serve FILE.gguf CONTEXT [SLOTS]     (in the folder tests)

It prints its address. With one slot it reads prompts in the order in which they come. Each slot keeps what it read last;
a prompt goes to the slot that has read most of it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import xllamacpp

from tests.integrations.tiny_llama.gguf_file import NAME


def main(path: Path, context: int, slots: int = 1) -> None:
    """Serve."""
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.model_alias = {NAME}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_ctx = context * slots
    parameters.n_parallel = slots
    parameters.n_gpu_layers = 0
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1  # more only wait for one another
    parameters.warmup = False
    parameters.endpoint_metrics = True
    parameters.sampling.penalty_repeat, parameters.sampling.penalty_last_n = 1.3, 48  # tiny models fall into loops
    parameters.sampling.dry_multiplier, parameters.sampling.dry_penalty_last_n = 2.0, 256
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
