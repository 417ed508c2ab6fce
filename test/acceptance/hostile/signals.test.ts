import { existsSync, rmSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { molarIn } from '../inprocess.ts';
import { connection, type Ended, exit, start, text, treatsSignals } from '../molar.ts';
import { hostileServer, TestPlace } from './hostileplace.ts';
import { type Answering, type Asked, body, data, muteServer } from './hostileserver.ts';

const place = new TestPlace();
const server = hostileServer();
const mutes: Server[] = [];
afterAll(() => mutes.forEach((mute) => void mute.close()));

const CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
const SAYS = { SIGINT: 'Interrupted.', SIGTERM: 'Terminated.', SIGHUP: 'The terminal was closed.' } as const;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** All signals at the first of several steps; of the others each gets one, in turn, since all would take a minute. */
const signalsAt = (step: number) => (step === 0 ? SIGNALS : [SIGNALS[step % SIGNALS.length] ?? 'SIGINT']);

const CONTENT = Buffer.alloc(300_000, 'content ');
const ROWS = [1, 2, 3, 4, 5].map((id) => ({ id, name: `scan ${id}.pdf`, lastName: `Name ${id}` }));

/** A small service; `holds` says which requests get an answer that never ends, and how much of it. */
function service(holds: (asked: Asked) => string | Buffer | undefined, reached: () => void): string {
  let url = '';
  const right: Answering = (asked, response) => {
    const { pathname, searchParams } = asked.url;
    if (pathname.startsWith('/files/')) return body(CONTENT)(asked, response);
    const id = Number(/\/(\d+)$/.exec(pathname)?.[1] ?? 0);
    const linked = ROWS.map((row) => ({ ...row, storage: { original: `${url}/files/${row.id}` } }));
    if (id > 0) return data(linked[id - 1])(asked, response);
    const from = Number(searchParams.get('lastId'));
    const size = Number(searchParams.get('pageSize') ?? 100);
    return data(linked.filter((row) => row.id > from).slice(0, size))(asked, response);
  };
  url = server.open((asked, response) => {
    const held = holds(asked);
    if (held === undefined) return right(asked, response);
    if (held.length > 0) response.write(held);
    // A moment for what was sent to arrive; the result is the same where it has not.
    setTimeout(reached, 100);
  });
  return url;
}

const isList = ({ url }: Asked, name = 'patients') => url.pathname === `/api/v1/${name}`;
const after = ({ url }: Asked) => url.searchParams.get('lastId');

interface Step {
  readonly name: string;
  readonly argv: readonly string[];
  readonly holds: (asked: Asked) => string | Buffer | undefined;
  /** Files that may stand in the folder afterwards, besides those of a run that went through. */
  readonly leaves?: readonly string[];
  /** The line that completes it, where it is not the same. */
  readonly again?: readonly string[];
}

const LIST = ['patients', 'list', '--page-size', '2', '--fields', 'id,lastName'];
const OUT = [...LIST, '--out', 'all.csv'];
const PART = ['all.csv.part', 'all.csv.part.json'];

const STEPS: readonly Step[] = [
  {
    name: 'waiting for the first byte',
    argv: OUT,
    holds: (asked) => (isList(asked) ? '' : undefined),
    leaves: PART,
    again: [...OUT, '--resume'],
  },
  {
    name: 'in the middle of a page',
    argv: OUT,
    holds: (asked) => (isList(asked) && after(asked) === '2' ? '{"data":[{"id":3,' : undefined),
    leaves: PART,
    again: [...OUT, '--resume'],
  },
  {
    name: 'waiting for the last page',
    argv: [...OUT, '--parallel', '2'],
    holds: (asked) => (isList(asked) && Number(after(asked)) >= 3 ? '' : undefined),
    leaves: PART,
    again: [...OUT, '--resume', '--parallel', '2'],
  },
  {
    name: 'holding JSON back',
    argv: [...LIST, '--format', 'json'],
    holds: (asked) => (isList(asked) && after(asked) === '4' ? '' : undefined),
  },
  {
    name: 'in an export of a folder',
    argv: ['export', 'patients', 'documents', '--to', 'all', '--page-size', '2'],
    holds: (asked) => (isList(asked, 'documents') && after(asked) === '2' ? '{' : undefined),
    leaves: ['all/documents.csv.part', 'all/documents.csv.part.json', 'all/summary.json'],
    again: ['export', 'patients', 'documents', '--to', 'all', '--page-size', '2', '--resume'],
  },
  {
    name: 'in the middle of a download',
    argv: ['documents', 'download', '--all', '--dir', 'in'],
    holds: ({ url }) => (url.pathname === '/files/3' ? CONTENT.subarray(0, 100_000) : undefined),
  },
  {
    name: 'following the stream',
    argv: ['stream', 'listen'],
    holds: ({ url }) => (url.pathname === '/api/v1/stream' ? '' : undefined),
  },
];

/** Files below a folder, by their paths. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}

/** Links name the case that a run was answered by. */
const withoutCase = (text: string) => text.replace(/\/case-\d+\//g, '/case/');

async function contentsOf(folder: string): Promise<Record<string, string>> {
  const files = (await filesIn(folder)).filter((name) => !/summary|receipt|\.ndjson$|^tmp/.test(name));
  return Object.fromEntries(
    await Promise.all(
      files.map(async (name) => [name, withoutCase(await readFile(join(folder, name), 'utf8'))] as const),
    ),
  );
}

async function folderFor(name: string): Promise<string> {
  const folder = await place.folderOf(name);
  await mkdir(join(folder, 'tmp'));
  return folder;
}

const env = (folder: string, url: string) => ({
  ...connection(url),
  TMPDIR: join(folder, 'tmp'),
  MOLAR_CONFIG_DIR: join(folder, 'config'),
});

const NOTHING = () => undefined;
let turn: Promise<unknown> = Promise.resolve();
/** A line that nobody interrupts, in this process: one after another, since each is in a folder of its own. */
const runHere = (folder: string, argv: readonly string[], url: string): Promise<Ended> => {
  const ended = turn.then(() => molarIn(folder, argv, env(folder, url)));
  turn = ended.catch(() => undefined);
  return ended;
};

interface Whole {
  readonly contents: Record<string, string>;
  readonly stdout: string;
}

/** What a line gives that nobody interrupts. */
async function runWhole(argv: readonly string[], name: string): Promise<Whole> {
  const folder = await folderFor(name);
  const url = service(NOTHING, NOTHING);
  const { stdout } = await runHere(folder, argv, url);
  return { contents: await contentsOf(folder), stdout };
}

describe.concurrent.each(STEPS)('$name', (step) => {
  const { argv, holds, leaves = [], again = argv } = step;
  const name = argv.join(' ');
  let wholeRun: Promise<Whole> | undefined;
  const whole = () => {
    wholeRun ??= runWhole(argv, `undisturbed ${name} ${holds}`.slice(0, 200));
    return wholeRun;
  };

  test.concurrent.each(signalsAt(STEPS.indexOf(step)))(
    '%s ends it with its code, leaves what can be gone on with, and no more',
    async (signal) => {
      const folder = await folderFor(`${signal} ${name} ${leaves.length} ${holds}`.slice(0, 200));
      let hold = true;
      let told = () => {};
      const reached = new Promise<void>((done) => {
        told = done;
      });
      const url = service(
        (asked) => (hold ? holds(asked) : undefined),
        () => told(),
      );
      const child = start(folder, argv, env(folder, url));
      const output = text(child.stdout);
      const errors = text(child.stderr);
      await Promise.race([reached, exit(child)]);
      child.kill(signal);
      const listens = argv.includes('listen');
      // Who follows the stream until told to stop is told nothing of it.
      const says = listens ? '' : SAYS[signal];
      expect([await exit(child), await errors]).toEqual([CODES[signal], expect.stringContaining(says)]);
      if (argv.includes('--out') && again !== argv)
        expect(await errors).toMatch(/--resume to continue after \d+ record/);
      if (!listens) expect(await output).not.toContain('3,Name 3');
      const left = await filesIn(folder);
      expect(left.filter((file) => /\.lock$|\.new$|^tmp/.test(file))).toEqual([]);
      expect(left.filter((file) => /\.part/.test(file))).toEqual(leaves.filter((file) => /\.part/.test(file)));
      if (listens) return;
      hold = false;
      const ended = await runHere(folder, again, url);
      expect([ended.code, ended.stderr]).toEqual([0, expect.not.stringContaining('Error')]);
      const undisturbed = await whole();
      expect(await contentsOf(folder)).toEqual(undisturbed.contents);
      // What was there already is told so.
      expect(ended.stdout.replaceAll('skipped', 'downloaded')).toBe(undisturbed.stdout);
    },
  );
});

describe('with nothing on the way yet', () => {
  /** What a line is started with besides; `reached` is called when it has come to the step, or else it reads its input. */
  type Beginning = (folder: string, reached: () => void) => Record<string, string> | Promise<Record<string, string>>;
  const begun = (folder: string) => join(folder, 'tmp', 'begun');
  const STEPS_BEFORE: readonly (readonly [string, readonly string[], Beginning])[] = [
    [
      'while it connects',
      OUT,
      async (_, reached) => {
        const mute = await muteServer(reached);
        mutes.push(mute);
        return { MOLAR_URL: `https://127.0.0.1:${(mute.address() as AddressInfo).port}` };
      },
    ],
    ['while a token is typed', [...OUT, '--token-stdin'], () => ({ MOLAR_TOKEN: '' })],
    ['while a body is typed', ['patients', 'create', '--data', '-'], () => ({})],
    ['while a document is typed', ['documents', 'upload', '-', '--mime-type', 'PDF', '--name', 'x'], () => ({})],
    [
      'while a command makes a token',
      [...OUT, '--token-command', 'echo > "$BEGUN"; exec sleep 600'],
      (folder, reached) => {
        const look = () => {
          if (!existsSync(begun(folder))) return void setTimeout(look, 20);
          rmSync(begun(folder));
          reached();
        };
        look();
        return { MOLAR_TOKEN: '', BEGUN: begun(folder) };
      },
    ],
    [
      'while it waits to try again',
      OUT,
      (_, reached) => {
        const busy = body('', { 'retry-after': '200' }, 503);
        return {
          MOLAR_URL: server.open((asked, response) => busy(asked, response.once('finish', reached))),
        };
      },
    ],
  ];
  /** More than the buffers between two processes: it is gone when the other one reads. */
  const TYPED = 'x'.repeat(1024 * 1024);

  describe.concurrent.each(STEPS_BEFORE.map((step, at) => [...step, at] as const))('%s', (name, argv, more, at) => {
    test.concurrent.each(signalsAt(at))('%s ends it', async (signal) => {
      const folder = await folderFor(`${signal} ${name}`);
      await writeFile(join(folder, 'all.csv'), 'before\n');
      let told = () => {};
      const reached = new Promise<void>((done) => {
        told = done;
      });
      const child = start(folder, argv, { ...env(folder, server.origin), ...(await more(folder, told)) });
      child.stdin?.on('error', () => undefined).write(TYPED, (error) => error ?? told());
      const errors = text(child.stderr);
      await Promise.race([Promise.all([reached, treatsSignals(child)]), exit(child)]);
      child.kill(signal);
      expect([await exit(child), await errors]).toEqual([
        CODES[signal],
        expect.stringContaining(`Error: ${SAYS[signal]}`),
      ]);
      expect(await readFile(join(folder, 'all.csv'), 'utf8')).toBe('before\n');
      // What became of a document that was typed is told as of any other.
      const left = (await filesIn(folder)).filter((file) => !/^(all\.csv|molar-results\.csv)/.test(file));
      expect(left).toEqual([]);
    });
  });
});

describe('a reader that has gone', () => {
  test.concurrent.each([
    ['standard output', 'stdout', 0],
    ['standard error', 'stderr', 8],
  ] as const)('of %s changes nothing else', async (_name, stream, code) => {
    const folder = await folderFor(`gone ${stream}`);
    const failing = body('nothing', {}, 200);
    const url = stream === 'stderr' ? server.open(failing) : service(NOTHING, NOTHING);
    const child = start(folder, [...LIST, '--max-retries', '0'], env(folder, url));
    child[stream]?.destroy();
    expect(await exit(child)).toBe(code);
    expect((await filesIn(folder)).filter((file) => file.startsWith('tmp'))).toEqual([]);
  });
});
