output "vpc_id" {
  description = "The network."
  value       = aws_vpc.this.id
}

output "route_table_id" {
  description = "The table by which machines and the load balancer send."
  value       = aws_route_table.machines.id

  # A machine that boots before there is a way out fails.
  depends_on = [aws_route.internet]
}
