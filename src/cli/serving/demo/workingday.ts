import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT } from '../../../catalog/failures.ts';
import { Failure } from '../../../core/failure.ts';
import { quoteWord } from '../../../shells/quote.ts';
import { PROMPTS, type Shell } from '../../../shells/shell.ts';
import { type Finished, type Launcher, runMolar } from './children.ts';

/** The first location of the demo practice, and its time zone, which the API does not give. */
const LOCATION = { id: '1000000000001', zone: 'America/Denver' };

type Say = (text: string) => Promise<void>;

/** Where a demo writes what it shows, and the shell that commands are shown for. */
export interface Audience {
  readonly say: Say;
  readonly shell: Shell;
}

/** Maximum lines shown of a command's output. */
const MAX_SHOWN = 12;

/** The list of a recall campaign: what changed since the last one, everything on the first. */
const RECALL_LIST =
  'patients list --status ACTIVE --fields id,preferredLocation.id,lastName,firstName,address1 --since-last recall --out patients.csv';

/** Runs a command line, its words separated by spaces; `more` are words that may hold some. */
type Molar = (line: string, ...more: string[]) => Promise<Finished>;

/** The commands of a working day, run one after the other against a server; every line shown is what a command printed. */
export async function workingDay(
  launcher: Launcher,
  { say, shell }: Audience,
  now: Date,
  signal: AbortSignal,
): Promise<void> {
  const molar: Molar = async (line, ...more) => {
    const args = [...line.split(' '), ...more];
    await say(`\n${PROMPTS[shell]}molar ${args.map((word) => quoteWord(word, shell)).join(' ')}\n`);
    const done = await runMolar(launcher, args, signal);
    await say(excerpt(done.stdout) + done.stderr);
    return done;
  };
  const patient = await exportPatients(launcher, molar, say);
  await say('\nWhat is owed, and since when?\n');
  await molar('agingbalances report --location ALL --totals-only --format table');
  await fileScans(launcher, molar, say, patient);
  await say(
    '\nKeep half an hour free every other Monday at eight. Times go in as the clock of the location shows them, its zone in --timezone; JSON has instants, a table local times.\n',
  );
  const { from, until } = mondays(now);
  const zone = `--timezone ${LOCATION.zone}`;
  await molar(
    `events create --location ${LOCATION.id} --start ${from}T08:00 ${zone} --duration 30 --recurrence weekly --every 2 --on MON --until ${until} --fields id,title,start,groupId --json --title`,
    'Case conference',
  );
  await molar(
    `events list --from ${from} ${zone} --fields id,start,duration,title --format table --title`,
    'Case conference',
  );
  await exportAgain(launcher, molar, say, patient);
}

/** Shows and exports patients; returns the id of one. */
async function exportPatients(launcher: Launcher, molar: Molar, say: Say): Promise<string> {
  await say('\nHow many patients are there, and who are they?\n');
  await molar('patients count');
  await molar('patients list --limit 5 --format table --fields id,lastName,firstName,patientStatus,dateOfBirth');
  await say('\nExport the active ones for a spreadsheet, and remember when that was.\n');
  await molar(RECALL_LIST);
  const csv = await readFile(join(launcher.folder, 'patients.csv'), 'utf8');
  await say(`\npatients.csv has ${csv.split('\n').length - 2} rows:\n${excerpt(csv)}`);
  return /^(\d+),/m.exec(csv)?.[1] ?? '';
}

async function fileScans(launcher: Launcher, molar: Molar, say: Say, patient: string): Promise<void> {
  await say('\nFile two scans in a chart, and see that they are there.\n');
  await writeFile(join(launcher.folder, 'consent.pdf'), samplePdf('Consent to treatment'));
  await writeFile(join(launcher.folder, 'panorama.png'), samplePng());
  await molar(`documents upload consent.pdf panorama.png --patient ${patient} --tag Intake --format table`);
  const listed = await molar(`documents list --patient ${patient} --tag Intake --fields id,name,mimeType,tags`);
  await say('\nGet one back, byte for byte.\n');
  const document = /^(\d+),consent/m.exec(listed.stdout)?.[1] ?? '';
  await molar(`documents download ${document} --out copy.pdf`);
  await compare(launcher.folder, 'consent.pdf', 'copy.pdf', say);
}

async function exportAgain(launcher: Launcher, molar: Molar, say: Say, patient: string): Promise<void> {
  await say(
    '\nA patient moves. Export again, but only what has changed since the export above: it goes into a file of its own.\n',
  );
  await molar(`patients update ${patient} --fields id,lastName,address1 --json --address1`, '12 New Street');
  await molar(RECALL_LIST);
  const names = await readdir(launcher.folder);
  for (const name of names.filter((each) => each.startsWith('patients.changes.'))) {
    await say(`\n${name}:\n${excerpt(await readFile(join(launcher.folder, name), 'utf8'))}`);
  }
}

/** The Monday after a day, and the last day of a rule that lasts three months from then. */
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
  if (lines.length - 1 <= MAX_SHOWN) return text;
  return `${lines.slice(0, MAX_SHOWN).join('\n')}\n… and ${lines.length - 1 - MAX_SHOWN} more lines\n`;
}

/** A one-page PDF that says what it is; for demonstrations. */
function samplePdf(text: string): Buffer {
  const content = `BT /F1 24 Tf 72 720 Td (${text.replace(/[()\\]/g, '')}) Tj ET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  let body = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = body.length;
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${body.length}\n%%EOF\n`;
  return Buffer.from(`${body}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}${trailer}`, 'latin1');
}

/** The smallest PNG: one grey pixel. */
function samplePng(): Buffer {
  return Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCBd81ytgAAAABJRU5ErkJggg==',
    'base64',
  );
}
