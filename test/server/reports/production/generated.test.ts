import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rowsOf } from '../../../support/calls.ts';
import { sharedService } from '../../../support/service.ts';
import { cases } from '../../../support/store.ts';
import { wallTextIn } from '../support.ts';
import { appointment, PATH, practiceWith, ZONES } from './practice.ts';

const service = sharedService(() => []);

describe('production of generated practices', () => {
  const START = Date.UTC(2026, 2, 5);
  const booked = fc.record({
    minutes: fc.oneof(
      fc.nat(9 * 1440),
      fc.constantFrom(
        ...[0, 1, 2, 3, 4, 5].flatMap((day) => [420, 360, 359, 300, 240, 1440, 600, 599].map((at) => day * 1440 + at)),
      ),
    ),
    place: fc.constantFrom(5, 6, 7, 8),
    status: fc.constantFrom('CONFIRMED', 'CONFIRMED', 'COMPLETED', 'BROKEN', 'NO_SHOW', 'CANCELLEDBYOFFICE'),
    amount: fc.option(fc.nat(100_000), { nil: undefined }),
    writeOff: fc.nat(20_000),
    provider: fc.constantFrom(3, 4),
  });
  const asked = fc.record({
    booked: fc.array(booked, { maxLength: 25 }),
    day: fc.nat(8),
    range: fc.integer({ min: 1, max: 4 }),
    zone: fc.constantFrom(undefined, undefined, 'UTC', 'Asia/Kathmandu', 'America/Denver'),
    place: fc.constantFrom(undefined, '==5', '!=6', '->[5,7]', '==*'),
    provider: fc.constantFrom(undefined, 3),
  });

  it('is what a walk over all appointments says', async () => {
    await fc.assert(
      fc.asyncProperty(asked, async ({ booked: drafts, day, range, zone, place, provider }) => {
        const lines = drafts.map((draft, n) =>
          appointment(n + 1, new Date(START + draft.minutes * 60_000).toISOString(), undefined, {
            operatory: { id: draft.place * 10 },
            provider: { id: draft.provider },
            status: draft.status,
            ...(draft.amount !== undefined && {
              production: { amount: draft.amount / 100, writeOff: draft.writeOff / 100 },
            }),
          }),
        );
        const own = await practiceWith(service, ...lines);
        const dates = Array.from({ length: range }, (_, n) =>
          new Date(START + (day + n) * 86_400_000).toISOString().slice(0, 10),
        );
        const expected = drafts
          .map((draft, n) => ({ ...draft, n, at: START + draft.minutes * 60_000 }))
          .filter(({ status }) => !['BROKEN', 'NO_SHOW', 'CANCELLEDBYOFFICE'].includes(status))
          .filter((draft) => provider === undefined || draft.provider === provider)
          .filter(
            (draft) =>
              place === undefined ||
              place === '==*' ||
              (place === '!=6' ? draft.place !== 6 : place.includes(String(draft.place))),
          )
          .filter(({ at, place: where }) =>
            dates.includes(wallTextIn(zone ?? ZONES.get(where) ?? 'America/Denver')(at).slice(0, 10)),
          )
          .sort((a, b) => a.at - b.at || a.n - b.n)
          .map(({ at, amount, writeOff }) => ({
            date: new Date(at).toISOString(),
            scheduledAmount: amount === undefined ? 0 : amount - writeOff,
          }));
        const filter = [
          `fromDate==${dates[0]}`,
          `range==${range}`,
          ...(zone === undefined ? [] : [`timezone==${zone}`]),
          ...(place === undefined ? [] : [`location.id${place}`]),
          ...(provider === undefined ? [] : [`provider.id==${provider}`]),
        ].join(',');
        const called = await own.get(PATH, filter);
        if (expected.length === 0) expect(called.status).toBe(404);
        else expect(rowsOf(called)).toEqual(expected);
      }),
      { numRuns: cases(30, 10), seed: 20_260_304 },
    );
  });
});
