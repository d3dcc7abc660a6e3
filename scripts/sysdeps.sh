#!/bin/sh
# Installs what the bpy wheels link to and what the Makefile needs, on Debian and Ubuntu, and the packages that are
# named as arguments. Does nothing when all is there.
set -eu
command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || exit 0   # elsewhere the user's own packages must do

want="libx11-6 libxrender1 libxfixes3 libxi6 libxkbcommon0 libsm6 libgl1 libegl1 libgl1-mesa-dri"
want="$want $*"
command -v make >/dev/null || want="$want make"
python3 -c 'import ensurepip, venv' 2>/dev/null || want="$want python3 python3-venv"

missing=
for package in $want; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ]; then
    echo "Please install these packages first: sudo apt-get install$missing" >&2
    exit 1
fi
log=$(mktemp)
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
if apt-get -qq update >"$log" 2>&1 && apt-get -qq install --no-install-recommends $missing >>"$log" 2>&1; then
    echo "installed:$missing"
else
    tail -n 20 "$log" >&2
    echo "apt-get could not install:$missing" >&2
    exit 1
fi
