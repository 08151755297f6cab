#!/usr/bin/env bash
# Installs the name servers, the clients and the S3 service of the parts `peers` and `ceph` of test:long, most of them from Debian. Leaves
# none of them running.
set -euo pipefail
packages=(bind9 bind9-dnsutils bind9-utils unbound knot knot-dnsutils nsd ldnsutils dnsviz dnsperf
  pdns-server pdns-backend-sqlite3 sqlite3
  # Clients of the record API that speak only https.
  inadyn ddclient libio-socket-ssl-perl lexicon curl
  certbot python3-certbot-dns-cloudflare python3-cloudflare
  # For octodns, and what a checkout of octodns imports.
  python3-pip python3-natsort python3-dnspython python3-idna
  # The load balancers of examples/cluster, and what reads the metrics of a build.
  haproxy nginx-light prometheus
  awscli rclone s3cmd restic s3fs python3-boto3 golang-go golang-github-minio-minio-go-v7-dev
  # What ceph/s3-tests imports.
  python3-pytest python3-pytest-timeout python3-munch python3-gevent python3-isodate python3-requests
  python3-tz python3-httplib2 python3-lxml python3-yaml python3-dateutil)
here=$(dirname "$0")
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q "ok installed" || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" -ne 0 ]; then
    echo "Install these first: apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  # This policy keeps packages from starting their services.
  policy=/usr/sbin/policy-rc.d
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
    trap 'rm -f "$policy"' EXIT
  fi
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}"
fi
octodns=$here/../../node_modules/.cache/octodns
if [ ! -e "$octodns" ]; then
  /usr/bin/python3 -m pip install --quiet --target "$octodns" octodns==1.22.0 octodns-cloudflare==1.2.0 || {
    rm -rf "$octodns"
    echo "octodns is not there: its test runs with LEDGE_OCTODNS only." >&2
  }
fi
"$here/install-newer.sh" || echo "Newer versions of the S3 clients and of NSD are not there: their tests do not run, and catalog.test.ts fails." >&2
"$here/s3/install.sh"
"$here/ceph/install.sh" || echo "Ceph is not there: the tests of buckets on a cluster do not run." >&2
