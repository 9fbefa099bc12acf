output "signaling_url" {
  description = "What clients are given: the base URL of the edge."
  value       = "https://${cloudflare_workers_custom_domain.edge.hostname}"
}

output "tunnel_ids" {
  description = "The tunnel of each built region. Its token is to be stored in the region by hand."
  value       = local.tunnel_ids
}

output "kv_namespaces" {
  description = "Id of each KV namespace, by its binding."
  value = {
    FOOTPRINT = cloudflare_workers_kv_namespace.footprint.id
    TENANTS   = cloudflare_workers_kv_namespace.tenants.id
  }
}
