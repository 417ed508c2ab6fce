import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { DatabaseAddress } from './address.ts';
import { connectionOptions } from './driver.ts';

/** Pauses before another try to connect. */
const PAUSE_MS = 1000;

/**
 * Hears of the commits of other processes, on a connection of its own that is made again when it breaks. What is missed
 * meanwhile is found by those who look now and then.
 */
export class NoticeListener {
  private readonly stopping = new AbortController();
  private readonly running: Promise<void>;
  private client: pg.Client | undefined;

  constructor(driver: typeof pg, address: DatabaseAddress, channel: string, heard: () => void) {
    this.running = this.run(driver, address, channel, heard);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.client?.end().catch(() => {});
    await this.running;
  }

  private async run(driver: typeof pg, address: DatabaseAddress, channel: string, heard: () => void): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const client = new driver.Client(connectionOptions(driver, address));
      this.client = client;
      const ended = new Promise<void>((resolve) => {
        client.once('end', () => resolve());
        client.on('error', () => resolve());
      });
      client.on('notification', heard);
      try {
        await client.connect();
        await client.query(`LISTEN ${channel}`);
        if (signal.aborted) break;
        await ended;
      } catch {
        // Tried again below.
      }
      await client.end().catch(() => {});
      await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
    }
    await this.client?.end().catch(() => {});
  }
}
