import { readFileSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { exit, text } from '../molar.ts';
import { chanceOf, LEAVINGS, type Leaving, treeAfterCut } from './cuts.ts';
import { Disk } from './disk.ts';
import { readSteps, type Step } from './recording.ts';
import { startRecorded } from './strace.ts';
import { digestOf, folderTree, listOf, type Tree, writeTree } from './trees.ts';

/** Other cuts each day, and those of a failure again with the number that it told. */
export const SEED = Number(process.env.MOLAR_POWERCUT_SEED ?? Math.floor(Date.now() / 86_400_000));

/** Whether power is cut everywhere (`npm run test:powercut`), or in places that the seed chooses. */
const IS_LONG = process.env.MOLAR_POWERCUT === 'everywhere';

/** Where recorded runs work, and where what was recorded is written. */
export interface Place {
  /** Its absolute path has no links. */
  readonly folder: string;
  readonly log: string;
  /** What is in the folder now. */
  tree(): Tree;
  remove(): Promise<void>;
}

export async function powerPlace(): Promise<Place> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'molar-powercut-')));
  const folder = join(path, 'disk');
  await mkdir(folder, { mode: 0o700 });
  return {
    folder,
    log: join(path, 'log'),
    tree: () => folderTree(folder),
    remove: () => rm(path, { recursive: true, force: true }),
  };
}

/** A run that was recorded: what the disk had before, and everything that happened. */
export interface Recording {
  readonly folder: string;
  readonly disk: Disk;
  readonly steps: readonly Step[];
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a line of molar to its end and records it; `meanwhile` works with it once its first line of output is there. */
export async function record(
  { folder, log }: Place,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  meanwhile?: (firstLine: string) => Promise<void>,
): Promise<Recording> {
  const disk = new Disk(folder);
  const child = startRecorded(folder, args, env, log);
  child.stdin?.end();
  const ended = Promise.all([text(child.stdout), text(child.stderr), exit(child)]);
  if (meanwhile !== undefined) {
    const first = new Promise<string>((resolve) =>
      child.stdout?.once('data', (bytes) => resolve(String(bytes).split('\n')[0] ?? '')),
    );
    const line = await Promise.race([first, ended.then(([, stderr]) => Promise.reject(new Error(stderr)))]);
    await meanwhile(line);
  }
  const [stdout, stderr, code] = await ended;
  const steps = await readSteps(log, folder);
  // Nothing was overlooked: all that was recorded, done to what was there before, is what is there now.
  const replayed = new Disk(folder, disk);
  for (const step of steps) replayed.take(step);
  expect(listOf(treeAfterCut(replayed, 'everything', Math.random))).toEqual(listOf(folderTree(folder)));
  return { folder, disk, steps, code, stdout, stderr };
}

/** What is on a disk after a cut, and what had been told by then. */
export interface Cut {
  readonly tree: Tree;
  readonly told: readonly Told[];
  /** Whether the run had ended with exit code 0. */
  readonly isDone: boolean;
}

export type Told = Extract<Step, { does: 'tell' }>;

/** How a scenario looks at what a cut leaves. */
export interface Judging {
  /** Problems with what is on the disk, found without the product. Runs at every cut. */
  readonly look: (cut: Cut) => readonly string[];
  /** Starts again in the folder, which has what is on the disk, and gives problems. Runs at a few cuts. */
  readonly goOn?: (cut: Cut) => Promise<readonly string[]>;
  /** At how many cuts; everywhere in the long form. */
  readonly few?: number;
  /** Cuts at which it always does so, the first one that fits. */
  readonly surely?: (step: Step, leaving: Leaving) => boolean;
  /** Whether a look is worth its time at a step: everywhere unless told, always when something was told. */
  readonly every?: number;
}

/**
 * Cuts the power after every step of a recorded run, looks at what each kind of cut leaves, and starts again from some.
 * Fails with the first cut that loses something or takes half for whole.
 */
export async function cutEverywhere(
  recording: Recording,
  { look, goOn, few = 2, surely, every = 1 }: Judging,
): Promise<void> {
  const { folder, disk: before, steps } = recording;
  const disk = new Disk(folder, before);
  const told: Told[] = [];
  const seen = new Set<string>();
  const isChosen = chosen(steps.length * LEAVINGS.length, few);
  let looks = 0;
  /** Restarts that were chosen, of which each waits for a disk that nobody has seen yet. */
  let due = 0;
  let sure = surely;
  for (const [number, step] of steps.entries()) {
    disk.take(step);
    if (step.does === 'tell') told.push(step);
    const isDone = told.some(({ to, text: code }) => to === 'exit' && code === '0');
    const chance = chanceOf(SEED, number);
    const isWorth = step.does === 'tell' || IS_LONG || every === 1 || number % every === SEED % every;
    for (const [index, leaving] of LEAVINGS.entries()) {
      if (isChosen(number * LEAVINGS.length + index)) due++;
      const isSure = sure?.(step, leaving) ?? false;
      if (!isWorth && due === 0 && !isSure) continue;
      const cut = { tree: treeAfterCut(disk, leaving, chance), told, isDone };
      const digest = `${told.length} ${digestOf(cut.tree)}`;
      if (seen.has(digest) && !isSure) continue;
      seen.add(digest);
      looks++;
      const problems = [...look(cut)];
      if (goOn !== undefined && (due > 0 || isSure) && problems.length === 0) {
        if (isSure) sure = undefined;
        else due = IS_LONG ? 1 : due - 1;
        rmSync(folder, { recursive: true });
        writeTree(cut.tree, folder, sinceBoot);
        problems.push(...(await goOn(cut)));
      }
      if (problems.length > 0) throw new Error(describe(problems, recording, { number, leaving, cut }));
    }
  }
  if (surely !== undefined) expect(sure, 'a cut that always starts again').toBeUndefined();
  expect(looks).toBeGreaterThan(0);
}

/** The places at which to start again: a few by chance, or all of them. */
function chosen(places: number, few: number): (place: number) => boolean {
  if (IS_LONG) return () => true;
  const chance = chanceOf(SEED, places);
  const some = new Set(Array.from({ length: few }, () => Math.floor(chance() * places)));
  return (place) => some.has(place);
}

/** What names the time since the machine was started names another one after a cut. */
function sinceBoot(bytes: Buffer): Buffer {
  if (bytes.length > 65_536 || !bytes.includes(BOOT)) return bytes;
  return Buffer.from(bytes.toString('latin1').replaceAll(BOOT, '0'.repeat(BOOT.length)), 'latin1');
}

const BOOT = process.platform === 'linux' ? readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() : 'none';

function describe(
  problems: readonly string[],
  { steps, stderr }: Recording,
  { number, leaving, cut }: { number: number; leaving: Leaving; cut: Cut },
): string {
  const last = steps.slice(Math.max(0, number - 12), number + 1).map(short);
  return [
    `${problems.join('\n')}`,
    `Power cut after step ${number} of ${steps.length}; of what was not synced, ${leaving} is left (MOLAR_POWERCUT_SEED=${SEED}).`,
    `Steps before:\n  ${last.join('\n  ')}`,
    `On the disk:\n  ${[...listOf(cut.tree)].map(([path, { size }]) => `${path} ${size ?? ''}`).join('\n  ')}`,
    stderr,
  ].join('\n');
}

function short(step: Step): string {
  return JSON.stringify(step, (_, value) =>
    value?.type === 'Buffer' ? `${value.data.length} bytes` : value instanceof Set ? [...value].join('|') : value,
  ).slice(0, 300);
}
