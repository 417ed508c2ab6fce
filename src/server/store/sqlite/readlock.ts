import type { Connection } from './open.ts';

/**
 * The lock of the database file that every read takes and lets go of again: two calls of the system, which take longer
 * than to find a record. Connections of one process share it, so while this one holds it the others make no such calls,
 * and each of their reads still sees all that is committed when it begins. It is let go at the end of the turn, and before
 * a commit: the journal is not begun anew while anybody holds it, and would grow without end.
 */
export class ReadLock {
  private readonly connection: Connection;
  private readonly take: () => void;
  private readonly leave: () => void;

  /** `connection`: for this alone; it is closed by whoever opened it, after `release`. */
  constructor(connection: Connection) {
    this.connection = connection;
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
      // Then each read takes the lock by itself, or tells why it cannot.
      this.release();
    }
  }

  release(): void {
    if (this.connection.open && this.connection.inTransaction) this.leave();
  }
}
