# A private path between a region and each of those after it in the alphabet, for what relays send each other. A whole
# mesh stays simple up to 10 or 15 regions (15 are 105 pairs); beyond that a Cloud WAN takes less. Modules are by
# region, since a module for each pair takes Terraform longer than what is in it, and one for_each over all pairs the
# square of them.

locals {
  tags = { for accepter in var.accepters : accepter => merge(var.tags, { Name = "${var.requester} to ${accepter}" }) }

  # Asked for by locals: else Terraform links each pair's resources to those of every other, the square of them.
  connection_ids = { for accepter, it in aws_vpc_peering_connection.this : accepter => it.id }
  accepted_ids   = { for accepter, it in aws_vpc_peering_connection_accepter.this : accepter => it.id }
}

resource "aws_vpc_peering_connection" "this" {
  for_each    = var.accepters
  region      = var.requester
  vpc_id      = var.networks[var.requester].vpc_id
  peer_vpc_id = var.networks[each.key].vpc_id
  peer_region = each.key
  auto_accept = false
  tags        = local.tags[each.key]
}

resource "aws_vpc_peering_connection_accepter" "this" {
  for_each                  = var.accepters
  region                    = each.key
  vpc_peering_connection_id = local.connection_ids[each.key]
  auto_accept               = true
  tags                      = local.tags[each.key]
}

resource "aws_route" "to_accepter" {
  for_each                  = var.accepters
  region                    = var.requester
  route_table_id            = var.networks[var.requester].route_table_id
  destination_cidr_block    = var.networks[each.key].cidr
  vpc_peering_connection_id = local.accepted_ids[each.key]
}

resource "aws_route" "to_requester" {
  for_each                  = var.accepters
  region                    = each.key
  route_table_id            = var.networks[each.key].route_table_id
  destination_cidr_block    = var.networks[var.requester].cidr
  vpc_peering_connection_id = local.accepted_ids[each.key]
}
