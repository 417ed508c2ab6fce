import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import readExcel from 'read-excel-file/node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OWNER_ONLY } from '../support/capabilities.ts';
import { manyPages } from '../support/faults/manyrecords.ts';
import { ORGANIZATION, TOKENS } from '../support/ids.ts';
import { makeMirror } from '../support/mirrorfile.ts';
import { parquetRows } from '../support/parquet.ts';
import { type TestService, testService } from '../support/service.ts';
import { molarIn } from './inprocess.ts';
import { connection, type Ended, text, workplace } from './molar.ts';

/** Resources of the practice, and their tables. */
const TABLES = {
  patients: 'patients',
  documents: 'documents',
  transactions: 'transactions',
  transactiontags: 'transaction_tags',
  events: 'events',
  appointments: 'appointments',
  appointmenthistories: 'appointment_histories',
  missedappointments: 'missed_appointments',
  patientinsuranceplans: 'patient_insurance_plans',
};
const RESOURCES = Object.keys(TABLES);

let place: Awaited<ReturnType<typeof workplace>>;
let service: TestService;
let env: Record<string, string>;
/** How the export of all that the mirror has ended. */
let all: Ended;

beforeAll(async () => {
  place = await workplace();
  service = await testService(manyPages());
  const url = await service.app.listen({ port: 0, host: '127.0.0.1' });
  env = { ...connection(url, TOKENS.full), MOLAR_ORGANIZATION: ORGANIZATION };
  await molarIn(place.path, ['export', ...RESOURCES, '--to', 'records', '--format', 'ndjson'], env);
  await molarIn(place.path, ['export', ...RESOURCES, '--to', 'sent'], env);
  await makeCopy();
  all = await exported('--to', 'all');
});

afterAll(async () => {
  await service?.close();
  await place.remove();
});

const inPlace = (...path: string[]) => join(place.path, ...path);
const recordsOf = async (resource: string) =>
  (await readFile(inPlace('records', `${resource}.ndjson`), 'utf8')).trimEnd().split('\n');
/** No request is sent: there is nothing to send one to. */
const exported = (...args: string[]) => molarIn(place.path, ['mirror', 'export', ...args, '--from', 'copy.db']);

/** A mirror of what the server sent, record by record; storage is not mirrored. */
async function makeCopy(): Promise<void> {
  const facts = `'${env.MOLAR_ORGANIZATION}', '${env.MOLAR_URL}'`;
  const statements = [
    'DROP TABLE _mirror',
    'CREATE TABLE _mirror (resource TEXT, table_name TEXT, organization TEXT, url TEXT, complete INTEGER, as_of TEXT, unavailable TEXT)',
  ];
  for (const table of ['patients', 'patient_insurance_plans', 'appointments', 'events'])
    statements.push(`DROP TABLE ${table}`);
  for (const [resource, table] of Object.entries(TABLES)) {
    statements.push(
      `INSERT INTO _mirror VALUES ('${resource}', '${table}', ${facts}, 1, '2026-11-22T05:00:00.000Z', NULL)`,
    );
    statements.push(`CREATE TABLE ${table} (id INTEGER PRIMARY KEY, _record TEXT)`);
    for (const line of await recordsOf(resource)) {
      const { storage: _, ...record } = JSON.parse(line);
      statements.push(`INSERT INTO ${table} VALUES (${record.id}, '${JSON.stringify(record).replaceAll("'", "''")}')`);
    }
  }
  statements.push(`INSERT INTO _mirror VALUES ('imageattachments', 'image_attachments', ${facts}, 0, NULL, NULL)`);
  statements.push(
    `INSERT INTO _mirror VALUES ('scheduletemplatereasons', 'schedule_template_reasons', ${facts}, 0, NULL, 'not there (404)')`,
  );
  makeMirror(inPlace('copy.db'), 'BEGIN', ...statements, 'COMMIT');
}

test('csv is, byte for byte, what an export from the service is', async () => {
  for (const resource of RESOURCES) {
    const sent = await readFile(inPlace('sent', `${resource}.csv`), 'utf8');
    const expected = resource === 'documents' ? withoutColumn(sent, 'storage') : sent;
    expect((await readFile(inPlace('all', `${resource}.csv`), 'utf8')) === expected, resource).toBe(true);
    expect(sent.length).toBeGreaterThan(100);
  }
});

test('a workbook has the names of the profile, and the time at each location', async () => {
  const records = (await recordsOf('appointments')).map((line) => JSON.parse(line));
  const [first, second] = [...new Set(records.map(({ location }) => location.id))];
  const config = { MOLAR_CONFIG_DIR: inPlace('config') };
  const zones = new Map([
    [first, 'America/Denver'],
    [second, 'Pacific/Auckland'],
  ]);
  const names = [...zones].map(([id, zone]) => `location,${id},Office ${id},${zone}\n`).join('');
  await molarIn(place.path, ['names', 'import', '-'], config, `kind,id,name,timezone\n${names}`);
  const line = ['mirror', 'export', 'appointments', '--to', 'xlsx', '--format', 'xlsx', '--from', 'copy.db'];
  expect(await molarIn(place.path, line, config)).toMatchObject({ code: 0 });
  const [sheet] = await readExcel(inPlace('xlsx', 'appointments.xlsx'));
  const [titles = [], ...rows] = (sheet?.data ?? []) as unknown[][];
  const shown = ['id', 'start (local time)', 'location.name'].map((title) =>
    rows.map((row) => row[titles.indexOf(title)]),
  );
  const clocks = new Map(
    [...zones].map(([id, timeZone]) => [
      id,
      new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }),
    ]),
  );
  const localOf = (instant: string, location: number) => {
    const shown = clocks.get(location)?.format(new Date(instant)).replace(' ', 'T');
    return new Date(Date.parse(`${shown}Z`) + (Date.parse(instant) % 1000));
  };
  expect(shown).toEqual([
    records.map(({ id }) => String(id)),
    records.map(({ start, location }) => localOf(start, location.id)),
    records.map(({ location }) => `Office ${location.id}`),
  ]);
});

/** CSV with a column empty; signed links are the one thing that a mirror leaves out. */
function withoutColumn(csv: string, name: string): string {
  const [header = ''] = csv.split('\n');
  const at = header.split(',').indexOf(name);
  expect(at).toBeGreaterThan(0);
  let [column, quoted, kept] = [0, false, ''];
  for (const sign of csv.slice(header.length)) {
    if (sign === '"') quoted = !quoted;
    if (!quoted && sign === ',') column++;
    if (!quoted && sign === '\n') column = 0;
    if (column !== at || (!quoted && (sign === ',' || sign === '\n'))) kept += sign;
  }
  return header + kept;
}

test('each file has its receipt, the run a summary, and nobody else may read them', async () => {
  const run = await exported('patients', 'events', '--to', 'two', '--json');
  expect(run).toMatchObject({ code: 0, stderr: '' });
  const summary = JSON.parse(run.stdout);
  expect(JSON.parse(await readFile(inPlace('two', 'summary.json'), 'utf8'))).toEqual(summary);
  expect(summary).toMatchObject({
    complete: true,
    reason: 'complete',
    organization: env.MOLAR_ORGANIZATION,
    url: env.MOLAR_URL,
  });
  expect((await readdir(inPlace('two'))).sort()).toEqual([
    'events.csv',
    'events.csv.receipt.json',
    'patients.csv',
    'patients.csv.receipt.json',
    'summary.json',
  ]);
  const csv = await readFile(inPlace('two', 'patients.csv'));
  const receipt = JSON.parse(await readFile(inPlace('two', 'patients.csv.receipt.json'), 'utf8'));
  expect(receipt).toMatchObject({
    complete: true,
    kind: 'whole',
    asOf: '2026-11-22T05:00:00.000Z',
    rows: (await recordsOf('patients')).length,
    bytes: csv.length,
    sha256: createHash('sha256').update(csv).digest('hex'),
    proof: { by: 'mirror', unproved: null },
  });
  for (const file of await readdir(inPlace('two')))
    expect((await stat(inPlace('two', file))).mode & 0o777, file).toBe(OWNER_ONLY.file);
  expect(await molarIn(place.path, ['export', 'verify', 'two/patients.csv'])).toMatchObject({ code: 0 });
});

test('ndjson and json are the records as they came', async () => {
  await exported('patients', '--to', 'ndjson', '--format', 'ndjson');
  expect(await readFile(inPlace('ndjson', 'patients.ndjson'), 'utf8')).toBe(
    await readFile(inPlace('records', 'patients.ndjson'), 'utf8'),
  );
  await exported('patients', '--to', 'json', '--format', 'json');
  const records = (await recordsOf('patients')).map((line) => JSON.parse(line));
  expect(JSON.parse(await readFile(inPlace('json', 'patients.json'), 'utf8'))).toEqual(records);
  expect(await exported('events', '--to', 'excel', '--excel')).toMatchObject({ code: 0 });
  expect((await readFile(inPlace('excel', 'events.csv'), 'utf8')).slice(0, 4)).toBe('\uFEFFid,');
});

test('what is not complete is not written, and what is, is (6)', async () => {
  expect(all).toMatchObject({ code: 6, stderr: expect.stringContaining('imageattachments') });
  expect(all.stderr).not.toContain('scheduletemplatereasons');
  const files = (await readdir(inPlace('all'))).filter((name) => name.endsWith('.csv'));
  expect(files.sort()).toEqual(RESOURCES.map((resource) => `${resource}.csv`).sort());
  expect(await exported('scheduletemplatereasons', '--to', 'none')).toMatchObject({
    code: 6,
    stderr: expect.stringContaining('404'),
  });
  expect(await exported('patient', '--to', 'none')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Did you mean patients?'),
  });
  expect(await readdir(inPlace('none'))).toEqual(['summary.json']);
});

test('--ping tells a health check how it went, and nothing of what was exported', async () => {
  const told: string[] = [];
  const check = createServer((request, response) => {
    void text(request).then((body) => {
      told.push(`${request.method} ${request.url} ${body}`.trim());
      response.end();
    });
  });
  await once(check.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(check.address() as AddressInfo).port}/check`;
  expect(await exported('patients', '--to', 'pinged', '--ping', url)).toMatchObject({ code: 0 });
  expect(await exported('imageattachments', '--to', 'pinged', '--ping', url)).toMatchObject({ code: 6 });
  check.close();
  expect(told.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
    'POST /check/start',
    'POST /check',
    'POST /check/start',
    'POST /check/fail',
  ]);
  expect(told.join('\n')).not.toMatch(/pinged|imageattachments/);
  expect(told.at(-1)).toContain('6');
});

test('Parquet has the values in columns of their kinds, as another program reads them', async () => {
  expect(
    await exported('patients', 'transactions', 'events', 'transactiontags', '--to', 'parquet', '--format', 'parquet'),
  ).toMatchObject({ code: 0 });
  const { types, rows } = await parquetRows(inPlace('parquet', 'transactions.parquet'));
  expect(types).toMatchObject({
    id: 'BIGINT',
    'patient.id': 'BIGINT',
    amount: 'DECIMAL(18,2)',
    transactionDate: 'DATE',
    lastModified: 'TIMESTAMP WITH TIME ZONE',
    isActive: 'BOOLEAN',
    ledgerType: 'VARCHAR',
    distributions: 'JSON',
  });
  const records = (await recordsOf('transactions')).map((line) => JSON.parse(line));
  expect(rows.map((row) => plain(row))).toEqual(
    records.map(({ id, patient, amount, transactionDate, lastModified, isActive, distributions }) =>
      [id, patient.id, amount, transactionDate, lastModified, isActive, JSON.stringify(distributions)].map(
        (value) => value ?? null,
      ),
    ),
  );
  const patients = await parquetRows(inPlace('parquet', 'patients.parquet'));
  expect(patients.rows).toHaveLength((await recordsOf('patients')).length);
});

function plain(row: Readonly<Record<string, unknown>>) {
  return ['id', 'patient.id', 'amount', 'transactionDate', 'lastModified', 'isActive', 'distributions'].map(
    (name) => row[name],
  );
}
