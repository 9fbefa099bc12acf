# The whole deployment with the regions as they are. The providers are mocked: this shows how the modules fit together,
# and nothing of what the clouds make of it.

mock_provider "aws" {
  # Planned and not applied, for what may not be destroyed could not be taken down again.
  override_during = plan

  mock_resource "aws_globalaccelerator_accelerator" {
    defaults = {
      ip_sets = [{ ip_family = "IPv4", ip_addresses = ["192.0.2.1", "192.0.2.2"] }]
    }
  }
}
mock_provider "cloudflare" {
  override_during = plan
}

variables {
  hostname       = "voice.example.com"
  aws_account_id = "123456789012"
  cloudflare     = { account_id = "00000000000000000000000000000000", zone_id = "00000000000000000000000000000000" }
  images = {
    origin = "registry.example/origin@sha256:0000000000000000000000000000000000000000000000000000000000000000"
    tunnel = "registry.example/tunnel@sha256:0000000000000000000000000000000000000000000000000000000000000000"
  }
  secrets = {
    routing_keys = "A:AAAAAAAAAAAAAAAAAAAAAA=="
    signing_key  = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
    backend      = "\"parrot\""
    redis_auth   = "onlyforthesetests"
  }
}

run "outputs" {
  command = plan

  assert {
    condition     = output.vips == ["192.0.2.1", "192.0.2.2"]
    error_message = "The addresses are the accelerator's."
  }
  assert {
    condition     = output.signaling_url == "https://voice.example.com"
    error_message = "Clients are given the edge."
  }
  assert {
    condition = alltrue(flatten([for it in output.steering.clusters : [for relay in it.relays :
      contains(output.vips, relay.address)
    ]]))
    error_message = "Clients send to these addresses alone."
  }
  assert {
    condition     = keys(output.alarm_topics) == sort([for it in output.routing : it.region])
    error_message = "Every built region has a topic."
  }
  assert {
    condition     = keys(output.kv_namespaces) == ["FOOTPRINT", "TENANTS"]
    error_message = "Both namespaces are told by their bindings."
  }
}

run "a_key_that_is_none_is_refused" {
  command = plan
  variables {
    secrets = { routing_keys = "A:short", signing_key = "short", backend = "parrot", redis_auth = "short" }
  }
  expect_failures = [var.secrets]
}

run "a_name_that_aws_keeps_is_refused" {
  command = plan
  variables {
    name = "sg-voice"
  }
  expect_failures = [var.name]
}

run "a_name_that_ends_with_a_hyphen_is_refused" {
  command = plan
  variables {
    name = "voice-"
  }
  expect_failures = [var.name]
}

run "a_drain_longer_than_auto_scaling_waits_is_refused" {
  command = plan
  variables {
    drain_seconds = { relay = 60, transceiver = 14400 }
  }
  expect_failures = [var.drain_seconds]
}
