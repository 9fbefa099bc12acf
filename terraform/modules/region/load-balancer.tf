# What the accelerator sends clients to, and relays of other regions send sessions to. It is internal: a client comes
# by the accelerator or not at all.

resource "aws_lb" "relay" {
  region                           = var.name
  name                             = "${var.deployment}-relay"
  load_balancer_type               = "network"
  internal                         = true
  ip_address_type                  = "ipv4"
  enable_cross_zone_load_balancing = true
  # Without one of its own, the accelerator would hide the client's address.
  security_groups = [local.group_ids["load_balancer"]]
  tags            = local.tags

  # Known ahead, for the other regions' relays are told these.
  dynamic "subnet_mapping" {
    for_each = var.load_balancer_addresses

    content {
      subnet_id            = local.load_balancer_subnet_ids[subnet_mapping.key]
      private_ipv4_address = subnet_mapping.value
    }
  }
}

locals {
  # A draining relay refuses TCP, so what asks for UDP's health is a connection to the port of clients.
  listeners = {
    clients = { port = var.ports.relay, protocol = "TCP_UDP" }
    trunk   = { port = var.ports.trunk, protocol = "UDP" }
  }
  # Seconds until the load balancer moves the flows of a relay that goes; the relay forwards for longer.
  deregistration_seconds = 30
}

resource "aws_lb_target_group" "relay" {
  for_each               = local.listeners
  region                 = var.name
  name                   = "${var.deployment}-${each.key}"
  vpc_id                 = var.network.vpc_id
  target_type            = "instance"
  protocol               = each.value.protocol
  port                   = each.value.port
  preserve_client_ip     = "true"
  connection_termination = true
  deregistration_delay   = tostring(local.deregistration_seconds)
  tags                   = local.tags

  health_check {
    protocol            = "TCP"
    port                = tostring(var.ports.relay)
    interval            = 10
    healthy_threshold   = 2
    unhealthy_threshold = 2
  }
}

resource "aws_lb_listener" "relay" {
  for_each          = local.listeners
  region            = var.name
  load_balancer_arn = local.load_balancer.arn
  protocol          = each.value.protocol
  port              = each.value.port
  tags              = local.tags

  default_action {
    type             = "forward"
    target_group_arn = local.target_groups[each.key].arn
  }
}
