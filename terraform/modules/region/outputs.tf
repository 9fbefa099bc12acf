output "vpc_id" {
  description = "The network, for peerings."
  value       = aws_vpc.this.id
}

output "route_table_id" {
  description = "The table that peerings add their routes to."
  value       = aws_route_table.machines.id
}

output "load_balancer_arn" {
  description = "What the accelerator sends clients to."
  value       = aws_lb.relay.arn

  # An endpoint without its listeners is never healthy.
  depends_on = [aws_lb_listener.relay]
}

output "alarm_topic_arn" {
  description = "Topic of the region's alarms; who subscribes is told."
  value       = aws_sns_topic.alarms.arn
}
