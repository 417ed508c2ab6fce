import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Faithful, startFaithful } from '../../faithful/service.ts';
import { molarIn } from '../inprocess.ts';
import { type Cut, cutEverywhere, type Place, powerPlace, record, SEED, type Told } from './powercut.ts';
import { needRecorder } from './strace.ts';
import { fileIn, namesIn } from './trees.ts';

const FILES = 5;

let service: Faithful;
let place: Place;

beforeAll(async () => {
  service = await startFaithful({ seed: 'power', moods: {} });
  place = await powerPlace();
});

afterAll(async () => {
  await service.close();
  await place.remove();
});

const LINE = ['documents', 'upload', '--manifest', 'manifest.csv', '--results', 'results.csv', '--concurrency', '2'];
const NAMES = Array.from({ length: FILES }, (_, at) => `scan-${at}`);

/** The requests to store a document that went out, each with its body, whole or not. */
function posts(told: readonly Told[]): string[] {
  const requests: string[] = [];
  for (const { to, text } of told) {
    if (to !== 'network') continue;
    // Two connections may send at once: what has no head continues the one that is not whole yet.
    const at = /^[A-Z]+ \/\S* HTTP\//.test(text) ? -1 : requests.findIndex((each) => !isWhole(each));
    if (at < 0) requests.push(text);
    else requests[at] += text;
  }
  return requests.filter((text) => /^POST \/api\/v1\/documents HTTP/.test(text));
}

const isWhole = (request: string) => {
  const [head = ''] = request.split('\r\n\r\n', 1);
  return request.length - head.length - 4 >= Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
};

/** Whether a request is that of the document of a name. */
const isOf = (request: string, name: string) => request.includes(`"name":"${name.replace('.pdf', '')}`);

/** Names of documents in the results that a run called stored. */
const done = (csv: string) =>
  csv
    .trim()
    .split('\n')
    .filter((line) => /,done,/.test(line)).length;

const stored = () =>
  service
    .records('documents')
    .flatMap(({ name }) => NAMES.filter((each) => String(name).startsWith(each)))
    .toSorted();

test(`what went out is in the journal, and each file is stored once (seed ${SEED})`, async (context) => {
  needRecorder(context);
  const patient = String(service.records('patients')[0]?.id);
  await mkdir(join(place.folder, 'scans'), { mode: 0o700 });
  for (const name of NAMES) await writeFile(join(place.folder, 'scans', `${name}.pdf`), `%PDF-1.7\n${name}\n`);
  const rows = NAMES.map((name) => `scans/${name}.pdf,${patient}\n`);
  await writeFile(join(place.folder, 'manifest.csv'), `file,patient\n${rows.join('')}`);
  const before = service.records('documents').map(({ id }) => Number(id));
  const recording = await record(place, LINE, service.env);
  expect(recording.code, recording.stderr).toBe(0);
  expect(done(await readFile(join(place.folder, 'results.csv'), 'utf8'))).toBe(FILES);
  expect(stored()).toEqual(NAMES);
  const whole = posts(recording.steps.filter((step) => step.does === 'tell'));
  expect(NAMES.map((name) => whole.filter((request) => isOf(request, name)).length)).toEqual(NAMES.map(() => 1));
  const shelf = service.practice.shelves.documents;
  const made = shelf.all().filter(({ id }) => !before.includes(id));

  const look = ({ tree, told, isDone }: Cut) => {
    const journal = namesIn(tree).find((name) => /journal/.test(name) && !name.endsWith('.part')) ?? '';
    const lines = fileIn(tree, journal)?.toString().split('\n') ?? [];
    const noted = new Set(lines.flatMap((line) => /^\{"key":"([^"]+)","state":.*\}$/.exec(line)?.[1] ?? []));
    const sent = posts(told).length;
    const results = fileIn(tree, 'results.csv')?.toString();
    return [
      ...(noted.size < sent ? [`${sent} files were sent, and the journal knows of ${noted.size}`] : []),
      ...(results !== undefined && results.trim().split('\n').length !== FILES + 1
        ? ['the results are not whole']
        : []),
      ...(isDone && done(results ?? '') !== FILES ? ['the run ended with 0, and its results are not there'] : []),
    ];
  };
  const goOn = async ({ told }: Cut) => {
    // The service has what had gone out by then, under the ids that it answered.
    const sent = posts(told).filter(isWhole);
    for (const { id } of [...shelf.all()]) if (!before.includes(id)) shelf.remove(id);
    for (const each of made) if (sent.some((request) => isOf(request, String(each.record.name)))) shelf.put(each);
    const { code, stderr } = await molarIn(place.folder, LINE, service.env);
    const results = await readFile(join(place.folder, 'results.csv'), 'utf8');
    return [
      ...(code === 0 ? [] : [`the next run ends with ${code}: ${stderr}`]),
      ...(done(results) === FILES ? [] : [`the next run's results: ${results}`]),
      ...(stored().join() === NAMES.join() ? [] : [`stored are ${stored().join(', ')}`]),
    ];
  };
  await cutEverywhere(recording, { look, goOn });
});
