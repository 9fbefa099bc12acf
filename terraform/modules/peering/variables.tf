variable "requester" {
  description = "AWS region that asks for the peerings."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", var.requester))
    error_message = "Give the name of a region, as eu-central-1."
  }
}

variable "accepters" {
  description = "AWS regions that accept them."
  type        = set(string)
  nullable    = false

  validation {
    condition     = !contains(var.accepters, var.requester)
    error_message = "A region has no peering with itself."
  }
}

variable "networks" {
  description = "Network of each region, and the route table by which its machines send."
  type        = map(object({ cidr = string, vpc_id = string, route_table_id = string }))
  nullable    = false

  validation {
    condition     = alltrue([for network in values(var.networks) : can(cidrhost(network.cidr, 0))])
    error_message = "The cidr of each must be an IPv4 network."
  }
}

variable "tags" {
  description = "Tags of everything that takes some."
  type        = map(string)
  nullable    = false

  validation {
    condition     = length(var.tags) > 0
    error_message = "Give at least one tag."
  }
}
