# The machines: relays behind the load balancer, transceivers behind them.

locals {
  boot             = { for file in fileset("${path.module}/boot", "*") : file => file("${path.module}/boot/${file}") }
  lifecycle_hook   = "drain"
  relay_pool       = "${var.deployment}-relay"
  transceiver_pool = "${var.deployment}-transceiver"
}

module "relays" {
  source = "../pool"

  name              = local.relay_pool
  region            = var.name
  size              = var.settings.relay
  machine_image     = var.machine_image
  subnet_ids        = [for it in aws_route_table_association.relay : it.subnet_id]
  security_group_id = aws_security_group.this["relay"].id
  role_name         = aws_iam_role.machine["relay"].name
  target_group_arns = [for group in aws_lb_target_group.relay : group.arn]
  lifecycle_hook    = local.lifecycle_hook
  alarm_topic_arn   = aws_sns_topic.alarms.arn
  tags              = local.tags
  # Packets of a minute.
  scale = { namespace = "AWS/EC2", metric = "NetworkPacketsIn", target = 60 * var.scale.relay_packets_per_second }

  user_data = templatefile("${path.module}/boot/relay.yaml.tftpl", {
    files                  = local.boot
    region                 = var.name
    cluster                = var.settings.id
    image                  = var.images.origin
    peers_parameter        = aws_ssm_parameter.shared["peers"].name
    routes_parameter       = aws_ssm_parameter.shared["routes"].name
    routing_keys_parameter = aws_ssm_parameter.secret["routing_keys"].name
    redis_address          = local.redis_address
    redis_auth_parameter   = aws_ssm_parameter.secret["redis_auth"].name
    log_group              = aws_cloudwatch_log_group.this["relay"].name
    autoscaling_group      = local.relay_pool
    lifecycle_hook         = local.lifecycle_hook
    drain_seconds          = var.drain_seconds.relay
  })
}

module "transceivers" {
  source = "../pool"

  name              = local.transceiver_pool
  region            = var.name
  size              = var.settings.transceiver
  machine_image     = var.machine_image
  subnet_ids        = [for it in aws_route_table_association.transceiver : it.subnet_id]
  security_group_id = aws_security_group.this["transceiver"].id
  role_name         = aws_iam_role.machine["transceiver"].name
  lifecycle_hook    = local.lifecycle_hook
  alarm_topic_arn   = aws_sns_topic.alarms.arn
  tags              = local.tags
  scale             = { namespace = "GlobalRelay", metric = "SessionUtilization", target = var.scale.transceiver_percent }

  user_data = templatefile("${path.module}/boot/transceiver.yaml.tftpl", {
    files                  = local.boot
    region                 = var.name
    cluster                = var.settings.id
    image                  = var.images.origin
    tunnel_image           = var.images.tunnel
    peers                  = [var.networks.relays]
    edge                   = var.edge_url
    routing_keys_parameter = aws_ssm_parameter.secret["routing_keys"].name
    signing_key_parameter  = aws_ssm_parameter.secret["signing_key"].name
    backend_parameter      = aws_ssm_parameter.secret["backend"].name
    tunnel_token_parameter = aws_ssm_parameter.tunnel_token.name
    redis_address          = local.redis_address
    redis_auth_parameter   = aws_ssm_parameter.secret["redis_auth"].name
    log_group              = aws_cloudwatch_log_group.this["transceiver"].name
    autoscaling_group      = local.transceiver_pool
    lifecycle_hook         = local.lifecycle_hook
    drain_seconds          = var.drain_seconds.transceiver
  })
}
