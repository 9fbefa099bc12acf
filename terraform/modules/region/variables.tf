variable "name" {
  description = "AWS region."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", var.name))
    error_message = "Give the name of a region, as eu-central-1."
  }
}

variable "deployment" {
  description = "Name of the deployment, prefix of every name."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,15}$", var.deployment))
    error_message = "Give up to 16 small letters, digits and hyphens."
  }
}

variable "account_id" {
  description = "AWS account."
  type        = string
  nullable    = false

  validation {
    condition     = var.account_id != ""
    error_message = "Give an account."
  }
}

variable "settings" {
  description = "The region file."
  type = object({
    id          = number
    cidr        = string
    relay       = object({ instance_type = string, min = number, max = number })
    transceiver = object({ instance_type = string, min = number, max = number })
    redis       = object({ node_type = string, replicas = number })
  })
  nullable = false

  validation {
    condition     = can(cidrsubnet(var.settings.cidr, 8, 255))
    error_message = "regions/${var.name}.yaml: cidr must be a /16."
  }
}

variable "network" {
  description = "The region's network, and the table by which its machines send."
  type        = object({ vpc_id = string, route_table_id = string })
  nullable    = false

  validation {
    condition     = var.network.vpc_id != "" && var.network.route_table_id != ""
    error_message = "Give a network and a route table."
  }
}

variable "subnets" {
  description = "What the network is cut into, by zone."
  type        = map(object({ relay = string, transceiver = string, load_balancer = string, redis = string }))
  nullable    = false

  validation {
    condition     = length(var.subnets) >= 2
    error_message = "regions/${var.name}.yaml: azs must have at least two zones."
  }
}

variable "load_balancer_addresses" {
  description = "Address of the load balancer in each zone, which relays of other regions send to."
  type        = map(string)
  nullable    = false

  validation {
    condition     = length(var.load_balancer_addresses) == length(var.subnets)
    error_message = "Give an address for each zone."
  }
}

variable "networks" {
  description = "Networks of this region's relays, of its transceivers, and of each other region's relays."
  type        = object({ relays = string, transceivers = string, peers = list(string) })
  nullable    = false

  validation {
    condition     = length(var.networks.peers) <= 30
    error_message = "A full mesh of peerings carries 31 regions at most; beyond that use a Cloud WAN."
  }
}

variable "ports" {
  description = "Port of clients, and port of relays' trunk."
  type        = object({ relay = number, trunk = number })
  nullable    = false

  validation {
    condition     = var.ports.relay != var.ports.trunk
    error_message = "Clients and the trunk must have ports of their own."
  }
}

variable "routes" {
  description = "JSON of the routes to other clusters, as relays are configured with."
  type        = string
  nullable    = false

  validation {
    condition     = can(tolist(jsondecode(var.routes)))
    error_message = "The routes must be a JSON list."
  }
  validation {
    condition     = length(var.routes) <= 8192
    error_message = "The routes are ${length(var.routes)} characters long, and an SSM parameter takes 8192: use fewer zones a region."
  }
}

variable "images" {
  description = "Container images of origin/ and of cloudflared, with their digests."
  type        = object({ origin = string, tunnel = string })
  nullable    = false

  validation {
    condition     = alltrue([for image in values(var.images) : can(regex("@sha256:[0-9a-f]{64}$", image))])
    error_message = "Give each image by its digest, as registry.example/origin@sha256:…."
  }
}

variable "machine_image" {
  description = "Machine image of both pools, or resolve:ssm: and the parameter that names it."
  type        = string
  nullable    = false

  validation {
    condition     = var.machine_image != ""
    error_message = "Give a machine image."
  }
}

variable "edge_url" {
  description = "Base URL of the edge, whose roster transceivers join."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^https://[^/]+$", var.edge_url))
    error_message = "Give an https URL without a path."
  }
}

variable "secrets" {
  description = "What only the machines may know; it goes to SSM and never into the state."
  type        = object({ routing_keys = string, signing_key = string, backend = string, redis_auth = string })
  sensitive   = true
  ephemeral   = true
  nullable    = false

  validation {
    condition     = alltrue([for secret in values(var.secrets) : secret != ""])
    error_message = "Give every secret."
  }
}

variable "secrets_version" {
  description = "Number to raise by one for `secrets` to be written anew."
  type        = number
  nullable    = false

  validation {
    condition     = var.secrets_version >= 1 && floor(var.secrets_version) == var.secrets_version
    error_message = "Give a whole number from 1 on."
  }
}

variable "scale" {
  description = "What pools are held at: packets per second that a relay receives, percent of a transceiver's sessions."
  type        = object({ relay_packets_per_second = number, transceiver_percent = number })
  nullable    = false

  validation {
    condition     = var.scale.relay_packets_per_second > 0 && var.scale.transceiver_percent > 0 && var.scale.transceiver_percent <= 100
    error_message = "Packets must be above 0, and percent from 1 to 100."
  }
}

variable "drain_seconds" {
  description = "How long relays forward, and calls go on at a transceiver, once their machine is to end."
  type        = object({ relay = number, transceiver = number })
  nullable    = false

  validation {
    condition     = var.drain_seconds.relay >= 30 && var.drain_seconds.transceiver >= 0
    error_message = "Relays need 30 s at least, for the load balancer moves flows after as many."
  }
  validation {
    # A machine gives 100 signs of life at most, each good for the two minutes of the hook in modules/pool.
    condition     = max(values(var.drain_seconds)...) <= 10800
    error_message = "Auto scaling ends a machine after 12,000 s whatever it does: give 10800 s at most."
  }
}

variable "log_days" {
  description = "Days that logs are kept; one of those that CloudWatch knows."
  type        = number
  nullable    = false

  validation {
    condition     = contains([1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365], var.log_days)
    error_message = "Give 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180 or 365 days."
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
