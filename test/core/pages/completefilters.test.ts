import { describe, expect, it } from 'vitest';
import { operationOf } from '../../../src/catalog/catalog.ts';
import type { Resource } from '../../../src/catalog/define.ts';
import { appointmentHistories } from '../../../src/catalog/resources/appointmenthistories.ts';
import { documents } from '../../../src/catalog/resources/documents.ts';
import { events } from '../../../src/catalog/resources/events.ts';
import { missedAppointments } from '../../../src/catalog/resources/missedappointments.ts';
import { patients } from '../../../src/catalog/resources/patients.ts';
import { transactions } from '../../../src/catalog/resources/transactions.ts';
import { transactionTags } from '../../../src/catalog/resources/transactiontags.ts';
import { localFailure } from '../../../src/core/failure.ts';
import {
  completeFilters,
  forAllLocations,
  isRefused,
  mayBeUndated,
  mayRequireLocation,
  withEarlyBound,
  withLocationFallback,
} from '../../../src/core/pages/completefilters.ts';
import { ApiFailure } from '../../../src/core/transport/apifailure.ts';

const EVER = '0001-01-01T00:00:00Z';

describe('an early bound (D48)', () => {
  it.each<[string | undefined, string | undefined, Resource]>([
    [undefined, `lastModified>=${EVER}`, patients],
    ['', `lastModified>=${EVER}`, patients],
    ['lastName==Lee', `lastName==Lee,lastModified>=${EVER}`, patients],
    ['lastModified>=2026-01-01T00:00:00Z', 'lastModified>=2026-01-01T00:00:00Z', patients],
    ['lastModified>2026-01-01T00:00:00Z', 'lastModified>2026-01-01T00:00:00Z', patients],
    // Nothing but an upper bound: a service would still leave out what is old.
    ['lastModified<2026-01-01T00:00:00Z', `lastModified<2026-01-01T00:00:00Z,lastModified>=${EVER}`, patients],
    ['lastModified<=2026-01-01T00:00:00Z', `lastModified<=2026-01-01T00:00:00Z,lastModified>=${EVER}`, patients],
    ['firstVisitDate>=2026-01-01T00:00:00Z', `firstVisitDate>=2026-01-01T00:00:00Z,lastModified>=${EVER}`, patients],
    [undefined, `start>=${EVER}`, events],
    // Either of two dates keeps the service from its own limit.
    ['lastModified>=2026-01-01T00:00:00Z', 'lastModified>=2026-01-01T00:00:00Z', events],
    ['start>=2026-01-01T00:00:00Z', 'start>=2026-01-01T00:00:00Z', events],
    [undefined, 'transactionDate>=0001-01-01', transactions],
    ['transactionDate==2026-01-01', 'transactionDate==2026-01-01', transactions],
    [undefined, undefined, transactionTags],
    ['patient.id==5', 'patient.id==5', documents],
  ])('of the filter %s is in %s', (filter, bounded, resource) => {
    const list = operationOf(resource, 'list');
    expect(withEarlyBound(filter, list)).toBe(bounded);
    if (resource !== transactionTags) expect(completeFilters(filter, list)).toEqual([bounded]);
  });

  it('is two parts where no date tells what a service leaves out', () => {
    const list = operationOf(transactionTags, 'list');
    const parts = ['tagType==PAYMENT_TAG', 'tagType!=PAYMENT_TAG'];
    expect([undefined, '', 'name==x'].map((filter) => completeFilters(filter, list))).toEqual([
      parts,
      parts,
      ['name==x'],
    ]);
  });

  it.each<[string, boolean, Resource]>([
    ['patients', true, patients],
    ['missedAppointments', true, missedAppointments],
    ['events', false, events],
    ['transactions', false, transactions],
    ['appointmentHistories', false, appointmentHistories],
    ['transactionTags', false, transactionTags],
    ['documents', false, documents],
  ])('may leave out %s without a date: %s', (_name, isSo, resource) => {
    expect(mayBeUndated(operationOf(resource, 'list').dateLimit)).toBe(isSo);
  });
});

describe('a filter for all locations', () => {
  const { filters } = operationOf(patients, 'list');
  const ALL = 'preferredLocation.id->["ALL"]';

  it.each<[string | undefined, string | undefined]>([
    [undefined, ALL],
    ['', ALL],
    ['lastName==Lee', `lastName==Lee,${ALL}`],
    ['lastName=="Lee, Jr",id->[1,2]', `lastName=="Lee, Jr",id->[1,2],${ALL}`],
    ['preferredLocation.id==5', undefined],
    ['preferredLocation.id!=5', undefined],
  ])('of %s is %s', (filter, all) => {
    expect(forAllLocations(filter, filters)).toBe(all);
  });

  it('is none where no location can be named', () => {
    expect(forAllLocations(undefined, operationOf(documents, 'list').filters)).toBeUndefined();
    expect(forAllLocations(undefined)).toBeUndefined();
  });

  const refused = (status: number, ...sources: (string | null)[]) =>
    new ApiFailure(
      status,
      sources.map((source) => ({ code: 'x', description: 'No.', source })),
      null,
    );

  it.each<[string, unknown, boolean]>([
    ['nothing is said', refused(400), true],
    ['no source is named', refused(400, null), true],
    ['the filter is named', refused(400, 'filter'), true],
    ['the location is named', refused(400, 'preferredLocation.id'), true],
    ['it is named among others', refused(400, 'pageSize', 'preferredLocation.id'), true],
    ['another thing is named', refused(400, 'pageSize'), false],
    ['another key is named', refused(400, 'lastName'), false],
    ['it is no refusal of the request', refused(403), false],
    ['the server failed', refused(500), false],
    ['it is no answer', localFailure('local.file', 'No.'), false],
  ])('may be what is missing where %s', (_name, cause, isSo) => {
    expect(mayRequireLocation(cause, undefined, filters)).toBe(isSo);
    expect(mayRequireLocation(cause, 'preferredLocation.id==5', filters)).toBe(false);
    expect(mayRequireLocation(cause, undefined, undefined)).toBe(false);
  });

  it('is no refusal where the status is another', () => {
    expect([399, 400, 401, 404, 500].map((status) => isRefused(refused(status)))).toEqual([
      false,
      true,
      false,
      false,
      false,
    ]);
    expect(isRefused(Object.assign(new Error('No.'), { status: 400 }))).toBe(false);
  });

  /** The filters that were sent, and how it ended, where each request ends as told. */
  async function fallback(filter: string | undefined, ...ends: unknown[]) {
    const sent: unknown[] = [];
    const end = await withLocationFallback(filter, filters, async (given) => {
      sent.push(given);
      const next = ends.shift();
      if (next instanceof Error) throw next;
      return next;
    }).catch((cause: unknown) => cause);
    return { sent, end };
  }

  it('is sent once the service has refused the request without it', async () => {
    expect(await fallback('id->[1]', 'found')).toEqual({ sent: ['id->[1]'], end: 'found' });
    expect(await fallback('id->[1]', refused(400), 'found')).toEqual({
      sent: ['id->[1]', `id->[1],${ALL}`],
      end: 'found',
    });
  });

  it('does not hide why the first request was refused, nor what else goes wrong with the second', async () => {
    const [first, second, lost] = [refused(400, null), refused(400, 'id'), refused(503)];
    expect((await fallback(undefined, first, second)).end).toBe(first);
    expect((await fallback(undefined, first, lost)).end).toBe(lost);
    expect(await fallback(undefined, lost)).toEqual({ sent: [undefined], end: lost });
  });
});
