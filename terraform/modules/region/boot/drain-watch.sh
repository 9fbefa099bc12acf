#!/bin/bash
# Waits until auto scaling wants this machine gone, drains it, and then lets it go.
. "$(dirname "$0")/common.sh"

# Any seconds under the time-out of the hook, which is at least 30.
HEARTBEAT_SECONDS=20

lifecycle() {
  aws autoscaling "$1" --auto-scaling-group-name "$AUTOSCALING_GROUP" \
    --lifecycle-hook-name "$LIFECYCLE_HOOK" --instance-id "$instance" "${@:2}"
}

instance=$(metadata meta-data/instance-id)
until [[ $(metadata meta-data/autoscaling/target-lifecycle-state || true) == Terminated ]]; do
  sleep 5
done

echo 'Auto scaling ends this machine; it drains.'
# In this order, each once the one before it has ended; one that fails must not end the calls of the next.
(for unit in $DRAIN_UNITS; do systemctl stop "$unit" || true; done) &
while [[ -n $(jobs -r) ]]; do
  lifecycle record-lifecycle-action-heartbeat || true
  sleep "$HEARTBEAT_SECONDS"
done
lifecycle complete-lifecycle-action --lifecycle-action-result CONTINUE
