output "load_balancer_arn" {
  description = "What the accelerator sends clients to."
  value       = aws_lb.relay.arn

  # An endpoint without its listeners is never healthy, and one without a way to the Internet is refused.
  depends_on = [aws_lb_listener.relay, aws_route_table_association.load_balancer]
}

output "alarm_topic_arn" {
  description = "Topic of the region's alarms; who subscribes is told."
  value       = aws_sns_topic.alarms.arn
}

output "kms_key_arn" {
  description = "Key of the region's secrets and logs."
  value       = aws_kms_key.this.arn
}
