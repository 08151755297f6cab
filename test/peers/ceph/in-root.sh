#!/usr/bin/env bash
# Runs a program of the unpacked Ceph: in-root.sh ROOT PROGRAM ARGUMENTS…
# The program sees the folder LEDGE_CEPH_DATA as /cluster. All mounts are in a namespace of the
# program, so they end with it. Each step replaces the process: the program has the id of this script.
set -euo pipefail
namespace=(unshare --mount --propagation private)
# Other users become root in a namespace of users, where the system allows that.
[ "$(id -u)" -eq 0 ] || namespace=(unshare --user --map-root-user --mount --propagation private)
if [ "$1" = --check ]; then
  exec "${namespace[@]}" mount --rbind /dev /dev
fi
exec "${namespace[@]}" bash -c '
  set -e
  root=$1
  shift
  mount --rbind /dev "$root/dev"
  mount --rbind /proc "$root/proc"
  mount --bind "$LEDGE_CEPH_DATA" "$root/cluster"
  # The program ends when the process that started this script ends.
  exec setpriv --pdeathsig KILL chroot "$root" \
    /usr/bin/env -i PATH=/usr/sbin:/usr/bin HOME=/root LC_ALL=C "$@"
' in-root "$@"
