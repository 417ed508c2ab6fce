import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { type Batch, type BatchReply, BulkLoader } from './bulkload.ts';

/** A channel to a bulk loader, which replies to batches in order. */
export interface Port {
  send(batch: Batch): Promise<BatchReply>;
  /** Undoes what is not committed; resolves when the database is closed. */
  close(): Promise<void>;
}

/** The thread in which statements run: one of its own, while the next ones are made, or this one. */
export type LoaderThread = 'apart' | 'here';

/** Opens a bulk loader of a database. */
export function openPort(file: string, place: LoaderThread): Port {
  // Run from the sources, as tests are, there is no file that a thread could load.
  const canBeApart = !import.meta.url.endsWith('.ts') && availableParallelism() > 1;
  return place === 'apart' && canBeApart ? new ThreadPort(file) : new SameThreadPort(file);
}

class SameThreadPort implements Port {
  private readonly bulkLoad: BulkLoader;

  constructor(file: string) {
    this.bulkLoad = new BulkLoader(file);
  }

  async send(batch: Batch): Promise<BatchReply> {
    return this.bulkLoad.reply(batch);
  }

  async close(): Promise<void> {
    this.bulkLoad.close();
  }
}

interface PendingReply {
  readonly resolve: (answer: BatchReply) => void;
  readonly reject: (error: Error) => void;
}

class ThreadPort implements Port {
  private readonly worker: Worker;
  private readonly waiting: PendingReply[] = [];
  private end: Error | undefined;

  constructor(file: string) {
    this.worker = new Worker(new URL('./bulkloadthread.js', import.meta.url), { workerData: file });
    this.worker.on('message', (answer: BatchReply) => this.waiting.shift()?.resolve(answer));
    this.worker.on('error', (error) => this.fail(error));
    this.worker.on('exit', () => this.fail(new Error('The thread that writes to the database has ended.')));
  }

  send(batch: Batch): Promise<BatchReply> {
    return new Promise((resolve, reject) => {
      if (this.end !== undefined) return reject(this.end);
      this.waiting.push({ resolve, reject });
      this.worker.postMessage(batch);
    });
  }

  async close(): Promise<void> {
    if (this.end !== undefined) return;
    const exit = once(this.worker, 'exit');
    this.worker.postMessage(null);
    await exit;
  }

  private fail(error: Error): void {
    this.end ??= error;
    for (const { reject } of this.waiting.splice(0)) reject(this.end);
  }
}
