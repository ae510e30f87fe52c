# Sourced by the scripts beside it: finds Python 3.11 to 3.13, and makes .venv with parlour and its extras, once.
# Usage: . scripts/_venv.sh EXTRAS; with "" in their place it only finds Python, as $python.
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

# Installed anew when the packaging or a folder's list of files changes (a strict editable install links single files).
make_venv() {
  local stamp
  [ -x .venv/bin/python ] || "$python" -m venv .venv
  stamp="$1 $(cat pyproject.toml constraints.txt | cksum) $(find envs policies training wrappers -type f -not -path '*/__pycache__/*' | sort | cksum)"
  if [ "$(cat .venv/parlour.stamp 2>/dev/null)" != "$stamp" ]; then
    echo "installing parlour[$1] into .venv ..."
    .venv/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
    rm -rf build
    .venv/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
      -e ".[$1]" --config-settings editable_mode=strict
    echo "$stamp" > .venv/parlour.stamp
  fi
}
[ -z "$1" ] || make_venv "$1"
