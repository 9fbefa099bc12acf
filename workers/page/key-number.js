/** The two numbers that a call is judged by: how soon it is connected, and how soon it is answered. */
import { setText } from './dom.js';
import { formatMs } from './waterfall.js';

const WITHOUT_PROMPT = 'from pressing Talk, without the microphone prompt';

/** @param {import('./call.js').Call} call */
export function showKeyNumbers({ stages, source, answerTime }) {
  const opened = stages.find(({ name }) => name === source);
  const dtls = stages.find(({ name }) => name === 'dtls');
  const audio = stages.find(({ name }) => name === 'audio');
  const connected = opened && dtls && dtls.end - (opened.end - opened.start);
  setText('connected', connected === undefined ? '–' : formatMs(connected));
  setText(
    'connected-note',
    dtls && source === 'microphone'
      ? `${WITHOUT_PROMPT}; ${formatMs(dtls.end)} with it`
      : WITHOUT_PROMPT,
  );
  if (source === 'tone') {
    setText('answer-title', 'First sound');
    setText('answer', dtls && audio ? formatMs(audio.end - dtls.end) : '–');
    setText('answer-note', 'after the call was connected');
    return;
  }
  setText('answer-title', 'Answered');
  setText('answer', answerTime?.last === undefined ? '–' : formatMs(answerTime.last));
  setText('answer-note', 'after you last stopped speaking; the parrot waits 500 ms to be sure');
}
