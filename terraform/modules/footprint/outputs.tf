output "regions" {
  description = "Every region by name, once all files are good."
  value       = local.regions

  precondition {
    condition     = length(local.faults) == 0
    error_message = "The region files do not fit:\n${join("\n", local.faults)}"
  }
}

output "built" {
  description = "The regions that have infrastructure: all but the planned ones."
  value       = local.built
}

output "peerings" {
  description = "Each pair of built regions once, as A--B with A before B in the alphabet."
  value       = local.peerings
}

output "relay_networks" {
  description = "The network of all relays of each built region, and of their load balancer."
  value       = local.relay_networks
}

output "peer_relays" {
  description = "Networks of the other built regions' relays and load balancers, by region."
  value       = local.peer_relays
}

output "endpoint_dials" {
  description = "Percentage of the traffic near to it that each built region takes."
  value       = { for name, it in local.built : name => it.state == "active" ? 100 : 0 }
}

output "load_balancer_addresses" {
  description = "Addresses of each built region's relays for the relays of other regions, by zone."
  value       = local.load_balancer_addresses
}

output "subnets" {
  description = "What each region's network is cut into, by zone."
  value       = local.subnets
}

output "transceiver_networks" {
  description = "The network of all transceivers of each built region."
  value       = local.transceiver_networks
}

output "signaling_hosts" {
  description = "Host at which the edge reaches a cluster's transceivers, by region."
  value       = local.signaling_hosts
}

output "steering" {
  description = "What the edge steers by: SteeringTableSchema of protocol/footprint.ts."
  value       = local.steering
}

output "routing" {
  description = "What relays route by: clusterRoutes of protocol/footprint.ts."
  value       = local.routing
}

output "ports" {
  description = "The one public port, and the one by which relays reach those of another region."
  value       = { relay = local.relay_port, trunk = local.trunk_port }
}
