# What the other scripts share; they source it.
set -euo pipefail
shopt -s inherit_errexit
. /etc/global-relay/boot.env
export AWS_REGION

# Secrets stay in memory: /run is a tmpfs.
STATE=/run/global-relay
METADATA=http://169.254.169.254/latest

# The user of the image; it owns what only the containers may read.
CONTAINER_USER=1000

# parameter NAME: its value, decrypted.
parameter() {
  aws ssm get-parameter --with-decryption --name "$1" --query Parameter.Value --output text
}

# metadata PATH: what the instance is told of itself; fails when there is no such thing.
metadata() {
  local token
  token=$(curl -sSf -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' "$METADATA/api/token")
  curl -sf -H "X-aws-ec2-metadata-token: $token" "$METADATA/$1"
}

# keep FILE: standard input becomes the file, whole or not at all, for the container alone.
keep() {
  mkdir -p "$STATE"
  local next
  next=$(mktemp "$STATE/.XXXXXX")
  cat > "$next"
  chown "$CONTAINER_USER" "$next"
  mv "$next" "$STATE/$1"
}

# redis_url: with TLS, and the token where one is kept; it has to be of letters and digits.
redis_url() {
  local token
  token=$(parameter "$REDIS_AUTH_PARAMETER")
  echo "rediss://:$token@$REDIS_ADDRESS"
}
