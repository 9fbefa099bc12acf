# Logs of machines and of refused packets, under a key of the region's own.

resource "aws_kms_key" "this" {
  region                  = var.name
  description             = "Secrets, logs and Redis of ${var.deployment}"
  enable_key_rotation     = true
  deletion_window_in_days = 30
  tags                    = local.tags
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "Account"
        Effect    = "Allow"
        Principal = { AWS = "arn:aws:iam::${var.account_id}:root" }
        Action    = "kms:*"
        Resource  = "*"
      },
      {
        Sid       = "Logs"
        Effect    = "Allow"
        Principal = { Service = "logs.${var.name}.amazonaws.com" }
        Action    = ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"]
        Resource  = "*"
        Condition = { ArnLike = {
          "kms:EncryptionContext:aws:logs:arn" = "arn:aws:logs:${var.name}:${var.account_id}:log-group:/${var.deployment}/*"
        } }
      },
      {
        Sid       = "Alarms"
        Effect    = "Allow"
        Principal = { Service = "cloudwatch.amazonaws.com" }
        Action    = ["kms:Decrypt", "kms:GenerateDataKey*"]
        Resource  = "*"
        Condition = { StringEquals = { "aws:SourceAccount" = var.account_id } }
      },
    ]
  })
}

resource "aws_cloudwatch_log_group" "this" {
  for_each          = toset(["relay", "transceiver", "network"])
  region            = var.name
  name              = "/${var.deployment}/${each.key}"
  retention_in_days = var.log_days
  kms_key_id        = local.key_arn
  tags              = local.tags
}

resource "aws_iam_role" "flow_log" {
  name = "${var.deployment}-flow-log-${var.name}"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "vpc-flow-logs.amazonaws.com" }
      Condition = { StringEquals = { "aws:SourceAccount" = var.account_id } }
    }]
  })
  tags = local.tags
}

resource "aws_iam_role_policy" "flow_log" {
  name = "logs"
  role = local.flow_log_role.name
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"]
      Resource = ["${local.log_group_arns["network"]}:*"]
    }]
  })
}

resource "aws_flow_log" "refused" {
  region          = var.name
  vpc_id          = var.network.vpc_id
  log_destination = local.log_group_arns["network"]
  iam_role_arn    = local.flow_log_role.arn
  # What is accepted is a line for each call and direction each minute, and relays count it.
  traffic_type             = "REJECT"
  max_aggregation_interval = 60
  tags                     = local.tags
}
