#!/bin/bash
# Prepares the machine, once at its first boot: network settings, then Docker and the image.
. "$(dirname "$0")/common.sh"

systemctl enable --now nftables
sysctl --system

# Only where the image is in ECR, whose passwords last hours.
registry=${IMAGE%%/*}
if [[ $registry == *.dkr.ecr.*.amazonaws.com ]]; then
  mkdir -p /root/.docker
  echo "{\"credHelpers\":{\"$registry\":\"ecr-login\"}}" > /root/.docker/config.json
fi
systemctl enable --now docker
# A registry that is busy for a moment must not cost the machine.
for _ in 1 2 3 4 5; do
  docker pull --quiet "$IMAGE" && exit 0
  sleep 5
done
echo "The image $IMAGE cannot be pulled: see that it is there and that this role may read it." >&2
exit 1
