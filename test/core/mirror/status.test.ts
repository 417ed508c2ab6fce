import { expect, it } from 'vitest';
import { wholeOf } from '../../../src/core/mirror/status.ts';
import type { ResourceState } from '../../../src/core/mirror/store.ts';
import { MIRROR_TABLES, type MirrorTable } from '../../../src/core/mirror/tables.ts';

type Known = readonly [asOf: string | null, position: string | null, unavailable?: string];

const [EARLY, LATE] = ['2026-03-02T09:00:00.000Z', '2026-03-02T10:00:00.000Z'];
const NOTHING = { complete: false, asOf: null, position: null };

it.each<[string, readonly Known[], ReturnType<typeof wholeOf>]>([
  [
    'as of the oldest',
    [
      [LATE, 'a-7'],
      [EARLY, 'a-7'],
      [LATE, 'a-7'],
    ],
    { complete: true, asOf: EARLY, position: 'a-7' },
  ],
  [
    'at no position where they have several',
    [
      [LATE, 'a-7'],
      [LATE, 'a-8'],
    ],
    { complete: true, asOf: LATE, position: null },
  ],
  [
    'not whole where one is not',
    [
      [LATE, 'a-7'],
      [null, 'a-7'],
    ],
    NOTHING,
  ],
  [
    'whole without what was never given',
    [
      [LATE, 'a-7'],
      [null, null, 'HTTP 404'],
    ],
    { complete: true, asOf: LATE, position: 'a-7' },
  ],
  [
    'as old as what is not given any more',
    [
      [LATE, 'a-7'],
      [EARLY, 'a-5', 'HTTP 404'],
    ],
    { complete: true, asOf: EARLY, position: null },
  ],
  ['not whole where nothing is given', [[null, null, 'HTTP 404']], NOTHING],
])('all tables together are %s', (_, known, expected) => {
  const states = known.map(([asOf, position, unavailable = null], index) => {
    const state = { asOf, position, unavailable, complete: asOf !== null } as ResourceState;
    return [MIRROR_TABLES[index] as MirrorTable, state] as const;
  });
  expect(wholeOf(new Map(states))).toEqual(expected);
});
