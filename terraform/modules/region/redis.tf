# Flows and the directory of transceivers. Media goes on without it.

locals {
  redis_address = "${aws_elasticache_replication_group.this.primary_endpoint_address}:${local.redis_port}"
  redis_nodes   = [for at in range(1 + var.settings.redis.replicas) : format("${var.deployment}-%03d", at + 1)]
}

resource "aws_elasticache_subnet_group" "this" {
  region      = var.name
  name        = var.deployment
  description = "Redis of ${var.deployment}"
  subnet_ids  = values(local.redis_subnet_ids)
  tags        = local.tags
}

resource "aws_elasticache_replication_group" "this" {
  region                     = var.name
  replication_group_id       = var.deployment
  description                = "Flows and transceivers of ${var.deployment}"
  engine                     = "redis"
  engine_version             = "7.1"
  parameter_group_name       = "default.redis7"
  node_type                  = var.settings.redis.node_type
  num_cache_clusters         = length(local.redis_nodes)
  automatic_failover_enabled = var.settings.redis.replicas > 0
  multi_az_enabled           = var.settings.redis.replicas > 0
  subnet_group_name          = local.redis_subnet_group
  security_group_ids         = [local.group_ids["redis"]]
  port                       = local.redis_port
  at_rest_encryption_enabled = true
  kms_key_id                 = local.key_arn
  transit_encryption_enabled = true
  transit_encryption_mode    = "required"
  auth_token_wo              = var.secrets.redis_auth
  auth_token_wo_version      = var.secrets_version
  # Both tokens are good until the next one comes, so that machines may take the new one up in their time.
  auth_token_update_strategy = "ROTATE"
  auto_minor_version_upgrade = true
  apply_immediately          = true
  # All in it is gone within a minute by itself.
  snapshot_retention_limit = 0
  tags                     = local.tags
}
