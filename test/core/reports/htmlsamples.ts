import { LocalClock } from '../../../src/core/output/localclock.ts';
import { added, moneyOf, readGuarantor } from '../../../src/core/reports/agingmoney.ts';
import type { LocationAging } from '../../../src/core/reports/agingread.ts';
import { agingReport } from '../../../src/core/reports/agingreport.ts';
import { agingHtml } from '../../../src/core/reports/htmlaging.ts';
import { productionHtml } from '../../../src/core/reports/htmlproduction.ts';
import { daysFrom } from '../../../src/core/reports/production.ts';
import { record } from './agingsamples.ts';

export const MADE = { at: Date.UTC(2026, 2, 2, 14, 5), clock: new LocalClock('America/Denver') };
export const LONG = 'Featherstonehaugh-Montgomery-of-the-longest-name-there-is';

/** A location with so many guarantors, from the one with this number on. */
export function location(name: string, from: number, count: number): LocationAging {
  const records = Array.from({ length: count }, (_, at) => ({
    ...record({
      id: String(7000000000000 + from + at),
      buckets: [
        [100, 0, 0],
        [200, 5, 0],
        [0, 0, 0],
        [at * 1000, 0, 0],
      ],
      credits: -50,
    }),
    lastName: at % 2 === 0 ? '<b>"Bold" & Co</b>' : LONG,
  }));
  const guarantors = records.map(readGuarantor);
  const money = moneyOf(added(guarantors.map(({ amounts }) => amounts)));
  return {
    location: name,
    guarantors,
    money,
    stated: {},
    pages: 1,
    problems: [],
    fractions: 0,
    roundings: 0,
    changed: false,
  };
}

/** Pages as long and wide as any. */
export const AGING = agingHtml(agingReport([location('5', 1, 30), location('6', 20, 30)]), {
  filter: "balance>100'<",
  limit: undefined,
  made: MADE,
});
export const DAYS = daysFrom('2026-03-02', 31).map((day, at) => ({ day, appointments: at, cents: at * 123_456 }));
export const PRODUCTION = productionHtml(DAYS, { filter: 'location.id==5', made: MADE });
