/** Packets that fuzzing of a relay starts from: the corpus of what comes to one. */
import { readCorpus } from '../../../test/corpus/corpus.ts';

/** Of clients, whatever a relay makes of them. */
export const CLIENT_SEEDS = ['stun', 'dtls', 'rtp', 'rtcp'].flatMap(seedsOf);

/** Datagrams of the trunk. */
export const TRUNK_SEEDS = seedsOf('trunk');

function seedsOf(parser: string): Buffer[] {
  return readCorpus(parser).flatMap(({ bytes }) => (bytes.length > 0 ? [bytes] : []));
}
