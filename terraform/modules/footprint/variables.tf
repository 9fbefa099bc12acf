variable "files" {
  description = "Texts of the region files, by region name."
  type        = map(string)
  nullable    = false

  validation {
    condition     = length(var.files) > 0
    error_message = "regions/: there is no region file."
  }
}

variable "schema" {
  description = "Text of regions/region.schema.json, by which every field is checked."
  type        = string
  nullable    = false

  validation {
    condition     = can(jsondecode(var.schema).properties.id)
    error_message = "The schema must be the text of regions/region.schema.json."
  }
}

variable "ledger" {
  description = "Ids and networks that were ever given to a region, and which of these are gone: regions/ledger.json."
  type        = map(object({ id = number, cidr = string, gone = optional(bool, false) }))
  default     = {}
  nullable    = false

  validation {
    condition     = alltrue([for entry in values(var.ledger) : can(cidrhost(entry.cidr, 0)) && entry.id >= 1])
    error_message = "regions/ledger.json: each region has an id from 1 on and a cidr."
  }
}

variable "hostname" {
  description = "Public host of the edge. Each cluster's signaling is at REGION-HOSTNAME."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z0-9-]+(\\.[a-z0-9-]+)+$", var.hostname))
    error_message = "Give a host name in small letters, as voice.example.com."
  }
}

variable "vips" {
  description = "Anycast addresses of the relays."
  type        = list(string)
  nullable    = false

  validation {
    condition     = length(var.vips) > 0 && length(var.vips) <= 4
    error_message = "Give one to four addresses; each has a UDP and a TCP candidate, and a region may have eight."
  }
}
