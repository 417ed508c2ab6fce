import { userInfo } from 'node:os';
import type { Actor } from './entries.ts';

/** Whoever may run commands on the server's own data, as the audit log names them: `command USER` (contract §8). */
export function commandActor(): Actor {
  return { who: `command ${userName()}`, address: null, requestId: null };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container the user may have no name.
    return String(process.getuid?.() ?? 'unknown');
  }
}
