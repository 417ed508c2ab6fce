import { setTimeout as sleep } from 'node:timers/promises';
import { type Served, start } from '../molar.ts';
import type { Random } from './random.ts';
import type { TorturedStore } from './stores.ts';

/** Answers until a server is killed, at most; and milliseconds that it then goes on for, at most. */
const MOST_ANSWERS = 150;
const MOST_MS = 15;

/** Milliseconds after which it is killed however few answers have come. */
const PATIENCE_MS = 5000;

/** How a server came to its end in one round. */
export type Kill = 'while writing' | 'at an answer' | 'while ending' | 'after losing its database';

/** Kills a server at a moment that the random numbers choose, counted in answers so that slow machines do as much. */
export class KillPlan {
  readonly kind: Kill;
  /** Resolves when the server has been killed. */
  readonly over: Promise<void>;
  private answers = 0;
  private readonly waiting = new Map<number, () => void>();

  constructor(served: Served, store: TorturedStore, random: Random) {
    const dice = random.next();
    const at = random.between(1, MOST_ANSWERS);
    const pause = random.below(MOST_MS);
    const kill = async () => {
      await served.stop('SIGKILL');
    };
    if (dice < 0.25) {
      this.kind = 'at an answer';
      this.over = this.answer(at).then(kill);
    } else if (dice < 0.4) {
      this.kind = 'while ending';
      this.over = this.answer(at).then(async () => {
        served.child.kill('SIGTERM');
        await sleep(pause);
        await kill();
      });
    } else if (dice < 0.75 && store.place.database !== undefined) {
      this.kind = 'after losing its database';
      this.over = this.lose(store, random, at, pause).then(kill);
    } else {
      this.kind = 'while writing';
      this.over = this.answer(at)
        .then(() => sleep(pause))
        .then(kill);
    }
  }

  /** Hears of every answer. */
  answered(): void {
    this.answers++;
    this.waiting.get(this.answers)?.();
  }

  private answer(number: number): Promise<void> {
    const come = new Promise<void>((resolve) => this.waiting.set(number, resolve));
    const patience = new AbortController();
    const late = sleep(PATIENCE_MS, undefined, { signal: patience.signal }).catch(() => undefined);
    return Promise.race([come, late]).then(() => patience.abort());
  }

  /** Ends the database's processes, up to three times while the server goes on. */
  private async lose(store: TorturedStore, random: Random, last: number, pause: number): Promise<void> {
    const moments = Array.from({ length: random.between(1, 3) }, () => this.answer(random.between(1, last)));
    await Promise.all(moments.map((moment) => moment.then(() => store.endBackends())));
    await this.answer(this.answers + random.between(1, 20));
    await sleep(pause);
  }
}

/** Kills a server before it listens, perhaps while it settles what an earlier one left. */
export async function killWhileStarting(folder: string, args: readonly string[], random: Random): Promise<void> {
  const child = start(folder, ['serve', '--port', '0', ...args]);
  child.stdout?.resume();
  child.stderr?.resume();
  const closed = new Promise((resolve) => child.once('close', resolve));
  await sleep(random.between(150, 800));
  child.kill('SIGKILL');
  await closed;
}
