# What resources ask others for, by locals alone: else Terraform links each region's resources to those of every other,
# and a plan's time grows with the square of the regions.

locals {
  key_arn        = aws_kms_key.this.arn
  role_names     = { for machine, it in aws_iam_role.machine : machine => it.name }
  flow_log_role  = { name = aws_iam_role.flow_log.name, arn = aws_iam_role.flow_log.arn }
  log_group_arns = { for name, it in aws_cloudwatch_log_group.this : name => it.arn }

  shared_arns      = { for name, it in aws_ssm_parameter.shared : name => it.arn }
  secret_arns      = { for name, it in aws_ssm_parameter.secret : name => it.arn }
  tunnel_token_arn = aws_ssm_parameter.tunnel_token.arn

  relay_subnet_ids         = { for zone, it in aws_subnet.relay : zone => it.id }
  transceiver_subnet_ids   = { for zone, it in aws_subnet.transceiver : zone => it.id }
  load_balancer_subnet_ids = { for zone, it in aws_subnet.load_balancer : zone => it.id }
  redis_subnet_ids         = { for zone, it in aws_subnet.redis : zone => it.id }

  group_ids          = { for group, it in aws_security_group.this : group => it.id }
  prefix_list_id     = aws_ec2_managed_prefix_list.peers.id
  load_balancer      = { arn = aws_lb.relay.arn, arn_suffix = aws_lb.relay.arn_suffix }
  target_groups      = { for name, it in aws_lb_target_group.relay : name => { arn = it.arn, arn_suffix = it.arn_suffix } }
  redis_subnet_group = aws_elasticache_subnet_group.this.name
  alarm_topic_arn    = aws_sns_topic.alarms.arn
}
