# What machines may do: read their own parameters, write their own logs, tell auto scaling that they are done. People
# come in by SSM sessions; there is no SSH.

locals {
  parameters = {
    relay = [
      local.shared_arns["peers"], local.shared_arns["routes"],
      local.secret_arns["routing_keys"], local.secret_arns["redis_auth"],
    ]
    transceiver = [
      local.secret_arns["routing_keys"], local.secret_arns["signing_key"],
      local.secret_arns["backend"], local.secret_arns["redis_auth"],
      local.tunnel_token_arn,
    ]
  }
  machines = keys(local.parameters)
  group_arns = { for machine in local.machines : machine =>
    "arn:aws:autoscaling:${var.name}:${var.account_id}:autoScalingGroup:*:autoScalingGroupName/${var.deployment}-${machine}"
  }
}

resource "aws_iam_role" "machine" {
  for_each = toset(local.machines)
  name     = "${var.deployment}-${each.key}-${var.name}"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "ec2.amazonaws.com" }
    }]
  })
  tags = local.tags
}

resource "aws_iam_role_policy" "machine" {
  for_each = toset(local.machines)
  name     = "machine"
  role     = local.role_names[each.key]
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [
        { Sid = "Parameters", Effect = "Allow", Action = ["ssm:GetParameter"], Resource = local.parameters[each.key] },
        { Sid = "Secrets", Effect = "Allow", Action = ["kms:Decrypt"], Resource = [local.key_arn] },
        {
          Sid      = "Logs"
          Effect   = "Allow"
          Action   = ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"]
          Resource = ["${local.log_group_arns[each.key]}:*"]
        },
        {
          Sid      = "Drain"
          Effect   = "Allow"
          Action   = ["autoscaling:CompleteLifecycleAction", "autoscaling:RecordLifecycleActionHeartbeat"]
          Resource = [local.group_arns[each.key]]
        },
        {
          Sid      = "Image"
          Effect   = "Allow"
          Action   = ["ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]
          Resource = ["arn:aws:ecr:*:${var.account_id}:repository/*"]
        },
        # These know no resource.
        { Sid = "Registry", Effect = "Allow", Action = ["ecr:GetAuthorizationToken"], Resource = ["*"] },
        {
          Sid    = "Session"
          Effect = "Allow"
          Action = [
            "ssm:UpdateInstanceInformation", "ssmmessages:CreateControlChannel", "ssmmessages:CreateDataChannel",
            "ssmmessages:OpenControlChannel", "ssmmessages:OpenDataChannel",
          ]
          Resource = ["*"]
        },
      ],
      [for statement in [
        {
          Sid       = "Sessions"
          Effect    = "Allow"
          Action    = ["cloudwatch:PutMetricData"]
          Resource  = ["*"]
          Condition = { StringEquals = { "cloudwatch:namespace" = "GlobalRelay" } }
        },
        # The load balancer says it of relays.
        { Sid = "Health", Effect = "Allow", Action = ["autoscaling:SetInstanceHealth"], Resource = [local.group_arns[each.key]] },
      ] : statement if each.key == "transceiver"],
    )
  })
}
