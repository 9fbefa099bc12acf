#!/bin/bash
# Starts one transceiver for each processor, and what goes with them.
. "$(dirname "$0")/common.sh"

count=$(nproc)
# More would take the ids of the next machine.
if ((count > 16)); then count=16; fi
for ((index = 0; index < count; index++)); do systemctl enable --now "transceiver@$index"; done
systemctl enable --now cloudflared transceiver-report.timer drain-watch
