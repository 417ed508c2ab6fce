import { describe, expect, it } from 'vitest';
import { bucketOf, sameDays } from '../../../../src/server/reports/aging/openamounts.ts';

const ZONES = new Map([
  [5, 'America/Denver'],
  [6, 'Pacific/Kiritimati'],
  [7, 'Pacific/Pago_Pago'],
  [8, 'Pacific/Apia'],
]);

describe('sameDays', () => {
  it.each([
    [
      'noon in Denver: it is tomorrow in the east already',
      '2026-03-02T19:00:00Z',
      [
        { today: '2026-03-02', locations: undefined },
        { today: '2026-03-03', locations: [6, 8] },
      ],
    ],
    [
      'past midnight in Denver: it is yesterday in the west still',
      '2026-03-02T08:00:00Z',
      [
        { today: '2026-03-02', locations: undefined },
        { today: '2026-03-01', locations: [7] },
      ],
    ],
    [
      'the moment of midnight in Denver',
      '2026-03-02T07:00:00.000Z',
      [
        { today: '2026-03-02', locations: undefined },
        { today: '2026-03-01', locations: [7] },
      ],
    ],
    [
      'a millisecond before it',
      '2026-03-02T06:59:59.999Z',
      [
        { today: '2026-03-01', locations: undefined },
        { today: '2026-03-02', locations: [6, 8] },
      ],
    ],
  ])('%s', (_, at, days) => {
    const found = sameDays(ZONES, 'America/Denver', Date.parse(at)).filter(({ locations }) => locations?.length !== 0);
    expect(found).toEqual(days);
  });

  it('is one group where all places are in one zone', () => {
    const zones = new Map([[5, 'America/Denver']]);
    expect(sameDays(zones, 'America/Denver', Date.UTC(2026, 2, 2))).toEqual([
      { today: '2026-03-01', locations: undefined },
    ]);
  });
});

describe('bucketOf', () => {
  it('begins at the dates that are 30, 60 and 90 days ago', () => {
    expect(bucketOf([{ today: '2026-03-02', locations: undefined }]).values).toEqual([
      '2026-01-31',
      '2026-01-01',
      '2025-12-02',
    ]);
  });

  it('takes the day of each place where they differ', () => {
    const days = [
      { today: '2026-03-02', locations: undefined },
      { today: '2026-03-03', locations: [6, 8] },
    ];
    expect(bucketOf(days).values).toEqual(
      [6, 8, '2026-02-01', '2026-01-31']
        .concat(6, 8, '2026-01-02', '2026-01-01')
        .concat(6, 8, '2025-12-03', '2025-12-02'),
    );
  });
});
