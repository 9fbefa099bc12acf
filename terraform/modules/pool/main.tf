# Machines of one kind that come and go by load. Each drains before it ends, whether scaling, a new version or a
# failure ends it.

locals {
  tags = merge(var.tags, { Name = var.name })
  # Times at which a security group forgets a flow. A relay keeps its own for 60 s; clients check each 2 to 6 s.
  tracking_seconds = { udp = 30, udp_stream = 60, tcp_established = 350 }
  volume_gib       = 16

  # Asked for by locals: else Terraform links each pool's resources to those of every other region's, the square of them.
  profile_arn = aws_iam_instance_profile.this.arn
  template    = { id = aws_launch_template.this.id, version = aws_launch_template.this.latest_version }
  group_name  = aws_autoscaling_group.this.name
}

resource "aws_iam_instance_profile" "this" {
  name = "${var.name}-${var.region}"
  role = var.role_name
  tags = local.tags
}

resource "aws_launch_template" "this" {
  region                 = var.region
  name                   = var.name
  image_id               = var.machine_image
  instance_type          = var.size.instance_type
  user_data              = base64encode(var.user_data)
  update_default_version = true
  ebs_optimized          = true
  tags                   = local.tags

  iam_instance_profile {
    arn = local.profile_arn
  }

  network_interfaces {
    security_groups = [var.security_group_id]
    # A way out to the image, to models and to the edge, cheaper than a NAT gateway; nothing comes in by it.
    associate_public_ip_address = true
    delete_on_termination       = true

    # Traffic by a load balancer is tracked whatever the rules, and a full table drops packets.
    connection_tracking_specification {
      udp_timeout             = local.tracking_seconds.udp
      udp_stream_timeout      = local.tracking_seconds.udp_stream
      tcp_established_timeout = local.tracking_seconds.tcp_established
    }
  }

  metadata_options {
    http_endpoint = "enabled"
    http_tokens   = "required"
    # Containers share the machine's network, so one hop is enough.
    http_put_response_hop_limit = 1
  }

  monitoring {
    # Scaling by the minute needs metrics by the minute.
    enabled = true
  }

  block_device_mappings {
    device_name = "/dev/xvda"

    ebs {
      encrypted             = true
      volume_type           = "gp3"
      volume_size           = local.volume_gib
      delete_on_termination = true
    }
  }

  dynamic "tag_specifications" {
    for_each = ["instance", "network-interface", "volume"]

    content {
      resource_type = tag_specifications.value
      tags          = local.tags
    }
  }
}

resource "aws_autoscaling_group" "this" {
  region                    = var.region
  name                      = var.name
  min_size                  = var.size.min
  max_size                  = var.size.max
  vpc_zone_identifier       = var.subnet_ids
  target_group_arns         = var.target_group_arns
  health_check_type         = length(var.target_group_arns) > 0 ? "ELB" : "EC2"
  health_check_grace_period = var.warmup_seconds
  default_instance_warmup   = var.warmup_seconds
  # Machines may drain for long, and a plan need not wait for the first ones.
  wait_for_capacity_timeout = "0"
  enabled_metrics           = ["GroupInServiceInstances"]
  termination_policies      = ["OldestLaunchTemplate", "Default"]

  launch_template {
    id      = local.template.id
    version = local.template.version
  }

  # A new version comes up before an old machine begins to drain; one that does not ends the refresh. No rollback: it
  # would start the same version anew, and a machine_image by resolve:ssm: refuses it.
  instance_refresh {
    strategy = "Rolling"

    preferences {
      min_healthy_percentage = 100
      max_healthy_percentage = 150
      instance_warmup        = tostring(var.warmup_seconds)
    }
  }

  # Default tags of the provider do not reach a group's machines.
  dynamic "tag" {
    for_each = local.tags

    content {
      key                 = tag.key
      value               = tag.value
      propagate_at_launch = true
    }
  }
}

resource "aws_autoscaling_lifecycle_hook" "drain" {
  region                 = var.region
  name                   = var.lifecycle_hook
  autoscaling_group_name = local.group_name
  lifecycle_transition   = "autoscaling:EC2_INSTANCE_TERMINATING"
  # The machine gives a sign of life each 20 s while it drains; without one it is gone, and nothing waits for it.
  heartbeat_timeout = 120
  default_result    = "CONTINUE"
}

resource "aws_autoscaling_policy" "this" {
  region                 = var.region
  name                   = "${var.name}-${lower(var.scale.metric)}"
  autoscaling_group_name = local.group_name
  policy_type            = "TargetTrackingScaling"

  target_tracking_configuration {
    target_value = var.scale.target

    customized_metric_specification {
      namespace   = var.scale.namespace
      metric_name = var.scale.metric
      statistic   = "Average"

      metric_dimension {
        name  = "AutoScalingGroupName"
        value = local.group_name
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "full" {
  region     = var.region
  alarm_name = "${var.name}-at-max"
  # A pool of a fixed size is always there.
  actions_enabled     = var.size.min < var.size.max
  alarm_description   = "The pool cannot grow any more: raise max in regions/${var.region}.yaml."
  namespace           = "AWS/AutoScaling"
  metric_name         = "GroupInServiceInstances"
  dimensions          = { AutoScalingGroupName = local.group_name }
  statistic           = "Minimum"
  period              = 300
  evaluation_periods  = 3
  comparison_operator = "GreaterThanOrEqualToThreshold"
  threshold           = var.size.max
  treat_missing_data  = "notBreaching"
  alarm_actions       = [var.alarm_topic_arn]
  ok_actions          = [var.alarm_topic_arn]
  tags                = local.tags
}
