import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { queried, TABLES, wrongTables } from '../core/mirror/oracle.ts';
import type { Fields } from '../faithful/store.ts';
import { oracleReport } from '../server/reports/aging/oracle.ts';
import { hashAfter, type RawEntry } from '../support/evidence.ts';
import { LOCATIONS, ORGANIZATION } from '../support/ids.ts';
import { rawRows } from '../support/rawsql.ts';
import { type Day, lineOfBooks, lineOfCopy, lineOfListener, scanOf } from './day.ts';
import { OurOffice } from './office.ts';

/** A record that somebody wanted to create, and the text that tells it. */
export interface Creation {
  readonly resource: 'patients' | 'documents';
  readonly field: string;
  readonly text: string;
  /** Whether the command said that it is there. */
  readonly isSure: boolean;
}

type Records = ReadonlyMap<string, readonly Fields[]>;

const MINUTE = 60_000;

/** What is not as it must be after a day, once each command has run again on a network without faults. */
export async function problemsOf(day: Day): Promise<string[]> {
  const { books, copy, listener } = day.computers;
  const problems: string[] = [];
  if (!day.books.isComplete) await books.run(lineOfBooks(books));
  for (const [computer, line] of [[books, lineOfBooks(books)] as const, [copy, lineOfCopy(copy)] as const]) {
    const { exitCode, stderr } = await computer.run(line);
    if (exitCode !== 0) problems.push(`${line.slice(0, 2).join(' ')} ends with ${exitCode}: ${stderr}`);
  }
  // To read all of it may send messages, so that it comes before the listener hears the last ones.
  const records = await day.office.records();
  problems.push(...(await createdOnce(day)), ...(await contents(day, records)));
  problems.push(...(await exported(day, records)), ...copied(day, records));
  if (!(day.office instanceof OurOffice)) return problems;
  await listener.runFor(MINUTE, lineOfListener, (text) => day.heard.push(text));
  const report = await books.run(['agingbalances', 'report', '--location', 'ALL', '--json']);
  if (report.exitCode !== 0) problems.push(`the aging report ends with ${report.exitCode}: ${report.stderr}`);
  else problems.push(...reconciled(JSON.parse(report.stdout).totals, records));
  return [
    ...problems,
    ...(await told(day.office, day.heard)),
    ...(await relayed(day.office)),
    ...(await audited(day.office)),
  ];
}

/** Whatever was to be created was created once where a command said so, and never twice. */
async function createdOnce({ office, creations }: Day): Promise<string[]> {
  const problems: string[] = [];
  for (const { resource, field, text, isSure } of creations) {
    const times = await office.created(resource, field, text);
    if (times > 1) problems.push(`${resource}: ${text} was created ${times} times`);
    if (times === 0 && isSure) problems.push(`${resource}: ${text} was not created, though the command ended with 0`);
  }
  return problems;
}

/** Every scan can be downloaded, and is what was uploaded. */
async function contents({ computers: { desk } }: Day, records: Records): Promise<string[]> {
  const folder = desk.path('evening');
  // One at a time: which of several is written first is a matter of the disk.
  const line = ['documents', 'download', '--all', '--dir', folder, '--concurrency', '1'];
  const { exitCode, stderr } = await desk.run(line);
  const problems = exitCode === 0 ? [] : [`documents download ends with ${exitCode}: ${stderr}`];
  for (const { name } of records.get('documents') ?? []) {
    if (!String(name).startsWith('Scan ')) continue;
    const content = await readFile(join(folder, String(name)), 'utf8').catch(String);
    if (content !== scanOf(String(name).replace('.pdf', '')))
      problems.push(`document ${name} has the content ${JSON.stringify(content)}`);
  }
  return problems;
}

/** The files of the bookkeeper have every record as the server has it, each file beside its receipt. */
async function exported({ computers }: Day, records: Records): Promise<string[]> {
  const folder = computers.books.path('nightly');
  const names = await readdir(folder);
  const problems: string[] = [];
  for (const resource of ['patients', 'transactions']) {
    const seen = new Set<string>();
    for (const name of names.filter((each) => each.startsWith(resource) && each.endsWith('.ndjson'))) {
      if (!names.includes(`${name}.receipt.json`)) problems.push(`${name} has no receipt`);
      const lines = (await readFile(join(folder, name), 'utf8')).split('\n').filter((line) => line !== '');
      for (const line of lines) seen.add(versionOf(JSON.parse(line) as Fields));
    }
    const lacking = (records.get(resource) ?? []).filter((record) => !seen.has(versionOf(record)));
    problems.push(...lacking.map((record) => `${resource} ${versionOf(record)} is in no file`));
  }
  return problems;
}

/** An id, and when it was changed, to the second: services tell it in more or less detail. */
function versionOf({ id, lastModified }: Fields): string {
  const at =
    lastModified === null || lastModified === undefined ? 'never' : Math.floor(Date.parse(String(lastModified)) / 1000);
  return `${id} of ${at}`;
}

/** The copy equals the server, and a record is in its table or among the tombstones, never in both. */
function copied({ computers }: Day, records: Records): string[] {
  const file = computers.copy.path('practice.db');
  const wrong = Object.entries(wrongTables(file, records, records.keys())).flatMap(([name, found]) =>
    found.map((text) => `copy of ${name}: ${text}`),
  );
  const twice = [...records.keys()].flatMap((name) => {
    const table = TABLES[name];
    const both = queried(file, `SELECT id FROM ${table} WHERE id IN (SELECT id FROM ${table}_deleted)`);
    return both.map(({ id }) => `copy of ${name}: ${id} is there and deleted`);
  });
  return [...wrong, ...twice];
}

/** The listener heard every message, in the order of their numbers; some more than once. */
async function told({ service }: OurOffice, heard: readonly string[]): Promise<string[]> {
  const first = [...new Set(heard.map((text) => (JSON.parse(text) as { id: number }).id))];
  const rows = await rawRows<{ seq: number }>(
    service,
    `SELECT seq FROM stream_messages WHERE routing_key LIKE '%${ORGANIZATION}%' ORDER BY seq`,
  );
  const sent = rows.map(({ seq }) => seq);
  if (String(first) === String(sent)) return [];
  return [`the stream has ${sent.length} messages to ${sent.at(-1)}, heard were ${first.length} to ${first.at(-1)}`];
}

/**
 * The broker has every message of each organization, some more than once, and each time in order from where the relay
 * went on: so the last time of each comes after that of the one before it. The first times do, too, unless it refused a
 * message, which those behind it have then overtaken.
 */
async function relayed(office: OurOffice): Promise<string[]> {
  office.broker.isFair = true;
  if (!(await office.relayed(10))) return ['the relay is behind after ten minutes without faults'];
  const taken = office.broker.taken.map(({ routingKey, number }) => `${routingKey.split('.', 1)[0]} ${number}`);
  const first = [...new Set(taken)];
  const last = [...new Set(taken.toReversed())].reverse();
  const rows = await rawRows<{ org: string; seq: number }>(
    office.service,
    `SELECT substr(routing_key, 1, instr(routing_key, '.') - 1) AS org, seq FROM stream_messages ORDER BY seq`,
  );
  const problems: string[] = [];
  for (const org of new Set(rows.map((row) => row.org))) {
    const sent = rows.filter((row) => row.org === org).map(({ seq }) => `${org} ${seq}`);
    for (const [times, got] of [
      ['last', last],
      ...(office.broker.refused === 0 ? [['first', first] as const] : []),
    ] as const) {
      const own = got.filter((text) => text.startsWith(`${org} `));
      if (String(own) !== String(sent)) {
        const at = sent.findIndex((text, index) => text !== own[index]);
        problems.push(
          `relay: by their ${times} times ${own[at]} stands for ${sent[at]}, ${own.length} of ${sent.length}`,
        );
      }
    }
  }
  return problems;
}

/** The audit log is one chain, and has an entry of every request that was answered with success. */
async function audited({ service, answered }: OurOffice): Promise<string[]> {
  const entries = await rawRows<RawEntry>(service, 'SELECT * FROM audit_entries ORDER BY id');
  const problems: string[] = [];
  let before = '';
  for (const [index, entry] of entries.entries()) {
    if (entry.id !== index + 1) problems.push(`audit entry ${index + 1} is missing`);
    if (entry.hash !== hashAfter(before, entry)) problems.push(`audit entry ${entry.id} does not follow from the last`);
    before = entry.hash;
  }
  const noted = new Set(entries.map(({ request_id }) => request_id));
  const lacking = answered.filter(({ requestId }) => !noted.has(requestId));
  return [...problems, ...lacking.map(({ line }) => `the audit log has nothing of ${line}`)];
}

const ZONES = new Map<number, string>([
  [0, 'America/Denver'],
  [LOCATIONS.east, 'America/New_York'],
  [LOCATIONS.west, 'America/Los_Angeles'],
]);

/** The aging report has what the ledger says, to the cent. */
function reconciled(totals: Fields, records: Records): string[] {
  const guarantors = new Map(
    (records.get('patients') ?? []).map(({ id, primaryGuarantor }) => [
      Number(id),
      Number((primaryGuarantor as Fields | null)?.id),
    ]),
  );
  const transactions = records.get('transactions') ?? [];
  const { patientReports: _, ...wanted } = oracleReport(
    { transactions, guarantors, claims: [], zones: ZONES, now: Date.now() },
    'ALL',
  );
  return Object.entries(wanted)
    .filter(([name, amount]) => JSON.stringify(totals[name]) !== JSON.stringify(amount))
    .map(([name, amount]) => `aging: ${name} is ${JSON.stringify(totals[name])}, not ${JSON.stringify(amount)}`);
}
