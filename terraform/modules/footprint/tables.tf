# What is derived from good region files; steering and routing as protocol/footprint.ts has them.

locals {
  relay_port = 3478
  trunk_port = 3479

  regions = { for name, document in local.documents : name => document if length(local.faults) == 0 }
  built   = { for name, it in local.regions : name => it if it.state != "planned" }
  names   = sort(keys(local.built))

  peerings = merge([for at, a in local.names : {
    for b in slice(local.names, at + 1, length(local.names)) : "${a}--${b}" => { requester = a, accepter = b }
  }]...)
  # The lower /20 of a region's network is the relays' and their load balancer's, so that one network stands for all
  # that sends or takes the trunk's frames. The next is the transceivers', whole, for their ids follow from their place
  # in it.
  relay_networks       = { for name, it in local.built : name => cidrsubnet(it.cidr, 4, 0) }
  transceiver_networks = { for name, it in local.built : name => cidrsubnet(it.cidr, 4, 1) }
  peer_relays = { for name in local.names : name => [
    for other in local.names : local.relay_networks[other] if other != name
  ] }

  # By the letter of a zone, so that a zone which comes or goes moves no other.
  subnets = { for name, it in local.built : name => { for zone in it.azs : zone => {
    relay         = cidrsubnet(local.relay_networks[name], 4, index(local.zone_letters, substr(zone, -1, 1)))
    transceiver   = cidrsubnet(local.transceiver_networks[name], 3, index(local.zone_letters, substr(zone, -1, 1)))
    load_balancer = cidrsubnet(local.relay_networks[name], 4, 8 + index(local.zone_letters, substr(zone, -1, 1)))
    redis         = cidrsubnet(it.cidr, 8, 32 + index(local.zone_letters, substr(zone, -1, 1)))
  } } }
  # The first address of a subnet that AWS leaves free is the fourth.
  load_balancer_addresses = { for name, zones in local.subnets : name => {
    for zone, subnet in zones : zone => cidrhost(subnet.load_balancer, 4)
  } }

  # One label below the zone, as far as a certificate of Cloudflare's own reaches.
  signaling_hosts = { for name in keys(local.regions) : name => "${name}-${var.hostname}" }

  by_id = [for key in sort([for name, it in local.regions : format("%05d %s", it.id, name)]) : split(" ", key)[1]]
  steering = {
    version = 1
    clusters = [for name in local.by_id : merge(local.regions[name].geo, {
      cluster    = local.regions[name].id
      region     = name
      state      = local.regions[name].state
      countries  = try(local.regions[name].geo.countries, [])
      continents = try(local.regions[name].geo.continents, [])
      failover   = [for other in local.regions[name].failover : local.regions[other].id]
      signaling  = "https://${local.signaling_hosts[name]}"
      relays = flatten([for transport in ["udp", "tcp"] : [
        for address in var.vips : { address = address, port = local.relay_port, transport = transport }
      ]])
    })]
  }
  routing = [for name in local.by_id : {
    cluster = local.regions[name].id
    region  = name
    relays = [for zone in sort(local.regions[name].azs) : {
      address = local.load_balancer_addresses[name][zone]
      port    = local.trunk_port
    }]
  } if contains(local.names, name)]
}
