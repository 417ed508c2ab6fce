import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { type Answer, type Batch, Filler } from './bulkload.ts';

/** The way to a filler, which answers batches in order. */
export interface Port {
  send(batch: Batch): Promise<Answer>;
  /** Undoes what is not committed; resolves when the database is closed. */
  close(): Promise<void>;
}

/** Where statements run: in a thread of their own, while the next ones are made, or in this one. */
export type Place = 'apart' | 'here';

/** Opens a filler of a database. */
export function openPort(file: string, place: Place): Port {
  // Run from the sources, as tests are, there is nothing that a thread could load.
  const canBeApart = !import.meta.url.endsWith('.ts') && availableParallelism() > 1;
  return place === 'apart' && canBeApart ? new ThreadPort(file) : new NearPort(file);
}

class NearPort implements Port {
  private readonly filler: Filler;

  constructor(file: string) {
    this.filler = new Filler(file);
  }

  async send(batch: Batch): Promise<Answer> {
    return this.filler.answer(batch);
  }

  async close(): Promise<void> {
    this.filler.close();
  }
}

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

class ThreadPort implements Port {
  private readonly worker: Worker;
  private readonly waiting: Waiting[] = [];
  private end: Error | undefined;

  constructor(file: string) {
    this.worker = new Worker(new URL('./bulkloadthread.js', import.meta.url), { workerData: file });
    this.worker.on('message', (answer: Answer) => this.waiting.shift()?.resolve(answer));
    this.worker.on('error', (error) => this.fail(error));
    this.worker.on('exit', () => this.fail(new Error('The thread that writes to the database has ended.')));
  }

  send(batch: Batch): Promise<Answer> {
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
