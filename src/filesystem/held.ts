import { basename } from 'node:path';
import { codeOf, system } from './system.ts';

/** Who is told what the file system waits for, and whose signal ends the waiting. */
export interface Attendant {
  readonly say: (text: string) => void;
  /** Read when there is something to wait for: reading it may change what signals do. */
  readonly signal?: AbortSignal;
}

let attendant: Attendant = { say: () => undefined };

/** Names who is told from now on, by this process. */
export function attend(to: Attendant): void {
  attendant = to;
}

/** Tells the attendant. */
export function tell(text: string): void {
  attendant.say(text);
}

/** A file that another program kept open for as long as molar waits, or that this user may not change. */
export class FileHeld extends Error {
  /** What the user can do. */
  readonly next: string;

  constructor(path: string, cause: unknown) {
    super('another program has it open, or you may not change it', { cause });
    this.name = 'FileHeld';
    this.next = `Close the program that has ${basename(path)} open, or check its permissions, then run the command again.`;
  }
}

/** What Windows says of a file that another program has open without sharing it, and of a folder with such a file. */
const HELD: readonly (string | undefined)[] = ['EBUSY', 'EPERM', 'EACCES', 'ENOTEMPTY'];

/** Milliseconds: after so many the user is told, and after so many it fails; pauses between two attempts grow. */
const TOLD_AFTER = 3000;
const GIVEN_UP_AFTER = 60_000;
const FIRST_PAUSE = 10;
const LONGEST_PAUSE = 500;

/**
 * Does `work`, which renames or removes `path`. On Windows a spreadsheet, a virus scanner or an indexer may have it open:
 * then again for up to a minute, after which it throws `FileHeld`. A signal ends the waiting with its reason. Elsewhere
 * an open file is in nobody's way, and the first error is thrown.
 */
export async function whileHeld<T>(path: string, work: () => Promise<T>): Promise<T> {
  if (system.platform !== 'win32') return work();
  let waited = 0;
  for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    try {
      return await work();
    } catch (cause) {
      if (!HELD.includes(codeOf(cause))) throw cause;
      if (waited >= GIVEN_UP_AFTER) throw new FileHeld(path, cause);
    }
    const { signal } = attendant;
    await system.sleep(pause, signal).catch((cause: unknown) => Promise.reject(signal?.reason ?? cause));
    const isNews = waited < TOLD_AFTER && waited + pause >= TOLD_AFTER;
    waited += pause;
    if (isNews) tell(`Waiting for ${basename(path)}: close the program that has it open.`);
  }
}
