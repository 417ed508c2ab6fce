import { expect, it } from 'vitest';
import { lostText, otherKeysText, resyncText } from '../../../src/cli/streaming/notices.ts';
import { messageOf } from '../../core/stream/messages.ts';

const GONE =
  /^Warning: messages are missing\. The server no longer has the messages after \d+; it resumes after \d+\. Refresh/;
const OTHER = /^Warning: messages are missing\. The server has no message \d+; its stream ends at \d+, as if it had/;

it.each([
  [7, 40, GONE],
  // In another history.
  [40, 40, GONE],
  [41, 40, OTHER],
  // As numbers, not as texts.
  [9, 10, GONE],
  [10, 9, OTHER],
])('a resync from %i to %i is told as what it is', (requested, resumedAfter, text) => {
  expect(resyncText(messageOf(resumedAfter, { payload: { requested, resumedAfter } }))).toMatch(text);
});

it.each([
  [[], ['#'], undefined],
  [['a.#', 'b.#'], ['b.#', 'a.#'], undefined],
  [
    ['b.#', 'a.#'],
    [],
    'The keys were a.# b.# before: earlier messages that match only the new keys are not delivered.',
  ],
  [[], ['a.#'], 'The keys were # before: earlier messages that match only the new keys are not delivered.'],
])('keys that were %j and are %j are other ones or not', (before, now, text) => {
  expect(otherKeysText(before, now)).toBe(text);
});

it('what the other side says is safe for a terminal', () => {
  const text = lostText({ reason: 'No \u001b[31m.', wait: 500, failed: 1 });
  expect(text).toBe('Not connected: No \ufffd[31m. Next try in 0.5 s.');
});
