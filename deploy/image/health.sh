#!/bin/bash
# Exit code 0 if a local GET returns 200; by default for /health/ready of the admin listener.
# In bash, because a start of Node.js costs a hundred times as much as the request. TLS needs Node.js.
# Usage: health.sh [PORT PATH]
set -euo pipefail
port=${1:-${STOREGATE_ADMIN_PORT:-9901}}
path=${2:-/health/ready}

if [[ $# -eq 0 && -n ${STOREGATE_ADMIN_TLS_CERT:-} ]]; then
  exec node -e '
    const { STOREGATE_ADMIN_CLIENT_CERT: cert, STOREGATE_ADMIN_CLIENT_KEY: key } = process.env;
    const [port, path] = process.argv.slice(1);
    const read = require("node:fs").readFileSync;
    const own = cert ? { cert: read(cert), key: read(key) } : {};
    require("node:https")
      .get({ host: "127.0.0.1", port, path, rejectUnauthorized: false, ...own }, (r) => process.exit(r.statusCode === 200 ? 0 : 1))
      .on("error", () => process.exit(1));
  ' "$port" "$path"
fi

exec 3<>"/dev/tcp/127.0.0.1/$port"
printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$path" >&3
read -r -t 2 _ status _ <&3
[[ $status = 200 ]]
