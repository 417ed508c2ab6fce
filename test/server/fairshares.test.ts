import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { FairShares } from '../../src/server/fairscheduling.ts';
import { Draws } from '../faithful/random.ts';

/** Work that goes on until it is told to end, or to fail. */
class Bench {
  readonly begun: string[] = [];
  readonly working: string[] = [];
  private readonly ends = new Map<string, { readonly resolve: () => void; readonly reject: (cause: Error) => void }>();

  constructor(private readonly shares: FairShares) {}

  /** Asks for a piece of work, named by its owner and a number: `a1`. */
  async ask(name: string): Promise<void> {
    void this.shares
      .run(name.charAt(0), () => {
        this.begun.push(name);
        this.working.push(name);
        return new Promise<void>((resolve, reject) => this.ends.set(name, { resolve, reject }));
      })
      .catch(() => undefined);
    await nextTurn();
  }

  async end(name: string, isFailure = false): Promise<void> {
    this.working.splice(this.working.indexOf(name), 1);
    const end = this.ends.get(name);
    if (isFailure) end?.reject(new Error('It failed.'));
    else end?.resolve();
    await nextTurn();
  }
}

const OWNERS = ['a', 'b', 'c', 'd'];

it('an owner whose work is under way waits, though others are done and its work has waited for longest', async () => {
  const bench = new Bench(new FairShares(2, 1));
  for (const name of ['a1', 'b1', 'a2', 'b2']) await bench.ask(name);
  await bench.end('b1');
  expect(bench.working).toEqual(['a1', 'b2']);
  await bench.end('a1');
  expect(bench.working).toEqual(['b2', 'a2']);
});

it('owners take turns, however much of one waits, and work that failed gives its turn back', async () => {
  const bench = new Bench(new FairShares(1, 1));
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) await bench.ask(name);
  for (let done = 0; done < 6; done++) await bench.end(bench.working[0] ?? '', done % 2 === 0);
  expect(bench.begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
});

it.each([1, 2, 3, 4, 5])('never exceeds its limits and leaves no work undone (seed %i)', async (seed) => {
  const draws = new Draws(String(seed));
  const bench = new Bench(new FairShares(5, 2));
  for (let asked = 0; asked < 100 || bench.working.length > 0; ) {
    if (asked < 100 && draws.chance(0.6)) await bench.ask(`${draws.one(OWNERS)}${asked++}`);
    else if (bench.working.length > 0) await bench.end(draws.one(bench.working), draws.chance(0.2));
    expect(bench.working.length).toBeLessThanOrEqual(5);
    const each = OWNERS.map((owner) => bench.working.filter((name) => name.startsWith(owner)).length);
    expect(Math.max(...each)).toBeLessThanOrEqual(2);
  }
  expect(bench.begun).toHaveLength(100);
});
