# The footprint in the cloud. Each file in regions/ is a region; nothing here names one.

locals {
  regions_dir = "${path.root}/${var.regions_dir}"
  tags        = merge(var.tags, { app = var.name })
  edge_url    = "https://${var.hostname}"
  built       = module.footprint.built
  ledger_file = "${local.regions_dir}/ledger.json"
  ledger      = fileexists(local.ledger_file) ? jsondecode(file(local.ledger_file)) : {}
}

module "footprint" {
  source = "./modules/footprint"

  files    = { for file in fileset(local.regions_dir, "*.yaml") : trimsuffix(file, ".yaml") => file("${local.regions_dir}/${file}") }
  schema   = file("${local.regions_dir}/region.schema.json")
  ledger   = local.ledger
  hostname = var.hostname
  vips     = module.anycast.addresses
}

locals {
  unrecorded = [for region in keys(local.built) : region if !can(local.ledger[region]) || try(local.ledger[region].gone, false)]
}

check "ledger" {
  assert {
    condition     = length(local.unrecorded) == 0
    error_message = "Not in regions/ledger.json: ${join(", ", local.unrecorded)}. Until npm run region -- record adds them, their id and cidr could change, and their files go, by mistake."
  }
}

module "network" {
  source   = "./modules/network"
  for_each = local.built

  name       = each.key
  deployment = var.name
  cidr       = each.value.cidr
  tags       = merge(local.tags, { region = each.key })
}

locals {
  # Looked up once: whoever asks for one of several modules has all of them evaluated.
  networks = { for region, it in module.network : region => {
    cidr           = local.built[region].cidr
    vpc_id         = it.vpc_id
    route_table_id = it.route_table_id
  } }
}

module "region" {
  source   = "./modules/region"
  for_each = local.built

  name                    = each.key
  deployment              = var.name
  account_id              = var.aws_account_id
  settings                = each.value
  network                 = local.networks[each.key]
  subnets                 = module.footprint.subnets[each.key]
  load_balancer_addresses = module.footprint.load_balancer_addresses[each.key]
  networks = {
    relays       = module.footprint.relay_networks[each.key]
    transceivers = module.footprint.transceiver_networks[each.key]
    peers        = module.footprint.peer_relays[each.key]
  }
  ports           = module.footprint.ports
  routes          = jsonencode([for route in module.footprint.routing : route if route.region != each.key])
  images          = var.images
  machine_image   = var.machine_image
  edge_url        = local.edge_url
  secrets         = var.secrets
  secrets_version = var.secrets_version
  scale           = var.scale
  drain_seconds   = var.drain_seconds
  log_days        = var.log_days
  tags            = merge(local.tags, { region = each.key })
}

module "peering" {
  source   = "./modules/peering"
  for_each = { for it in values(module.footprint.peerings) : it.requester => it.accepter... }

  requester = each.key
  accepters = each.value
  networks  = local.networks
  tags      = local.tags
}

module "anycast" {
  source = "./modules/anycast"

  name = var.name
  port = module.footprint.ports.relay
  endpoints = { for region, dial in module.footprint.endpoint_dials : region => {
    load_balancer_arn = module.region[region].load_balancer_arn
    traffic_dial      = dial
  } }
  tags = local.tags
}

module "edge" {
  source = "./modules/edge"

  name             = var.name
  account_id       = var.cloudflare.account_id
  zone_id          = var.cloudflare.zone_id
  hostname         = var.hostname
  steering         = jsonencode(module.footprint.steering)
  signaling_hosts  = { for region in keys(local.built) : region => module.footprint.signaling_hosts[region] }
  worker           = { script = "${path.root}/${var.worker.script}", page = "${path.root}/${var.worker.page}" }
  wrangler         = file("${path.root}/../wrangler.toml")
  calls_per_minute = var.calls_per_minute
}
