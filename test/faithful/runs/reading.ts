import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Ran } from '../../cli/runcommand.ts';
import { type Fields, LISTED, type Resource } from '../store.ts';
import { differences, molar, type Outcome, type Run } from './run.ts';

/** A list of everything into a file, with a receipt. */
export async function list(run: Run): Promise<Outcome> {
  const resource = run.draws.one(LISTED);
  const read = await readList(run, resource);
  const { service } = run;
  return judged(read, differences(resource, read.ids, service.reachable(resource), service.records(resource)));
}

/** A list while others add, edit and remove records. */
export async function listWhileChanging(run: Run): Promise<Outcome> {
  const { service, draws } = run;
  const resource = draws.one(LISTED);
  const before = service.reachable(resource);
  const ever = service.records(resource);
  const added: Fields[] = [];
  const at = new Set([draws.whole(1, 3), draws.whole(2, 6)]);
  let requests = 0;
  service.onRequest = () => {
    if (!at.has(++requests)) return;
    const [victim] = draws.shuffled(service.records(resource));
    if (!victim) return;
    // Histories are only ever added (Appointment histories: no create, update or delete).
    const kind = resource === 'appointmenthistories' ? 'add' : draws.one(['add', 'edit', 'remove']);
    if (kind === 'add') added.push(service.add(resource));
    else if (kind === 'edit') service.edit(resource, Number(victim.id), {});
    else service.remove(resource, Number(victim.id));
  };
  const read = await readList(run, resource);
  service.onRequest = undefined;
  const left = new Set(service.records(resource).map(({ id }) => id));
  const steady = before.filter(({ id }) => left.has(id));
  return judged(read, differences(resource, read.ids, steady, [...ever, ...added]));
}

/** A count of everything. */
export async function count(run: Run): Promise<Outcome> {
  const counted = LISTED.filter((one) => one !== 'transactiontags' && one !== 'missedappointments');
  const resource = run.draws.one(counted);
  const ran = await molar(run, resource, 'count');
  const { length } = run.service.reachable(resource);
  const right = ran.exitCode !== 0 || [length, countByDate(run, resource)].map(String).includes(ran.stdout.trim());
  const said = /not proved/.test(ran.stderr);
  const problems = right || said ? [] : [`${resource}: counted ${ran.stdout.trim()} of ${length}`];
  return { end: ran.exitCode !== 0 ? 'failed' : said ? 'said' : 'whole', problems, stderr: ran.stderr };
}

/** What counts can say where each has a lastModified filter: how many patients have that date. */
function countByDate({ service }: Run, resource: Resource): number {
  const all = service.reachable(resource);
  const byDate = resource === 'patients' && service.moods.automaticDates;
  return byDate ? all.filter(({ lastModified }) => lastModified !== null).length : all.length;
}

/** Several resources into a folder, with the ids that exist. */
export async function exportFolder(run: Run): Promise<Outcome> {
  const chosen = run.draws.shuffled(LISTED).slice(0, run.draws.whole(1, 3));
  const folder = join(run.folder, 'out');
  const flags = ['--to', folder, '--format', 'ndjson', '--full-ids', ...parallel(run)];
  const ran = await molar(run, 'export', ...chosen, ...flags);
  return judgedFolder(run, ran, chosen, folder, (resource) => run.service.reachable(resource));
}

/** Compares the files of a folder with what is stored: records that must be in them, and ids that exist. */
export async function judgedFolder(
  run: Run,
  ran: Ran,
  chosen: readonly Resource[],
  folder: string,
  wanted: (resource: Resource) => readonly Fields[],
): Promise<Outcome> {
  if (ran.exitCode !== 0) return { end: 'failed', problems: [], stderr: ran.stderr };
  const outcomes: Outcome[] = [];
  const { files } = JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8')) as Summary;
  for (const resource of chosen) {
    const there = run.service.reachable(resource);
    for (const [content, records] of [['records', wanted(resource)] as const, ['ids', there] as const]) {
      const named = files.find((file) => file.resource === resource && file.content === content);
      if (named === undefined) throw new Error(`The summary has no ${content} of ${resource}.`);
      // Without changes there is no file.
      const path = join(folder, named.file ?? '');
      const read =
        named.file === null
          ? { ran, ids: [], unproved: false }
          : { ran, ids: await idsIn(path, 'ndjson'), unproved: await unprovedIn(path, ran) };
      outcomes.push(
        judged(read, differences(`${resource} ${content}`, read.ids, records, run.service.records(resource))),
      );
    }
  }
  const end = outcomes.some((outcome) => outcome.end === 'said') ? 'said' : 'whole';
  return { end, problems: outcomes.flatMap(({ problems }) => problems), stderr: ran.stderr };
}

interface Summary {
  readonly files: readonly {
    readonly resource: string;
    readonly content: 'records' | 'ids';
    readonly file: string | null;
  }[];
}

interface Read {
  readonly ran: Ran;
  readonly ids: readonly string[];
  /** Whether standard error and receipt say what is not proved. */
  readonly unproved: boolean;
}

async function readList(run: Run, resource: Resource): Promise<Read> {
  const { draws, folder } = run;
  const format = draws.one(['csv', 'ndjson'] as const);
  const path = join(folder, `${resource}.${format}`);
  const size = draws.chance(0.3) ? ['--page-size', String(draws.whole(1, 100))] : [];
  const fields = format === 'csv' ? ['--fields', 'id'] : [];
  const flags = ['--format', format, '--out', path, '--receipt', ...size, ...fields, ...parallel(run)];
  const ran = await molar(run, resource, 'list', ...flags);
  if (ran.exitCode !== 0) return { ran, ids: [], unproved: false };
  return { ran, ids: await idsIn(path, format), unproved: await unprovedIn(path, ran) };
}

function judged({ ran, unproved }: Read, found: ReturnType<typeof differences>): Outcome {
  const { stderr } = ran;
  if (ran.exitCode !== 0) return { end: 'failed', problems: [], stderr };
  const lost = found.missing.length > 0 && !unproved;
  const missing = lost ? [`missing without a word: ${found.missing.length} (${found.missing.slice(0, 3).join()})`] : [];
  return { end: unproved ? 'said' : 'whole', problems: [...found.problems, ...missing], stderr };
}

function parallel({ draws }: Run): string[] {
  return draws.chance(0.3) ? ['--parallel', '4'] : [];
}

/** Ids in a file of rows: a column of CSV, or a field of each line. */
async function idsIn(path: string, format: 'csv' | 'ndjson'): Promise<string[]> {
  const lines = (await readFile(path, 'utf8')).split(/\r?\n/).filter((line) => line !== '');
  return format === 'csv' ? lines.slice(1) : lines.map((line) => String((JSON.parse(line) as Fields).id));
}

/** Whether the receipt beside a file says what is not proved, and standard error too. */
async function unprovedIn(path: string, { stderr }: Ran): Promise<boolean> {
  const receipt = await readFile(`${path}.receipt.json`, 'utf8').catch(() => '{}');
  const { proof } = JSON.parse(receipt) as { proof?: { unproved?: string | null } };
  return typeof proof?.unproved === 'string' && /not proved/.test(stderr);
}
