import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { displayWidth } from '../../../src/core/output/terminaltext.ts';
import { OWNER_ONLY } from '../../support/capabilities.ts';
import { csvRows, linked, localDate, type Record_, sharedOffice, succeeded } from './practice.ts';

const office = sharedOffice();
// Whichever test comes first has a mirror; one begins without.
beforeAll(async () => void succeeded(await office.run('reports:recall', [])));

const ZONES: Readonly<Record<string, string>> = {
  '1000000000001': 'America/Denver',
  '1000000000002': 'America/New_York',
};
const FREE = ['BROKEN', 'NO_SHOW', 'CANCELLEDBYOFFICE'];

const zoneOf = (record: Record_) => ZONES[linked(record.location)] ?? 'UTC';
const dayOf = (record: Record_) => localDate(record.start, zoneOf(record));

async function booked(): Promise<Record_[]> {
  return (await office.records('/appointments')).filter(({ status }) => !FREE.includes(String(status)));
}

/** The day with the most appointments, so that there is something to list. */
async function busiestDay(): Promise<string> {
  const counts = new Map<string, number>();
  for (const one of await booked()) counts.set(dayOf(one), (counts.get(dayOf(one)) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? '';
}

describe('the first report', () => {
  it('makes the mirror; the next ones read it, and send nothing while it is young', async () => {
    await office.run('mirror:reset', ['--yes']);
    const first = succeeded(await office.run('reports:birthdays', []));
    expect(first.stderr).toContain('makes a copy of the practice');
    expect(JSON.parse((await office.run('mirror:status', ['--json'])).stdout)).toMatchObject({ complete: true });
    for (const words of [[], ['--fresh', '1h'], ['--offline']]) {
      expect(succeeded(await office.run('reports:recall', words)).stderr).toBe('');
      expect(office.requests).toEqual([]);
    }
    await office.run('reports:recall', ['--fresh', '0']);
    expect(office.requests).not.toEqual([]);
  });

  it('waits for another command that is syncing the mirror', async () => {
    const release = await office.holdMirror();
    let looks = 0;
    const sleep = async () => {
      if (++looks === 3) await release();
    };
    const ran = await office.run('reports:birthdays', ['--fresh', '0'], { clock: { now: Date.now, sleep } });
    expect({ ...succeeded(ran), looks }).toMatchObject({ stderr: '', looks: 3 });
    expect(office.requests).not.toEqual([]);
  });
});

describe('reports and what the API lists', () => {
  it('schedule: the booked appointments of a local day, by the order of the names file', async () => {
    const day = await busiestDay();
    const expected = (await booked()).filter((one) => dayOf(one) === day);
    const { stdout } = succeeded(await office.run('reports:schedule', ['--date', day]));
    expect(stdout.split('\n')[0]).toBe(
      'date,start,end,duration,location.id,location.name,operatory.id,operatory.name,provider.id,provider.name,patient.id,patient.firstName,patient.lastName,patient.dateOfBirth,phone,phone_2,phone_3,phoneOf.id,status,note,id',
    );
    const rows = csvRows(stdout);
    expect(rows.map(({ id }) => id).sort()).toEqual(expected.map(({ id }) => String(id)).sort());
    const places = rows.map((row) => [
      row['location.name'] === 'Smithtown, East' ? 1 : 2,
      row['operatory.id'],
      row.start,
    ]);
    expect(places).toEqual(places.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)));
    const { totals, filters } = await office.json('schedule', '--date', day);
    expect(totals).toEqual({ count: rows.length, patients: new Set(rows.map((row) => row['patient.id'])).size });
    expect(filters).toMatchObject({ date: day, days: 1, locations: null });
  });

  it('recall: exactly those whose last visit, as patients calculated says, is six months ago or more', async () => {
    const { records } = await office.json('recall', '--utc');
    const today = new Date().toISOString().slice(0, 10);
    const due = new Date(`${today}T00:00:00Z`);
    const day = due.getUTCDate();
    due.setUTCDate(1);
    due.setUTCMonth(due.getUTCMonth() - 6);
    const last = new Date(Date.UTC(due.getUTCFullYear(), due.getUTCMonth() + 1, 0)).getUTCDate();
    due.setUTCDate(Math.min(day, last));
    const limit = due.toISOString().slice(0, 10);
    const current = (await office.records('/patients')).filter(({ patientStatus }) =>
      ['NEW', 'ACTIVE'].includes(String(patientStatus)),
    );
    const visits = new Map<string, string | null>();
    for (let at = 0; at < current.length; at += 100) {
      const ids = current.slice(at, at + 100).map(({ id }) => id);
      const query = { filter: `patient.id->[${ids.join(',')}]`, responseFields: 'lastVisitDate' };
      for (const { id, lastVisitDate } of (await office.get('/patients/calculated', query)) as Record_[]) {
        visits.set(String(id), lastVisitDate as string | null);
      }
    }
    const comes = new Set(
      (await booked()).filter(({ start }) => String(start) >= today).map(({ patient }) => linked(patient)),
    );
    const expected = current
      .map(({ id }) => String(id))
      .filter((id) => (visits.get(id) ?? '9') <= limit && !comes.has(id));
    expect(expected.length).toBeGreaterThan(100);
    expect(records.map(({ patient }) => linked(patient)).sort()).toEqual(expected.sort());
  });

  it('deposits: what the ledger has, with the sign turned; totals are those of all rows, whatever is shown', async () => {
    const KINDS = ['PatientProcedurePayment', 'InsurancePayment', 'PatientCreditCardRefund'];
    const [from, to] = ['2026-01-01', '2026-02-28'];
    const ledger = await office.records('/transactions', `transactionDate>=${from},transactionDate<=${to}`);
    const expected = ledger.filter(({ isActive, ledgerType }) => {
      return (
        isActive === true &&
        [...KINDS, 'PatientCreditCardVoid', 'InsuranceRefundAdjustment'].includes(String(ledgerType))
      );
    });
    const cents = (rows: readonly Record_[]) =>
      rows.reduce((sum, { amount }) => sum - Math.round(Number(amount) * 100), 0);
    const words = ['--from', from, '--to', to, '--location', '1000000000001'];
    const own = expected.filter(({ location }) => linked(location) === '1000000000001');
    const { records, totals } = await office.json('deposits', ...words, '--limit', '3', '--sort', ' -depositCents');
    expect(own.length).toBeGreaterThan(10);
    const largest = own.map((row) => cents([row])).sort((a, b) => b - a);
    expect(records.map(({ depositCents }) => depositCents)).toEqual(largest.slice(0, 3));
    expect(totals).toMatchObject({ count: own.length, depositCents: cents(own) });
    const [kind] = KINDS as [string];
    const ofKind = own.filter(({ ledgerType }) => ledgerType === kind);
    const groups = totals.byLedgerType as Record<string, unknown>;
    expect(groups[kind]).toEqual({ count: ofKind.length, depositCents: cents(ofKind) });
    for (const place of [[], ['--location', 'all']]) {
      const all = await office.json('deposits', '--from', from, '--to', to, ...place);
      expect(all.totals).toMatchObject({ count: expected.length, depositCents: cents(expected) });
    }
    const rows = csvRows(succeeded(await office.run('reports:deposits', words)).stdout);
    expect(rows.reduce((sum, row) => sum + Number(row.depositCents), 0)).toBe(cents(own));
  });

  it('day-sheet: charges and credits of a day add up to its rows', async () => {
    const rows = csvRows(
      succeeded(await office.run('reports:day-sheet', ['--date', '2026-02-02', '--days', '14'])).stdout,
    );
    const { totals } = await office.json('day-sheet', '--date', '2026-02-02', '--days', '14');
    const amounts = rows.map(({ amountCents }) => Number(amountCents));
    const sum = (some: number[]) => some.reduce((total, cents) => total + cents, 0);
    expect(amounts.length).toBeGreaterThan(10);
    expect(totals).toMatchObject({
      count: amounts.length,
      amountCents: sum(amounts),
      chargesCents: sum(amounts.filter((cents) => cents > 0)),
      creditsCents: sum(amounts.filter((cents) => cents < 0)),
    });
  });
});

describe('every report', () => {
  const MIRRORED: readonly (readonly [name: string, ...words: string[]])[] = [
    ['schedule', '--date', '2026-02-23', '--days', '7'],
    ['call-list', '--date', '2026-02-23', '--days', '30', '--status', 'CONFIRMED,unconfirmed'],
    ['recall', '--include-never-seen'],
    ['no-shows', '--from', '2026-01-01', '--to', '2026-03-02', '--include-rebooked'],
    ['day-sheet', '--date', '2026-02-20', '--days', '3'],
    ['deposits', '--from', '2026-02-01', '--to', '2026-02-28'],
    ['adjustments', '--from', '2026-01-01', '--to', '2026-02-28'],
    ['birthdays', '--from', '2026-02-20', '--days', '20'],
    ['missing-contacts'],
    ['missing-documents', '--tag', 'Consent'],
  ];

  it.each(MIRRORED)('%s: its SQL gives the same rows to molar query', async (name, ...words) => {
    const { records } = await office.json(name, ...words);
    const explained = JSON.parse(
      succeeded(await office.run(`reports:${name}`, [...words, '--explain', '--json'])).stdout,
    );
    expect(office.requests).toEqual([]);
    expect(explained).toMatchObject({ report: name, requests: [] });
    const answer = succeeded(await office.run('query', [explained.sql, '--csv']));
    const ids = csvRows(answer.stdout).map((row) => row.id ?? row.patient_id);
    const own = records.map(({ id, patient }) => String(id ?? linked(patient)));
    expect(own.length).toBeGreaterThan(0);
    expect(own.sort()).toEqual(ids.sort());
  });

  it.each(MIRRORED)('%s: split by location, its files have each row once', async (name, ...words) => {
    const folder = join(office.folder, `split-${name}`);
    const whole = csvRows(succeeded(await office.run(`reports:${name}`, words)).stdout);
    const split = succeeded(await office.run(`reports:${name}`, [...words, '--split-by', 'location', '--to', folder]));
    const files = await readdir(folder);
    expect(split.stdout.trim().split('\n').sort()).toEqual(files.map((file) => join(folder, file)).sort());
    const parts: Readonly<Record<string, string>>[] = [];
    for (const file of files) {
      expect((await stat(join(folder, file))).mode & 0o777).toBe(OWNER_ONLY.file);
      const rows = csvRows(await readFile(join(folder, file), 'utf8'));
      const place = /-(\d+|none)\.csv$/.exec(file)?.[1] ?? '';
      expect(rows.filter((row) => (row['location.id'] || 'none') !== place)).toEqual([]);
      parts.push(...rows);
    }
    const sorted = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).sort();
    expect(sorted(parts)).toEqual(sorted(whole));
  });

  it('gets a file for a location that was asked for, also without rows', async () => {
    const folder = join(office.folder, 'asked');
    const words = ['--location', '42,1000000000001', '--split-by', 'location', '--to', folder, '--format', 'json'];
    const { stdout } = succeeded(await office.run('reports:missing-contacts', words));
    const paths = stdout.trim().split('\n');
    expect(paths).toEqual(['42', '1000000000001'].map((id) => join(folder, `missing-contacts-${id}.json`)));
    const [none, some] = await Promise.all(paths.map(async (path) => JSON.parse(await readFile(path, 'utf8'))));
    expect(none).toMatchObject({ records: [], totals: { count: 0 }, filters: { locations: [42] } });
    expect(some).toMatchObject({ filters: { locations: [1000000000001] }, totals: { count: some.records.length } });
  });
});

describe('forms of output', () => {
  it('JSON nests columns, ndjson has its records, csv the same values', async () => {
    const words = ['--date', '2026-02-23', '--days', '7', '--limit', '5'];
    const { records } = await office.json('schedule', ...words);
    const lines = succeeded(await office.run('reports:schedule', [...words, '--format', 'ndjson']))
      .stdout.trim()
      .split('\n');
    expect(lines.map((text) => JSON.parse(text))).toEqual(records);
    const rows = csvRows(succeeded(await office.run('reports:schedule', words)).stdout);
    expect(records).toMatchObject(
      rows.map((row) => ({
        start: row.start,
        location: { id: Number(row['location.id']), name: row['location.name'] },
        patient: { id: Number(row['patient.id']), lastName: row['patient.lastName'] },
        note: row.note === '' ? null : row.note,
      })),
    );
  });

  it('--fields chooses columns and groups of them, --local-times adds the time at the location', async () => {
    const words = ['--date', '2026-02-23', '--fields', 'start,patient,patient.id,location.id', '--local-times'];
    const { stdout } = succeeded(await office.run('reports:schedule', words));
    expect(stdout.split('\n')[0]).toBe('start,startLocal,patient.id,patient.firstName,patient.lastName,location.id');
    for (const { start, startLocal = '', ...row } of csvRows(stdout)) {
      expect(Date.parse(startLocal)).toBe(Date.parse(start ?? ''));
      expect(startLocal).toMatch(
        row['location.id'] === '1000000000001' ? /^2026-02-23T.*-07:00$/ : /^2026-02-23T.*-05:00$/,
      );
    }
  });

  it('a terminal of 80 columns gets dollars, local times and totals, and is told what is missing', async () => {
    for (const [name, ...words] of [
      ['schedule', '--date', '2026-02-23'],
      ['deposits', '--from', '2026-02-01', '--to', '2026-02-28'],
      ['adjustments', '--from', '2026-02-01', '--to', '2026-02-28'],
    ] as const) {
      const { stdout, stderr } = await office.run(`reports:${name}`, words, { terminal: 80 });
      for (const line of stdout.split('\n')) expect(displayWidth(line)).toBeLessThanOrEqual(80);
      expect(stderr).toContain('The terminal is too narrow for: ');
      const { totals } = await office.json(name, ...words);
      expect(stdout).toContain(String(totals.count));
      const money = totals.depositCents ?? totals.amountCents;
      if (money !== undefined) expect(stdout.replaceAll(',', '')).toMatch(new RegExp(`Total .*${Number(money) / 100}`));
    }
  });

  it('html and xlsx are complete files', async () => {
    const page = join(office.folder, 'page.html');
    succeeded(await office.run('reports:deposits', ['--from', '2026-02-01', '--to', '2026-02-28', '--out', page]));
    expect(await readFile(page, 'utf8')).toMatch(/<h1>Deposits<\/h1>[\s\S]*<\/html>\n$/);
    const book = join(office.folder, 'book.xlsx');
    succeeded(await office.run('reports:schedule', ['--date', '2026-02-23', '--out', book]));
    expect((await readFile(book)).subarray(0, 2).toString()).toBe('PK');
  });
});

describe('how it ends', () => {
  it('an id that nobody knows has no rows: the header, and totals of nothing', async () => {
    const rows = succeeded(await office.run('reports:recall', ['--location', '42'])).stdout;
    expect(rows).toMatch(/^patient\.id,[^\n]*\n$/);
    expect(await office.json('collections', '--location', '42')).toMatchObject({ records: [], totals: { count: 0 } });
  });

  it('a de-identified mirror is refused: it would list nothing', async () => {
    const env = { MOLAR_CONFIG_DIR: join(office.folder, 'without-names') };
    succeeded(await office.run('mirror:sync', ['patients', '--deidentify', join(office.folder, 'key')], { env }));
    const ran = await office.run('reports:birthdays', [], { env });
    expect(ran).toMatchObject({ exitCode: 9, stdout: '' });
    expect(ran.stderr).toContain('is de-identified');
    expect(office.requests).toEqual([]);
  });

  it('refuses the mirror of another organization, also with --offline', async () => {
    const ran = await office.run('reports:recall', ['--offline'], { env: { MOLAR_ORGANIZATION: 'another' } });
    expect(ran).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('not of another') });
  });

  it('without a mirror, --offline says how to make one', async () => {
    const env = { MOLAR_CONFIG_DIR: join(office.folder, 'none') };
    const ran = await office.run('reports:recall', ['--offline'], { env });
    expect(ran).toMatchObject({ exitCode: 4, stdout: '' });
    expect(ran.stderr).toContain('molar mirror sync');
  });
});
