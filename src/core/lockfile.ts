import { randomUUID } from 'node:crypto';
import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { isPlainObject } from '../catalog/fields/kind.ts';
import { removeFile, removeNow } from '../filesystem/durable.ts';
import type { Clock } from './clock.ts';
import { codeOf, Failure, fileFailure, localFailure } from './failure.ts';
import { jsonOf } from './jsontext.ts';
import { readUnlinked } from './output/ownfile.ts';

/** A process of this machine. `started`: when, in a form only for comparison; absent where unknown. */
export interface ProcessLife {
  readonly alive: boolean;
  readonly started?: string;
}

/** Who holds a lock, and how to find out whether another holder is alive. */
export interface LockOwner {
  readonly pid: number;
  readonly host: string;
  readonly clock: Clock;
  readonly lifeOf: (pid: number) => ProcessLife;
  /** What it does meanwhile, for whoever asks: `molar mirror sync`. */
  readonly command?: string;
}

/** Releases a lock; never throws, and does nothing when the lock is gone or another's. */
export type Release = () => Promise<void>;

/** The content of a lock file. `id` identifies one holding, so that a lock is never mistaken for an earlier one. */
interface Holding {
  readonly id: string;
  readonly pid?: number;
  readonly host?: string;
  readonly startedAt?: string;
  readonly processStarted?: string;
  readonly command?: string;
}

/** One whose process may be there. */
type LivingHolding = Holding & { readonly pid: number };
type LivingHolder = Omit<LivingHolding, 'processStarted'>;

/** How many steps of how many milliseconds a lock file may be empty or cut off before its writer counts as dead. */
const MAX_STEPS = 20;
const STEP = 50;

/** Maximum takers of dead locks that die one after another. */
const MAX_DEPTH = 8;

/**
 * Reserves a path for one process: a JSON file `{pid, host, startedAt}` that only one process can make. A lock whose
 * process is gone from this machine, or whose process id belongs to a younger process now, is taken over; one of
 * another machine never is. Waits up to `timeout` milliseconds for a living holder. Throws a Failure with exit code 9
 * that names the thing (`what`), the holder, since when, and the file.
 */
export async function holdLock(path: string, what: string, owner: LockOwner, timeout = 0): Promise<Release> {
  for (let waited = 0; ; waited += STEP) {
    const held = await hold(path, owner, 0);
    if (typeof held === 'function') return held;
    if (waited >= timeout) throw taken(path, what, held, owner);
    await owner.clock.sleep(STEP);
  }
}

/** The living holder of a path that `holdLock` reserves; undefined where it is free. */
export async function holderOf(path: string, owner: LockOwner): Promise<LivingHolder | undefined> {
  const holding = await read(path, owner.clock);
  return holding !== undefined && isLiving(holding, owner) ? holding : undefined;
}

/** The release, or the living holding in the way. */
async function hold(path: string, owner: LockOwner, depth: number): Promise<Release | Holding> {
  for (let step = 0; ; step++) {
    const id = create(path, owner);
    if (id !== undefined) return () => release(path, id);
    const holding = await read(path, owner.clock);
    if (holding === undefined) continue;
    if (isLiving(holding, owner) || depth >= MAX_DEPTH || step >= MAX_STEPS) return holding;
    if (!(await removeDead(path, holding, owner, depth))) await owner.clock.sleep(STEP);
  }
}

/**
 * Removes a dead lock. Of several that found it dead, one at a time may: the right to remove this very holding is a
 * lock itself, named after it, and who gets it checks again whether the holding is still there. False when another process
 * is doing so.
 */
async function removeDead(path: string, dead: Holding, owner: LockOwner, depth: number): Promise<boolean> {
  const right = await hold(`${path}.${dead.id}`, owner, depth + 1);
  if (typeof right !== 'function') return false;
  try {
    const now = await read(path, owner.clock);
    if (now?.id === dead.id) await removeFile(path);
    return true;
  } catch (cause) {
    throw cause instanceof Failure ? cause : fileFailure(`remove ${path}`, cause);
  } finally {
    await right();
  }
}

/** Makes the lock file, undefined when one is there. Synchronously, so that it is empty for a moment only. */
function create(path: string, { pid, host, clock, lifeOf, command }: LockOwner): string | undefined {
  const { started } = lifeOf(pid);
  const id = randomUUID();
  const startedAt = new Date(clock.now()).toISOString();
  const more = { ...(started !== undefined && { processStarted: started }), ...(command !== undefined && { command }) };
  const text = JSON.stringify({ pid, host, startedAt, ...more, id });
  let file: number | undefined;
  try {
    file = openSync(path, 'wx', 0o600);
    // Others would take a lock that is cut off for that of a dead process.
    if (writeSync(file, `${text}\n`) <= text.length) throw new Error('the disk took only a part of it');
    // A process that was suspended just before this line may have been taken for dead.
    return fstatSync(file).nlink === 0 ? undefined : id;
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return undefined;
    if (file !== undefined) removeNow(path);
    throw fileFailure(`write ${path}`, cause);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/**
 * The holding at a path, undefined when there is none. Waits for an empty file: its writer may be about to fill it. One that
 * is still empty or cut off after that belongs to nobody.
 */
async function read(path: string, clock: Clock): Promise<Holding | undefined> {
  try {
    for (let step = 0; ; step++) {
      // After a power cut some file systems have zeros in place of what was not synced.
      const text = (await readUnlinked(path)).replaceAll('\0', '');
      if (text.trim() !== '' && !isCutOff(text)) return holdingOf(text, path);
      if (step >= MAX_STEPS) break;
      await clock.sleep(STEP);
    }
    const { ino, ctimeMs } = await lstat(path);
    return { id: `${ino}-${Math.trunc(ctimeMs)}` };
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return undefined;
    throw cause instanceof Failure ? cause : fileFailure(`read ${path}`, cause);
  }
}

/** What a lock file begins with. */
const BEGINNING = '{"pid":';

/** Characters; none is nearly as long. */
const MAX_LENGTH = 4096;

/** Whether a power cut has left only the beginning of a lock. */
function isCutOff(text: string): boolean {
  const isBegun = text.startsWith(BEGINNING) || BEGINNING.startsWith(text);
  // Its end is the end of its only line.
  return isBegun && text.length < MAX_LENGTH && !text.includes('\n') && jsonOf(text) === undefined;
}

function holdingOf(text: string, path: string): Holding {
  const value = jsonOf(text);
  if (isPlainObject(value) && typeof value.id === 'string' && /^[-\w]+$/.test(value.id))
    return value as unknown as Holding;
  throw localFailure('local.file', `${path} is not a lock of molar.`, {
    source: path,
    hint: 'Move it away if nothing needs it, then run the command again.',
  });
}

function isLiving(holding: Holding, owner: LockOwner): holding is LivingHolding {
  const { pid, host, processStarted } = holding;
  if (pid === undefined) return false;
  if (host !== owner.host) return true;
  const { alive, started } = owner.lifeOf(pid);
  return alive && (started === undefined || processStarted === undefined || started === processStarted);
}

function taken(path: string, what: string, { pid, host, startedAt, command }: Holding, owner: LockOwner): Failure {
  const here = host === owner.host || host === undefined;
  const who =
    pid === undefined
      ? 'another process'
      : `${command === undefined ? '' : `${command}, `}process ${pid}${here ? '' : ` on ${host}`} since ${startedAt}`;
  return localFailure('local.file', `${what} is in use by ${who} (${path}).`, {
    source: path,
    hint: here ? 'Wait until that process ends.' : `Wait until that process ends; if it is gone, remove ${path}.`,
  });
}

async function release(path: string, id: string): Promise<void> {
  const text = await readUnlinked(path).catch(() => '');
  const value = jsonOf(text);
  if (isPlainObject(value) && value.id === id) await removeFile(path).catch(() => undefined);
}
