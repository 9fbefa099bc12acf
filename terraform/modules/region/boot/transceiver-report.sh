#!/bin/bash
# Tells auto scaling how full this machine is: sessions, and the percentage of those it takes.
. "$(dirname "$0")/common.sh"

metrics=
for ((port = 9500; port < 9516; port++)); do
  metrics+=$(curl -sf "http://127.0.0.1:$port/metrics" || true)$'\n'
done
# A machine that takes no call says nothing: as an empty one it would let the group shrink.
read -r sessions percent < <(awk '
  /^transceiver_sessions{/ { sessions += $2 }
  /^transceiver_capacity / { capacity += $2 }
  END { if (capacity) print sessions + 0, 100 * sessions / capacity }
' <<< "$metrics") || exit 0
dimension="Dimensions=[{Name=AutoScalingGroupName,Value=$AUTOSCALING_GROUP}]"
aws cloudwatch put-metric-data --namespace GlobalRelay --metric-data \
  "MetricName=Sessions,Unit=Count,Value=$sessions,$dimension" \
  "MetricName=SessionUtilization,Unit=Percent,Value=$percent,$dimension"
