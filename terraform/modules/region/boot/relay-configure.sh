#!/bin/bash
# relay-configure.sh SLOT: writes what the relay of a slot, a or b, is told. The other slot's relay, when
# there is one, gives it its flows and addresses.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/relay-slots.sh"

slot=$1
other=$(other_slot "$slot")
inputs=$(relay_inputs)
{ read -r peers; read -r routes; read -r keys; } <<< "$inputs"
address=$(metadata meta-data/local-ipv4)
replaces=
if systemctl is-active --quiet "relay@$other"; then
  replaces=',"replaces":"http://127.0.0.1:'$(admin_port "$other")'"'
fi

keep "relay-$slot.inputs" <<< "$inputs"
keep "relay-$slot.json" << JSON
{
  "cluster": $CLUSTER,
  "relay": {
    "listeners": [{ "address": "$address", "port": 3478 }],
    "trunk": { "address": "$address", "port": 3479 },
    "tcp": {
      "listeners": [{ "address": "$address", "port": 3478 }],
      "trunk": { "address": "$address", "port": $(tcp_trunk_port "$slot") }
    }
  },
  "peers": $peers,
  "routes": $routes,
  "routingKeys": "$keys",
  "threads": $(nproc),
  "admin": { "address": "127.0.0.1", "port": $(admin_port "$slot") },
  "drain": { "time": $((DRAIN_SECONDS * 1000)) }$replaces
}
JSON
url=$(redis_url)
keep redis.env <<< "REDIS_URL=$url"
