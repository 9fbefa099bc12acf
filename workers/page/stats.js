/** The few numbers of a call that people ask for, out of the many that `getStats` gives. */

/**
 * @typedef {object} CallStats
 * @property {number} packetsIn RTP packets received.
 * @property {number} packetsOut RTP packets sent.
 * @property {number} packetsLost
 * @property {number} energyIn Energy heard since the start: grows with sound, stands still in silence.
 * @property {number} levelIn Loudness of what comes back, 0 to 1.
 * @property {number | undefined} rtt Round trip of the last connectivity check, in milliseconds.
 * @property {number | undefined} jitter Of the packets that come (RFC 3550 §6.4.1), in milliseconds.
 * @property {string | undefined} relay `ADDRESS:PORT/TRANSPORT` that media goes to.
 */

/**
 * @param {RTCStatsReport} report
 * @returns {CallStats}
 */
export function summarize(report) {
  /** @type {CallStats} */
  const summary = {
    packetsIn: 0,
    packetsOut: 0,
    packetsLost: 0,
    energyIn: 0,
    levelIn: 0,
    rtt: undefined,
    jitter: undefined,
    relay: undefined,
  };
  for (const entry of report.values()) {
    if (entry.type === 'inbound-rtp') {
      summary.packetsIn += entry.packetsReceived ?? 0;
      summary.packetsLost += entry.packetsLost ?? 0;
      summary.energyIn += entry.totalAudioEnergy ?? 0;
      summary.levelIn = Math.max(summary.levelIn, entry.audioLevel ?? 0);
      if (entry.jitter !== undefined) summary.jitter = entry.jitter * 1000;
    } else if (entry.type === 'outbound-rtp') {
      summary.packetsOut += entry.packetsSent ?? 0;
    }
  }
  const pair = selectedPair(report);
  const remote = pair && report.get(pair.remoteCandidateId);
  if (pair?.currentRoundTripTime !== undefined) summary.rtt = pair.currentRoundTripTime * 1000;
  if (remote?.address) summary.relay = `${remote.address}:${remote.port}/${remote.protocol}`;
  return summary;
}

/**
 * The pair that media goes by: the transport names it, or, in Firefox, the pair says so itself. Others may
 * be nominated as well.
 *
 * @param {RTCStatsReport} report
 */
function selectedPair(report) {
  for (const entry of report.values()) {
    if (entry.type === 'transport' && entry.selectedCandidatePairId) {
      return report.get(entry.selectedCandidatePairId);
    }
    if (entry.type === 'candidate-pair' && entry.selected) return entry;
  }
  return undefined;
}
