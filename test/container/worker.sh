# Part of build-and-run.sh: the worker with the Postgres that it brings.

data=$work/data-worker
rm -rf "$data"
# 50,000 leads at 200 a page: 250 requests, of 60 ms each.
service large 50000 --faults slow:ms=60
service=$!
port=39101
contain worker "$data" --detach --env-file "$work/large.env" --env PORT=$port --env LOG_LEVEL=debug -- >/dev/null
begun=$(now)
until_true 60 answers $port/readyz
ok "ready $(seconds "$begun") s after the start"
# As Docker would do it.
mapfile -t probe < <(podman image inspect "$image" --format '{{range .HealthCheck.Test}}{{println .}}{{end}}' | sed '1d;/^$/d')
engine exec worker "${probe[@]}" || fail 'the health check'
engine exec --env PORT=1 worker "${probe[@]}" && fail 'the health check of a port where nobody is'
[ "$(curl --silent --output /dev/null --write-out '%{http_code}' http://127.0.0.1:$port/)" != 200 ] || fail 'something but the probes, without a token'
ok 'the health check; nothing but the probes without ADMIN_TOKEN'
engine top worker pid user args >"$work/ps.txt"
grep -q "$(sed -n 's/^LEADS_API_KEY=//p' "$work/large.env")" "$work/ps.txt" && fail 'the key is in ps'
awk 'NR > 1 && $2 != "node" && $2 != "1000"' "$work/ps.txt" | grep -q . && fail 'processes of another user'
ok "ps: $(sed 1d "$work/ps.txt" | awk '{ $2 = ""; print }' | cut -c 1-70 | head -n 4 | tr '\n' ';')"
engine exec worker sh -c 'grep -E "^(Cap(Prm|Eff|Bnd)|NoNewPrivs|Seccomp):" /proc/1/status' | tr -s '\t\n' ' '; echo

# The first start makes up for the night before.
until_true 60 said worker '"phase":"pull"'
sleep 2
stops worker 'in the middle of a scan of 50,000 leads'
engine start worker >/dev/null
until_true 60 answers $port/readyz
engine kill --signal KILL worker >/dev/null
until_true 20 test "$(engine inspect worker --format '{{.State.Running}}')" = false
engine start worker >/dev/null
begun=$(now)
until_true 60 answers $port/readyz
ok "after kill -9 of process 1 ready again $(seconds "$begun") s after the start"
tells() { engine exec worker node /app/bin/leadsync.js status --json 2>/dev/null | tee "$work/status.json" | grep -q "$1"; }
until_true 180 tells '"status":"succeeded"'
ok 'the run that was interrupted twice succeeded'
engine exec worker sh -c 'cat /proc/[0-9]*/status' | grep -q '^State:.Z' && fail 'zombies'
ok "most memory that the process had: $(engine exec worker awk '/VmHWM/ { print int($2 / 1000) }' /proc/2/status) MB"
stops worker 'idle'
[ -z "$(engine diff worker | grep -v -E '^[AC] /(dev|etc|proc|run|sys)(/|$)' || true)" ] || fail "written outside of /data: $(engine diff worker)"
ok 'nothing was written outside of /data'
kill -INT "$service"
until_true 10 grep -q ' requests, ' "$work/large.txt"
requests=$(sed -n 's/ requests, .*//p' "$work/large.txt")
[ "$requests" -ge 250 ] && [ "$requests" -le 260 ] || fail "the scan began again: $requests requests for 250 pages"
ok "in all of it the service was asked $requests times for 250 pages"
