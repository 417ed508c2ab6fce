import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pause } from '../../src/server/pause.ts';
import { Draws } from '../faithful/random.ts';
import { bootOfMachine, Computer } from './computer.ts';
import { Disks } from './disk.ts';
import { type Creation, problemsOf } from './judging.ts';
import { FaithfulOffice, type Office, OurOffice } from './office.ts';
import { live, startVirtualTime, stopVirtualTime } from './time.ts';
import { FAIR, OUTAGE, RAIN, SeededNetwork, STORM } from './wires.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Midnight of a Monday at the practice, UTC milliseconds. */
const MIDNIGHT = Date.UTC(2026, 2, 2, 7);

/** Everything of one day. */
export interface Day {
  readonly draws: (about: string) => Draws;
  readonly office: Office;
  readonly network: SeededNetwork;
  readonly disks: Disks;
  /** Those of the bookkeeper, of the front desk, of the analyst and of a partner. */
  readonly computers: Readonly<Record<'books' | 'desk' | 'copy' | 'listener', Computer>>;
  /** Aborted in the evening. */
  readonly evening: AbortSignal;
  /** UTC milliseconds. */
  readonly ends: number;
  readonly creations: Creation[];
  /** Whether the last export had come to its end: otherwise the next one completes it, as of when it began. */
  readonly books: { isComplete: boolean };
  /** What the stream told the listener, in its order. */
  readonly heard: string[];
}

/** How a day ended. */
export interface Outcome {
  /** None, in the best case. */
  readonly problems: readonly string[];
  /** Of all that went over the network, and when: the same for the same seed. */
  readonly digest: string;
  readonly requests: number;
}

/** Lives a day of so many hours at a practice, and judges in the evening. Odd seeds have our server, even ones another. */
export async function liveDay(seed: number, hours = 24): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'molar-day-'));
  startVirtualTime(MIDNIGHT);
  const disks = new Disks();
  const unwatch = disks.watch(bootOfMachine);
  try {
    return await live(dayIn(folder, disks, seed, hours));
  } finally {
    unwatch();
    stopVirtualTime();
    await rm(folder, { recursive: true, force: true });
  }
}

async function dayIn(folder: string, disks: Disks, seed: number, hours: number): Promise<Outcome> {
  const office = await (seed % 2 === 1
    ? OurOffice.open(join(folder, 'server'), disks, String(seed))
    : FaithfulOffice.open(String(seed)));
  try {
    const network = new SeededNetwork(String(seed), office);
    const evening = new AbortController();
    setMaxListeners(0, evening.signal);
    const computer = (name: string) => Computer.of(name, folder, network, disks, office.env);
    const day: Day = {
      draws: (about) => new Draws(`${about} of day ${seed}`),
      ends: MIDNIGHT + hours * HOUR,
      ...{ office, network, disks, evening: evening.signal, creations: [], books: { isComplete: true }, heard: [] },
      computers: {
        books: await computer('books'),
        desk: await computer('desk'),
        copy: await computer('copy'),
        listener: await computer('listener'),
      },
    };
    const work = [
      staff,
      weather,
      restarts,
      powerCuts,
      books,
      desk,
      scans,
      copy,
      ...(office instanceof OurOffice ? [listener] : []),
    ];
    const all = work.map((each) => each(day));
    const clocks = Object.values(day.computers).map((one) => one.drift(day.draws(`clock ${one.name}`), day.evening));
    await pause(hours * HOUR);
    evening.abort();
    await Promise.all([...all, ...clocks]);
    network.weather = FAIR;
    const problems = await problemsOf(day);
    const digest = createHash('sha256').update(network.trace.join('\n')).digest('hex');
    return { problems, digest, requests: network.trace.length };
  } finally {
    await office.close();
  }
}

/** Does something again and again until the evening, some minutes apart. */
async function allDay(day: Day, draws: Draws, minutes: readonly [number, number], work: () => Promise<unknown>) {
  for (;;) {
    await pause(draws.whole(minutes[0] * MINUTE, minutes[1] * MINUTE), day.evening);
    if (day.evening.aborted) return;
    await work();
  }
}

function staff(day: Day): Promise<void> {
  const draws = day.draws('staff');
  return allDay(day, draws, [1, 20], () => day.office.change(draws));
}

async function weather({ draws, network, evening }: Day): Promise<void> {
  const chance = draws('weather');
  while (!evening.aborted) {
    network.weather = chance.one([FAIR, RAIN, RAIN, RAIN, STORM, OUTAGE]);
    const most = network.weather === OUTAGE ? 30 : 180;
    await pause(chance.whole(MINUTE, most * MINUTE), evening);
  }
}

function restarts(day: Day): Promise<void> {
  const draws = day.draws('restarts');
  const cutAll = () => day.network.cutAll();
  return allDay(day, draws, [60, 900], () => day.office.restart(draws, cutAll));
}

/** Power is lost at one computer or another; not at that with the copy, whose SQLite syncs for itself. */
function powerCuts(day: Day): Promise<void> {
  const draws = day.draws('power');
  const { books, desk, listener } = day.computers;
  return allDay(day, draws, [20, 240], async () => {
    const computer = draws.one([books, desk, listener]);
    if (draws.chance(0.8)) await computer.busy(day.evening);
    await pause(draws.whole(0, 3000));
    await computer.losePower(draws);
  });
}

export function lineOfBooks(computer: Computer): string[] {
  const folder = computer.path('nightly');
  const what = ['export', 'patients', 'transactions', '--to', folder, '--format', 'ndjson', '--full-ids'];
  return [...what, '--since-last', 'nightly', '--resume'];
}

/** An export of what has changed, by a scheduler that tries again, and that somebody may kill. */
function books(day: Day): Promise<void> {
  const draws = day.draws('books');
  const { books: computer } = day.computers;
  return allDay(day, draws, [60, 480], async () => {
    for (let attempt = 0; attempt < 4 && !day.evening.aborted; attempt++) {
      const life = draws.chance(0.3) ? draws.whole(10, 3000) : HOUR;
      const { exitCode } = await computer.runFor(life, lineOfBooks(computer));
      day.books.isComplete = exitCode === 0;
      if (exitCode === 0) return;
      await pause(15 * MINUTE, day.evening);
    }
  });
}

/** New patients, each created once: whatever becomes of the line, nobody runs it again. */
function desk(day: Day): Promise<void> {
  const draws = day.draws('desk');
  const { desk: computer } = day.computers;
  let count = 0;
  return allDay(day, draws, [5, 60], async () => {
    const lastName = `Deskmade${numbered(++count)}`;
    const { exitCode } = await computer.run([
      ...['patients', 'create', '--first-name', 'Ann', '--last-name', lastName, '--gender', 'F'],
      ...['--date-of-birth', '1990-04-12', '--patient-status', 'NEW', '--contact-method', 'Email me'],
      ...['--language-type', 'English', '--address1', '1 Main St', '--city', 'Denver', '--state', 'CO'],
      ...['--postal-code', '80202', '--preferred-location', String(day.office.location)],
    ]);
    day.creations.push({ resource: 'patients', field: 'lastName', text: lastName, isSure: exitCode === 0 });
  });
}

/** A folder of scans, uploaded by a line that is run until it succeeds. */
function scans(day: Day): Promise<void> {
  const draws = day.draws('scans');
  const { desk: computer } = day.computers;
  let count = 0;
  return allDay(day, draws, [30, 240], async () => {
    const folder = computer.path(`scans${++count}`);
    await computer.hasPower();
    await mkdir(folder);
    const names = Array.from(
      { length: draws.whole(1, 12) },
      (_, index) => `Scan ${numbered(count)} ${numbered(index)}`,
    );
    for (const name of names) await writeFile(join(folder, `${name}.pdf`), scanOf(name));
    // They were there long before.
    day.disks.settle(folder);
    const line = [
      'documents',
      'upload',
      ...names.map((name) => join(folder, `${name}.pdf`)),
      '--results',
      `${folder}.csv`,
    ];
    let isSure = false;
    for (let attempt = 0; attempt < 5 && !isSure && !day.evening.aborted; attempt++) {
      const { exitCode } = await computer.runFor(draws.chance(0.3) ? draws.whole(10, 5000) : HOUR, line);
      isSure = exitCode === 0;
      if (!isSure) await pause(5 * MINUTE, day.evening);
    }
    for (const name of names) day.creations.push({ resource: 'documents', field: 'name', text: name, isSure });
  });
}

export function scanOf(name: string): string {
  return `%PDF-1.4\n${name}\n%%EOF\n`;
}

/** Of a number that no other begins with. */
function numbered(number: number): string {
  return String(number).padStart(4, '0');
}

export function lineOfCopy(computer: Computer): string[] {
  return ['mirror', 'sync', '--json', '--to', computer.path('practice.db'), '--timezone', 'America/Denver'];
}

/** A copy that is kept up to date, or synced now and then. */
function copy(day: Day): Promise<void> {
  const { copy: computer } = day.computers;
  const line = lineOfCopy(computer);
  return keptRunning(day, computer, (draws) => [...line, ...(draws.chance(0.7) ? ['--follow'] : [])]);
}

export const lineOfListener = ['stream', 'listen', '--name', 'partner', '--from', 'beginning', '--format', 'ndjson'];

/** A partner who wants every change. */
function listener(day: Day): Promise<void> {
  return keptRunning(
    day,
    day.computers.listener,
    () => lineOfListener,
    (text) => day.heard.push(text),
  );
}

/**
 * Starts a command again and again, and ends it after a while, at the latest in the evening. Starts are drawn
 * in milliseconds, since of two commands that start at once the disk decides which is ready first, and not the seed.
 */
async function keptRunning(
  { draws, evening, ends }: Day,
  computer: Computer,
  line: (draws: Draws) => readonly string[],
  write?: (text: string) => void,
): Promise<void> {
  const chance = draws(computer.name);
  await pause(chance.whole(1, MINUTE), evening);
  while (!evening.aborted) {
    const life = Math.min(chance.whole(MINUTE, 5 * HOUR), ends - Date.now());
    await computer.runFor(life, line(chance), write);
    await pause(chance.whole(MINUTE, HOUR), evening);
  }
}
