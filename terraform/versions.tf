terraform {
  required_version = "~> 1.11"
  required_providers {
    aws        = { source = "hashicorp/aws", version = "~> 6.66" }
    cloudflare = { source = "cloudflare/cloudflare", version = "~> 5.19" }
  }
}

# One for all regions: every resource in a region says which. What does not, as IAM, is global.
provider "aws" {
  region              = var.home_region
  allowed_account_ids = [var.aws_account_id]

  default_tags {
    tags = local.tags
  }
}

# Takes CLOUDFLARE_API_TOKEN from the environment.
provider "cloudflare" {}
