# What somebody has to be woken for.

locals {
  redis_alarms = merge([for node in local.redis_nodes : {
    "${node} is busy" = { node = node, metric = "EngineCPUUtilization" }
    "${node} is full" = { node = node, metric = "DatabaseMemoryUsagePercentage" }
  }]...)
}

resource "aws_sns_topic" "alarms" {
  region            = var.name
  name              = "${var.deployment}-alarms"
  kms_master_key_id = local.key_arn
  tags              = local.tags
}

resource "aws_cloudwatch_metric_alarm" "no_relay" {
  region              = var.name
  alarm_name          = "${var.deployment}-no-relay"
  alarm_description   = "No relay of the region takes clients; the accelerator sends them elsewhere."
  namespace           = "AWS/NetworkELB"
  metric_name         = "HealthyHostCount"
  dimensions          = { LoadBalancer = local.load_balancer.arn_suffix, TargetGroup = local.target_groups["clients"].arn_suffix }
  statistic           = "Maximum"
  period              = 60
  evaluation_periods  = 2
  comparison_operator = "LessThanThreshold"
  threshold           = 1
  treat_missing_data  = "breaching"
  alarm_actions       = [local.alarm_topic_arn]
  ok_actions          = [local.alarm_topic_arn]
  tags                = local.tags
}

resource "aws_cloudwatch_metric_alarm" "sick_relay" {
  region              = var.name
  alarm_name          = "${var.deployment}-sick-relay"
  alarm_description   = "A relay stays unhealthy, although it should have been replaced."
  namespace           = "AWS/NetworkELB"
  metric_name         = "UnHealthyHostCount"
  dimensions          = { LoadBalancer = local.load_balancer.arn_suffix, TargetGroup = local.target_groups["clients"].arn_suffix }
  statistic           = "Minimum"
  period              = 60
  evaluation_periods  = 15
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  treat_missing_data  = "notBreaching"
  alarm_actions       = [local.alarm_topic_arn]
  ok_actions          = [local.alarm_topic_arn]
  tags                = local.tags
}

resource "aws_cloudwatch_metric_alarm" "full_transceivers" {
  region              = var.name
  alarm_name          = "${var.deployment}-full-transceivers"
  alarm_description   = "Transceivers have hardly a session left; new calls go to other regions soon."
  namespace           = "GlobalRelay"
  metric_name         = "SessionUtilization"
  dimensions          = { AutoScalingGroupName = module.transceivers.group_name }
  statistic           = "Average"
  period              = 60
  evaluation_periods  = 3
  comparison_operator = "GreaterThanThreshold"
  threshold           = 90
  # No machine reports, so none takes calls.
  treat_missing_data = "breaching"
  alarm_actions      = [local.alarm_topic_arn]
  ok_actions         = [local.alarm_topic_arn]
  tags               = local.tags
}

resource "aws_cloudwatch_metric_alarm" "redis" {
  for_each            = local.redis_alarms
  region              = var.name
  alarm_name          = "${var.deployment}-redis-${replace(each.key, " ", "-")}"
  alarm_description   = "Redis ${each.key}: take a larger node_type in regions/${var.name}.yaml."
  namespace           = "AWS/ElastiCache"
  metric_name         = each.value.metric
  dimensions          = { CacheClusterId = each.value.node }
  statistic           = "Average"
  period              = 60
  evaluation_periods  = 5
  comparison_operator = "GreaterThanThreshold"
  threshold           = 80
  treat_missing_data  = "missing"
  alarm_actions       = [local.alarm_topic_arn]
  ok_actions          = [local.alarm_topic_arn]
  tags                = local.tags
}
