variable "requester" {
  description = "The region that asks for the peering: its network, and the route table by which its machines send."
  type        = object({ region = string, cidr = string, vpc_id = string, route_table_id = string })
  nullable    = false

  validation {
    condition     = can(cidrhost(var.requester.cidr, 0))
    error_message = "The requester's cidr must be an IPv4 network."
  }
}

variable "accepter" {
  description = "The region that accepts it, likewise."
  type        = object({ region = string, cidr = string, vpc_id = string, route_table_id = string })
  nullable    = false

  validation {
    condition     = can(cidrhost(var.accepter.cidr, 0)) && var.accepter.cidr != var.requester.cidr
    error_message = "The accepter's cidr must be an IPv4 network, and not the requester's."
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
