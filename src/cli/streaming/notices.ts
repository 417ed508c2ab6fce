import type { StreamMessage } from '../../catalog/stream/messages.ts';
import { terminalText } from '../../core/output/terminaltext.ts';
import type { ReconnectNotice } from '../../core/stream/follow.ts';

export function lostText({ reason, wait }: ReconnectNotice): string {
  return `Not connected: ${terminalText(reason)} Next try in ${(wait / 1000).toFixed(1)} s.`;
}

/** What a resync means to whoever keeps a copy of the records. */
export function resyncText({ payload }: StreamMessage): string {
  const { requested, resumedAfter } = payload;
  const isBehind = Number(requested) <= Number(resumedAfter);
  const what = isBehind
    ? `The server no longer has the messages after ${requested}; it goes on behind ${resumedAfter}.`
    : `The server has no message ${requested}; its stream ends at ${resumedAfter}, as if it had been put back.`;
  return `Warning: messages are missing. ${what} Read again what you keep a copy of, for example with molar export.`;
}

/** For a named position that was kept with other keys; undefined where they are the same. */
export function otherKeysText(before: readonly string[], now: readonly string[]): string | undefined {
  const text = (keys: readonly string[]) => (keys.length === 0 ? '#' : keys.toSorted().join(' '));
  if (text(before) === text(now)) return undefined;
  return `The keys were ${text(before)} until now: earlier messages that only the new keys fit do not come.`;
}
