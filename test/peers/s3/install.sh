#!/usr/bin/env bash
# Installs S3 clients that Debian does not have, or not in these versions, below node_modules/.cache: boto3
# from PyPI, minio-js and DuckDB from npm. The tests of a client that is not there do not run.
set -uo pipefail
cd "$(dirname "$0")/../../.."
cache=$PWD/node_modules/.cache

# install FOLDER COMMAND...: runs the command unless the folder is there.
install() {
  local folder=$cache/$1
  shift
  [ -e "$folder" ] && return
  "$@" && return
  rm -rf "${folder:?}"
  echo "${folder#"$cache/"} is not there: its tests do not run." >&2
}

from_npm() {
  npm install --silent --no-audit --no-fund --prefix "$cache/$1" "$2"
}

# LEDGE_DUCKDB_HTTPFS names the file of the extension where extensions.duckdb.org cannot be reached.
duckdb_httpfs() {
  (cd "$cache/duckdb" && node --input-type=module -e '
    import { DuckDBInstance } from "@duckdb/node-api";
    const instance = await DuckDBInstance.create(":memory:", { extension_directory: "extensions" });
    await (await instance.connect()).run("INSTALL httpfs");')
}

install boto3 /usr/bin/python3 -m pip install -qq --no-warn-conflicts --root-user-action=ignore \
  --target "$cache/boto3" boto3==1.43.107
install minio-js from_npm minio-js minio@8.0.7
# httpfs is published for each version of DuckDB.
install duckdb from_npm duckdb @duckdb/node-api@1.5.5-r.5
[ -n "${LEDGE_DUCKDB_HTTPFS:-}" ] || install duckdb/extensions duckdb_httpfs
