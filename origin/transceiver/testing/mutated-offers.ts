/** Offers that are nearly right, for fuzzing. */
import * as fc from 'fast-check';
import { REAL_OFFERS } from './offers.ts';

/** Real offers with lines and characters taken out, doubled, swapped and put in. */
export const mutatedOffers: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom(...Object.values(REAL_OFFERS)),
    fc.array(
      fc.record({
        kind: fc.constantFrom('drop', 'double', 'swap', 'cut', 'insert'),
        at: fc.nat(),
        text: fc.oneof(fc.string({ maxLength: 20 }), fc.string({ unit: 'binary', maxLength: 20 })),
      }),
      { maxLength: 8 },
    ),
  )
  .map(([offer, edits]) => {
    const lines = offer.split('\r\n');
    for (const { kind, at, text } of edits) {
      const i = at % lines.length;
      const line = lines[i] ?? '';
      if (kind === 'drop') lines.splice(i, 1);
      else if (kind === 'double') lines.splice(i, 0, line);
      else if (kind === 'swap') lines.push(...lines.splice(i, 1));
      else if (kind === 'cut') lines[i] = line.slice(0, at % (line.length + 1));
      else
        lines[i] =
          line.slice(0, at % (line.length + 1)) + text + line.slice(at % (line.length + 1));
    }
    return lines.join('\r\n');
  });
