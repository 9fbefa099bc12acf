variable "name" {
  description = "Name of the deployment, prefix of every name. An account can hold several."
  type        = string
  default     = "global-relay"
  nullable    = false

  validation {
    condition     = can(regex("^[a-z][a-z0-9]*(-[a-z0-9]+)*$", var.name)) && length(var.name) <= 16
    error_message = "Give up to 16 small letters, digits and single hyphens between them."
  }
  validation {
    condition     = !can(regex("^(aws|ssm|(sg|internal)(-|$))", var.name))
    error_message = "AWS keeps names for itself that begin with aws, ssm, sg- or internal-."
  }
}

variable "aws_account_id" {
  description = "AWS account that all is built in; another one is refused."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[0-9]{12}$", var.aws_account_id))
    error_message = "An account id has 12 digits."
  }
}

variable "home_region" {
  description = "AWS region of calls that are for no region, as those of IAM. It need not have a file."
  type        = string
  default     = "us-east-1"
  nullable    = false

  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", var.home_region))
    error_message = "Give the name of a region, as eu-central-1."
  }
}

variable "regions_dir" {
  description = "Folder of the region files, from here."
  type        = string
  default     = "../regions"
  nullable    = false

  validation {
    condition     = length(fileset("${path.root}/${var.regions_dir}", "*.yaml")) > 0
    error_message = "There is no region file in ${var.regions_dir}."
  }
  validation {
    condition     = length(fileset("${path.root}/${var.regions_dir}", "*.yml")) == 0
    error_message = "Name region files .yaml: ${join(", ", fileset("${path.root}/${var.regions_dir}", "*.yml"))} would not be read."
  }
}

variable "hostname" {
  description = "Public host of the edge, one label below the zone. Clusters' signaling is at REGION-HOSTNAME."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z0-9-]+(\\.[a-z0-9-]+)+$", var.hostname))
    error_message = "Give a host name in small letters, as voice.example.com."
  }
}

variable "cloudflare" {
  description = "Cloudflare account, and zone of the hosts."
  type        = object({ account_id = string, zone_id = string })
  nullable    = false

  validation {
    condition     = alltrue([for id in values(var.cloudflare) : can(regex("^[0-9a-f]{32}$", id))])
    error_message = "Each id has 32 hexadecimal digits."
  }
}

variable "worker" {
  description = "The edge's Worker: bundle and page, from here. `npx wrangler deploy --dry-run --outdir dist/worker` makes the bundle."
  type        = object({ script = string, page = string })
  default     = { script = "../dist/worker/index.js", page = "../workers/page" }
  nullable    = false

  validation {
    condition     = endswith(var.worker.script, ".js")
    error_message = "The bundle must be a file of JavaScript."
  }
}

variable "images" {
  description = "Container images of origin/ and of cloudflared, for arm64, with their digests."
  type        = object({ origin = string, tunnel = string })
  nullable    = false

  validation {
    condition     = alltrue([for image in values(var.images) : can(regex("@sha256:[0-9a-f]{64}$", image))])
    error_message = "Give each image by its digest, as registry.example/origin@sha256:…."
  }
}

variable "machine_image" {
  description = "Machine image for arm64, or resolve:ssm: and the parameter that names it: each new machine has the newest then."
  type        = string
  default     = "resolve:ssm:/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-arm64"
  nullable    = false

  validation {
    condition     = can(regex("^(ami-[0-9a-f]+|resolve:ssm:/.+)$", var.machine_image))
    error_message = "Give ami-… or resolve:ssm:/…."
  }
}

variable "secrets" {
  description = <<-E
    What only the machines may know. It goes to each region's SSM and never into the state; give it as TF_VAR_secrets.
    routing_keys and signing_key are the edge's; backend is JSON of what speaks in calls, with its API key;
    redis_auth is any 16 to 128 letters and digits.
  E
  type        = object({ routing_keys = string, signing_key = string, backend = string, redis_auth = string })
  sensitive   = true
  ephemeral   = true
  nullable    = false

  validation {
    condition     = can(regex("^[A-Za-z0-9+/]:[A-Za-z0-9+/]{22}==(,[A-Za-z0-9+/]:[A-Za-z0-9+/]{22}==)?$", var.secrets.routing_keys))
    error_message = "routing_keys is one key or two, by comma, as A:BASE64 with 16 bytes."
  }
  validation {
    condition     = can(regex("^[A-Za-z0-9+/]{43,}={0,2}(,[A-Za-z0-9+/]{43,}={0,2})?$", var.secrets.signing_key))
    error_message = "signing_key is one key or two, by comma, as BASE64 with 32 bytes or more."
  }
  validation {
    condition     = can(jsondecode(var.secrets.backend))
    error_message = "backend is JSON, as \"parrot\" with its quotes."
  }
  validation {
    condition     = can(regex("^[A-Za-z0-9]{16,128}$", var.secrets.redis_auth))
    error_message = "redis_auth is 16 to 128 letters and digits."
  }
}

variable "secrets_version" {
  description = "Raise it by one for `secrets` to be written anew."
  type        = number
  default     = 1
  nullable    = false

  validation {
    condition     = var.secrets_version >= 1 && floor(var.secrets_version) == var.secrets_version
    error_message = "Give a whole number from 1 on."
  }
}

variable "scale" {
  description = "What pools are held at: packets per second that a relay receives, and percent of a transceiver's sessions."
  type        = object({ relay_packets_per_second = number, transceiver_percent = number })
  default     = { relay_packets_per_second = 60000, transceiver_percent = 60 }
  nullable    = false

  validation {
    condition     = var.scale.relay_packets_per_second > 0 && var.scale.transceiver_percent > 0 && var.scale.transceiver_percent <= 100
    error_message = "Packets must be above 0, and percent from 1 to 100."
  }
}

variable "drain_seconds" {
  description = "How long relays forward, and calls go on at a transceiver, once their machine is to end."
  type        = object({ relay = number, transceiver = number })
  default     = { relay = 60, transceiver = 3600 }
  nullable    = false

  validation {
    condition     = var.drain_seconds.relay > 30 && var.drain_seconds.transceiver >= 0
    error_message = "Relays need more than 30 s, for the load balancer moves flows after as many."
  }
  validation {
    # A machine gives 100 signs of life at most, each good for the two minutes of the hook in modules/pool.
    condition     = max(values(var.drain_seconds)...) <= 10800
    error_message = "Auto scaling ends a machine after 12,000 s whatever it does: give 10800 s at most."
  }
}

variable "calls_per_minute" {
  description = "Most calls that one address may ask for in a minute, before the tenants' own limits count."
  type        = number
  default     = 120
  nullable    = false

  validation {
    condition     = var.calls_per_minute >= 1 && floor(var.calls_per_minute) == var.calls_per_minute
    error_message = "Give a whole number from 1 on."
  }
}

variable "log_days" {
  description = "Days that logs are kept; one of those that CloudWatch knows."
  type        = number
  default     = 30
  nullable    = false

  validation {
    condition     = contains([1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365], var.log_days)
    error_message = "Give 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180 or 365 days."
  }
}

variable "tags" {
  description = "Tags beside `app`, of everything that takes some."
  type        = map(string)
  default     = {}
  nullable    = false

  validation {
    condition     = !contains(keys(var.tags), "app")
    error_message = "The tag app is the deployment's name."
  }
}
