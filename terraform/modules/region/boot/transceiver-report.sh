#!/bin/bash
# Tells auto scaling how full this machine is, by sessions and the percentage of those it takes; and that it is of
# no use, when no transceiver has answered for long.
. "$(dirname "$0")/common.sh"

# Reports in a row, one a minute. Before that the first boot may go on, or a secret not be there yet.
SILENT_REPORTS_MAX=15

# Of all that answer.
metrics=$(curl -sf 'http://127.0.0.1:[9500-9515]/metrics' || true)

# Auto scaling sees machines, and not what should run there.
silent=0
if [[ $metrics != *transceiver_capacity* ]]; then
  if [[ -f $STATE/silent-reports ]]; then silent=$(< "$STATE/silent-reports"); fi
  silent=$((silent + 1))
fi
keep silent-reports <<< "$silent"
if ((silent >= SILENT_REPORTS_MAX)); then
  echo 'No transceiver answers: auto scaling is asked for another machine. See its log.' >&2
  aws autoscaling set-instance-health --instance-id "$(metadata meta-data/instance-id)" --health-status Unhealthy
  exit 0
fi

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
