import { expect, it } from 'vitest';
import { LocationCache } from '../../../src/server/import/linevalues.ts';

/** A cache of locations, and the ids that it has looked up. */
function open() {
  const looks: (number | undefined)[] = [];
  const cache = new LocationCache(async (_org, _type, id) => {
    looks.push(id);
    return undefined;
  });
  return { cache, looks };
}

it('a location is looked up once, also one that there is not, until a line is about it', async () => {
  const { cache, looks } = open();
  const finds = () => Promise.all([cache.find(1, 'Location', 5), cache.find(1, 'Operatory', 6)]);
  await finds();
  await finds();
  expect(looks).toEqual([5, 6]);
  cache.evict(1, 'Location', 6);
  cache.evict(2, 'Operatory', 6);
  await finds();
  expect(looks).toEqual([5, 6]);
  cache.evict(1, 'Operatory', 6);
  await finds();
  expect(looks).toEqual([5, 6, 6]);
});

it('10,000 locations are held at most', async () => {
  const { cache, looks } = open();
  for (let id = 1; id <= 10_000; id++) await cache.find(1, 'Location', id);
  await cache.find(1, 'Location', 1);
  expect(looks).toHaveLength(10_000);
  await cache.find(1, 'Location', 10_001);
  await cache.find(1, 'Location', 1);
  expect(looks.slice(10_000)).toEqual([10_001, 1]);
});
