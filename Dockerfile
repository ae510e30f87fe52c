# parlour's command line as an image. Without PyTorch: docker build -t parlour .
# With the trainers: docker build -t parlour --build-arg EXTRAS=train,serve .
# Then: docker run --rm parlour list
#       docker run --rm -v "$PWD/runs:/games/runs" parlour play avalon_v0 --players 5 --policy heuristic --out runs/mine
FROM python:3.11-slim-bookworm
ARG EXTRAS=serve
# where a build of PyTorch without CUDA is offered
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY envs envs
COPY policies policies
COPY training training
COPY wrappers wrappers
RUN case ",$EXTRAS," in *,train,*) pip install --no-cache-dir -c constraints.txt --index-url "$TORCH_INDEX" torch ;; esac \
    && pip install --no-cache-dir -c constraints.txt ".[$EXTRAS]" \
    && useradd --create-home --home-dir /games --uid 1000 player \
    && install -d -o player /games/runs
USER 1000
WORKDIR /games
ENTRYPOINT ["parlour"]
CMD ["list"]
