import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Faithful, startFaithful } from '../../faithful/service.ts';
import { molarIn } from '../inprocess.ts';
import type { Leaving } from './cuts.ts';
import { type Cut, cutEverywhere, type Place, powerPlace, record, SEED } from './powercut.ts';
import type { Step } from './recording.ts';
import { needRecorder } from './strace.ts';
import { fileIn, jsonIn, sha256 } from './trees.ts';

let service: Faithful;
let place: Place;

beforeAll(async () => {
  service = await startFaithful({ seed: 'power', moods: { pageCap: 100 }, practice: { patients: 400 } });
  place = await powerPlace();
});

afterAll(async () => {
  await service.close();
  await place.remove();
});

const ids = (csv: Buffer | undefined) =>
  (csv?.toString().trim().split('\n').slice(1) ?? []).map((line) => Number(line.split(',')[0]));

const LINE = [
  'patients',
  'list',
  '--out',
  'patients.csv',
  '--fields',
  'id,lastName,firstName',
  '--receipt',
  '--resume',
];
const OLD = 'id,lastName\n1,Old\n';

test(`a file is the old one or the new one, and a receipt is of the file beside it (seed ${SEED})`, async (context) => {
  needRecorder(context);
  await writeFile(join(place.folder, 'patients.csv'), OLD);
  const recording = await record(place, LINE, service.env);
  expect(recording.code, recording.stderr).toBe(0);
  const whole = await readFile(join(place.folder, 'patients.csv'));
  expect(ids(whole)).toEqual(service.records('patients').map(({ id }) => Number(id)));
  const look = ({ tree, isDone }: Cut) => {
    const file = fileIn(tree, 'patients.csv');
    const receipt = jsonIn(tree, 'patients.csv.receipt.json') as { sha256?: string } | undefined;
    const isNew = file?.equals(whole) ?? false;
    return [
      ...(isNew || file?.toString() === OLD ? [] : ['the file is neither the old one nor the new one']),
      ...(receipt === undefined || receipt.sha256 === sha256(file ?? Buffer.alloc(0))
        ? []
        : ['the receipt is of another file']),
      ...(isDone && !(isNew && receipt !== undefined)
        ? ['the run ended with 0, and file or receipt is not there']
        : []),
    ];
  };
  const goOn = async () => {
    const { code, stderr } = await molarIn(place.folder, LINE, service.env);
    const verified = await molarIn(place.folder, ['export', 'verify', 'patients.csv'], service.env);
    const file = await readFile(join(place.folder, 'patients.csv'));
    return [
      ...(code === 0 ? [] : [`the next run ends with ${code}: ${stderr}`]),
      ...(file.equals(whole) ? [] : ['the next run makes another file']),
      ...(verified.code === 0 ? [] : [`the receipt is wrong: ${verified.stderr}`]),
    ];
  };
  // While the file of a lock is there, and none of its bytes.
  const surely = (step: Step, leaving: Leaving) => leaving === 'zeros' && step.does === 'begin sync';
  await cutEverywhere(recording, { look, goOn, surely });
});
