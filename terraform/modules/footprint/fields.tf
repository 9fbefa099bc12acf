# Every field of every region file, checked by regions/region.schema.json. A value is looked at as JSON, for a
# conversion of Terraform's would take "9" for 9.

locals {
  schema    = jsondecode(var.schema)
  documents = { for name, text in var.files : name => try(jsondecode(jsonencode(yamldecode(text))), null) }

  # Objects and fields of the schema by dotted path; the file itself is "".
  children = { for key, it in local.schema.properties : key => it if it.type == "object" }
  grandchildren = merge([for parent, object in local.children : {
    for key, it in object.properties : "${parent}.${key}" => it if it.type == "object"
  }]...)
  objects = merge({ "" = local.schema }, local.children, local.grandchildren)
  fields = merge([for parent, object in local.objects : {
    for key, it in object.properties : trimprefix("${parent}.${key}", ".") => it if it.type != "object"
  }]...)

  # What a file has at each path; a path is not there when its parent is not an object or lacks it.
  json = { for name, document in local.documents : name => merge(
    { "" = jsonencode(document) },
    { for path in concat(keys(local.children), keys(local.fields)) : path => jsonencode(document[path])
    if length(split(".", path)) == 1 && can(document[path]) },
    { for path in concat(keys(local.grandchildren), keys(local.fields)) : path =>
      jsonencode(document[split(".", path)[0]][split(".", path)[1]])
    if length(split(".", path)) == 2 && can(document[split(".", path)[0]][split(".", path)[1]]) },
    { for path in keys(local.fields) : path =>
      jsonencode(document[split(".", path)[0]][split(".", path)[1]][split(".", path)[2]])
    if length(split(".", path)) == 3 && can(document[split(".", path)[0]][split(".", path)[1]][split(".", path)[2]]) },
  ) }

  object_faults = flatten([for name, json in local.json : [for path, object in local.objects : concat(
    contains(keys(json), path) && !startswith(lookup(json, path, "{"), "{") ? [
      "regions/${name}.yaml: ${path == "" ? "the file" : path}: give its fields, ${join(", ", object.required)}"
    ] : [],
    [for key in try(keys(jsondecode(json[path])), []) :
      "regions/${name}.yaml: ${trimprefix("${path}.${key}", ".")}: there is no such field"
    if !contains(keys(object.properties), key)],
    [for key in object.required :
      "regions/${name}.yaml: ${trimprefix("${path}.${key}", ".")}: the field is missing"
    if startswith(lookup(json, path, ""), "{") && !contains(try(keys(jsondecode(json[path])), []), key)],
  )]])

  types = {
    integer = "^-?[0-9]+$"
    number  = "^-?[0-9]"
    string  = "^\""
    array   = "^\\["
  }
  wanted = { for path, it in merge(local.fields, local.items) : path => join(" ", compact([
    "give",
    it.type == "array" ? "a list" : can(it.enum) ? "one of ${join(", ", it.enum)}" : "",
    it.type == "integer" ? "a whole number" : it.type == "number" ? "a number" : "",
    can(it.minimum) ? "from ${it.minimum} to ${it.maximum}" : "",
    can(it.minItems) ? "of at least ${it.minItems}" : "",
    can(it.pattern) ? "a text that matches ${it.pattern}${try(" (${trimsuffix(it.description, ".")})", "")}" : "",
  ])) }
  fits = { for name, json in local.json : name => { for path, it in local.fields : path => alltrue([
    can(regex(local.types[it.type], json[path])),
    try(jsondecode(json[path]) >= it.minimum && jsondecode(json[path]) <= it.maximum, !can(it.minimum)),
    try(contains(it.enum, jsondecode(json[path])), !can(it.enum)),
    !can(it.pattern) || can(regex(it.pattern, jsondecode(json[path]))),
    try(length(jsondecode(json[path])) >= it.minItems, !can(it.minItems)),
  ]) if contains(keys(json), path) } }

  # The items of lists, as azs.0.
  items = { for path, it in local.fields : "${path}[]" => it.items if it.type == "array" }
  item_fits = { for name, json in local.json : name => merge([for path, it in local.fields : {
    for at, item in try([for value in jsondecode(json[path]) : jsonencode(value)], []) :
    "${path}.${at}" => {
      list = path
      json = item
      fits = alltrue([
        startswith(item, "\""),
        try(contains(it.items.enum, jsondecode(item)), !can(it.items.enum)),
        !can(it.items.pattern) || can(regex(it.items.pattern, jsondecode(item))),
      ])
    }
  } if it.type == "array" && startswith(lookup(json, path, ""), "[")]...) }

  field_faults = flatten([for name, json in local.json : concat(
    [for path, fits in local.fits[name] :
      "regions/${name}.yaml: ${path}: ${local.wanted[path]}, not ${json[path]}"
    if !fits],
    [for path, item in local.item_fits[name] : join("", [
      "regions/${name}.yaml: ${path}: ${local.wanted["${item.list}[]"]}, not ${item.json}",
      contains(["true", "false"], item.json) ? "; YAML takes NO, ON and Y without quotes for true or false" : "",
    ]) if !item.fits],
  )])
}
