import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { DatabaseAddress } from '../../../postgres/address.ts';
import { connectionOptions } from '../../../postgres/driver.ts';
import { PARSERS } from './pool.ts';

/** Pauses before another try to connect. */
const PAUSE_MS = 1000;

/** Time for the last statement when the store is closed. */
const LAST_MS = 1000;

/** The database's process of a connection, which the driver's types leave out. */
function ownProcess(client: pg.Client): number {
  return (client as unknown as { readonly processID: number }).processID;
}

/**
 * Listens for the commits of other processes, and tells them of those of this one, on a connection of its own that is made
 * again when it breaks. Whoever has to know of all of them also polls.
 */
export class NoticeListener {
  /** Whether commits of other processes are reported now. */
  isListening = false;
  private readonly stopping = new AbortController();
  private readonly running: Promise<void>;
  private client: pg.Client | undefined;
  /** The statement under way. */
  private telling: Promise<unknown> | undefined;
  private untold = false;

  constructor(
    driver: typeof pg,
    address: DatabaseAddress,
    private readonly channel: string,
    heard: () => void,
  ) {
    this.running = this.run(driver, address, heard);
  }

  /**
   * Tells other processes of commits. At most one statement is under way, and what is committed meanwhile shares the next:
   * transactions that notify are committed one after another in the whole database. What cannot be told is found by those
   * who poll.
   */
  tell(): void {
    const { client } = this;
    this.untold = client !== undefined;
    if (client === undefined || this.telling !== undefined) return;
    this.untold = false;
    this.telling = client
      .query(`NOTIFY ${this.channel}`)
      .catch(() => {})
      .finally(() => {
        this.telling = undefined;
        if (this.untold) this.tell();
      });
  }

  /** Tells what is untold, if that does not take long, and ends. */
  async stop(): Promise<void> {
    while (
      this.telling !== undefined &&
      (await Promise.race([this.telling, sleep(LAST_MS, 'late', { ref: false })])) !== 'late'
    );
    this.stopping.abort();
    await this.running;
  }

  private async run(driver: typeof pg, address: DatabaseAddress, heard: () => void): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const socket = new Socket();
      // Whatever it is doing: nothing is lost.
      const cut = () => socket.destroy();
      signal.addEventListener('abort', cut);
      const client = new driver.Client({ ...connectionOptions(driver, address, PARSERS), stream: () => socket });
      client.on('error', () => {});
      // Not of this process's own commits.
      client.on('notification', ({ processId }) => processId !== ownProcess(client) && heard());
      const closed = new Promise((resolve) => socket.once('close', resolve));
      try {
        await client.connect();
        await client.query(`LISTEN ${this.channel}`);
        // For what was committed before the database began to report.
        heard();
        this.isListening = true;
        this.client = client;
        await closed;
      } catch {
        socket.destroy();
      }
      this.isListening = false;
      this.client = undefined;
      signal.removeEventListener('abort', cut);
      if (!signal.aborted) await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
    }
  }
}
