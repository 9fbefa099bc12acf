/** The few numbers of a call that people ask for, out of the many that `getStats` gives. */

/**
 * @typedef {object} CallStats
 * @property {number} packetsIn RTP packets received.
 * @property {number} packetsOut RTP packets sent.
 * @property {number} packetsLost
 * @property {number} energyIn Energy heard since the start: grows with sound, stands still in silence.
 * @property {number} levelIn Loudness of what comes back, 0 to 1.
 * @property {number} levelOut Loudness of the microphone, 0 to 1.
 * @property {number | undefined} rtt Round trip of the last connectivity check, in milliseconds.
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
    levelOut: 0,
    rtt: undefined,
    relay: undefined,
  };
  for (const entry of report.values()) {
    if (entry.type === 'inbound-rtp') {
      summary.packetsIn += entry.packetsReceived ?? 0;
      summary.packetsLost += entry.packetsLost ?? 0;
      summary.energyIn += entry.totalAudioEnergy ?? 0;
      summary.levelIn = Math.max(summary.levelIn, entry.audioLevel ?? 0);
    } else if (entry.type === 'outbound-rtp') {
      summary.packetsOut += entry.packetsSent ?? 0;
    } else if (entry.type === 'media-source') {
      summary.levelOut = Math.max(summary.levelOut, entry.audioLevel ?? 0);
    } else if (entry.type === 'candidate-pair' && entry.nominated && entry.state === 'succeeded') {
      const remote = report.get(entry.remoteCandidateId);
      if (entry.currentRoundTripTime !== undefined) summary.rtt = entry.currentRoundTripTime * 1000;
      if (remote?.address) summary.relay = `${remote.address}:${remote.port}/${remote.protocol}`;
    }
  }
  return summary;
}
