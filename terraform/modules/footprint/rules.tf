# What holds between the fields of a region file, and between files; the same rules as in
# protocol/footprint-rules.ts. Each looks only at fields that are good by themselves.

locals {
  name_pattern = local.schema.properties.failover.items.pattern

  good = { for name, json in local.json : name => {
    for path, fits in local.fits[name] : path => jsondecode(json[path]) if fits && local.fields[path].type != "array"
  } }
  lists = { for name in keys(local.json) : name => {
    for path in keys(local.fields) : path => [
      for item in values(local.item_fits[name]) : jsondecode(item.json) if item.list == path && item.fits
    ] if local.fields[path].type == "array"
  } }

  octet   = "(0|[1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-5])"
  private = "^(10\\.${local.octet}|172\\.(1[6-9]|2[0-9]|3[01])|192\\.168)\\.0\\.0/16$"
  # A /23 for the transceivers of each zone is what a /20 has room for.
  zone_letters = ["a", "b", "c", "d", "e", "f", "g", "h"]

  # Of a field that stands twice Terraform takes the last and says nothing.
  keys = { for name, text in var.files : name => flatten(regexall("(?m)^([a-z_]+):", text)) }

  own_faults = flatten([for name in keys(var.files) : [for fault in concat(
    can(regex(local.name_pattern, name)) ? [] : ["name the file for its region, as eu-central-1"],
    can(jsonencode(yamldecode(var.files[name]))) ? [] : ["the file is not YAML"],
    [for at, key in local.keys[name] : "${key}: the field stands twice" if index(local.keys[name], key) < at],
    [for cidr in try([local.good[name].cidr], []) : "cidr: ${cidr} is not a private network of RFC 1918"
    if !can(regex(local.private, cidr))],
    [for zone in local.lists[name].azs : "azs: ${zone} is not a zone of ${name}" if !startswith(zone, name)],
    [for zone in local.lists[name].azs : "azs: ${zone} has no room in the network, which is cut for zones a to h"
    if !contains(local.zone_letters, substr(zone, -1, 1))],
    [for path, items in local.lists[name] : "${path} has ${join(", ", distinct([
      for at, item in items : item if index(items, item) < at
      ]))} twice"
    if length(distinct(items)) < length(items)],
    contains(local.lists[name].failover, name) ? ["failover names the region itself"] : [],
    [for other in local.lists[name].failover : "failover names ${other}, which has no file: take it out of the list"
    if other != name && !contains(keys(var.files), other)],
    [for pool in ["relay", "transceiver"] : "${pool}.min exceeds ${pool}.max"
    if try(local.good[name]["${pool}.min"] > local.good[name]["${pool}.max"], false)],
    try([for fault in local.ledger_faults[name] : fault], []),
  ) : "regions/${name}.yaml: ${fault}"]])

  # Ids are in the ufrags of calls and networks in peerings, so neither may change or come back.
  ledger_faults = { for name, good in local.good : name => concat(
    [for field in ["id", "cidr"] :
      "${field}: it is ${good[field]}, and regions/ledger.json has ${var.ledger[name][field]}: it can never change"
    if try(tostring(good[field]) != tostring(var.ledger[name][field]), false)],
    [for other, entry in var.ledger : "id: ${good.id} was given to ${other}, see regions/ledger.json: it is never given to another"
    if other != name && try(good.id == entry.id, false)],
    [for other, entry in var.ledger : "cidr: ${good.cidr} was given to ${other}, see regions/ledger.json: it is never given to another"
    if other != name && try(good.cidr == entry.cidr, false)],
  ) }

  # Of a claim that several make, only one would get what it claims.
  claims = flatten([for name in keys(var.files) : [for claim in concat(
    [for field in ["id", "cidr"] : "${field} ${local.good[name][field]}" if can(local.good[name][field])],
    [for country in distinct(local.lists[name]["geo.countries"]) : "country ${country} in geo.countries"],
    [for continent in distinct(local.lists[name]["geo.continents"]) : "continent ${continent} in geo.continents"],
    [for country in distinct(local.lists[name]["geo.overrides.countries"]) : "country ${country} in geo.overrides.countries"],
    [for colo in distinct(local.lists[name]["geo.overrides.colos"]) : "colo ${colo} in geo.overrides.colos"],
  ) : { claim = claim, file = "regions/${name}.yaml" }]])
  claimants     = { for it in local.claims : it.claim => it.file... }
  shared_faults = [for claim, files in local.claimants : "${join(" and ", files)} have the same ${claim}" if length(files) > 1]

  footprint_faults = anytrue([for good in values(local.good) : try(good.state == "active", false)]) ? [] : [
    "regions/: none of ${join(", ", sort(keys(var.files)))} has state: active, so nothing would take a call"
  ]

  # Its region would be destroyed with the calls there, though nobody said that it goes.
  missing_faults = [for name, entry in var.ledger : join("", [
    "regions/${name}.yaml: the file is missing, and regions/ledger.json does not say that ${name} is gone. ",
    "Put the file back; once it is drained, npm run region -- remove ${name} takes it away. ",
    "If nothing of it was ever built, delete its line in regions/ledger.json instead",
  ]) if !entry.gone && !contains(keys(var.files), name)]

  faults = concat(
    local.object_faults, local.field_faults, local.own_faults, local.shared_faults, local.footprint_faults,
    local.missing_faults,
  )
}
