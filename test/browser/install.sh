#!/usr/bin/env bash
# Installs the browser of the part `browser` of test:long from Debian. A user who may not install can have another browser.
set -euo pipefail
shell=chromium-headless-shell
install() { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$shell"; }
[ -x "${CHROMIUM:-/usr/bin/$shell}" ] && exit 0
[ "$(id -u)" -eq 0 ] && install && exit 0
for path in /usr/bin/chromium /usr/bin/chromium-browser /usr/bin/google-chrome; do
  [ -x "$path" ] && exit 0
done
echo "Install a browser first: apt-get install --no-install-recommends $shell" >&2
exit 1
