variable "name" {
  description = "Name of the group and of everything in it."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,63}$", var.name))
    error_message = "Give up to 64 small letters, digits and hyphens."
  }
}

variable "region" {
  description = "AWS region."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", var.region))
    error_message = "Give the name of a region, as eu-central-1."
  }
}

variable "size" {
  description = "The pool of the region file."
  type        = object({ instance_type = string, min = number, max = number })
  nullable    = false

  validation {
    condition     = var.size.min >= 0 && var.size.min <= var.size.max
    error_message = "min goes from 0 to max."
  }
}

variable "machine_image" {
  description = "Machine image, or resolve:ssm: and the parameter that names it."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^(ami-[0-9a-f]+|resolve:ssm:/.+)$", var.machine_image))
    error_message = "Give ami-… or resolve:ssm:/…."
  }
}

variable "user_data" {
  description = "Text that cloud-init boots the machines by, without secrets."
  type        = string
  nullable    = false

  validation {
    condition     = startswith(var.user_data, "#cloud-config")
    error_message = "The text must begin with #cloud-config."
  }
}

variable "subnet_ids" {
  description = "Subnets, one per zone."
  type        = list(string)
  nullable    = false

  validation {
    condition     = length(var.subnet_ids) >= 2
    error_message = "Give the subnets of at least two zones."
  }
}

variable "security_group_id" {
  description = "Security group of the machines."
  type        = string
  nullable    = false

  validation {
    condition     = var.security_group_id != ""
    error_message = "Give a security group."
  }
}

variable "role_name" {
  description = "IAM role of the machines."
  type        = string
  nullable    = false

  validation {
    condition     = var.role_name != ""
    error_message = "Give a role."
  }
}

variable "target_group_arns" {
  description = "Target groups that the machines are in. With any, machines that these find unhealthy are replaced."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition     = length(var.target_group_arns) <= 5
    error_message = "Give five target groups at most."
  }
}

variable "lifecycle_hook" {
  description = "Name of the hook that lets a machine drain before it ends."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z-]+$", var.lifecycle_hook))
    error_message = "Give small letters and hyphens."
  }
}

variable "scale" {
  description = "The metric whose average over the machines is held at `target`."
  type        = object({ namespace = string, metric = string, target = number })
  nullable    = false

  validation {
    condition     = var.scale.target > 0
    error_message = "The target must be above 0."
  }
}

variable "warmup_seconds" {
  description = "Seconds from a machine's start until it does its share."
  type        = number
  default     = 180
  nullable    = false

  validation {
    condition     = var.warmup_seconds >= 0 && var.warmup_seconds <= 3600
    error_message = "Give 0 to 3600 seconds."
  }
}

variable "alarm_topic_arn" {
  description = "Topic that alarms go to."
  type        = string
  nullable    = false

  validation {
    condition     = var.alarm_topic_arn != ""
    error_message = "Give a topic."
  }
}

variable "tags" {
  description = "Tags of everything that takes some, machines and volumes too."
  type        = map(string)
  nullable    = false

  validation {
    condition     = length(var.tags) > 0
    error_message = "Give at least one tag."
  }
}
