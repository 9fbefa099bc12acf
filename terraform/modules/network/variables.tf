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

variable "cidr" {
  description = "The region's /16."
  type        = string
  nullable    = false

  validation {
    condition     = can(cidrsubnet(var.cidr, 8, 255))
    error_message = "regions/${var.name}.yaml: cidr must be a /16."
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
