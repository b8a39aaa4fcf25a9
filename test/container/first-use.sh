# Part of build-and-run.sh: what a person does first.

data=$work/data-first
rm -rf "$data"
service small 2000
secret=$(sed -n 's/^LEADS_API_KEY=//p' "$work/small.env")
mkdir -p "$data"
printf '%s\n' "$secret" >"$data/key"
once() { contain "$1" "$data" --rm --env LEADS_BASE_URL --env LEADS_API_KEY_FILE=/data/key --env TARGET=./leads.xlsx -- "${@:2}"; }
LEADS_BASE_URL=$(sed -n 's/^LEADS_BASE_URL=//p' "$work/small.env")
export LEADS_BASE_URL

once check check >"$work/check.txt" 2>&1 || fail "$(cat "$work/check.txt")"
ok 'check, with the key in a file'
code=0; once sync sync --json >"$work/sync.json" 2>"$work/sync.txt" || code=$?
[ "$code" = 0 ] && grep -q '"created":{"leads":0,"rows":2000}' "$work/sync.json" || fail "sync: $code $(cat "$work/sync.json" "$work/sync.txt")"
once again sync --json 2>/dev/null | grep -q '"created":{"leads":0,"rows":0}' || fail 'a second sync'
[ "$(stat -c %u "$data/leads.xlsx")" = 1000 ] || fail 'whose file it is'
ok '2,000 leads into a new workbook with the bundled Postgres, and nothing in a second sync'

milliseconds() {
  local begun; begun=$(now)
  once status "$@" >/dev/null 2>&1 || true
  echo $(($(now) - begun))
}
ok "a command that only says its version takes $(milliseconds --version) ms, status $(milliseconds status) ms, the container included"

code=0
engine run --rm --pull never --no-healthcheck --env LEADS_BASE_URL --env LEADS_API_KEY=x --env TARGET=leads.csv "$image-without-postgres" status \
  >"$work/without.txt" 2>&1 || code=$?
[ "$code" != 0 ] && grep -q DATABASE_URL "$work/without.txt" || fail "without Postgres: $(cat "$work/without.txt")"
ok 'without Postgres and DATABASE_URL it says what is missing'
