# Part of build-and-run.sh: three workers with a Redis and a Postgres of ours, all secrets in files.

data=$work/data-shared
rm -rf "$data" "$work/postgres" "$work/redis" "$work/secrets"
postgres=$(dirname "$(ls /usr/lib/postgresql/*/bin/postgres | tail -n 1)")
secret=not-to-be-seen-$RANDOM$RANDOM
mkdir -p "$work/secrets" "$work/redis"
install --directory --owner postgres "$work/postgres"
chmod 755 "$work"
printf %s "$secret" >"$work/secrets/password"
runuser -u postgres -- "$postgres/initdb" -D "$work/postgres" -U leadsync -A scram-sha-256 --pwfile "$work/secrets/password" >/dev/null
runuser -u postgres -- "$postgres/pg_ctl" -D "$work/postgres" -l "$work/postgres/log" -w start \
  -o "-p 39111 -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=300" >/dev/null
printf 'requirepass %s\nport 39110\nbind 127.0.0.1\nappendonly yes\nmaxmemory-policy noeviction\ndir %s\n' "$secret" "$work/redis" >"$work/secrets/redis.conf"
redis-server "$work/secrets/redis.conf" >"$work/redis/log" &
service shared 5000

printf %s "postgres://leadsync:$secret@127.0.0.1:39111/postgres" >"$work/secrets/database_url"
printf %s "redis://:$secret@127.0.0.1:39110" >"$work/secrets/redis_url"
printf %s "$secret-token" >"$work/secrets/admin_token"
sed -n 's/^LEADS_API_KEY=//p' "$work/shared.env" >"$work/secrets/leads_api_key"
chmod 755 "$work/secrets"; chmod 644 "$work"/secrets/*
LEADS_BASE_URL=$(sed -n 's/^LEADS_BASE_URL=//p' "$work/shared.env")
export LEADS_BASE_URL
settings=(--volume "$work/secrets:/run/secrets:ro" --env LEADS_BASE_URL --env TARGET=leads.csv --env LEADS_API_KEY_FILE=/run/secrets/leads_api_key
  --env DATABASE_URL_FILE=/run/secrets/database_url --env REDIS_URL_FILE=/run/secrets/redis_url --env ADMIN_TOKEN_FILE=/run/secrets/admin_token)
base=$image
image=$base-distroless
contain distroless-check "$data" --rm "${settings[@]}" -- check >"$work/check-distroless.txt" 2>&1 || fail "$(cat "$work/check-distroless.txt")"
image=$base-without-postgres
contain first-check "$data" --rm "${settings[@]}" -- check >"$work/check-shared.txt" 2>&1 || fail "$(cat "$work/check-shared.txt")"
ok 'check with Redis and Postgres, every secret in a file'
for n in 1 2 3; do contain "worker-$n" "$data" --detach "${settings[@]}" --env PORT=3912$n -- >/dev/null; done
for n in 1 2 3; do until_true 60 answers 3912$n/readyz; done
once() { contain "$1" "$data" --rm "${settings[@]}" -- "${@:2}"; }
succeeded() { once status status --json 2>/dev/null | grep -q '"status":"succeeded"'; }
until_true 120 succeeded
[ "$(wc -l <"$data/leads.csv")" = 5001 ] || fail "$(wc -l <"$data/leads.csv") lines"
once again sync --json 2>/dev/null | grep -q '"created":{"leads":0,"rows":0},"updated":{"leads":0,"rows":0}' || fail 'a second sync'
ok 'three workers made one file of 5,000 rows, and a second sync writes nothing'
ok "memory of a worker that waits: $(engine stats --no-stream --format '{{.MemUsage}}' worker-2 2>/dev/null || echo unknown)"
asked() { curl --silent --output /dev/null --write-out '%{http_code}' "$@" http://127.0.0.1:39121/metrics; }
[ "$(asked)" = 401 ] && [ "$(asked --header "Authorization: Bearer $secret-token")" != 401 ] || fail 'the token'
for n in 1 2 3; do stops "worker-$n" "worker $n"; done
[ -z "$(ls -A "$data" | grep -v -x -e leads.csv -e outbox)" ] || fail "left in /data: $(ls -A "$data")"
ok 'in /data are the file and the folder for mails, nothing else'

contain hasty "$data" --detach "${settings[@]}" -- >/dev/null
begun=$(now)
engine stop --time 30 hasty >/dev/null
ok "stopped while it starts: after $(seconds "$begun") s, exit code $(engine inspect hasty --format '{{.State.ExitCode}}')"
chown --recursive 5000:5000 "$data"
begun=$(now)
contain stranger "$data" --rm "${settings[@]}" --user 5000:5000 -- check >"$work/stranger.txt" 2>&1 || fail "$(cat "$work/stranger.txt")"
ok "check as a user without a name, $(seconds "$begun") s"

grep --recursive --files-with-matches --fixed-strings "$secret" "$work/storage" | grep -q . && fail 'a secret is in an image, a container or a log'
ok 'no secret in any image, container or log'
