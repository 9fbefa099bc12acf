#!/bin/bash
# transceiver-configure.sh INDEX: writes what the machine's transceiver of that index is told. Its ids follow
# from its place in the network of transceivers, so no two machines of a region have one in common.
. "$(dirname "$0")/common.sh"

# Each machine has as many ids, and as many ports after each of its first ones.
PROCESSES_MAX=16
# Addresses of a /20, times the ids of a machine, are the 65,536 ids of a cluster.
HOST_MASK=0xfff

address=$(metadata meta-data/local-ipv4)
IFS=. read -r _ _ third fourth <<< "$address"
id=$((((third * 256 + fourth) & HOST_MASK) * PROCESSES_MAX))
routing_keys=$(parameter "$ROUTING_KEYS_PARAMETER")
signing_key=$(parameter "$SIGNING_KEY_PARAMETER")
backend=$(parameter "$BACKEND_PARAMETER")

# The tunnel comes to the loopback, other transceivers to the address.
keep "transceiver-$1.json" << JSON
{
  "cluster": $CLUSTER,
  "id": $id,
  "trunk": { "address": "$address", "port": 4000 },
  "peers": $PEERS,
  "signaling": { "address": "0.0.0.0", "port": 4100 },
  "edge": "$EDGE",
  "backend": $backend,
  "routingKeys": "$routing_keys",
  "signingKey": "$signing_key",
  "drain": $((DRAIN_SECONDS * 1000))
}
JSON
url=$(redis_url)
keep redis.env <<< "REDIS_URL=$url"
