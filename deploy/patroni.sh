#!/bin/sh
# Three PostgreSQL servers under Patroni, with etcd and HAProxy, on this machine, to try fail-overs:
#
#   deploy/patroni.sh up DIRECTORY      starts them, and prints the DATABASE_URLs
#   deploy/patroni.sh down DIRECTORY    stops them, and removes the directory
#
# Needs patroni, etcd, haproxy, curl and PostgreSQL, and an ordinary user: PostgreSQL refuses root.
# Uses ten ports from PORT (7500) on: etcd and its peers, HAProxy, three servers, their Patronis.
# TTL, LOOP_WAIT, RETRY_TIMEOUT and START_TIMEOUT set Patroni's settings of those names; PG_BIN is
# the directory of PostgreSQL's programs. Not for production: one machine and one etcd survive
# nothing, and connections are not encrypted. See docs/high-availability.md.
set -eu

PATH=$PATH:/usr/sbin:/usr/local/sbin
command=${1-} directory=${2-}
usage() { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 64; }
[ -n "$directory" ] || usage

port=${PORT:-7500}
etcd=127.0.0.1:$port
proxy=127.0.0.1:$((port + 2))
server() { echo "127.0.0.1:$((port + 2 + $1))"; }
rest() { echo "127.0.0.1:$((port + 5 + $1))"; }

# Starts a program in the background, with its log and process id in the directory.
run() {
  name=$1
  shift
  nohup "$@" >"$name.log" 2>&1 </dev/null &
  echo $! >"$name.pid"
}

# Waits for a command to succeed, and shows the logs if it does not within two minutes.
await() {
  for _ in $(seq 240); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.5
  done
  tail -n 20 ./*.log >&2
  echo "never succeeded: $*" >&2
  exit 1
}

random() { od -An -N16 -tx1 /dev/urandom | tr -d ' \n'; }

patroni_settings() {
  cat <<YAML
scope: agent-home
name: pg$1
$dcs:
  host: $etcd
restapi:
  listen: $(rest "$1")
  connect_address: $(rest "$1")
bootstrap:
  dcs:
    ttl: ${TTL:-30}
    loop_wait: ${LOOP_WAIT:-10}
    retry_timeout: ${RETRY_TIMEOUT:-10}
    primary_start_timeout: ${START_TIMEOUT:-300}
    maximum_lag_on_failover: 1048576
    synchronous_mode: true
    synchronous_mode_strict: true
    postgresql:
      use_pg_rewind: true
      parameters:
        synchronous_commit: 'on'
        max_connections: 200
        wal_log_hints: 'on'
  initdb:
    - encoding: UTF8
    - locale: C
    - data-checksums
postgresql:
  listen: $(server "$1")
  connect_address: $(server "$1")
  bin_dir: $bin
  data_dir: $PWD/pg$1
  pgpass: $PWD/pg$1.pass
  remove_data_directory_on_rewind_failure: true
  parameters:
    unix_socket_directories: ''
  pg_hba:
    - host all all 127.0.0.1/32 scram-sha-256
    - host replication replicator 127.0.0.1/32 scram-sha-256
  authentication:
    superuser: { username: postgres, password: $secret }
    replication: { username: replicator, password: $secret }
YAML
}

haproxy_settings() {
  cat <<CFG
defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout check 2s
listen primary
  bind $proxy
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
CFG
  for n in 1 2 3; do echo "  server pg$n $(server $n) check addr 127.0.0.1 port $((port + 5 + n))"; done
}

up() {
  mkdir "$directory"
  cd "$directory"
  secret=$(random)
  bin=${PG_BIN:-$(dirname "$(ls /usr/lib/postgresql/*/bin/pg_basebackup | sort -V | tail -n 1)")}
  # Up to 3.0.2 a primary that hung may take the lock back through etcd's API 3, and undo commits.
  case $(patroni --version) in
  'patroni 2.'* | 'patroni 3.0.'[012]) dcs=etcd api=--enable-v2 ;;
  *) dcs=etcd3 api= ;;
  esac
  peer=http://127.0.0.1:$((port + 1))
  run etcd etcd $api --data-dir etcd --listen-client-urls "http://$etcd" \
    --advertise-client-urls "http://$etcd" --listen-peer-urls "$peer" \
    --initial-advertise-peer-urls "$peer" --initial-cluster "default=$peer"
  await curl -fsS "http://$etcd/health"
  for n in 1 2 3; do
    patroni_settings $n >pg$n.yml
    run pg$n patroni pg$n.yml
    # The first one becomes the primary.
    [ $n != 1 ] || await curl -fsS "http://$(rest 1)/primary"
  done
  for n in 2 3; do await curl -fsS "http://$(rest $n)/replica"; done
  haproxy_settings >haproxy.cfg
  run haproxy haproxy -db -f haproxy.cfg
  as_superuser() { PGPASSWORD=$secret "$bin/psql" -qX -h 127.0.0.1 -p $((port + 3)) -U postgres "$@"; }
  as_superuser -c "CREATE ROLE home LOGIN PASSWORD '$secret'"
  as_superuser -c 'CREATE DATABASE home OWNER home'
  await sh -c "curl -fsS http://$(rest 1)/cluster | grep sync_standby"
  servers=$(server 1),$(server 2),$(server 3)
  echo "several servers: DATABASE_URL=postgres://home:$secret@$servers/home"
  echo "through HAProxy: DATABASE_URL=postgres://home:$secret@$proxy/home"
}

down() {
  cd "$directory"
  for file in pg?.pid haproxy.pid etcd.pid pg?/postmaster.pid; do
    [ ! -e "$file" ] || kill "$(head -n 1 "$file")" 2>/dev/null || true
  done
  for file in ./*.pid; do
    while kill -0 "$(cat "$file")" 2>/dev/null; do sleep 0.1; done
  done
  cd /
  rm -rf "$directory"
}

case $command in
up | down) "$command" ;;
*) usage ;;
esac
