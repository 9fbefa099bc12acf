/** What the edge's answer to a call says besides its SDP. */

/** Milliseconds by stage, from a Server-Timing header (W3C Server Timing). */
export function readServerTiming(header: string | null): Record<string, number> {
  const entries = (header ?? '').split(',').flatMap((metric) => {
    const match = /^\s*([A-Za-z0-9_-]+)\s*(?:;.*?)?;\s*dur=([0-9.]+)/.exec(metric);
    return match ? [[match[1]!, Number(match[2])] as const] : [];
  });
  return Object.fromEntries(entries);
}

/** Members of the Relay-Path header, a dictionary of strings and integers (RFC 9651). */
export function readRelayPath(header: string | null): Record<string, string> {
  const members = (header ?? '').matchAll(/([a-z*][a-z0-9_.*-]*)=(?:"([^"]*)"|(-?\d+))/g);
  return Object.fromEntries([...members].map(([, key, text, number]) => [key!, text ?? number!]));
}

/** The candidates of an SDP, as `ADDRESS:PORT/TRANSPORT` (RFC 8839 §5.1). */
export function readCandidates(sdp: string): string[] {
  const lines = sdp.matchAll(/^a=candidate:\S+ \d+ (\S+) \d+ (\S+) (\d+) typ \S+/gm);
  return [...lines].map(([, transport, address, port]) => {
    return `${address!}:${port!}/${transport!.toLowerCase()}`;
  });
}
