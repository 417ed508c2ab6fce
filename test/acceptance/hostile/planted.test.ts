import { spawn, spawnSync } from 'node:child_process';
import { chmod, chown, mkdir, open, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { otherUser } from '../../support/services.ts';
import { molarIn } from '../inprocess.ts';
import { cleanEnv, connection, type Ended, exit, RUN, text } from '../molar.ts';
import { hostileServer, TestPlace } from './hostileplace.ts';
import { type Answering, body, data } from './hostileserver.ts';

const place = new TestPlace();
const server = hostileServer();

const ROWS = Array.from({ length: 200 }, (_, at) => ({ id: at + 1, lastName: `Name ${at + 1}` }));
const WHOLE = `id,lastName\n${ROWS.map(({ id, lastName }) => `${id},${lastName}\n`).join('')}`;
const CONTENT = '%PDF-1.7 the content of a chart\n';
const HALF = 10;

interface Answers {
  /** Answers for the file of the document. */
  file?: Answering;
  /** Answers instead of the second page. */
  second?: Answering | undefined;
}

/** Two pages of patients and one document; the answers may change between two runs with the same address. */
function practice(answers: Answers = {}): string {
  const url = server.open((asked, response) => {
    const { pathname, searchParams } = asked.url;
    if (pathname.startsWith('/files/')) return (answers.file ?? body(CONTENT))(asked, response);
    if (pathname.endsWith('/totalcount')) return data({ total: ROWS.length })(asked, response);
    const last = Number(searchParams.get('lastId'));
    if (last === 100 && answers.second !== undefined) return answers.second(asked, response);
    if (pathname.endsWith('/patients')) return data(ROWS.filter(({ id }) => id > last).slice(0, 100))(asked, response);
    const document = { id: 1, name: 'scan.pdf', guidName: 'guid-1', storage: { original: `${url}/files/1` } };
    return data(pathname.endsWith('/1') ? document : last > 0 ? [] : [document])(asked, response);
  });
  return url;
}

const LIST = ['patients', 'list', '--fields', 'id,lastName', '--page-size', '100', '--max-retries', '0'];
const EXPORT = ['export', 'patients', '--fields', 'patients:id,lastName', '--max-retries', '0', '--to', 'to'];
const DOWNLOAD = ['documents', 'download', '--max-retries', '0'];
const UPLOAD = ['documents', 'upload', 'scan.pdf', '--results', 'r.csv', '--max-retries', '0'];
const UPLOADS = '{"journal":"molar documents upload","version":2}\\n';

/** What another user does in a folder that both may write to, and the command that meets it there. */
const REFUSED: readonly (readonly [what: string, plants: string, argv: readonly string[]])[] = [
  ['the file as a link', 'ln -s ../victim all.csv', [...LIST, '--out', 'all.csv']],
  ['the file as a link to nothing', 'ln -s ../theirs/new all.csv', [...LIST, '--out', 'all.csv']],
  ['its folder as a link', 'ln -s ../theirs to', [...LIST, '--out', 'to/all.csv']],
  ['a folder above as a link', 'ln -s ../.. to', [...LIST, '--out', 'to/links/theirs/all.csv']],
  ['the receipt as a link', 'ln -s ../victim all.csv.receipt.json', [...LIST, '--out', 'all.csv', '--receipt']],
  ['the lock as a link', 'ln -s ../victim all.csv.part.lock', [...LIST, '--out', 'all.csv']],
  ['the lock as a pipe', 'mkfifo all.csv.part.lock', [...LIST, '--out', 'all.csv']],
  ['one record as a link', 'ln -s ../victim one.json', ['documents', 'get', '1', '--out', 'one.json']],
  ['any answer as a link', 'ln -s ../victim one.json', ['api', 'GET', '/documents/1', '--out', 'one.json']],
  ['the folder of an export as a link', 'ln -s ../theirs to', EXPORT],
  ['an exported file as a link', 'mkdir -m 777 to; ln -s ../../victim to/patients.csv', EXPORT],
  ['the summary as a link', 'mkdir -m 777 to; ln -s ../../victim to/summary.json', EXPORT],
  ['the folder of downloads as a link', 'ln -s ../theirs to', [...DOWNLOAD, '1', '--dir', 'to']],
  ['a download as a link', 'ln -s ../victim a.pdf', [...DOWNLOAD, '1', '--out', 'a.pdf', '--overwrite']],
  ['the folder of a download as a link', 'ln -s ../theirs to', [...DOWNLOAD, '1', '--out', 'to/a.pdf']],
  [
    'the journal of downloads as a link',
    'mkdir -m 777 to; ln -s ../../victim to/.molar-downloads.ndjson',
    [...DOWNLOAD, '--all', '--dir', 'to'],
  ],
  [
    'a journal of downloads that they can read',
    'mkdir -m 777 to; : > to/.molar-downloads.ndjson; chmod 666 to/.molar-downloads.ndjson',
    [...DOWNLOAD, '--all', '--dir', 'to'],
  ],
  ['the config file as a link to nothing', 'ln -s ../theirs/new config.json', ['config', 'set', 'pageSize', '50']],
  ['the results of uploads as a link', 'ln -s ../victim r.csv', UPLOAD],
  ['the journal of uploads as a link', 'ln -s ../victim r.csv.journal', UPLOAD],
  ['a journal of uploads that they can read', `printf '${UPLOADS}' > r.csv.journal; chmod 666 r.csv.journal`, UPLOAD],
];

const other = otherUser();
const THIRD = 65_533;
/** Where the checkout is open to its owner only, nobody else can run it. */
const canRun =
  other !== undefined && spawnSync(process.execPath, [RUN, 'version'], { uid: THIRD, gid: THIRD }).status === 0;
if (other !== undefined && !canRun)
  process.stderr.write(`Not tested: molar run by a third user, who may not read ${RUN}.\n`);

if (other !== undefined) {
  describe.each([['root', 0] as const, ...(canRun ? [['a third user', THIRD] as const] : [])])('%s', (name, user) => {
    /** Root, whom no permissions stop, meets every case; that it is asked who somebody is, every fifth one shows. */
    const isAsked = (_case: unknown, at: number) => user === 0 || at % 5 === 0;
    /** A folder of the other user that all can write to, beside a file and a folder of the one who runs molar. */
    const prepare = async (what: string) => {
      const top = await place.folderOf(`${name} ${what}`);
      const shared = join(top, 'links');
      for (const folder of ['links', 'theirs']) await mkdir(join(top, folder));
      await writeFile(join(top, 'victim'), 'precious');
      for (const own of ['victim', 'theirs']) await chown(join(top, own), user, user);
      await chown(shared, other, other);
      await chmod(shared, 0o777);
      return { top, shared };
    };
    const plant = (shared: string, script: string) => {
      const { status, stderr } = spawnSync('sh', ['-c', script], { cwd: shared, uid: other, gid: other });
      expect([status, String(stderr)]).toEqual([0, '']);
    };
    const run = async (folder: string, argv: readonly string[], url: string): Promise<Ended> => {
      const own = { ...connection(url), HOME: folder, MOLAR_CONFIG_DIR: folder };
      // This process is root's; nobody else's command can run in it.
      if (user === process.getuid?.()) return molarIn(folder, argv, own);
      const env = cleanEnv(own);
      const child = spawn(process.execPath, [RUN, ...argv], { cwd: folder, env, uid: user, gid: user });
      child.stdin.end();
      const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exit(child)]);
      return { code, stdout, stderr };
    };
    /** What another user sees of a file that was opened before the run. */
    const watched = async (path: string) => {
      const file = await open(path);
      const { ino } = await file.stat();
      return { ino, read: () => file.readFile('utf8').finally(() => file.close()) };
    };

    beforeAll(() => chmod(place.path, 0o711));

    test.each(REFUSED.filter(isAsked))('does not write through %s', async (what, plants, argv) => {
      const { top, shared } = await prepare(what);
      await writeFile(join(shared, 'scan.pdf'), CONTENT);
      plant(shared, plants);
      const ended = await run(shared, argv, practice());
      expect([ended.code, ended.stdout, ended.stderr]).toEqual([
        9,
        '',
        expect.stringMatching(/another user|link|pipe|regular file/),
      ]);
      expect(await readFile(join(top, 'victim'), 'utf8')).toBe('precious');
      expect(await readdir(join(top, 'theirs'))).toEqual([]);
      for (const journal of ['to/.molar-downloads.ndjson', 'r.csv.journal']) {
        const left = await readFile(join(shared, journal), 'utf8').catch(() => '');
        expect(left).not.toMatch(/scan|key/);
      }
    });

    test('follows a link of its own', async () => {
      const { top, shared } = await prepare('own');
      spawnSync('ln', ['-s', '../theirs/new.csv', join(shared, 'all.csv')], { uid: user, gid: user });
      expect(await run(shared, [...LIST, '--out', 'all.csv'], practice())).toMatchObject({ code: 0 });
      expect(await readFile(join(top, 'theirs/new.csv'), 'utf8')).toBe(WHOLE);
    });

    test('follows a link of root to a folder, and to a file only where that is its own', async () => {
      const { top, shared } = await prepare('of root');
      await symlink('../theirs', join(shared, 'to'));
      expect(await run(shared, [...LIST, '--out', 'to/all.csv'], practice())).toMatchObject({ code: 0 });
      expect(await readFile(join(top, 'theirs/all.csv'), 'utf8')).toBe(WHOLE);
      await symlink('../theirs/new.csv', join(shared, 'all.csv'));
      const { code } = await run(shared, [...LIST, '--out', 'all.csv'], practice());
      expect([code, await readdir(join(top, 'theirs'))]).toEqual(
        user === 0 ? [0, ['all.csv', 'new.csv']] : [9, ['all.csv']],
      );
    });

    const PLANTED: readonly (readonly [file: string, argv: readonly string[], content: string])[] = [
      ['all.csv', [...LIST, '--out', 'all.csv'], WHOLE],
      ['all.csv.part', [...LIST, '--out', 'all.csv'], WHOLE],
      ['all.csv.part.json', [...LIST, '--out', 'all.csv'], WHOLE],
      ['all.csv.part.json.new', [...LIST, '--out', 'all.csv'], WHOLE],
      ['to/patients.csv.part', EXPORT, WHOLE],
      ['to/summary.json.part', EXPORT, WHOLE],
      ['to/.molar-export.json', EXPORT, WHOLE],
      ['scan.pdf.part', [...DOWNLOAD, '1'], CONTENT],
      ['scan.pdf.part.json', [...DOWNLOAD, '1'], CONTENT],
    ];
    test.each(PLANTED.filter(isAsked))(
      'writes nothing into a %s that is open to others',
      async (file, argv, content) => {
        const { top, shared } = await prepare(`open ${file} ${argv[0]}`);
        plant(shared, `mkdir -m 777 to; echo planted > ${file}; chmod 666 ${file}`);
        const seen = await watched(join(shared, file));
        expect(await run(shared, argv, practice())).toMatchObject({ code: 0 });
        expect(await seen.read()).toBe('planted\n');
        const made = join(shared, argv === EXPORT ? 'to/patients.csv' : (file.match(/^[a-z]+\.[a-z]+/)?.[0] ?? ''));
        expect([(await stat(made)).uid, (await stat(made)).mode & 0o777]).toEqual([user, 0o600]);
        expect(await readFile(made, 'utf8')).toBe(content);
        expect(await readFile(join(top, 'victim'), 'utf8')).toBe('precious');
      },
    );

    const LEFT = [['all.csv.part', 'all.csv.part.json'], ['all.csv.part'], ['all.csv.part.json']];
    test.each(LEFT.filter(isAsked))('does not continue %s of another user', async (...files) => {
      const { shared } = await prepare(`resume ${files.join()}`);
      const answers: Answers = { second: body('', {}, 500) };
      const url = practice(answers);
      expect((await run(shared, [...LIST, '--out', 'all.csv'], url)).code).not.toBe(0);
      answers.second = undefined;
      for (const file of files) await chown(join(shared, file), other, other);
      const seen = await watched(join(shared, 'all.csv.part'));
      const before = await readFile(join(shared, 'all.csv.part'), 'utf8');
      expect(before).toMatch(/^100,/m);
      const again = await run(shared, [...LIST, '--out', 'all.csv', '--resume'], url);
      expect([again.code, await readFile(join(shared, 'all.csv'), 'utf8')]).toEqual([0, WHOLE]);
      const made = await stat(join(shared, 'all.csv'));
      expect([made.uid, made.ino === seen.ino, await seen.read()]).toEqual([user, false, before]);
    });

    const PARTS = [['scan.pdf.part', 'scan.pdf.part.json'], ['scan.pdf.part'], ['scan.pdf.part.json']];
    test.each(PARTS.filter(isAsked))('does not go on with the download in %s of another user', async (...files) => {
      const { shared } = await prepare(`download ${files.join()}`);
      const etag = '"one"';
      const sizeOf = () =>
        stat(join(shared, 'scan.pdf.part')).then(
          ({ size }) => size,
          () => 0,
        );
      const half: Answering = async ({ socket }, response) => {
        response.writeHead(200, { 'content-length': CONTENT.length, etag }).write(CONTENT.slice(0, HALF));
        while ((await sizeOf()) !== HALF) await sleep(20);
        socket.destroy();
      };
      const rest = { etag, 'content-range': `bytes ${HALF}-${CONTENT.length - 1}/${CONTENT.length}` };
      const whole: Answering = (asked, response) => {
        if (asked.headers.range === undefined) return body(CONTENT, { etag })(asked, response);
        return body(CONTENT.slice(HALF), rest, 206)(asked, response);
      };
      const answers: Answers = { file: half };
      const url = practice(answers);
      expect((await run(shared, [...DOWNLOAD, '1'], url)).code).not.toBe(0);
      answers.file = whole;
      for (const each of files) await chown(join(shared, each), other, other);
      const seen = await watched(join(shared, 'scan.pdf.part'));
      expect(await run(shared, [...DOWNLOAD, '1'], url)).toMatchObject({ code: 0 });
      expect(await readFile(join(shared, 'scan.pdf'), 'utf8')).toBe(CONTENT);
      const made = await stat(join(shared, 'scan.pdf'));
      expect([made.uid, made.ino === seen.ino, await seen.read()]).toEqual([user, false, CONTENT.slice(0, HALF)]);
    });
  });
}
