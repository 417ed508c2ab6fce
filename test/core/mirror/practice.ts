import { ImportRefused } from '../../../src/server/import/lines.ts';
import type { Draws } from '../../faithful/random.ts';
import { big, LOCATIONS, OPERATORIES, ORGANIZATION, PATIENTS, PROVIDERS, TOKENS } from '../../support/ids.ts';
import { line } from '../../support/practice.ts';
import type { TestService } from '../../support/service.ts';
import { serveAt } from './network.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Has responses tell the time of the service's clock, which Node's own header does not. */
export function tellTime({ app, clock }: Pick<TestService, 'app' | 'clock'>): void {
  app.server.prependListener('request', (_, response) => {
    response.setHeader('date', new Date(clock.now()).toUTCString());
  });
}

/** Has a service listen, whose responses tell the time of its clock; what connects the command line to it. */
export async function listening(
  service: Pick<TestService, 'app' | 'clock'>,
  port = 0,
): Promise<Readonly<Record<string, string>>> {
  tellTime(service);
  const url = await service.app.listen({ host: '127.0.0.1', port });
  serveAt(url, service);
  return { MOLAR_URL: url, MOLAR_ORGANIZATION: ORGANIZATION, MOLAR_TOKEN: TOKENS.full };
}

const LISTS = {
  documents: '',
  patients: '',
  transactiontags: '',
  transactions: 'transactionDate>=0001-01-01',
  missedappointments: '',
  patientinsuranceplans: '',
  events: '',
  appointments: '',
} as const;

/** Records of the service by resource, of all or of these lists, read page by page and parsed, without any code of the client. */
export async function serverRecords(
  service: TestService,
  lists?: readonly string[],
): Promise<ReadonlyMap<string, readonly Fields[]>> {
  const get = async (path: string, query: Readonly<Record<string, string | number>>) => {
    const called = await service.call('GET', path, { query });
    if (called.status !== 200) throw new Error(`${path}: ${called.text}`);
    return called.body.data as Fields[];
  };
  const byId = async (path: string, filter: string, pageSize: number) => {
    const all: Fields[] = [];
    for (let page: Fields[]; ; ) {
      page = await get(path, { ...(filter !== '' && { filter }), pageSize, lastId: String(all.at(-1)?.id ?? 0) });
      if (page.length === 0) return all;
      all.push(...page);
    }
  };
  const found = new Map<string, readonly Fields[]>();
  for (const [name, filter] of Object.entries(LISTS))
    if (lists === undefined || lists.includes(name)) found.set(name, await byId(`/${name}`, filter, 500));
  if (lists !== undefined) return found;
  found.set('imageattachments', await byId('/imageattachments/async', '', 10));
  const histories: Fields[] = [];
  for (let page = 1; ; page++) {
    const rows = await get('/appointmenthistories', {
      filter: 'lastModified>=0001-01-01T00:00:00Z',
      pageSize: 500,
      page,
    });
    if (rows.length === 0) break;
    histories.push(...rows);
  }
  found.set('appointmenthistories', histories);
  const reasons = await Promise.all(
    Object.values(LOCATIONS).map((id) => get('/scheduletemplatereasons', { filter: `location.id==${id}` })),
  );
  found.set('scheduletemplatereasons', reasons.flat());
  return found;
}

/** One change of the practice, as another user makes it. */
export async function changeSomething(service: TestService, draws: Draws): Promise<void> {
  service.clock.advance(draws.whole(1, 40));
  const ids = async (path: string, filter = '') => {
    const query = { lastId: 0, pageSize: 500, ...(filter !== '' && { filter }) };
    return ((await service.call('GET', path, { query })).body.data as Fields[]).map(({ id }) => String(id));
  };
  const one = async (path: string) => {
    const all = await ids(path);
    return all.length === 0 ? undefined : draws.one(all);
  };
  const send = async (method: string, path: string, body?: unknown, query = {}) => {
    const called = await service.call(method, path, { body, query });
    if (called.status >= 500) throw new Error(called.text);
  };
  const name = `N${draws.whole(1, 99_999)}`;
  const patient = { id: draws.one(Object.values(PATIENTS)) };
  switch (draws.whole(1, 15)) {
    case 1:
    case 2:
      return send('PUT', `/patients/${await one('/patients')}`, { preferredName: name });
    case 3:
      return send('PUT', `/patients/${await one('/patients')}`, { referredByPatient: patient });
    case 4:
      return send('POST', '/patients', { ...NEW_PATIENT, firstName: name });
    case 5:
      return send('POST', '/documents', {
        name,
        mimeType: 'PDF',
        file: { content: 'JVBERi0xLjQK' },
        ownerPatient: patient,
        tags: [name, 'all'],
      });
    case 6:
      return send('PUT', `/documents/${await one('/documents')}`, { tags: [name] });
    case 7:
      return send('DELETE', `/documents/${await one('/documents')}`);
    case 8:
      return send('POST', '/events', {
        title: name,
        start: '2026-12-01T16:00:00Z',
        location: { id: LOCATIONS.east },
        ...WEEKLY,
      });
    case 9:
      return send('DELETE', `/events/${await one('/events')}`, undefined, { recurrenceTarget: 'OCCURRENCE' });
    case 10:
      return send('POST', '/appointments', {
        start: '2026-12-02T16:00:00Z',
        patient,
        provider: { id: PROVIDERS.ann },
        operatory: { id: OPERATORIES.one },
      });
    case 11:
      return send('PUT', `/appointments/${await one('/appointments')}`, { status: draws.one(['BROKEN', 'CONFIRMED']) });
    case 12:
      return send('DELETE', `/missedappointments/${await one('/missedappointments')}`);
    case 13:
      return remove(service, draws.one(await ids('/transactions', 'transactionDate>=0001-01-01')));
    default:
      await service.import(await ledgerLines(draws, await ids('/transactions', 'transactionDate>=0001-01-01')));
  }
}

/** Deletes a transaction unless others lead to it; of a payment the stream says nothing (specification, Events). */
async function remove(service: TestService, id: string): Promise<void> {
  try {
    await service.import([line('Transaction', { id: Number(id), deleted: true })]);
  } catch (cause) {
    if (!(cause instanceof ImportRefused)) throw cause;
  }
}

/** A new transaction, which may correct one that is there: then the stream says nothing of the original. */
async function ledgerLines(draws: Draws, ids: readonly string[]): Promise<Fields[]> {
  const previous = draws.chance(0.6) && ids.length > 0 ? { previousTransaction: { id: Number(draws.one(ids)) } } : {};
  return [
    line('Transaction', {
      id: big(10_000 + draws.whole(1, 1_000_000)),
      ledgerType: draws.one(['PatientProcedureLedger', 'PatientProcedurePayment', 'PatientCreditAdjustment']),
      amount: draws.whole(-90_000, 90_000) / 100,
      transactionDate: '2026-01-05',
      patient: { id: PATIENTS.ann },
      location: { id: LOCATIONS.east },
      ...previous,
    }),
  ];
}

const NEW_PATIENT = {
  lastName: 'Newcomer',
  contactMethod: 'Call me',
  languageType: 'English',
  patientStatus: 'NEW',
  gender: 'F',
  dateOfBirth: '1990-02-28',
  preferredLocation: { id: LOCATIONS.west },
  address1: '1 Main Street',
  city: 'Denver',
  state: 'CO',
  postalCode: '80202',
  phones: [{ phoneType: 'HOME', number: '(303) 555-0100', sequence: 1 }],
} as const;

const WEEKLY = {
  recurrenceType: 'WEEKLY',
  recurrenceStart: '2026-12-01',
  recurrenceEnd: '2026-12-20',
  recurrenceFrequency: 1,
  recurrenceDays: ['TUESDAY'],
} as const;
