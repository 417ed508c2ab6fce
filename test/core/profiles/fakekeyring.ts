import type { Clock } from '../../../src/core/clock.ts';
import type { Keyring } from '../../../src/core/profiles/keyring.ts';

export type Act = 'read' | 'write' | 'remove';

/** What a fake keyring does when it is asked to act. */
export type Behaviour = 'works' | 'hangs' | 'refuses' | 'loses' | 'garbles';

/** A keyring in memory. `behaves` says how it takes each act; what it was asked is written down. */
export class FakeKeyring implements Keyring {
  readonly entries = new Map<string, string>();
  readonly asked: string[] = [];
  readonly aborted: string[] = [];
  behaves: (act: Act, account: string) => Behaviour;

  constructor(behaves: (act: Act, account: string) => Behaviour = () => 'works') {
    this.behaves = behaves;
  }

  readonly read = (account: string, signal: AbortSignal) =>
    this.act('read', account, signal, () => this.entries.get(account));

  readonly write = (account: string, secret: string, signal: AbortSignal) =>
    this.act('write', account, signal, (how) => {
      if (how !== 'loses') this.entries.set(account, how === 'garbles' ? secret.toUpperCase() : secret);
    });

  readonly remove = (account: string, signal: AbortSignal) =>
    this.act('remove', account, signal, () => {
      this.entries.delete(account);
    });

  private async act<T>(act: Act, account: string, signal: AbortSignal, done: (how: Behaviour) => T): Promise<T> {
    this.asked.push(act);
    const how = this.behaves(act, account);
    if (how === 'hangs') {
      return new Promise(() => {
        signal.addEventListener('abort', () => this.aborted.push(act));
      });
    }
    if (how === 'refuses') throw new Error('no');
    return done(how);
  }
}

/** A clock that stands still; a sleep ends only when its time is up by `pass`, or by its signal. */
export class HeldClock implements Clock {
  readonly sleeps: number[] = [];
  private readonly waiting = new Set<() => void>();
  /** Ends every sleep from now on as soon as it begins. */
  hurries = false;

  readonly now = (): number => Date.UTC(2026, 2, 2, 12);

  readonly sleep = (milliseconds: number, signal?: AbortSignal): Promise<void> => {
    this.sleeps.push(milliseconds);
    return new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
      if (this.hurries) setImmediate(resolve);
      else this.waiting.add(resolve);
    });
  };
}
