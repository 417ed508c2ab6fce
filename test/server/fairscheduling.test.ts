import { expect, it } from 'vitest';
import { fairTurn } from '../../src/server/fairscheduling.ts';

it('turns are given one at a time, in the order they were asked for, with room for others between them', async () => {
  const seen: string[] = [];
  const turns = ['first', 'second', 'third'].map((name) => fairTurn(1).then(() => seen.push(name)));
  // What comes in while turns are waited for is looked at in every round of the event loop.
  let rounds = 0;
  const other = () => {
    seen.push('other');
    rounds++;
    if (rounds < 3) setImmediate(other);
  };
  setImmediate(other);
  await Promise.all(turns);
  expect(seen.filter((name) => name !== 'other')).toEqual(['first', 'second', 'third']);
  expect(seen.indexOf('other')).toBeLessThan(seen.indexOf('second'));
  expect(seen.indexOf('other', seen.indexOf('second'))).toBeLessThan(seen.indexOf('third'));
});

it('a turn may be asked for in a turn', async () => {
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
