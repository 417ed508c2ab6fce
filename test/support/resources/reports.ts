import { aging, openings, production } from '../../../src/catalog/resources/reports.ts';
import type { ResourceFixture } from '../fixture.ts';
import { LOCATIONS, PATIENTS } from '../ids.ts';

const east = `location.id==${LOCATIONS.east}`;

/** Production report (D33): the day on which the fixture appointments are. */
export const productionFixture: ResourceFixture = {
  resource: production,
  records: [],
  elsewhere: [],
  meta: 'others',
  always: 'fromDate==2026-03-09',
  samples: { report: { query: { filter: 'fromDate==2026-03-09' } } },
};

/** Aging report (D34, D35). */
export const agingFixture: ResourceFixture = {
  resource: aging,
  records: [],
  elsewhere: [],
  meta: 'others',
  always: `${east},page==2`,
  samples: { report: { query: { filter: `${east},patient.id->[${PATIENTS.ann}]` } } },
};

/** Schedule openings (D32). */
export const openingFixture: ResourceFixture = {
  resource: openings,
  records: [],
  elsewhere: [],
  meta: 'others',
  always: `${east},startDate==2026-03-09,endDate==2026-03-10`,
  samples: { list: { query: { filter: `${east},startDate==2026-03-09,endDate==2026-03-10` } } },
};
