/** The ports of a drill's processes that a plan of one-box regions does not have. */
import { choosePorts, type PortWish } from '../../local/ports.ts';
import type { Plan } from '../../local/plan.ts';

/** A port of a region, by the name of its part. */
export type PortOf = (region: string, part: string) => number;

/** @throws Error when no port is free. */
export async function chooseRegionPorts(plan: Plan): Promise<PortOf> {
  const wishes: Record<string, PortWish> = {};
  // Those of the plan are held meanwhile, so that no part gets one of them.
  const hold = (protocol: PortWish['protocol'], port: number) => {
    wishes[`${protocol} ${port}`] = { protocol, wanted: port };
  };
  hold('tcp', plan.edgePort);
  for (const { region, relay, signaling, transceivers } of plan.regions) {
    hold('udp', relay.listeners[0]!.port);
    hold('udp', relay.trunk.port);
    hold('udp', relay.tcp!.trunk.port);
    hold('tcp', relay.tcp!.listeners[0]!.port);
    hold('tcp', signaling.port);
    const want = (part: string, protocol: PortWish['protocol'] = 'tcp') => {
      wishes[`${region} ${part}`] = { protocol };
    };
    want('redis');
    want('relay admin');
    // A relay that takes the place of another has these of its own.
    want('next relay admin');
    want('next relay TCP trunk', 'udp');
    for (const { id, trunk } of transceivers) {
      hold('udp', trunk.port);
      want(`transceiver ${id} signaling`);
      want(`transceiver ${id} admin`);
    }
  }
  const ports = await choosePorts(wishes);
  return (region, part) => ports[`${region} ${part}`]!;
}
