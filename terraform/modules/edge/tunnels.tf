# A tunnel per region, by which the edge reaches transceivers that have no open port. Each machine runs a connector;
# whichever takes a request passes it on to the transceiver that it is for.

locals {
  # Asked for by a local: else Terraform links each region's tunnel to the records of every other, the square of them.
  tunnel_ids = { for region, it in cloudflare_zero_trust_tunnel_cloudflared.signaling : region => it.id }
}

resource "cloudflare_zero_trust_tunnel_cloudflared" "signaling" {
  for_each   = var.signaling_hosts
  account_id = var.account_id
  name       = "${var.name}-${each.key}"
  config_src = "cloudflare"
}

resource "cloudflare_zero_trust_tunnel_cloudflared_config" "signaling" {
  for_each   = var.signaling_hosts
  account_id = var.account_id
  tunnel_id  = local.tunnel_ids[each.key]

  config = {
    ingress = [
      { hostname = each.value, service = "http://127.0.0.1:4100" },
      { service = "http_status:404" },
    ]
  }
}

resource "cloudflare_dns_record" "signaling" {
  for_each = var.signaling_hosts
  zone_id  = var.zone_id
  name     = each.value
  type     = "CNAME"
  content  = "${local.tunnel_ids[each.key]}.cfargotunnel.com"
  proxied  = true
  # Automatic, as it has to be for what is proxied.
  ttl     = 1
  comment = "Signaling of the transceivers in ${each.key}"
}
