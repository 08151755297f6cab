#!/usr/bin/env bash
# Unpacks newer S3 clients from Debian's next releases into a folder that nothing else uses: the newest
# rclone, restic and boto3, and the MinIO client, which bookworm lacks. The system stays as it is. Other
# clients need libraries or a Python that are newer too. NSD of trixie has catalog zones; its libraries are
# unpacked with it, and servers/name-servers.ts runs it by their loader.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$PWD/node_modules/.cache/peers
[ -e "$folder/complete" ] && [ -e "$folder/usr/sbin/nsd" ] && exit 0
address=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | grep -m1 '/debian/$' || true)
rm -rf "$folder"
mkdir -p "$folder"/{sources,lists/partial,cache/archives/partial,packages}
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
rm -rf "$folder"/{sources,lists,cache,packages}
touch "$folder/complete"
