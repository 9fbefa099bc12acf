# A private path between two regions, for what relays send each other. Every pair has one, which stays simple up to
# 10 or 15 regions (15 are 105 pairs); beyond that a Cloud WAN takes less.

locals {
  # Asked for by a local: else Terraform links each pair's resources to those of every other, the square of them.
  connection_id = aws_vpc_peering_connection.this.id
  accepted_id   = aws_vpc_peering_connection_accepter.this.id
}

resource "aws_vpc_peering_connection" "this" {
  region      = var.requester.region
  vpc_id      = var.requester.vpc_id
  peer_vpc_id = var.accepter.vpc_id
  peer_region = var.accepter.region
  auto_accept = false
  tags        = merge(var.tags, { Name = "${var.requester.region} to ${var.accepter.region}" })
}

resource "aws_vpc_peering_connection_accepter" "this" {
  region                    = var.accepter.region
  vpc_peering_connection_id = local.connection_id
  auto_accept               = true
  tags                      = merge(var.tags, { Name = "${var.requester.region} to ${var.accepter.region}" })
}

resource "aws_route" "to_accepter" {
  region                    = var.requester.region
  route_table_id            = var.requester.route_table_id
  destination_cidr_block    = var.accepter.cidr
  vpc_peering_connection_id = local.accepted_id
}

resource "aws_route" "to_requester" {
  region                    = var.accepter.region
  route_table_id            = var.accepter.route_table_id
  destination_cidr_block    = var.requester.cidr
  vpc_peering_connection_id = local.accepted_id
}
