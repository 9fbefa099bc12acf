# Subnets of each zone, by who is in them. That of Redis is left to the network's main route table, which leads nowhere
# out of it.

locals {
  tags = merge(var.tags, { Name = "${var.deployment}-${var.name}" })
}

resource "aws_subnet" "relay" {
  for_each          = var.subnets
  region            = var.name
  vpc_id            = var.network.vpc_id
  availability_zone = each.key
  cidr_block        = each.value.relay
  tags              = merge(local.tags, { Name = "${var.deployment}-relay-${each.key}" })
}

resource "aws_subnet" "transceiver" {
  for_each          = var.subnets
  region            = var.name
  vpc_id            = var.network.vpc_id
  availability_zone = each.key
  cidr_block        = each.value.transceiver
  tags              = merge(local.tags, { Name = "${var.deployment}-transceiver-${each.key}" })
}

resource "aws_subnet" "load_balancer" {
  for_each          = var.subnets
  region            = var.name
  vpc_id            = var.network.vpc_id
  availability_zone = each.key
  cidr_block        = each.value.load_balancer
  tags              = merge(local.tags, { Name = "${var.deployment}-load-balancer-${each.key}" })
}

resource "aws_subnet" "redis" {
  for_each          = var.subnets
  region            = var.name
  vpc_id            = var.network.vpc_id
  availability_zone = each.key
  cidr_block        = each.value.redis
  tags              = merge(local.tags, { Name = "${var.deployment}-redis-${each.key}" })
}

resource "aws_route_table_association" "relay" {
  for_each       = var.subnets
  region         = var.name
  subnet_id      = local.relay_subnet_ids[each.key]
  route_table_id = var.network.route_table_id
}

resource "aws_route_table_association" "transceiver" {
  for_each       = var.subnets
  region         = var.name
  subnet_id      = local.transceiver_subnet_ids[each.key]
  route_table_id = var.network.route_table_id
}

resource "aws_route_table_association" "load_balancer" {
  for_each       = var.subnets
  region         = var.name
  subnet_id      = local.load_balancer_subnet_ids[each.key]
  route_table_id = var.network.route_table_id
}

