#!/bin/sh
# Makes the files in ./secrets that compose.yaml names: asks for the API key (or reads it from stdin), and makes up the
# other passwords. A file that is there stays as it is.
set -eu
cd "$(dirname "$0")/.."
mkdir -p secrets
# The folder keeps everybody else out. The files can be read: each container sees its own, as a user of its own.
chmod 700 secrets
umask 022

keep() { [ -s "secrets/$1" ] || printf %s "$2" >"secrets/$1"; }
made_up() { head -c 32 /dev/urandom | base64 | tr -d '\n=' | tr '+/' '-_'; }

if [ ! -s secrets/leads_api_key ]; then
  if [ -t 0 ]; then
    printf 'API key of the Leads service (it is not shown): ' >&2
    trap 'stty echo' EXIT
    stty -echo
    read -r key || true
    echo >&2
  else
    read -r key || true
  fi
  [ -n "$key" ] || { echo 'No key was given; nothing was written.' >&2; exit 2; }
  keep leads_api_key "$key"
fi
keep admin_token "$(made_up)"
keep postgres_password "$(made_up)"
keep database_url "postgres://leadsync:$(cat secrets/postgres_password)@postgres:5432/leadsync"
keep redis_password "requirepass $(made_up)"
keep redis_url "redis://:$(cut -d ' ' -f 2 secrets/redis_password)@redis:6379"
echo 'The secrets are in ./secrets. For the status page: cat secrets/admin_token' >&2
