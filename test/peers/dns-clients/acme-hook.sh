#!/usr/bin/env bash
# Calls a function of acme.sh's DNS hook, as acme.sh does. Arguments: the checkout of acme.sh, a folder
# for its account, the function, the name, the content.
set -e
checkout=$1 folder=$2 action=$3 name=$4 content=$5
export LE_WORKING_DIR=$folder LE_CONFIG_HOME=$folder
cd "$checkout"
# Without arguments acme.sh prints its help, and its functions stay.
set --
. ./acme.sh >/dev/null
_initpath
. dnsapi/dns_cf.sh
"$action" "$name" "$content"
