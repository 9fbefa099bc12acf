variable "name" {
  description = "Name of the Worker, and prefix of all else."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,31}$", var.name))
    error_message = "Give up to 32 small letters, digits and hyphens."
  }
}

variable "account_id" {
  description = "Cloudflare account."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[0-9a-f]{32}$", var.account_id))
    error_message = "An account id has 32 hexadecimal digits."
  }
}

variable "zone_id" {
  description = "Cloudflare zone of the hosts."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[0-9a-f]{32}$", var.zone_id))
    error_message = "A zone id has 32 hexadecimal digits."
  }
}

variable "hostname" {
  description = "Public host of the edge."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z0-9-]+(\\.[a-z0-9-]+)+$", var.hostname))
    error_message = "Give a host name in small letters, as voice.example.com."
  }
}

variable "steering" {
  description = "Text of the steering table, JSON of SteeringTableSchema in protocol/footprint.ts."
  type        = string
  nullable    = false

  validation {
    condition     = can(jsondecode(var.steering).clusters)
    error_message = "The steering table must be JSON with clusters."
  }
}

variable "signaling_hosts" {
  description = "Host at which the edge reaches the transceivers of each built region, by region."
  type        = map(string)
  nullable    = false

  validation {
    condition     = alltrue([for host in values(var.signaling_hosts) : endswith(host, var.hostname)])
    error_message = "The signaling hosts must end with the edge's own."
  }
}

variable "worker" {
  description = "Path of the Worker's bundle, made by `wrangler deploy --dry-run --outdir`, and of its page's folder."
  type        = object({ script = string, page = string })
  nullable    = false

  validation {
    condition     = fileexists(var.worker.script)
    error_message = "There is no ${var.worker.script}. Make it: npx wrangler deploy --dry-run --outdir dist/worker"
  }
}

variable "wrangler" {
  description = "Text of wrangler.toml: compatibility date, Durable Objects, rate limits and dataset of the Worker."
  type        = string
  nullable    = false

  validation {
    condition = (
      length(regexall("\nclass_name = ", var.wrangler)) ==
      length(regexall("\\[\\[durable_objects.bindings\\]\\]\nname = \"\\w+\"\nclass_name = \"\\w+\"", var.wrangler))
    )
    error_message = "wrangler.toml: write each Durable Object's name and then its class_name, a line each."
  }
  validation {
    condition = (
      length(regexall("\\[\\[ratelimits\\]\\]", var.wrangler)) ==
      length(regexall("\nnamespace_id = \"\\d+\"\nsimple = \\{ limit = \\d+, period = \\d+ \\}", var.wrangler))
    )
    error_message = "wrangler.toml: write each rate limit's name, namespace_id and simple, a line each."
  }
}

variable "calls_per_minute" {
  description = "Most calls that one address may ask for in a minute, before the tenants' own limits count."
  type        = number
  nullable    = false

  validation {
    condition     = var.calls_per_minute >= 1 && floor(var.calls_per_minute) == var.calls_per_minute
    error_message = "Give a whole number from 1 on."
  }
}
