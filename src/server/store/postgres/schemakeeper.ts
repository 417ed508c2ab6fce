import { finishUpgrade, repairAll } from '../schema/contract.ts';
import { noteEnd, noteServer, type Server } from '../schema/servers.ts';
import * as state from '../schema/state.ts';
import type { Upgrade } from '../schema/upgradework.ts';
import { type Reader, StoreUnusable } from '../store.ts';

/** How often a process says that it is there. */
const BEAT_MS = 10_000;

/** How often rows that older servers have written are looked for. */
const POLL_MS = 1000;

/**
 * What a process does about the schema while it has a database open: it says that it is there and, while older servers may
 * go on, brings what they write to its own form, until they are gone and the upgrade can be finished.
 */
export class SchemaKeeper {
  private readonly beating: NodeJS.Timeout;
  private readonly polling: NodeJS.Timeout | undefined;
  private noting: Promise<void> | undefined;
  private repairing: Promise<void> | undefined;
  /** Whether it is time to look if older servers are gone. */
  private isDue = false;
  private isOwner = true;

  private constructor(
    private readonly work: Upgrade,
    private readonly server: Server,
    /** By which nothing takes long, whatever hangs. */
    private readonly read: Reader,
    /** Whether older servers may be there still, so that rows that are written have to be declared. */
    readonly isUnfinished: boolean,
  ) {
    this.beating = setInterval(() => this.beat(), BEAT_MS).unref();
    if (isUnfinished) this.polling = setInterval(() => this.poll(), POLL_MS).unref();
  }

  /** Begins to keep the schema of a database that is ready. */
  static async start(work: Upgrade, server: Server, read: Reader): Promise<SchemaKeeper> {
    const isServing = (await state.readFingerprint(read)) === server.fingerprint;
    return new SchemaKeeper(work, server, read, isServing && (await state.readUnfinished(read)) !== undefined);
  }

  /** Ends it; resolves when nothing is under way. */
  async stop(): Promise<void> {
    clearInterval(this.beating);
    clearInterval(this.polling);
    await Promise.all([this.noting, this.repairing]);
    await noteEnd(this.read, this.server).catch(() => {});
  }

  /** Whatever else is under way: a process that does not say that it is there is taken to be gone. */
  private beat(): void {
    this.isDue = true;
    this.noting ??= noteServer(this.read, this.server)
      .catch(() => {})
      .finally(() => {
        this.noting = undefined;
      });
  }

  /** One at a time. What fails is done at the next occasion. */
  private poll(): void {
    this.repairing ??= this.repair()
      .catch(() => {})
      .finally(() => {
        this.repairing = undefined;
      });
  }

  private async repair(): Promise<void> {
    await repairAll(this.work);
    if (!this.isDue) return;
    this.isDue = false;
    if (this.isOwner) await this.finish();
    if ((await state.readUnfinished(this.read)) === undefined) clearInterval(this.polling);
  }

  private async finish(): Promise<void> {
    try {
      await finishUpgrade(this.work);
    } catch (error) {
      // The owner of the tables has to do it, by `molar server migrate-schema`.
      if (error instanceof StoreUnusable) this.isOwner = false;
      else throw error;
    }
  }
}
