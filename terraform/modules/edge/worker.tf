# The edge's Worker with what it is bound to, as wrangler.toml has it for a local run.

locals {
  # By binding. A class that comes later needs a migration with a tag of its own.
  durable_objects = { ROSTER = "Roster" }

  # Calls that a tenant may start in a minute at one colo; a tenant's configuration names one of these.
  rate_limits = [60, 600, 6000]
}

resource "cloudflare_workers_kv_namespace" "footprint" {
  account_id = var.account_id
  title      = "${var.name}-footprint"
}

resource "cloudflare_workers_kv_namespace" "tenants" {
  account_id = var.account_id
  title      = "${var.name}-tenants"

  lifecycle {
    # Who may call is kept nowhere else.
    prevent_destroy = true
  }
}

# In KV and not bound to the script, so that a new region does not deploy the Worker anew.
resource "cloudflare_workers_kv" "steering" {
  account_id   = var.account_id
  namespace_id = cloudflare_workers_kv_namespace.footprint.id
  key_name     = "steering"
  value        = var.steering
}

resource "cloudflare_workers_script" "edge" {
  account_id          = var.account_id
  script_name         = var.name
  main_module         = basename(var.worker.script)
  content_file        = var.worker.script
  content_sha256      = filesha256(var.worker.script)
  compatibility_date  = "2026-11-17"
  compatibility_flags = ["nodejs_compat"]

  assets = { directory = var.worker.page }

  bindings = concat(
    [
      { type = "kv_namespace", name = "FOOTPRINT", namespace_id = cloudflare_workers_kv_namespace.footprint.id },
      { type = "kv_namespace", name = "TENANTS", namespace_id = cloudflare_workers_kv_namespace.tenants.id },
      { type = "analytics_engine", name = "CALL_POINTS", dataset = "global_relay_calls" },
      { type = "version_metadata", name = "VERSION" },
    ],
    [for binding, class in local.durable_objects : {
      type = "durable_object_namespace", name = binding, class_name = class
    }],
    [for limit in local.rate_limits : {
      type         = "ratelimit"
      name         = "CALLS_${limit}"
      namespace_id = tostring(limit)
      simple       = { limit = limit, period = 60 }
    }],
  )
  # Secrets are put with `wrangler secret put`: as bindings they would be read back into the state.
  keep_bindings = ["secret_text"]

  migrations = {
    new_tag            = "v1"
    new_sqlite_classes = values(local.durable_objects)
  }

  observability = {
    enabled = true
    logs    = { enabled = true, invocation_logs = true }
  }
}

resource "cloudflare_workers_custom_domain" "edge" {
  account_id = var.account_id
  zone_id    = var.zone_id
  hostname   = var.hostname
  service    = cloudflare_workers_script.edge.script_name
}

# Whoever asks without end is refused before a Worker runs.
resource "cloudflare_ruleset" "calls" {
  zone_id = var.zone_id
  name    = "${var.name}-calls"
  kind    = "zone"
  phase   = "http_ratelimit"

  rules = [{
    description = "Calls that one address asks for"
    expression  = "(http.host eq \"${var.hostname}\" and http.request.method eq \"POST\")"
    action      = "block"
    ratelimit = {
      characteristics     = ["ip.src", "cf.colo.id"]
      period              = 60
      requests_per_period = var.calls_per_minute
      mitigation_timeout  = 60
    }
  }]
}
