import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT } from '../../../catalog/failures.ts';
import { Failure } from '../../../core/failure.ts';
import { type Finished, type Launcher, runMolar } from './children.ts';
import { samplePdf, samplePng } from './samples.ts';

/** The first location of the demo practice, and its time zone, which the API does not give. */
const LOCATION = { id: '1000000000001', zone: 'America/Denver' };
const ZONE = ['--timezone', LOCATION.zone];

/** Where a demo writes what it shows. */
export type Say = (text: string) => Promise<void>;

/** Lines of a command's output that are shown. */
const SHOWN = 12;

/** The list of a recall campaign: what changed since the last one, everything on the first. */
const RECALL_FIELDS = 'id,preferredLocation.id,lastName,firstName,address1';
const RECALL_LIST = ['patients', 'list', '--status', 'ACTIVE', '--fields', RECALL_FIELDS, '--since-last', 'recall'];

type Molar = (...args: string[]) => Promise<Finished>;

/** The commands of a working day, run one after the other against a server; every line shown is what a command printed. */
export async function workingDay(launcher: Launcher, say: Say, now: Date, signal: AbortSignal): Promise<void> {
  const molar: Molar = async (...args) => {
    await say(`\n$ molar ${args.map(quoted).join(' ')}\n`);
    const done = await runMolar(launcher, args, signal);
    await say(excerpt(done.stdout) + done.stderr);
    return done;
  };
  const { patient } = await exportPatients(launcher, molar, say);
  await say('\nWhat is owed, and since when?\n');
  await molar('agingbalances', 'report', '--location', 'ALL', '--totals-only', '--format', 'table');
  await fileScans(launcher, molar, say, patient);
  await say(
    '\nKeep half an hour free every other Monday at eight. Times go in as the clock of the location shows them, its zone in --timezone; JSON has instants, a table local times.\n',
  );
  const { from, until } = mondays(now);
  const meeting = [
    '--title',
    'Case conference',
    '--location',
    LOCATION.id,
    '--start',
    `${from}T08:00`,
    ...ZONE,
    '--duration',
    '30',
  ];
  const rule = ['--recurrence', 'weekly', '--every', '2', '--on', 'MON', '--until', until];
  await molar('events', 'create', ...meeting, ...rule, '--fields', 'id,title,start,groupId', '--json');
  await molar(
    'events',
    'list',
    '--title',
    'Case conference',
    '--from',
    from,
    ...ZONE,
    '--fields',
    'id,start,duration,title',
    '--format',
    'table',
  );
  await exportAgain(launcher, molar, say, patient);
}

async function exportPatients(launcher: Launcher, molar: Molar, say: Say): Promise<{ patient: string }> {
  await say('\nHow many patients are there, and who are they?\n');
  await molar('patients', 'count');
  await molar(
    'patients',
    'list',
    '--limit',
    '5',
    '--format',
    'table',
    '--fields',
    'id,lastName,firstName,patientStatus,dateOfBirth',
  );
  await say('\nExport the active ones for a spreadsheet, and keep in mind when that was.\n');
  await molar(...RECALL_LIST, '--out', 'patients.csv');
  const csv = await readFile(join(launcher.folder, 'patients.csv'), 'utf8');
  await say(`\npatients.csv has ${csv.split('\n').length - 2} rows:\n${excerpt(csv)}`);
  const [, patient = ''] = /^(\d+),/m.exec(csv) ?? [];
  return { patient };
}

async function fileScans(launcher: Launcher, molar: Molar, say: Say, patient: string): Promise<void> {
  await say('\nFile two scans in a chart, and see that they are there.\n');
  await writeFile(join(launcher.folder, 'consent.pdf'), samplePdf('Consent to treatment'));
  await writeFile(join(launcher.folder, 'panorama.png'), samplePng());
  await molar(
    'documents',
    'upload',
    'consent.pdf',
    'panorama.png',
    '--patient',
    patient,
    '--tag',
    'Intake',
    '--format',
    'table',
  );
  const listed = await molar(
    'documents',
    'list',
    '--patient',
    patient,
    '--tag',
    'Intake',
    '--fields',
    'id,name,mimeType,tags',
  );
  await say('\nGet one back, byte for byte.\n');
  const document = /^(\d+),consent/m.exec(listed.stdout)?.[1] ?? '';
  await molar('documents', 'download', document, '--out', 'copy.pdf');
  await compare(launcher.folder, 'consent.pdf', 'copy.pdf', say);
}

async function exportAgain(launcher: Launcher, molar: Molar, say: Say, patient: string): Promise<void> {
  await say(
    '\nA patient moves. Export again, but only what has changed since the export above: it goes into a file of its own.\n',
  );
  const fields = ['--fields', 'id,lastName,address1'];
  await molar('patients', 'update', patient, '--address1', '12 New Street', ...fields, '--json');
  await molar(...RECALL_LIST, '--out', 'patients.csv');
  const names = await readdir(launcher.folder);
  for (const name of names.filter((each) => each.startsWith('patients.changes.'))) {
    await say(`\n${name}:\n${excerpt(await readFile(join(launcher.folder, name), 'utf8'))}`);
  }
}

/** The Monday after a day, and the last day of a rule that goes on for three months from then. */
function mondays(now: Date): { from: string; until: string } {
  const from = new Date(now);
  from.setUTCDate(from.getUTCDate() + ((8 - from.getUTCDay()) % 7 || 7));
  const until = new Date(from);
  until.setUTCDate(until.getUTCDate() + 91);
  return { from: from.toISOString().slice(0, 10), until: until.toISOString().slice(0, 10) };
}

async function compare(folder: string, sent: string, got: string, say: Say): Promise<void> {
  const [before, after] = await Promise.all([readFile(join(folder, sent)), readFile(join(folder, got))]);
  if (!before.equals(after)) {
    throw new Failure(`${got} is not the file that was sent as ${sent}.`, {
      code: 'run.unexpected',
      exitCode: EXIT.unexpected,
    });
  }
  await say(`\n${got} and ${sent} are identical: ${before.length} bytes.\n`);
}

function excerpt(text: string): string {
  const lines = text.split('\n');
  if (lines.length - 1 <= SHOWN) return text;
  return `${lines.slice(0, SHOWN).join('\n')}\n… and ${lines.length - 1 - SHOWN} more lines\n`;
}

/** A word as a shell takes it. */
function quoted(word: string): string {
  return /^[\w.,:/@=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
