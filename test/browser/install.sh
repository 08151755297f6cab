#!/usr/bin/env bash
# Installs the browser of test:browser from Debian, unless one is there.
set -euo pipefail
for path in "${CHROMIUM:-}" /usr/bin/chromium /usr/bin/chromium-browser /usr/bin/google-chrome; do
  [ -n "$path" ] && [ -x "$path" ] && exit 0
done
if [ "$(id -u)" -ne 0 ]; then
  echo "Install a browser first: apt-get install --no-install-recommends chromium" >&2
  exit 1
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium
