# Sourced by the scripts beside it: finds Python 3.11 to 3.13, and makes .venv with parlour and its extras, once.
# Usage: . scripts/_venv.sh EXTRAS; with "" in their place it only finds Python, as $python. SHOW_PIP=1 shows what pip does.
set -euo pipefail
unset PYTHONDONTWRITEBYTECODE # compile each module once, not in every process that a test starts
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python=""
for candidate in python3 python3.13 python3.12 python3.11 python; do
  if command -v "$candidate" >/dev/null && "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))'; then
    python="$candidate"
    break
  fi
done
if [ -z "$python" ]; then
  echo "parlour needs Python 3.11, 3.12 or 3.13; none was found" >&2
  exit 2
fi

# From PyPI alone, Linux gets a PyTorch with several GB of CUDA libraries. This index has the same version for the CPU.
CPU_INDEX="https://download.pytorch.org/whl/cpu"

# Installed anew when the packaging or a folder's list of files changes (a strict editable install links single files).
# An environment with `dev` has all that another one needs.
make_venv() {
  local stamp sum made
  [ -x .venv/bin/python ] || "$python" -m venv .venv
  sum="$(cat pyproject.toml constraints.txt | cksum) $(find envs policies training wrappers -type f -not -path '*/__pycache__/*' | sort | cksum)"
  stamp="$1 $sum"
  made="$(cat .venv/parlour.stamp 2>/dev/null || true)"
  if [ "$made" != "$stamp" ] && [ "$made" != "dev $sum" ]; then
    echo "installing parlour[$1] into .venv ..."
    local pip=(.venv/bin/python -m pip install --disable-pip-version-check -c constraints.txt) index=()
    [ "${SHOW_PIP:-0}" = 1 ] || pip+=(--quiet)
    if "$python" -c "import urllib.request as net; net.urlopen('$CPU_INDEX/torch/', timeout=5).close()" 2>/dev/null; then
      index=(--extra-index-url "$CPU_INDEX")
    fi
    "${pip[@]}" ${index[@]+"${index[@]}"} torch
    rm -rf build
    "${pip[@]}" -e ".[$1]" --config-settings editable_mode=strict
    echo "$stamp" > .venv/parlour.stamp
  fi
}
[ -z "$1" ] || make_venv "$1"
