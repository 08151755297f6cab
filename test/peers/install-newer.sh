#!/usr/bin/env bash
# Unpacks newer S3 clients from Debian's next releases into a folder that nothing else uses: the newest
# rclone, restic, boto3 and aws-cli, and the MinIO client, which bookworm lacks. The system stays as it is.
# NSD of trixie has catalog zones; its libraries are unpacked with it, and servers/name-servers.ts runs it by
# their loader. aws-cli needs a newer Python: that and all its libraries are unpacked beside it.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$PWD/node_modules/.cache/peers
[ -e "$folder/complete" ] && [ -e "$folder/usr/sbin/nsd" ] && [ -e "$folder/usr/bin/aws" ] && exit 0
address=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | grep -m1 '/debian/$' || true)
rm -rf "$folder"
mkdir -p "$folder"/{sources,lists/partial,cache/archives/partial,packages,aws}
for suite in trixie sid; do
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${address:-http://deb.debian.org/debian/} $suite main"
done >"$folder/sources.list"
options=(-qq -o Dir::Etc::sourcelist="$folder/sources.list" -o Dir::Etc::sourceparts="$folder/sources"
  -o Dir::State::lists="$folder/lists" -o Dir::Cache="$folder/cache" -o APT::Sandbox::User="$(id -un)")
apt-get "${options[@]}" update
cd "$folder/packages"
apt-get "${options[@]}" download minio-client rclone/sid restic/sid \
  python3-boto3/sid python3-botocore/sid python3-s3transfer/sid \
  {nsd,libc6,libssl3t64,libevent-2.1-7t64,libfstrm0,libprotobuf-c1,libsystemd0,libcap2,zlib1g,libzstd1}/trixie
for package in *.deb; do dpkg -x "$package" "$folder"; done
# With an empty list of installed packages, apt downloads all that aws-cli needs.
: >"$folder/status"
apt-get "${options[@]}" -y -o Dir::State="$folder" -o Dir::State::status="$folder/status" \
  install --download-only --no-install-recommends awscli/sid
for package in "$folder"/cache/archives/*.deb; do dpkg -x "$package" "$folder/aws"; done
cat >"$folder/usr/bin/aws" <<'script'
#!/bin/bash
usr=$(dirname "$(readlink -f "$0")")/../../aws/usr
loader=("$usr"/lib/*-linux-gnu/ld-linux-*.so.*)
export PYTHONHOME=$usr
exec "${loader[0]}" --library-path "$(dirname "${loader[0]}")" "$usr/bin/python3" "$usr/bin/aws" "$@"
script
chmod +x "$folder/usr/bin/aws"
rm -rf "$folder"/{sources,lists,cache,packages,status,lock,lock-frontend}
touch "$folder/complete"
