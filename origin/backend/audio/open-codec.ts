/** Which codec a call has. */
import type { AudioCodec } from '../backend.ts';
import type { VoiceCodec } from './codec.ts';
import { G711Codec } from './g711-codec.ts';
import { openOpusCodec } from './opus-codec.ts';

export async function openCodec(codec: AudioCodec): Promise<VoiceCodec> {
  return codec === 'opus' ? openOpusCodec() : new G711Codec(codec);
}
