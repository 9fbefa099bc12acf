# The two relays that a machine has while one takes the other's place; sourced after common.sh.

other_slot() { if [[ $1 == a ]]; then echo b; else echo a; fi; }
admin_port() { if [[ $1 == a ]]; then echo 9478; else echo 9479; fi; }
tcp_trunk_port() { if [[ $1 == a ]]; then echo 3477; else echo 3476; fi; }

# relay_inputs: what may change while a relay runs, a line each: peers, routes, routing keys.
relay_inputs() {
  local peers routes keys
  peers=$(parameter "$PEERS_PARAMETER")
  routes=$(parameter "$ROUTES_PARAMETER")
  keys=$(parameter "$ROUTING_KEYS_PARAMETER")
  printf '%s\n' "$peers" "$routes" "$keys"
}
