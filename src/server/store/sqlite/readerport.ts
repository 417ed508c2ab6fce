import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { FairShares } from '../../fairscheduling.ts';
import type { Reader, Statement } from '../store.ts';
import { SideReader, type SideReply, type SideStatement } from './sidereader.ts';

/** Time without a statement after which the thread ends, in milliseconds: it takes some 10 MB of memory. */
const IDLE_MS = 30_000;

/** Reads in a thread of its own, which is started when it is needed: one statement at a time, and its owners take turns. */
export class ReaderThread {
  private readonly turns = new FairShares(1, 1);
  private worker: Worker | undefined;
  private here: SideReader | undefined;
  private idle: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(private readonly file: string) {}

  /** The reader for an owner, such as the key of an organization. */
  for(owner: unknown): Reader {
    const rows = (statement: Statement) => this.turns.run(owner, () => this.read(statement));
    return {
      all: async <T extends object>(statement: Statement) => (await rows(statement)) as T[],
      get: async <T extends object>(statement: Statement) => (await rows(statement))[0] as T | undefined,
    };
  }

  /** Ends the thread, and with it a statement that is under way, which then fails. */
  async close(): Promise<void> {
    this.closed = true;
    this.here?.close();
    await this.end();
  }

  private async read(statement: Statement): Promise<object[]> {
    if (this.closed) throw new Error('The store is closed.');
    clearTimeout(this.idle);
    try {
      const rows: object[] = [];
      let reply = await this.ask({ sql: statement.sql, values: statement.values });
      rows.push(...rowsOf(reply));
      while (reply.more === true) {
        reply = await this.ask(undefined);
        rows.push(...rowsOf(reply));
      }
      return rows;
    } finally {
      this.idle = setTimeout(() => this.end(), IDLE_MS).unref();
    }
  }

  private async ask(statement: SideStatement | undefined): Promise<SideReply> {
    if (!CAN_BE_APART) {
      this.here ??= new SideReader(this.file);
      return this.here.reply(statement);
    }
    const worker = this.start();
    // While nobody waits for it, it keeps no process alive.
    worker.ref();
    worker.postMessage(statement);
    try {
      const [reply] = await once(worker, 'message');
      return reply as SideReply;
    } finally {
      worker.unref();
    }
  }

  private start(): Worker {
    if (this.worker !== undefined) return this.worker;
    const worker = new Worker(new URL('./readerthread.js', import.meta.url), { workerData: this.file });
    // Whoever waits for a reply is told.
    worker.once('exit', () => worker.emit('error', new Error('The thread that reads the database has ended.')));
    // The next statement starts another, also where this one ended with none under way.
    worker.on('error', () => {
      if (this.worker === worker) this.worker = undefined;
    });
    this.worker = worker;
    return worker;
  }

  private async end(): Promise<void> {
    clearTimeout(this.idle);
    const { worker } = this;
    this.worker = undefined;
    await worker?.terminate();
  }
}

/** Run from the sources, as tests are, there is no file that a thread could load. */
const CAN_BE_APART = !import.meta.url.endsWith('.ts') && availableParallelism() > 1;

function rowsOf({ rows, fault }: SideReply): object[] {
  if (fault !== undefined) throw Object.assign(new Error(fault.message), { code: fault.code });
  return (rows ?? []).map(inBuffers);
}

/** A row whose bytes are a `Buffer` again: another thread hands them over as plain bytes. */
function inBuffers(row: object): object {
  const entries = Object.entries(row);
  if (!entries.some(([, value]) => value instanceof Uint8Array)) return row;
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value,
    ]),
  );
}
