import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { added, idsOf, type Row, type Setting, stored, type Table } from './row.ts';

const PDF = Buffer.from('%PDF-1.4\nreport of a made-up practice\n%%EOF\n');
const JPEG = Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex');

const NEW_PATIENT = [
  ...['--first-name', 'Ann', '--last-name', 'Example', '--gender', 'F', '--date-of-birth', '1990-04-12'],
  ...['--patient-status', 'NEW', '--contact-method', 'Email me', '--language-type', 'English'],
  ...['--address1', '1 Main St', '--city', 'Denver', '--state', 'CO', '--postal-code', '80202'],
];

const NEW_EVENT = ['--title', 'Staff lunch', '--start', '2026-12-01T12:00:00-07:00', '--duration', '45'];

/** Sets one record, and leaves their number as it was. */
function changes(line: Row['line'], check: Row['check']): Row {
  return { line, check };
}

async function put(setting: Setting, name: string, content: Buffer): Promise<void> {
  await writeFile(join(setting.folder, name), content);
}

/** A record is gone, and only it. */
function gone(resource: 'documents' | 'events' | 'missedappointments' | 'transactiontags'): Row {
  return {
    line: ({ first }) => [resource, 'delete', first(resource), '--yes'],
    check: (_ran, setting) => {
      const left = idsOf(setting.before(resource)).filter((id) => id !== setting.first(resource));
      expect(idsOf(setting.service.records(resource))).toEqual(left);
    },
  };
}

/** An event of the fixture is of a series after this. */
async function makeSeries({ molar, location }: Setting): Promise<void> {
  const line = [
    ...['events', 'create', ...NEW_EVENT, '--location', location],
    ...['--recurrence', 'weekly', '--on', 'TUE', '--until', '2026-12-31'],
  ];
  const ran = await molar(line);
  expect([ran.exitCode, ran.stderr]).toEqual([0, expect.anything()]);
}

const seriesOf = ({ service }: Setting) => service.records('events').filter(({ groupId }) => groupId !== null);
const firstOfSeries = (setting: Setting) =>
  String(seriesOf(setting).toSorted((a, b) => (String(a.start) < String(b.start) ? -1 : 1))[0]?.id);

export const WRITES: Table = {
  'patients create': {
    line: ({ location }) => ['patients', 'create', ...NEW_PATIENT, '--preferred-location', location],
    check: (_ran, setting) => expect(added(setting, 'patients')).toMatchObject({ firstName: 'Ann', state: 'CO' }),
  },
  'patients update': changes(
    ({ first }) => ['patients', 'update', first('patients'), '--city', 'Testville', '--set', 'preferredName=null'],
    (_ran, setting) => expect(stored(setting, 'patients')).toMatchObject({ city: 'Testville', preferredName: null }),
  ),
  'patients billingtypes set': changes(
    ({ first }) => ['patients', 'billingtypes', 'set', first('patients'), '--billing-type', '1300000000001'],
    (_ran, { service, first }) =>
      expect(JSON.stringify(service.practice.billingTypes.get(Number(first('patients'))))).toContain('1300000000001'),
  ),
  'transactiontags create': {
    line: () => [
      ...['transactiontags', 'create', '--tag-text', 'Payment plan'],
      ...['--is-predefined', 'false', '--tag-type', 'PAYMENT_TAG'],
    ],
    check: (_ran, setting) => expect(added(setting, 'transactiontags')).toMatchObject({ tagText: 'Payment plan' }),
  },
  'transactiontags delete': gone('transactiontags'),
  'events create': {
    line: ({ location }) => ['events', 'create', ...NEW_EVENT, '--location', location],
    check: (_ran, setting) =>
      expect(added(setting, 'events')).toMatchObject({ start: '2026-12-01T19:00:00.000Z', duration: 45 }),
  },
  'events create of a series': {
    line: ({ location }) => [
      ...['events', 'create', ...NEW_EVENT, '--location', location],
      ...['--recurrence', 'weekly', '--on', 'TUE', '--until', '2026-12-31'],
    ],
    check: (_ran, setting) => {
      const starts = seriesOf(setting).map(({ start }) => String(start).slice(0, 10));
      expect(starts.sort()).toEqual(['2026-12-01', '2026-12-08', '2026-12-15', '2026-12-22', '2026-12-29']);
    },
  },
  'events update': changes(
    ({ first }) => ['events', 'update', first('events'), '--title', 'Renamed', '--set', 'description=null'],
    (_ran, setting) => expect(stored(setting, 'events')).toMatchObject({ title: 'Renamed', description: null }),
  ),
  'events update of a series': {
    prepare: makeSeries,
    line: (setting) => ['events', 'update', firstOfSeries(setting), '--title', 'Renamed', '--target', 'series'],
    check: (_ran, setting) =>
      expect(new Set(seriesOf(setting).map(({ title }) => title))).toEqual(new Set(['Renamed'])),
  },
  'events delete': gone('events'),
  'events delete of a series': {
    prepare: makeSeries,
    line: (setting) => ['events', 'delete', firstOfSeries(setting), '--target', 'series', '--yes'],
    check: (_ran, setting) => expect(seriesOf(setting)).toEqual([]),
  },
  'appointments update': changes(
    ({ first }) => ['appointments', 'update', first('appointments'), '--status', 'CONFIRMED', '--duration', '45'],
    (_ran, setting) => expect(stored(setting, 'appointments')).toMatchObject({ status: 'CONFIRMED', duration: 45 }),
  ),
  'missedappointments update': changes(
    ({ first }) => [
      ...['missedappointments', 'update', first('missedappointments'), '--status', 'BROKEN'],
      ...['--cancelled-on', '2026-01-20T08:15:00Z'],
    ],
    (_ran, setting) =>
      expect(stored(setting, 'missedappointments')).toMatchObject({ cancelledOn: '2026-01-20T08:15:00.000Z' }),
  ),
  'missedappointments delete': gone('missedappointments'),
  'documents upload': {
    prepare: (setting) => put(setting, 'report.pdf', PDF),
    line: ({ folder, first }) => [
      ...['documents', 'upload', join(folder, 'report.pdf'), '--patient', first('patients'), '--tag', 'Xray'],
      ...['--results', join(folder, 'results.csv')],
    ],
    check: (_ran, setting) => {
      const document = added(setting, 'documents');
      expect(document).toMatchObject({ name: 'report.pdf', tags: [expect.stringMatching(/^xray$/i)] });
      expect(setting.service.practice.files.get(String(document.guidName))).toEqual(PDF);
    },
  },
  'documents upload of a JPEG': {
    prepare: (setting) => put(setting, 'photo.jpg', JPEG),
    line: ({ folder }) => ['documents', 'upload', join(folder, 'photo.jpg'), '--results', join(folder, 'results.csv')],
    check: (_ran, setting) => expect(added(setting, 'documents').name).toMatch(/^photo\.jpe?g$/),
  },
  'documents update': changes(
    ({ first }) => ['documents', 'update', first('documents'), '--name', 'Insurance card', '--tags', 'Reviewed'],
    (_ran, setting) => expect(stored(setting, 'documents')?.name).toMatch(/^Insurance card\.\w+$/),
  ),
  'documents delete': gone('documents'),
  'documents download': {
    line: ({ folder, first }) => ['documents', 'download', first('documents'), '--dir', join(folder, 'down')],
    check: async (_ran, setting) => {
      const { name, guidName } = stored(setting, 'documents') ?? {};
      const content = await readFile(join(setting.folder, 'down', String(name)));
      expect(content).toEqual(setting.service.practice.files.get(String(guidName)));
    },
  },
  'documents download of all': {
    line: ({ folder }) => ['documents', 'download', '--all', '--dir', join(folder, 'down')],
    check: async (_ran, { folder, service }) => {
      const names = (await readdir(join(folder, 'down'))).filter((name) => !name.startsWith('.'));
      expect(names.length).toBe(service.records('documents').length);
    },
  },
  'api POST': {
    line: () => ['api', 'POST', 'transactiontags', '--data', '-'],
    stdin: '{"tagText":"Refund","tagType":"PAYMENT_TAG","isPredefined":false}',
    check: (_ran, setting) => expect(added(setting, 'transactiontags').tagText).toBe('Refund'),
  },
};
