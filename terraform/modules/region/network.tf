# The region's network. Redis has no way out of it. Relays and transceivers do, to the image, to models and to the
# edge; what comes in is only what the load balancer lets through.

locals {
  tags = merge(var.tags, { Name = "${var.deployment}-${var.name}" })
}

resource "aws_vpc" "this" {
  region               = var.name
  cidr_block           = var.settings.cidr
  enable_dns_support   = true
  enable_dns_hostnames = true
  tags                 = local.tags

}

# Whatever is put into the default group by mistake reaches nothing.
resource "aws_default_security_group" "none" {
  region  = var.name
  vpc_id  = aws_vpc.this.id
  ingress = []
  egress  = []
  tags    = local.tags
}

resource "aws_internet_gateway" "this" {
  region = var.name
  vpc_id = aws_vpc.this.id
  tags   = local.tags
}

resource "aws_subnet" "relay" {
  for_each          = var.subnets
  region            = var.name
  vpc_id            = aws_vpc.this.id
  availability_zone = each.key
  cidr_block        = each.value.relay
  tags              = merge(local.tags, { Name = "${var.deployment}-relay-${each.key}" })
}

resource "aws_subnet" "transceiver" {
  for_each          = var.subnets
  region            = var.name
  vpc_id            = aws_vpc.this.id
  availability_zone = each.key
  cidr_block        = each.value.transceiver
  tags              = merge(local.tags, { Name = "${var.deployment}-transceiver-${each.key}" })
}

resource "aws_subnet" "load_balancer" {
  for_each          = var.subnets
  region            = var.name
  vpc_id            = aws_vpc.this.id
  availability_zone = each.key
  cidr_block        = each.value.load_balancer
  tags              = merge(local.tags, { Name = "${var.deployment}-load-balancer-${each.key}" })
}

resource "aws_subnet" "redis" {
  for_each          = var.subnets
  region            = var.name
  vpc_id            = aws_vpc.this.id
  availability_zone = each.key
  cidr_block        = each.value.redis
  tags              = merge(local.tags, { Name = "${var.deployment}-redis-${each.key}" })
}

# The one by which machines and the load balancer send; peerings add theirs. Redis is left to the main table, which
# leads nowhere else.
resource "aws_route_table" "machines" {
  region = var.name
  vpc_id = aws_vpc.this.id
  tags   = local.tags
}

resource "aws_route" "internet" {
  region                 = var.name
  route_table_id         = aws_route_table.machines.id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = aws_internet_gateway.this.id
}

resource "aws_route_table_association" "relay" {
  for_each       = aws_subnet.relay
  region         = var.name
  subnet_id      = each.value.id
  route_table_id = aws_route_table.machines.id
}

resource "aws_route_table_association" "transceiver" {
  for_each       = aws_subnet.transceiver
  region         = var.name
  subnet_id      = each.value.id
  route_table_id = aws_route_table.machines.id
}

resource "aws_route_table_association" "load_balancer" {
  for_each       = aws_subnet.load_balancer
  region         = var.name
  subnet_id      = each.value.id
  route_table_id = aws_route_table.machines.id
}

# Packages and layers of images are in S3; this way costs nothing.
resource "aws_vpc_endpoint" "s3" {
  region            = var.name
  vpc_id            = aws_vpc.this.id
  service_name      = "com.amazonaws.${var.name}.s3"
  vpc_endpoint_type = "Gateway"
  route_table_ids   = [aws_route_table.machines.id]
  tags              = local.tags
}
