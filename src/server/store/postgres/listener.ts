import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { DatabaseAddress } from './address.ts';
import { connectionOptions } from './driver.ts';

/** Pauses before another try to connect. */
const PAUSE_MS = 1000;

/**
 * Listens for the commits of other processes, on a connection of its own that is made again when it breaks. Whoever has to
 * know of all of them also polls.
 */
export class NoticeListener {
  /** Whether commits of other processes are reported now. */
  isListening = false;
  private readonly stopping = new AbortController();
  private readonly running: Promise<void>;

  constructor(driver: typeof pg, address: DatabaseAddress, channel: string, heard: () => void) {
    this.running = this.run(driver, address, channel, heard);
  }

  stop(): Promise<void> {
    this.stopping.abort();
    return this.running;
  }

  private async run(driver: typeof pg, address: DatabaseAddress, channel: string, heard: () => void): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const socket = new Socket();
      // Whatever it is doing: nothing is lost.
      const cut = () => socket.destroy();
      signal.addEventListener('abort', cut);
      const client = new driver.Client({ ...connectionOptions(driver, address), stream: () => socket });
      client.on('error', () => {});
      client.on('notification', heard);
      const closed = new Promise((resolve) => socket.once('close', resolve));
      try {
        await client.connect();
        await client.query(`LISTEN ${channel}`);
        // For what was committed before the database began to report.
        heard();
        this.isListening = true;
        await closed;
      } catch {
        socket.destroy();
      }
      this.isListening = false;
      signal.removeEventListener('abort', cut);
      if (!signal.aborted) await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
    }
  }
}
