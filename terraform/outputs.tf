output "vips" {
  description = "The addresses that clients send media to."
  value       = module.anycast.addresses
}

output "signaling_url" {
  description = "What clients are given."
  value       = module.edge.signaling_url
}

output "steering" {
  description = "What the edge steers by."
  value       = module.footprint.steering
}

output "routing" {
  description = "What relays route by."
  value       = module.footprint.routing
}

output "tunnel_token_commands" {
  description = "A line for each region that stores its tunnel's token there, once, by hand: it is not in the state."
  value = join("", [for region, id in module.edge.tunnel_ids : join(" ", [
    "curl --silent --show-error --fail --header \"Authorization: Bearer $CLOUDFLARE_API_TOKEN\"",
    "https://api.cloudflare.com/client/v4/accounts/${var.cloudflare.account_id}/cfd_tunnel/${id}/token |",
    "jq --raw-output '.result // empty' | xargs aws ssm put-parameter --region ${region}",
    # Without its key, AWS takes another, and the next apply would write the parameter anew.
    "--key-id ${module.region[region].kms_key_arn}",
    "--name /${var.name}/tunnel-token --type SecureString --overwrite --value\n",
  ])])
}

output "kv_namespaces" {
  description = "Ids of the Worker's KV namespaces, by binding: what `wrangler kv key put` takes as --namespace-id."
  value       = module.edge.kv_namespaces
}

output "alarm_topics" {
  description = "Topic of each region's alarms, to subscribe to."
  value       = { for region, it in module.region : region => it.alarm_topic_arn }
}
