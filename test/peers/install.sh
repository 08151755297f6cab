#!/usr/bin/env bash
# Installs the name servers and clients of test:peers from Debian. Leaves none of them running.
set -euo pipefail
packages=(bind9 bind9-dnsutils bind9-utils knot knot-dnsutils nsd ldnsutils dnsperf
  pdns-server pdns-backend-sqlite3 sqlite3)
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q "ok installed" || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0
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
