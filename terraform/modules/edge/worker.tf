# The edge's Worker with what it is bound to. What a local run needs as well is read from wrangler.toml.

locals {
  compatibility_date = regex("compatibility_date = \"([0-9-]+)\"", var.wrangler)[0]
  dataset            = regex("dataset = \"(\\w+)\"", var.wrangler)[0]
  # Classes by binding.
  durable_objects = {
    for found in regexall("name = \"(\\w+)\"\nclass_name = \"(\\w+)\"", var.wrangler) : found[0] => found[1]
  }
  rate_limits = [
    for found in regexall("name = \"(\\w+)\"\nnamespace_id = \"(\\d+)\"\nsimple = \\{ limit = (\\d+), period = (\\d+) \\}", var.wrangler) :
    { name = found[0], namespace_id = found[1], limit = tonumber(found[2]), period = tonumber(found[3]) }
  ]
  headers = "${var.worker.page}/_headers"

  # A class that comes after the first deployment needs a step with a tag of its own.
  migration = "v1"
  migrated = contains(
    try([for it in data.cloudflare_workers_scripts.all.result : it.migration_tag if it.id == var.name], []),
    local.migration,
  )
}

data "cloudflare_workers_scripts" "all" {
  account_id = var.account_id
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
  compatibility_date  = local.compatibility_date
  compatibility_flags = ["nodejs_compat"]

  assets = {
    directory = var.worker.page
    config    = { headers = fileexists(local.headers) ? file(local.headers) : null }
  }

  bindings = concat(
    [
      { type = "kv_namespace", name = "FOOTPRINT", namespace_id = cloudflare_workers_kv_namespace.footprint.id },
      { type = "kv_namespace", name = "TENANTS", namespace_id = cloudflare_workers_kv_namespace.tenants.id },
      { type = "analytics_engine", name = "CALL_POINTS", dataset = local.dataset },
      { type = "version_metadata", name = "VERSION" },
    ],
    [for binding, class in local.durable_objects : {
      type = "durable_object_namespace", name = binding, class_name = class
    }],
    [for it in local.rate_limits : {
      type         = "ratelimit"
      name         = it.name
      namespace_id = it.namespace_id
      simple       = { limit = it.limit, period = it.period }
    }],
  )
  # Secrets are put with `wrangler secret put`: as bindings they would be read back into the state.
  keep_bindings = ["secret_text"]

  # Sent twice, it has Cloudflare refuse the Worker, so the plan after the first takes it out.
  migrations = local.migrated ? null : {
    new_tag            = local.migration
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
