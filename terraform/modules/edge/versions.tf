terraform {
  required_version = "~> 1.11"
  required_providers {
    # 5.19 is the first that takes rate limits of a Worker.
    cloudflare = { source = "cloudflare/cloudflare", version = "~> 5.19" }
  }
}
