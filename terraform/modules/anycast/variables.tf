variable "name" {
  description = "Name of the accelerator."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,31}$", var.name))
    error_message = "Give up to 32 small letters, digits and hyphens."
  }
}

variable "endpoints" {
  description = "By region: its load balancer, and the percentage of the traffic near to it that it takes."
  type        = map(object({ load_balancer_arn = string, traffic_dial = number }))
  nullable    = false

  validation {
    condition     = alltrue([for it in values(var.endpoints) : it.traffic_dial >= 0 && it.traffic_dial <= 100])
    error_message = "A traffic_dial goes from 0 to 100."
  }
}

variable "port" {
  description = "The one port that clients send to, by UDP and by TCP."
  type        = number
  nullable    = false

  validation {
    condition     = var.port >= 1 && var.port <= 65535
    error_message = "A port goes from 1 to 65535."
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
