#!/bin/bash
# Writes the tunnel's token, which is its whole configuration: where it leads is kept at Cloudflare.
. "$(dirname "$0")/common.sh"

token=$(parameter "$TUNNEL_TOKEN_PARAMETER")
keep tunnel.env <<< "TUNNEL_TOKEN=$token"
