# The region's network, with its way out and the table by which machines and the load balancer send. It is apart from
# what is in it, so that peerings wait for nothing else.

locals {
  tags = merge(var.tags, { Name = var.deployment })

  # Asked for by locals: else Terraform links each network's resources to those of every other, the square of them.
  vpc_id         = aws_vpc.this.id
  gateway_id     = aws_internet_gateway.this.id
  route_table_id = aws_route_table.machines.id
}

resource "aws_vpc" "this" {
  region               = var.name
  cidr_block           = var.cidr
  enable_dns_support   = true
  enable_dns_hostnames = true
  tags                 = local.tags
}

# Whatever is put into the default group by mistake reaches nothing.
resource "aws_default_security_group" "none" {
  region  = var.name
  vpc_id  = local.vpc_id
  ingress = []
  egress  = []
  tags    = local.tags
}

resource "aws_internet_gateway" "this" {
  region = var.name
  vpc_id = local.vpc_id
  tags   = local.tags
}

# Peerings add their routes to it.
resource "aws_route_table" "machines" {
  region = var.name
  vpc_id = local.vpc_id
  tags   = local.tags
}

resource "aws_route" "internet" {
  region                 = var.name
  route_table_id         = local.route_table_id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = local.gateway_id
}

# Packages and layers of images are in S3; this way costs nothing.
resource "aws_vpc_endpoint" "s3" {
  region            = var.name
  vpc_id            = local.vpc_id
  service_name      = "com.amazonaws.${var.name}.s3"
  vpc_endpoint_type = "Gateway"
  route_table_ids   = [local.route_table_id]
  tags              = local.tags
}
