#!/usr/bin/env bash
# Unpacks Ceph with its object gateway from Debian into a folder that nothing else uses, so that
# cluster.ts can start a cluster in it. The system stays as it is: apt gets sources, lists and a
# cache of its own, and no package is installed or configured.
#
#   test/peers/ceph/install.sh           the newest: Debian sid, else trixie
#   test/peers/ceph/install.sh --reef    Ceph 18 (Reef) of Debian trixie, in a folder beside the other
#
# LEDGE_CEPH_FOLDER names another folder, which outlives `npm ci`. LEDGE_DEBIAN_MIRROR names another mirror.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${LEDGE_CEPH_FOLDER:-$(cd "$here/../../.." && pwd)/node_modules/.cache/ledge-ceph}
case "${1:-}" in
  "") suites=(sid trixie) name=newest ;;
  --reef) suites=(trixie) name=reef ;;
  *) echo "\"$1\" is not an option of install.sh: there is only --reef." >&2; exit 2 ;;
esac

for program in apt-get dpkg-deb unshare chroot flock; do
  command -v "$program" >/dev/null && continue
  echo "Ceph cannot be installed: \"$program\" is missing. The script needs Debian, or a system with apt." >&2
  exit 1
done
if ! LEDGE_CEPH_DATA=/tmp "$here/in-root.sh" --check; then
  echo "Ceph cannot run here: it needs a mount namespace and chroot. Run the tests as root, or allow" >&2
  echo "user namespaces for everyone: sysctl kernel.unprivileged_userns_clone=1." >&2
  exit 1
fi

mkdir -p "$folder"
# Two runs at a time would unpack into each other's folder.
exec 9>"$folder/lock"
flock 9
[ -e "$folder/$name/version" ] && exit 0

mirror=${LEDGE_DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
  grep -m1 '/debian/$' || true)}
if [ -z "$mirror" ]; then
  echo "No source of apt on this system is a mirror of Debian: name one in LEDGE_DEBIAN_MIRROR." >&2
  exit 1
fi
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
work=$folder/$name.partial

# Downloads the packages and all they depend on. The list of installed packages is empty, so that
# apt counts nothing of the system as present.
download() {
  local suite=$1
  rm -rf "$work"
  mkdir -p "$work"/apt/{sources,lists/partial,cache/archives/partial,preferences} "$work/root"
  : >"$work/apt/status"
  echo "deb [signed-by=$keyring] $mirror $suite main" >"$work/apt/sources.list"
  local options=(-qq -y -o Dir::Etc::sourcelist="$work/apt/sources.list"
    -o Dir::Etc::sourceparts="$work/apt/sources" -o Dir::Etc::preferencesparts="$work/apt/preferences"
    -o Dir::State="$work/apt" -o Dir::State::lists="$work/apt/lists" -o Dir::State::status="$work/apt/status"
    -o Dir::Cache="$work/apt/cache" -o Dir::Log="$work/apt" -o APT::Sandbox::User="$(id -un)"
    -o Acquire::Languages=none -o Acquire::Retries=3 -o Debug::NoLocking=true -o APT::Update::Post-Invoke-Success=)
  apt-get "${options[@]}" update &&
    apt-get "${options[@]}" install --download-only --no-install-recommends \
      bash coreutils ceph-mon ceph-mgr ceph-osd radosgw ceph-common ceph-base
}

# A merged /usr, as Debian has it. The scripts of the packages do not run. Documentation and other
# languages are left out.
unpack() {
  local root=$work/root link
  mkdir -p "$root"/{usr/bin,usr/sbin,usr/lib,usr/lib64,dev,proc,tmp,run,etc,root,cluster}
  for link in bin sbin lib lib64; do ln -sfn "usr/$link" "$root/$link"; done
  local package
  for package in "$work"/apt/cache/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar --extract --directory "$root" --keep-directory-symlink \
      --no-same-owner --exclude './usr/share/doc/*' --exclude './usr/share/man/*' \
      --exclude './usr/share/locale/*' --exclude './dev/*' || return 1
  done
  echo "root:x:0:0:root:/root:/bin/bash" >"$root/etc/passwd"
  echo "root:x:0:" >"$root/etc/group"
}

for suite in "${suites[@]}"; do
  if download "$suite" && unpack &&
    LEDGE_CEPH_DATA=/tmp "$here/in-root.sh" "$work/root" radosgw --version >"$work/version"; then
    rm -rf "$work/apt" "${folder:?}/$name"
    mv "$work" "$folder/$name"
    cat "$folder/$name/version"
    exit 0
  fi
  echo "Ceph of Debian $suite could not be installed." >&2
done
rm -rf "$work"
exit 1
