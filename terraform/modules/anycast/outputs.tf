output "addresses" {
  description = "The anycast addresses, two of IPv4."
  value       = flatten(aws_globalaccelerator_accelerator.this.ip_sets[*].ip_addresses)
}
