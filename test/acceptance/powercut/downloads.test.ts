import { afterAll, beforeAll, expect, test } from 'vitest';
import { FileHost } from '../filehost.ts';
import { molarIn } from '../inprocess.ts';
import { connection } from '../molar.ts';
import type { Leaving } from './cuts.ts';
import { type Cut, cutEverywhere, type Place, powerPlace, record, SEED } from './powercut.ts';
import type { Step } from './recording.ts';
import { needRecorder } from './strace.ts';
import { fileIn, namesIn, sha256 } from './trees.ts';

let host: FileHost;
let place: Place;

beforeAll(async () => {
  host = new FileHost();
  await host.listen();
  place = await powerPlace();
});

afterAll(async () => {
  await host.close();
  await place.remove();
});

const LINE = [
  'documents',
  'download',
  '--all',
  '--dir',
  'in',
  '--concurrency',
  '1',
  '--csv',
  '--fields',
  'id,file,bytes,status',
];

test(`what has its name is whole, and what was told is there (seed ${SEED})`, async (context) => {
  needRecorder(context);
  // More than is ever written at once, so that power is cut between two writes.
  Object.assign(host, { size: 1_000_000, documents: [1, 2] });
  const look = ({ tree, told, isDone }: Cut) => {
    const output = told.filter(({ to }) => to === 'output').map(({ text }) => text);
    const reported = output.join('').match(/(?<=in\/)scan \d\.pdf(?=,.*,(?:downloaded|skipped)\n)/g) ?? [];
    const all = host.documents.map((id) => host.nameOf(id));
    const wrong = namesIn(tree, 'in').filter((name) => {
      const id = Number(/^scan (\d)\.pdf$/.exec(name)?.[1]);
      return id > 0 && sha256(fileIn(tree, 'in', name) ?? Buffer.alloc(0)) !== host.sha256(id);
    });
    const lost = (isDone ? all : reported).filter((name) => fileIn(tree, 'in', name) === undefined);
    const journal = fileIn(tree, 'in/.molar-downloads.ndjson')?.toString() ?? '';
    return [
      ...(isDone && all.some((name) => !journal.includes(`"${name}"`)) ? ['the journal has not all files'] : []),
      ...wrong.map((name) => `${name} is not what the server has`),
      ...lost.map((name) => `${name} was told and is not there`),
    ];
  };
  const recording = await record(place, LINE, connection(host.url));
  expect(recording.code, recording.stderr).toBe(0);
  // While most of a file has come, and what was written to it first is on the disk, as is the note on it.
  const surely = (step: Step, leaving: Leaving) => leaving === 'heads' && step.does === 'write' && (step.at ?? 0) > 0;
  await cutEverywhere(recording, { look, goOn: () => again(look), surely });
});

async function again(look: (cut: Cut) => readonly string[]): Promise<string[]> {
  const { code, stdout, stderr } = await molarIn(place.folder, LINE, connection(host.url));
  if (code !== 0) return [`the next run ends with ${code}: ${stderr}`];
  return [...look({ tree: place.tree(), told: [{ does: 'tell', to: 'output', text: stdout }], isDone: true })];
}
