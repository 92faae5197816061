# Sourced by the other scripts: creates the checkout's virtual environment on first use.
#
#   ensure_venv FOLDER CONSTRAINTS EXTRAS
#       FOLDER beside pyproject.toml, CONSTRAINTS a file there, EXTRAS such as "[studio]" or "[dev]",
#       which has all others in it
#
# All output goes to standard error, so that standard output is left to the command.

unset PYTHONDONTWRITEBYTECODE # else each of hundreds of processes compiles all of fabkit again
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

find_python() {
    local name
    for name in python3 python3.14 python3.13 python3.12 python3.11 python; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$name"
            return
        fi
    done
    echo "fabkit: no Python 3.11 or newer found; install it and try again" >&2
    return 3
}

# What an environment depends on: its path (a moved one does not work) and the two files.
wanted_stamp() { { echo "$1"; cat "$root/pyproject.toml" "$2"; } }

is_ready() {
    local extras
    [ -x "$1/bin/python" ] || return
    for extras in "$3" "[dev]"; do
        [ -e "$1/.installed$extras" ] && wanted_stamp "$1" "$2" | cmp -s - "$1/.installed$extras" && return
    done
    return 1
}

ensure_venv() {
    local venv="$root/$1" constraints="$root/$2" extras="$3"
    is_ready "$venv" "$constraints" "$extras" && return
    (
        if command -v flock >/dev/null; then flock 9; fi # the first of two calls does the work
        is_ready "$venv" "$constraints" "$extras" || make_venv "$venv" "$constraints" "$extras"
    ) 9>"$venv.lock"
}

make_venv() {
    local venv="$1" constraints="$2" extras="$3" python
    echo "fabkit: setting up ${venv##*/} (once; this takes about two minutes, CadQuery is large)" >&2
    if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
        rm -rf "$venv"
        python=$(find_python) || return 3
        if ! "$python" -m venv "$venv" >&2; then
            rm -rf "$venv"
            echo "fabkit: Python's venv module failed; on Debian and Ubuntu: apt install python3-venv" >&2
            return 3
        fi
    fi
    if ! "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
        --constraint "$constraints" --editable "$root$extras" >&2; then
        echo "fabkit: the installation failed (see above); run the command again to continue" >&2
        return 3
    fi
    "$venv/bin/python" -m fabkit warm-up >&2 || true # else the first commands compile the kernels
    wanted_stamp "$venv" "$constraints" >"$venv/.installed$extras"
}
