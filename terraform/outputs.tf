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
  description = "Stores each tunnel's token in its region, once, by hand: it is not in the state."
  value = { for region, id in module.edge.tunnel_ids : region => join(" ", [
    "cloudflared tunnel token ${id} |", "xargs aws ssm put-parameter --region ${region}",
    # Without its key, AWS takes another, and the next apply would write the parameter anew.
    "--key-id ${module.region[region].kms_key_arn}",
    "--name /${var.name}/tunnel-token --type SecureString --overwrite --value",
  ]) }
}

output "alarm_topics" {
  description = "Topic of each region's alarms, to subscribe to."
  value       = { for region, it in module.region : region => it.alarm_topic_arn }
}
