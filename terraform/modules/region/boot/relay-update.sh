#!/bin/bash
# Brings a region that was added, or a routing key, to the relay that runs: another takes its place without
# a gap. One that does not come up leaves the old one as it was.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/relay-slots.sh"

slot=a
systemctl is-active --quiet relay@b && slot=b
inputs=$(relay_inputs)
[[ $inputs == "$(cat "$STATE/relay-$slot.inputs")" ]] && exit 0

next=$(other_slot "$slot")
# Where its start fails, it would be tried again and again beside the old one.
if systemctl start "relay@$next"; then
  for _ in {1..60}; do
    if curl -sf "http://127.0.0.1:$(admin_port "$next")/readyz" > "$STATE/readyz"; then
      exec systemctl stop "relay@$slot"
    fi
    sleep 1
  done
fi
systemctl stop "relay@$next"
echo "The relay with the new configuration does not come up; the old one goes on. See its log." >&2
exit 1
