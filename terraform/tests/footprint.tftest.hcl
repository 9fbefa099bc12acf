# The footprint alone, without a provider: which tables follow from region files, and which files are refused.

variables {
  schema   = file("../regions/region.schema.json")
  hostname = "voice.example.com"
  vips     = ["192.0.2.1", "192.0.2.2"]
  files = {
    eu-central-1 = <<-E
      id: 2
      state: draining
      cidr: 10.2.0.0/16
      azs: [eu-central-1b, eu-central-1a]
      geo: { latitude: 50.11, longitude: 8.68, weight: 2, countries: [DE] }
      failover: [us-east-1]
      relay: { instance_type: c7gn.large, min: 2, max: 8 }
      transceiver: { instance_type: c7g.large, min: 2, max: 6 }
      redis: { node_type: cache.r7g.large, replicas: 1 }
    E
    us-east-1    = <<-E
      id: 1
      state: active
      cidr: 10.1.0.0/16
      azs: [us-east-1a, us-east-1d]
      geo: { latitude: 38.95, longitude: -77.45 }
      failover: [eu-central-1]
      relay: { instance_type: c7gn.large, min: 2, max: 8 }
      transceiver: { instance_type: c7g.large, min: 2, max: 6 }
      redis: { node_type: cache.r7g.large, replicas: 1 }
    E
    sa-east-1    = <<-E
      id: 3
      state: planned
      cidr: 10.3.0.0/16
      azs: [sa-east-1a, sa-east-1c]
      geo: { latitude: -23.5, longitude: -46.6 }
      failover: []
      relay: { instance_type: c7gn.large, min: 2, max: 8 }
      transceiver: { instance_type: c7g.large, min: 2, max: 6 }
      redis: { node_type: cache.r7g.large, replicas: 1 }
    E
  }
}

run "tables" {
  command = plan
  module { source = "./modules/footprint" }

  assert {
    condition     = keys(output.peerings) == ["eu-central-1--us-east-1"]
    error_message = "Built regions are peered, each pair once."
  }
  assert {
    condition     = output.endpoint_dials == { eu-central-1 = 0, us-east-1 = 100 }
    error_message = "A draining region takes no new clients, and a planned one is not built."
  }
  assert {
    condition = output.subnets["us-east-1"]["us-east-1d"] == {
      relay         = "10.1.3.0/24"
      transceiver   = "10.1.22.0/23"
      load_balancer = "10.1.11.0/24"
      redis         = "10.1.35.0/24"
    }
    error_message = "A zone's subnets follow from its letter."
  }
  assert {
    condition = output.routing == [
      { cluster = 1, region = "us-east-1", relays = [{ address = "10.1.8.4", port = 3479 }, { address = "10.1.11.4", port = 3479 }] },
      { cluster = 2, region = "eu-central-1", relays = [{ address = "10.2.8.4", port = 3479 }, { address = "10.2.9.4", port = 3479 }] },
    ]
    error_message = "Routes lead to the load balancers of built regions, in the order of ids."
  }
  assert {
    condition     = [for it in output.steering.clusters : "${it.cluster} ${it.state}"] == ["1 active", "2 draining", "3 planned"]
    error_message = "The edge knows every region, and its state."
  }
  assert {
    condition     = output.steering.clusters[1].signaling == "https://eu-central-1-voice.example.com" && output.steering.clusters[1].failover == [1]
    error_message = "A cluster has its own host, and names those that take over by id."
  }
  assert {
    condition = [for it in output.steering.clusters[0].relays : "${it.transport} ${it.address}:${it.port}"] == [
      "udp 192.0.2.1:3478", "udp 192.0.2.2:3478", "tcp 192.0.2.1:3478", "tcp 192.0.2.2:3478",
    ]
    error_message = "Clients are told every address, UDP first."
  }
}

run "an_id_that_changed_is_refused" {
  command = plan
  module { source = "./modules/footprint" }
  variables {
    ledger = { us-east-1 = { id = 7, cidr = "10.1.0.0/16" } }
  }
  expect_failures = [output.regions]
}

run "a_network_that_changed_is_refused" {
  command = plan
  module { source = "./modules/footprint" }
  variables {
    ledger = { us-east-1 = { id = 1, cidr = "10.9.0.0/16" } }
  }
  expect_failures = [output.regions]
}

run "an_id_of_a_region_that_is_gone_is_refused" {
  command = plan
  module { source = "./modules/footprint" }
  variables {
    ledger = { ap-south-1 = { id = 3, cidr = "10.9.0.0/16", gone = true } }
  }
  expect_failures = [output.regions]
}

run "a_file_that_is_missing_is_refused" {
  command = plan
  module { source = "./modules/footprint" }
  variables {
    ledger = { ap-south-1 = { id = 9, cidr = "10.9.0.0/16" } }
  }
  expect_failures = [output.regions]
}

run "a_region_that_is_gone_needs_none" {
  command = plan
  module { source = "./modules/footprint" }
  variables {
    ledger = { ap-south-1 = { id = 9, cidr = "10.9.0.0/16", gone = true } }
  }
}

run "files_without_an_active_region_are_refused" {
  command = plan
  module { source = "./modules/footprint" }
  variables {
    files = { us-east-1 = "state: planned" }
  }
  expect_failures = [output.regions]
}

run "no_file_is_refused" {
  command = plan
  module { source = "./modules/footprint" }
  variables {
    files = {}
  }
  expect_failures = [var.files]
}

run "a_field_that_stands_twice_is_refused" {
  command = plan
  module { source = "./modules/footprint" }
  variables {
    files = { us-east-1 = replace(file("../regions/us-east-1.yaml"), "failover: [eu-central-1]", "failover: []\nid: 1") }
  }
  expect_failures = [output.regions]
}

run "the_same_file_is_taken_without_it" {
  command = plan
  module { source = "./modules/footprint" }
  variables {
    files = { us-east-1 = replace(file("../regions/us-east-1.yaml"), "failover: [eu-central-1]", "failover: []") }
  }
}
