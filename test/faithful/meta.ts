import type { Call } from './call.ts';
import type { Page } from './paging.ts';
import type { Fields } from './store.ts';

type Meta = (page: Page, call: Call) => Fields | undefined;

/** Limit and offset, where the specification does not show what a resource has. */
export const usualMeta: Meta = (page, call) =>
  call.world.moods.bareMeta ? undefined : { limit: page.limit, offset: page.offset, total: totalOf(page, call) };

export const documentsMeta: Meta = (page, call) => ({ limit: page.limit, offset: 0, total: totalOf(page, call) });

/** Has a total only on a plain call, and then 0 (Patients, rule 5). */
export const patientsMeta: Meta = ({ limit, offset, cursor, page }, { world }) => {
  if (world.moods.bareMeta) return undefined;
  return cursor || page !== undefined ? { limit, offset } : { limit, offset, total: 0 };
};

export const transactionsMeta: Meta = (page, call) => ({
  page: page.page ?? 1,
  pageSize: page.limit,
  total: totalOf(page, call),
});

export const historiesMeta: Meta = (page, call) => ({
  limit: page.limit,
  offset: page.offset,
  ...(page.page === undefined ? { total: totalOf(page, call) } : {}),
});

export const lastIdMeta: Meta = ({ records }) => {
  const last = records.at(-1);
  return last ? { lastId: last.id } : {};
};

function totalOf({ total }: Page, { world }: Call): number {
  return world.moods.totals ? total : 0;
}
