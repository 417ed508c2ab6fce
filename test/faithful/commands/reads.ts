import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Fields, LISTED, type Resource } from '../store.ts';
import { idsOf, type Row, rowsOf, type Setting, stored, type Table } from './row.ts';

/** A list of everything gives every record once. */
function all(resource: Resource, ...flags: readonly string[]): Row {
  return {
    line: () => [resource, 'list', '--format', 'ndjson', ...flags],
    check: (ran, { service }) => expect(idsOf(rowsOf(ran))).toEqual(idsOf(service.records(resource))),
  };
}

function count(resource: Resource): Row {
  return {
    line: () => [resource, 'count'],
    check: (ran, { service }) => expect(ran.stdout.trim()).toBe(String(service.records(resource).length)),
  };
}

function get(resource: Resource, field: string): Row {
  return {
    line: ({ first }) => [resource, 'get', first(resource), '--json'],
    check: (ran, setting) => {
      const own = stored(setting, resource) ?? {};
      const shown = JSON.parse(ran.stdout) as Record<string, unknown>;
      expect([String(shown.id), JSON.stringify(shown[field])]).toEqual([String(own.id), JSON.stringify(own[field])]);
    },
  };
}

const MIRRORED = ['patients', 'transactions', 'documents', 'patientinsuranceplans'] as const;
const mirrorOf = ({ folder }: Setting) => join(folder, 'mirror.db');
const sync = (setting: Setting) => ['mirror', 'sync', ...MIRRORED, '--to', mirrorOf(setting), '--json'];
const SELECT = MIRRORED.map(
  (name) => `SELECT '${name}' AS name, id FROM ${name.replace('tinsurancep', 't_insurance_p')}`,
);

/** A mirror has every record, once, whichever command brought it up to date. */
async function checkMirror(setting: Setting): Promise<void> {
  const ran = await setting.molar([
    'query',
    SELECT.join(' UNION ALL '),
    '--from',
    mirrorOf(setting),
    '--format',
    'ndjson',
  ]);
  const found = rowsOf(ran).map(({ name, id }) => `${name} ${id}`);
  const held = MIRRORED.flatMap((name) => setting.service.records(name).map(({ id }) => `${name} ${id}`));
  expect(found.sort(), ran.stderr).toEqual(held.sort());
}

const linkId = (value: unknown): string => String((value as { id: unknown }).id);
const TODAY = '2026-03-02';

/** A day on which a transaction was posted. */
const postedOn = ({ service }: Setting): string => String(service.records('transactions')[0]?.transactionDate);

const isIn31Days = (start: unknown): boolean => String(start) >= TODAY && String(start) < '2026-04-02';

/** Guarantors of the aging report at a location, with their balances. */
function owing({ service, location }: Setting, everywhere: boolean): string[] {
  return service.practice.owing
    .filter((one) => everywhere || String(one.location) === location)
    .map(({ report }) => `${report.id} ${Number(report.balance)}`)
    .sort();
}

const balances = (rows: readonly Readonly<Record<string, unknown>>[]) =>
  rows.map(({ id, balance }) => `${id} ${Number(balance)}`).sort();

export const READS: Table = {
  'mirror sync': {
    line: sync,
    tries: '/api/v1/stream',
    check: (_, setting) => checkMirror(setting),
  },
  'mirror verify': {
    prepare: async (setting) => void (await setting.molar(sync(setting))),
    line: (setting) => ['mirror', 'verify', ...MIRRORED, '--to', mirrorOf(setting), '--json'],
    tries: '/api/v1/stream',
    check: async (ran, setting) => {
      expect(JSON.parse(ran.stdout)).toMatchObject({ complete: true, differences: 0 });
      await checkMirror(setting);
    },
  },
  'query, of a mirror that is made first': {
    line: (setting) => [
      'query',
      'SELECT COUNT(*) AS n FROM patients',
      '--from',
      mirrorOf(setting),
      '--fresh',
      '1h',
      '--format',
      'ndjson',
    ],
    tries: ['/api/v1/stream', '/api/v1/appointments'],
    check: (ran, { service }) => expect(rowsOf(ran)).toEqual([{ n: service.records('patients').length }]),
  },
  'reports day-sheet': {
    line: (setting) => ['reports', 'day-sheet', '--date', postedOn(setting), '--format', 'ndjson'],
    tries: ['/api/v1/stream', '/api/v1/appointments'],
    check: (ran, setting) => {
      const isPosted = ({ transactionDate, isActive }: Fields) => transactionDate === postedOn(setting) && isActive;
      expect(idsOf(rowsOf(ran))).toEqual(idsOf(setting.service.records('transactions').filter(isPosted)));
    },
  },
  'reports production': {
    line: () => [
      ...['reports', 'production', '--by', 'day', '--from', TODAY, '--days', '31', '--timezone', 'UTC'],
      ...['--format', 'ndjson'],
    ],
    check: (ran, { service }) => {
      const own = service.records('appointments').filter(({ start }) => isIn31Days(start));
      const sum = (amounts: readonly unknown[]) => amounts.reduce<number>((total, amount) => total + Number(amount), 0);
      expect(sum(rowsOf(ran).map(({ scheduledCents }) => scheduledCents))).toBe(
        sum(own.map(({ scheduledAmount }) => scheduledAmount)),
      );
    },
  },
  'names learn': {
    line: () => ['names', 'learn'],
    tries: '/api/v1/appointments',
    check: async (_, setting) => {
      const named = rowsOf(await setting.molar(['names', 'list', '--kind', 'location', '--format', 'ndjson']));
      expect(idsOf(named)).toEqual(setting.service.practice.locations.map(({ id }) => String(id)).sort());
    },
  },
  'patients list': all('patients'),
  'documents list': all('documents'),
  'transactiontags list': all('transactiontags'),
  'transactions list': all('transactions'),
  'appointmenthistories list': all('appointmenthistories'),
  'missedappointments list': all('missedappointments'),
  'patientinsuranceplans list': all('patientinsuranceplans'),
  'events list': all('events'),
  'imageattachments list': { ...all('imageattachments'), tries: '/api/v1/stream' },
  'patients list, in parallel': all('patients', '--parallel', '4'),
  'scheduletemplatereasons list': {
    line: ({ location }) => ['scheduletemplatereasons', 'list', '--location', location, '--format', 'ndjson'],
    check: (ran, { service, location }) => {
      const own = service.records('scheduletemplatereasons').filter((record) => linkId(record.location) === location);
      expect(idsOf(rowsOf(ran))).toEqual(idsOf(own));
    },
  },
  'patients list as CSV': {
    line: () => ['patients', 'list', '--csv', '--fields', 'id,firstName'],
    check: (ran, { service }) => {
      const lines = service.records('patients').map(({ id, firstName }) => `${id},${firstName}`);
      const [head, ...body] = ran.stdout.trimEnd().split(/\r?\n/);
      expect([head, body.sort()]).toEqual(['id,firstName', lines.sort()]);
    },
  },
  'patients list of a filter': {
    line: () => ['patients', 'list', '--format', 'ndjson', '--gender', 'F'],
    check: (ran, { service }) =>
      expect(idsOf(rowsOf(ran))).toEqual(idsOf(service.records('patients').filter(({ gender }) => gender === 'F'))),
  },
  'events list of a month': {
    line: () => ['events', 'list', '--format', 'ndjson', '--from', '2021-01-01', '--to', '2022-12-31'],
    check: (ran, { service }) => {
      const own = service.records('events').filter(({ start }) => /^202[12]-(0[2-9]|1[01])/.test(String(start)));
      expect(idsOf(rowsOf(ran))).toEqual(expect.arrayContaining(idsOf(own)));
    },
  },
  'documents count': count('documents'),
  'patients count': count('patients'),
  'transactions count': count('transactions'),
  'appointmenthistories count': count('appointmenthistories'),
  'patientinsuranceplans count': count('patientinsuranceplans'),
  'events count': count('events'),
  'documents get': get('documents', 'name'),
  'patients get': get('patients', 'firstName'),
  'transactiontags get': get('transactiontags', 'tagText'),
  'transactions get': get('transactions', 'ledgerType'),
  'appointmenthistories get': get('appointmenthistories', 'change'),
  'missedappointments get': get('missedappointments', 'status'),
  'patientinsuranceplans get': get('patientinsuranceplans', 'startDate'),
  'events get': get('events', 'title'),
  'patients calculated': {
    line: ({ first }) => ['patients', 'calculated', '--patient', first('patients'), '--format', 'ndjson'],
    check: (ran) => {
      const rows = rowsOf(ran);
      expect(rows).toHaveLength(1);
      expect(String(rows[0]?.lastVisitDate ?? null)).toMatch(/^(null|\d{4}-\d\d-\d\d)$/);
    },
  },
  'patients billingtypes list': {
    prepare: ({ service, first }) => {
      service.practice.billingTypes.set(Number(first('patients')), [{ id: 7 }]);
    },
    line: ({ first }) => ['patients', 'billingtypes', 'list', first('patients'), '--format', 'ndjson'],
    check: (ran) => expect(rowsOf(ran).map(({ id }) => String(id))).toEqual(['7']),
  },
  'agingbalances report': {
    line: () => ['agingbalances', 'report', '--location', 'ALL', '--format', 'ndjson'],
    check: (ran, setting) => expect(balances(rowsOf(ran))).toEqual(owing(setting, true)),
  },
  'agingbalances report of a location': {
    line: ({ location }) => ['agingbalances', 'report', '--location', location, '--format', 'ndjson'],
    check: (ran, setting) => expect(balances(rowsOf(ran))).toEqual(owing(setting, false)),
  },
  'locationproductionnetschedule report': {
    line: () => [
      'locationproductionnetschedule',
      'report',
      '--from',
      TODAY,
      '--range',
      '31',
      '--timezone',
      'UTC',
      '--format',
      'ndjson',
    ],
    check: (ran, { service }) => {
      const own = service.records('appointments').filter(({ start }) => isIn31Days(start));
      const amounts = (list: readonly { scheduledAmount?: unknown }[]) =>
        list.map(({ scheduledAmount }) => Number(scheduledAmount)).sort();
      expect(own.length).toBeGreaterThan(3);
      expect(amounts(rowsOf(ran))).toEqual(amounts(own));
    },
  },
  'scheduleopenings list': {
    line: ({ location }) => [
      ...['scheduleopenings', 'list', '--location', location, '--from', TODAY, '--to', '2026-03-04'],
      ...['--format', 'ndjson'],
    ],
    check: (ran) => expect(new Set(rowsOf(ran).map(({ day }) => day)).size).toBe(3),
  },
  'api GET': {
    line: ({ first }) => ['api', `patients/${first('patients')}`, '--json'],
    check: (ran, { first }) => expect(String(JSON.parse(ran.stdout).data.id)).toBe(first('patients')),
  },
  'api with pages': {
    line: () => ['api', 'documents', '--paginate', '--format', 'ndjson'],
    check: (ran, { service }) => expect(idsOf(rowsOf(ran))).toEqual(idsOf(service.records('documents'))),
  },
  whoami: {
    line: () => ['whoami'],
    check: (ran, { service }) => expect(ran.stdout).toContain(service.organization),
  },
  doctor: {
    line: () => ['doctor', '--json'],
    attemptsOnce: true,
    check: (ran) => expect(ran.stdout).toContain('ok'),
  },
  'login with a token': {
    line: ({ service }) => [
      ...['login', '--url', service.url, '--organization', service.organization],
      ...['--token-stdin', '--profile', 'work', '--allow-http'],
    ],
    stdin: 'faithful-token\n',
    check: (ran) => expect(ran.stdout + ran.stderr).toContain('work'),
  },
  export: {
    line: ({ folder }) => [...['export', ...LISTED, '--to', join(folder, 'out'), '--format', 'ndjson', '--full-ids']],
    check: async (_ran, { folder, service }) => {
      for (const resource of LISTED) {
        const text = await readFile(join(folder, 'out', `${resource}.ndjson`), 'utf8');
        const rows = text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as { id: unknown });
        expect([resource, idsOf(rows)]).toEqual([resource, idsOf(service.records(resource))]);
      }
    },
  },
};
