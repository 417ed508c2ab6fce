import { expect, it } from 'vitest';
import { newId } from '../../../src/cli/startup/newid.ts';

it('gives random UUIDs, each another', () => {
  const ids = Array.from({ length: 1000 }, newId);
  expect(ids.filter((id) => !/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(id))).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
});
