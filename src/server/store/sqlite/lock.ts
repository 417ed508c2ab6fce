import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, isBusy, openConnection } from '../../../sqlite/open.ts';
import { StoreUnusable } from '../store.ts';

/**
 * Keeps a data folder for one server. The lock is the operating system's own lock on a small database file, so it
 * is gone the moment the process is, however it died. Returns how to release it.
 */
export function lockFolder(folder: string): () => void {
  const unlock = takeFileLock(join(folder, 'server.lock'));
  if (unlock !== undefined) return unlock;
  throw new StoreUnusable(
    `Another server is running on ${folder}.`,
    'Stop it, or give this one a folder of its own with --data.',
  );
}

/** Connections that hold a lock: one that is collected as garbage is closed, and would let the lock go. */
const holding = new Set<Connection>();

/** Locks a small database file of its own, until it is released or the process ends; undefined while another has it. */
export function takeFileLock(file: string): (() => void) | undefined {
  let connection: Connection | undefined;
  try {
    connection = openConnection(file);
    connection.pragma('journal_mode = DELETE');
    connection.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    connection?.close();
    if (!isBusy(error)) throw error;
    return undefined;
  }
  const held = connection;
  holding.add(held);
  return () => {
    holding.delete(held);
    held.exec('ROLLBACK');
    held.close();
  };
}

/** Maximum time that a write waits for another process, such as an import. */
const MAX_WAIT_MS = 50_000;

/** For so long a lock is tried every millisecond: another process that writes again and again leaves it for no longer. */
const SOON_MS = 250;

/** Takes the write lock with `begin`, again and again while another process holds it. */
export async function takeLock(begin: () => unknown): Promise<void> {
  const began = Date.now();
  for (let pause = 1; ; ) {
    try {
      await begin();
      return;
    } catch (error) {
      const waited = Date.now() - began;
      if (!isBusy(error) || waited > MAX_WAIT_MS) throw error;
      await sleep(pause);
      if (waited > SOON_MS) pause = Math.min(pause * 2, 100);
    }
  }
}

/**
 * The lock of the database file that every read takes and releases: two system calls, which take longer than finding a
 * record. Connections of one process share it, so while this one holds it the others make no such calls, and each of their
 * reads still sees all that is committed when it begins. It is released at the end of the event-loop turn, and before a
 * commit: the journal is not reset while anybody holds it, and would grow without end.
 */
export class ReadLock {
  private readonly take: () => void;
  private readonly leave: () => void;

  /** `connection`: used by nothing else; whoever opened it closes it, after `release`. */
  constructor(private readonly connection: Connection) {
    const [begin, look, end] = ['BEGIN', 'SELECT 1 FROM schema_migrations', 'COMMIT'].map((text) =>
      connection.prepare(text),
    );
    this.take = () => {
      begin?.run();
      look?.get();
    };
    this.leave = () => end?.run();
  }

  /** Holds the lock until this turn of the event loop has read what came in. */
  hold(): void {
    if (this.connection.inTransaction) return;
    try {
      this.take();
      setImmediate(() => this.release());
    } catch {
      // Then each read takes the lock by itself, or says why it cannot.
      this.release();
    }
  }

  release(): void {
    if (this.connection.open && this.connection.inTransaction) this.leave();
  }
}
