# Who may send what to whom. The public reaches port 3478 of the load balancer and nothing else.

locals {
  # Beside the trunk's port those of clients without UDP, whose relay may be taking over from another.
  trunk_ports = { from = 3476, to = 3479 }
  # A machine has a transceiver for each of its processors.
  media_ports     = { from = 4000, to = 4015 }
  signaling_ports = { from = 4100, to = 4115 }
  redis_port      = 6379
  # Of Cloudflare's tunnel: region1 and region2.v2.argotunnel.com.
  tunnel_networks = ["198.41.192.0/24", "198.41.200.0/24"]
  tunnel_port     = 7844

  groups = toset(["load_balancer", "relay", "transceiver", "redis"])

  ingress = {
    "load_balancer: clients by UDP"          = { group = "load_balancer", protocol = "udp", ports = [var.ports.relay, var.ports.relay], cidr = "0.0.0.0/0" }
    "load_balancer: clients by TCP"          = { group = "load_balancer", protocol = "tcp", ports = [var.ports.relay, var.ports.relay], cidr = "0.0.0.0/0" }
    "load_balancer: relays of other regions" = { group = "load_balancer", protocol = "udp", ports = [var.ports.trunk, var.ports.trunk], list = true }
    "relay: clients by UDP"                  = { group = "relay", protocol = "udp", ports = [var.ports.relay, var.ports.relay], from = "load_balancer" }
    "relay: clients by TCP, and health"      = { group = "relay", protocol = "tcp", ports = [var.ports.relay, var.ports.relay], from = "load_balancer" }
    "relay: trunk by the load balancer"      = { group = "relay", protocol = "udp", ports = [var.ports.trunk, var.ports.trunk], from = "load_balancer" }
    "relay: trunk of relays"                 = { group = "relay", protocol = "udp", ports = [local.trunk_ports.from, local.trunk_ports.to], from = "relay" }
    "relay: trunk of transceivers"           = { group = "relay", protocol = "udp", ports = [local.trunk_ports.from, local.trunk_ports.to], from = "transceiver" }
    "relay: trunk of other regions"          = { group = "relay", protocol = "udp", ports = [local.trunk_ports.from, local.trunk_ports.to], list = true }
    "transceiver: media"                     = { group = "transceiver", protocol = "udp", ports = [local.media_ports.from, local.media_ports.to], from = "relay" }
    "transceiver: signaling of others"       = { group = "transceiver", protocol = "tcp", ports = [local.signaling_ports.from, local.signaling_ports.to], from = "transceiver" }
    "redis: relays"                          = { group = "redis", protocol = "tcp", ports = [local.redis_port, local.redis_port], from = "relay" }
    "redis: transceivers"                    = { group = "redis", protocol = "tcp", ports = [local.redis_port, local.redis_port], from = "transceiver" }
  }

  egress = merge(
    {
      "load_balancer: relays by UDP"     = { group = "load_balancer", protocol = "udp", ports = [var.ports.relay, var.ports.trunk], to = "relay" }
      "load_balancer: relays by TCP"     = { group = "load_balancer", protocol = "tcp", ports = [var.ports.relay, var.ports.relay], to = "relay" }
      "relay: transceivers"              = { group = "relay", protocol = "udp", ports = [local.media_ports.from, local.media_ports.to], to = "transceiver" }
      "relay: relays"                    = { group = "relay", protocol = "udp", ports = [local.trunk_ports.from, local.trunk_ports.to], to = "relay" }
      "relay: other regions"             = { group = "relay", protocol = "udp", ports = [local.trunk_ports.from, local.trunk_ports.to], list = true }
      "relay: Redis"                     = { group = "relay", protocol = "tcp", ports = [local.redis_port, local.redis_port], to = "redis" }
      "relay: image, secrets and logs"   = { group = "relay", protocol = "tcp", ports = [443, 443], cidr = "0.0.0.0/0" }
      "transceiver: relays"              = { group = "transceiver", protocol = "udp", ports = [local.trunk_ports.from, local.trunk_ports.to], to = "relay" }
      "transceiver: signaling of others" = { group = "transceiver", protocol = "tcp", ports = [local.signaling_ports.from, local.signaling_ports.to], to = "transceiver" }
      "transceiver: Redis"               = { group = "transceiver", protocol = "tcp", ports = [local.redis_port, local.redis_port], to = "redis" }
      "transceiver: edge, models, image" = { group = "transceiver", protocol = "tcp", ports = [443, 443], cidr = "0.0.0.0/0" }
    },
    { for rule in setproduct(["udp", "tcp"], local.tunnel_networks) : "transceiver: tunnel to ${rule[1]} by ${upper(rule[0])}" => {
      group = "transceiver", protocol = rule[0], ports = [local.tunnel_port, local.tunnel_port], cidr = rule[1]
    } },
  )
}

resource "aws_security_group" "this" {
  for_each    = local.groups
  region      = var.name
  name        = "${var.deployment}-${replace(each.key, "_", "-")}"
  description = "${title(replace(each.key, "_", " "))} of ${var.deployment}"
  vpc_id      = var.network.vpc_id
  tags        = merge(local.tags, { Name = "${var.deployment}-${each.key}" })
}

# Relays and load balancers of the other regions, in one list, so that a new region changes no rule.
resource "aws_ec2_managed_prefix_list" "peers" {
  region         = var.name
  name           = "${var.deployment}-peers"
  address_family = "IPv4"
  # All of these count toward a group's 60 rules, used or not.
  max_entries = 30
  tags        = local.tags

  dynamic "entry" {
    for_each = var.networks.peers

    content {
      cidr        = entry.value
      description = "Relays and load balancer of another region"
    }
  }
}

resource "aws_vpc_security_group_ingress_rule" "this" {
  for_each                     = local.ingress
  region                       = var.name
  security_group_id            = local.group_ids[each.value.group]
  description                  = split(": ", each.key)[1]
  ip_protocol                  = each.value.protocol
  from_port                    = each.value.ports[0]
  to_port                      = each.value.ports[1]
  cidr_ipv4                    = try(each.value.cidr, null)
  prefix_list_id               = try(each.value.list, false) ? local.prefix_list_id : null
  referenced_security_group_id = try(local.group_ids[each.value.from], null)
  tags                         = merge(local.tags, { Name = each.key })
}

resource "aws_vpc_security_group_egress_rule" "this" {
  for_each                     = local.egress
  region                       = var.name
  security_group_id            = local.group_ids[each.value.group]
  description                  = split(": ", each.key)[1]
  ip_protocol                  = each.value.protocol
  from_port                    = each.value.ports[0]
  to_port                      = each.value.ports[1]
  cidr_ipv4                    = try(each.value.cidr, null)
  prefix_list_id               = try(each.value.list, false) ? local.prefix_list_id : null
  referenced_security_group_id = try(local.group_ids[each.value.to], null)
  tags                         = merge(local.tags, { Name = each.key })
}
