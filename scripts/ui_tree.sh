#!/bin/bash
# Makes, once, a Debian sid tree with a real Blender, Xvfb and ImageMagick in .ui-tree (about 1.1 GB) and the runner
# .ui-tree/in FOLDER CMD..., which runs CMD in the tree with FOLDER as /share. Says why on stderr when it cannot.
# Needs root and a Debian host; installs nothing on the host.
set -euo pipefail
cd "$(dirname "$0")/.."
TREE=$PWD/.ui-tree
ROOT=$TREE/sid
WANT=blender,python3-numpy,python3-cattr,python3-requests,python3-zstandard,xvfb,xauth,imagemagick,libgl1-mesa-dri,libegl1,libegl-mesa0,libgl1,ca-certificates
give_up() { echo "$1" >&2; exit 1; }

[ "$(id -u)" = 0 ] || give_up "not root"
KEYS=/usr/share/keyrings/debian-archive-keyring.gpg
[ -r $KEYS ] || give_up "not a Debian machine"
unshare --mount --pid --fork true 2>/dev/null || give_up "this machine does not allow new namespaces"

mkdir -p "$TREE/tools"
export PATH=$TREE/tools/usr/bin:$PATH
if [ "$(cat "$ROOT/.ready" 2>/dev/null)" != "$WANT" ]; then
    URI=$(awk '/^URIs:/{print $2; exit}' /etc/apt/sources.list.d/*.sources 2>/dev/null || true)
    [ -n "$URI" ] || URI=$(awk '/^deb /{for (i = 2; i <= NF; i++) if ($i ~ /^[a-z]+:\/\//) {print $i; exit}}' /etc/apt/sources.list)
    if ! command -v mmdebstrap >/dev/null; then   # unpacked beside the tree, not installed
        (cd "$TREE/tools" && apt-get -qq update && apt-get -qq -o APT::Sandbox::User=root download mmdebstrap \
            && dpkg -x mmdebstrap_*.deb .) >"$TREE/apt.log" 2>&1 || give_up "apt could not download mmdebstrap"
    fi
    made=
    for _ in 1 2 3; do
        rm -rf "$ROOT"
        # A mirror's copy of sid may be older than its Valid-Until; signatures are still checked.
        if mmdebstrap --quiet --mode=root --variant=minbase --components=main --include=$WANT \
            --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
            --dpkgopt='path-exclude=/usr/share/locale/*' \
            sid "$ROOT" "deb [check-valid-until=no signed-by=$KEYS] $URI sid main" >"$TREE/mmdebstrap.log" 2>&1
        then made=1; break; fi
    done
    [ -n "$made" ] || give_up "mmdebstrap failed, see .ui-tree/mmdebstrap.log"
    ln -sf /proc/self/mounts "$ROOT/etc/mtab"
    echo "$WANT" >"$ROOT/.ready"
fi

# Xvfb gives no ready signal to process 1: the chroot must not be exec'ed.
cat >"$TREE/in" <<EOS
#!/bin/bash
share=\$1; shift
exec unshare --mount --pid --fork --kill-child --propagation private bash -c '
share=\$1; shift; R="$ROOT"; mkdir -p "\$R/share" "\$R/dev/shm"
mount -t proc proc "\$R/proc"; mount --rbind /dev "\$R/dev"; mount --rbind /sys "\$R/sys"; mount --bind "\$share" "\$R/share"
[ -d "\$share/locale" ] && mount --bind "\$share/locale" "\$R/usr/share/locale"  # Debian has the words of Blender there
chroot "\$R" env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/tmp LANG=C.UTF-8 XDG_RUNTIME_DIR=/tmp \
    LIBGL_ALWAYS_SOFTWARE=1 BLENDER_USER_RESOURCES=/share/res "\$@"
rc=\$?; exit \$rc' _ "\$share" "\$@"
EOS
chmod +x "$TREE/in"
"$TREE/in" "$TREE/tools" blender --version >"$TREE/version.log" 2>&1 || give_up "the tree's Blender does not start here"
