/** What a client under test heard of its own tone, measured by the client or from its samples. */
import * as v from 'valibot';

/** Frequency that every client says, in Hz. */
export const TONE_HZ = 620;

export const HeardSchema = v.object({
  /** Share of the tone in the power of what came back, 0 to 1. */
  toneShare: v.number(),
  /** Share of a tone that nobody said. */
  otherShare: v.number(),
  /** Whether a message on the data channel came back as it went. */
  dataEchoed: v.boolean(),
});

export type Heard = v.InferOutput<typeof HeardSchema>;

/** Frequency that nobody says, in Hz. */
export const OTHER_HZ = 990;
