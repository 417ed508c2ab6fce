import type { StreamMessage } from '../../catalog/stream/messages.ts';
import { terminalText } from '../../core/output/terminaltext.ts';
import type { ReconnectNotice } from '../../core/stream/follow.ts';
import { nextTryText } from '../terminal/text.ts';

/** Why the stream is disconnected, and when it is tried again. */
export function lostText({ reason, wait }: ReconnectNotice): string {
  return `Not connected: ${terminalText(reason)} ${nextTryText(wait)}`;
}

/** What a resync means for a copy of the records. */
export function resyncText({ payload }: StreamMessage): string {
  const { requested, resumedAfter } = payload;
  const isBehind = Number(requested) <= Number(resumedAfter);
  const what = isBehind
    ? `The server no longer has the messages after ${requested}; it resumes after ${resumedAfter}.`
    : `The server has no message ${requested}; its stream ends at ${resumedAfter}, as if it had been restored from a backup.`;
  return `Warning: messages are missing. ${what} Refresh any copy of the records, for example with molar export.`;
}

/** A note for a position that was saved with other keys; undefined where they are the same. */
export function otherKeysText(before: readonly string[], now: readonly string[]): string | undefined {
  const text = (keys: readonly string[]) => (keys.length === 0 ? '#' : keys.toSorted().join(' '));
  if (text(before) === text(now)) return undefined;
  return `The keys were ${text(before)} before: earlier messages that match only the new keys are not delivered.`;
}
