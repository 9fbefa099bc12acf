# What machines read as they boot, and relays each minute, so that a new region restarts none.

locals {
  prefix = "/${var.deployment}"
  shared = {
    peers  = jsonencode(concat([var.networks.relays, var.networks.transceivers], var.networks.peers))
    routes = var.routes
  }
  secrets = toset(["routing_keys", "signing_key", "backend", "redis_auth"])
}

resource "aws_ssm_parameter" "shared" {
  for_each = local.shared
  region   = var.name
  name     = "${local.prefix}/${each.key}"
  type     = "String"
  # A route takes about 100 characters, and the standard tier ends at 4,096.
  tier  = "Intelligent-Tiering"
  value = each.value
  tags  = local.tags
}

resource "aws_ssm_parameter" "secret" {
  for_each         = local.secrets
  region           = var.name
  name             = "${local.prefix}/${replace(each.key, "_", "-")}"
  type             = "SecureString"
  key_id           = local.key_arn
  value_wo         = var.secrets[each.key]
  value_wo_version = var.secrets_version
  tags             = local.tags
}

# Cloudflare makes it with the tunnel, and a data source would put it into the state: it is stored by hand. Machines
# try until it is there.
resource "aws_ssm_parameter" "tunnel_token" {
  region           = var.name
  name             = "${local.prefix}/tunnel-token"
  type             = "SecureString"
  key_id           = local.key_arn
  value_wo         = "unset"
  value_wo_version = 1
  tags             = local.tags
}
