# The addresses that all clients send to. They are the same everywhere and lead to the nearest region that is up.

locals {
  protocols = toset(["UDP", "TCP"])
  groups = merge([for protocol in local.protocols : {
    for region, it in var.endpoints : "${region} ${protocol}" => merge(it, { region = region, protocol = protocol })
  }]...)
}

resource "aws_globalaccelerator_accelerator" "this" {
  name            = var.name
  ip_address_type = "IPV4"
  enabled         = true
  tags            = merge(var.tags, { Name = var.name })

  lifecycle {
    # Clients, firewalls and allow-lists know these addresses; another accelerator has others.
    prevent_destroy = true
  }
}

resource "aws_globalaccelerator_listener" "this" {
  for_each        = local.protocols
  accelerator_arn = aws_globalaccelerator_accelerator.this.arn
  protocol        = each.key
  # A client that comes from another port of its NAT is still the same relay's.
  client_affinity = "SOURCE_IP"

  port_range {
    from_port = var.port
    to_port   = var.port
  }
}

# Whether an endpoint is up, the accelerator hears of the load balancer's own checks.
resource "aws_globalaccelerator_endpoint_group" "this" {
  for_each                = local.groups
  listener_arn            = aws_globalaccelerator_listener.this[each.value.protocol].arn
  endpoint_group_region   = each.value.region
  traffic_dial_percentage = each.value.traffic_dial

  endpoint_configuration {
    endpoint_id = each.value.load_balancer_arn
    # Relays limit and log by the client's address, and the default would hide it.
    client_ip_preservation_enabled = true
    weight                         = 128
  }
}
