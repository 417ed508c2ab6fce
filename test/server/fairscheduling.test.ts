import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { endOfTurn, fairTurn, requestTurn } from '../../src/server/fairscheduling.ts';

/** Longer than the two requests of different organizations count that may have come before. */
const MUCH_LATER = 60_000;

let time = performance.now();
let turn = 0;
let isOver = false;

/** Counts the turns of the event loop, in each of which what has arrived is looked at. */
async function count(): Promise<void> {
  while (!isOver) {
    turn++;
    await nextTurn();
  }
}

beforeEach(async () => {
  // What the test before has left is done.
  for (let turns = 0; turns < 3; turns++) await nextTurn();
  time += MUCH_LATER;
  vi.spyOn(performance, 'now').mockImplementation(() => time);
  isOver = false;
  void count();
});

afterEach(() => {
  isOver = true;
  vi.restoreAllMocks();
});

/** In which turn each part of an owner's work was done. */
const partsOf = (owner: unknown, parts: number) =>
  Array.from({ length: parts }, () => fairTurn(owner).then(() => turn));

const mostOf = (turns: readonly number[]) =>
  Math.max(...turns.map((each) => turns.filter((other) => other === each).length));

it('gives turns in the order they were asked for', async () => {
  const seen: number[] = [];
  await Promise.all(Array.from({ length: 100 }, (_, n) => fairTurn(1).then(() => seen.push(n))));
  expect(seen).toEqual(Array.from({ length: 100 }, (_, n) => n));
});

it('does several short parts of one organization in a turn of the event loop, and never all of many', async () => {
  const turns = await Promise.all(partsOf(1, 200));
  expect(mostOf(turns)).toBeGreaterThan(8);
  expect(mostOf(turns)).toBeLessThanOrEqual(32);
});

it('looks at what has arrived after each part that takes long', async () => {
  const turns = Array.from({ length: 20 }, () =>
    fairTurn(1).then(() => {
      time += 5;
      return turn;
    }),
  );
  expect(mostOf(await Promise.all(turns))).toBe(1);
});

it('lets a turn be asked for in a turn', async () => {
  const seen: string[] = [];
  const long = async () => {
    for (const part of ['a1', 'a2']) {
      await fairTurn(1);
      seen.push(part);
    }
  };
  const short = async () => {
    await fairTurn(1);
    seen.push('b1');
  };
  await Promise.all([long(), short()]);
  expect(seen).toEqual(['a1', 'b1', 'a2']);
});

describe('while one organization asks for hundreds of things at once', () => {
  let done: number;
  let hostile: Promise<unknown>;

  beforeEach(() => {
    done = 0;
    void requestTurn('honest');
    const asks = Array.from({ length: 400 }, async () => {
      await requestTurn('hostile');
      done++;
      await fairTurn('hostile');
      done++;
    });
    hostile = Promise.all(asks);
  });

  afterEach(() => hostile);

  it('a request of another one begins at once, and each part of its work after few of the others', async () => {
    for (let request = 0; request < 20; request++) {
      expect(requestTurn('honest')).toBeUndefined();
      for (let part = 0; part < 3; part++) {
        const before = done;
        await fairTurn('honest');
        expect(done - before).toBeLessThanOrEqual(4);
      }
      await nextTurn();
    }
  });

  it('does few of them in a turn', async () => {
    let most = 0;
    while (done < 800) {
      const before = done;
      await nextTurn();
      most = Math.max(most, done - before);
    }
    // Those of one turn and of the next one may lie between two looks.
    expect(most).toBeLessThanOrEqual(8);
  });

  it('goes on with them beside one that asks without end', async () => {
    let turns = 0;
    for (; done < 800 && turns < 2000; turns++) {
      void requestTurn('honest');
      await fairTurn('honest');
    }
    expect(done).toBe(800);
  });
});

it('commits after the parts of a turn, what is read before what is written', async () => {
  const seen: string[] = [];
  const note = (what: string) => () => seen.push(what);
  await Promise.all([
    endOfTurn('writes').then(note('writes')),
    endOfTurn('reads').then(note('reads')),
    fairTurn(1).then(note('part')),
    fairTurn(1).then(note('part')),
  ]);
  expect(seen).toEqual(['part', 'part', 'reads', 'writes']);
});

it('lets what a part submits be committed in the same turn', async () => {
  const [part, commit] = await Promise.all([
    fairTurn(1).then(() => turn),
    fairTurn(1)
      .then(() => endOfTurn('reads'))
      .then(() => turn),
  ]);
  expect(commit).toBe(part);
});
