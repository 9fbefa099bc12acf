/** The number that a call is judged by: how long until the caller's own voice is back. */
import { setText } from './dom.js';
import { formatMs } from './waterfall.js';

/** @param {readonly import('./call.js').Stage[]} stages */
export function showKeyNumber(stages) {
  const audio = stages.find(({ name }) => name === 'audio');
  const microphone = stages.find(({ name }) => name === 'microphone');
  if (!audio || !microphone) {
    setText('first-audio', '–');
    setText('first-audio-with', 'without the microphone prompt');
    return;
  }
  setText('first-audio', formatMs(audio.end - (microphone.end - microphone.start)));
  setText('first-audio-with', `without the microphone prompt; ${formatMs(audio.end)} with it`);
}
