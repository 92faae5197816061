# Sourced by the scripts beside it: makes the checkout's virtual environment on first use.
#
#   ensure_venv FOLDER EXTRAS   FOLDER beside pyproject.toml, EXTRAS such as "" or "[dev]"
#
# Everything it says goes to standard error, so that standard output stays the command's own.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

find_python() {
    local name
    for name in python3 python3.14 python3.13 python3.12 python3.11 python; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$name"
            return
        fi
    done
    echo "fabkit: Python 3.11 or newer is needed, and none was found; install it and try again" >&2
    return 3
}

ensure_venv() {
    local venv="$root/$1" extras="$2" stamp
    stamp="$venv/.installed$extras"
    # What was installed is what these two files said; cmp is the whole cost of a later call.
    if cat "$root/pyproject.toml" "$root/constraints.txt" | cmp -s - "$stamp"; then
        return
    fi
    local python
    python=$(find_python) || return 3
    exec 9>"$root/.venv.lock"
    if command -v flock >/dev/null; then flock 9; fi
    if cat "$root/pyproject.toml" "$root/constraints.txt" | cmp -s - "$stamp"; then
        return
    fi
    echo "fabkit: setting up $1 (once; CadQuery is large, this takes a minute or two)" >&2
    [ -x "$venv/bin/python" ] || "$python" -m venv "$venv" >&2 || {
        echo "fabkit: Python's venv module failed; on Debian install python3-venv" >&2
        return 3
    }
    if ! "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
        --constraint "$root/constraints.txt" --editable "$root$extras" >&2; then
        echo "fabkit: the installation failed (see above); nothing else was changed" >&2
        return 3
    fi
    cat "$root/pyproject.toml" "$root/constraints.txt" >"$stamp"
    exec 9>&-
}
