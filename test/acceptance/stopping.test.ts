import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, type TestContext, test } from 'vitest';
import { testDatabase } from '../support/postgres.ts';
import { testPostgres } from '../support/services.ts';
import { molarIn } from './inprocess.ts';
import { exit, molar, ORGANIZATION, type Served, serve, start, TOKEN, text, workplace, writeFixture } from './molar.ts';

let place: Awaited<ReturnType<typeof workplace>>;
let running: Served[];

beforeEach(async () => {
  place = await workplace();
  running = [];
});
afterEach(async () => {
  for (const { child } of running) {
    child.kill('SIGCONT');
    child.kill('SIGKILL');
    await exit(child);
  }
  await place.remove();
});

async function served(...args: string[]): Promise<Served> {
  const one = await serve(place.path, args);
  running.push(one);
  return one;
}

const STOP = ['server', 'stop', '--data', 'd'];
const stop = (...args: string[]) => molarIn(place.path, [...STOP, ...args]);
const inFolder = (name: string) => join(place.path, 'd', name);
/** What tells of a server, or asks it to end. */
const marks = async () => (await readdir(join(place.path, 'd'))).filter((name) => /^server\.(?:json|stop)/.test(name));

test('a server of two processes ends in order, and has ended when the command has', async () => {
  expect(await stop()).toMatchObject({ code: 9, stderr: expect.stringContaining('No such data folder: d.') });
  const { child, url } = await served('--data', 'd', '--workers', '2');
  // By the program, as which the command ends when the server has.
  const stopped = await molar(place.path, [...STOP, '--json']);
  expect(stopped).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`Waiting until the server (process ${child.pid})`),
  });
  expect(JSON.parse(stopped.stdout)).toMatchObject({ data: join(place.path, 'd'), pid: child.pid });
  // SQLite leaves its log behind where the database is not closed.
  expect(existsSync(inFolder('molar.sqlite-wal'))).toBe(false);
  await expect(fetch(url)).rejects.toThrow();
  expect(await exit(child)).toBe(0);
  expect(await stop()).toMatchObject({
    code: 4,
    stdout: '',
    stderr: expect.stringContaining('No server is running on'),
  });
  expect(await marks()).toEqual([]);
});

test('a request that has begun is finished, and the command waits for it', async () => {
  await writeFixture(place.path, 1);
  const { child, url } = await served('--data', 'd', '--import', 'fixture.ndjson');
  const body = JSON.stringify({ tagText: 'late', tagType: 'PAYMENT_TAG', isPredefined: false });
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const head = [
    'POST /api/v1/transactiontags HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${TOKEN}`,
    `Organization-ID: ${ORGANIZATION}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 5)}`);
  const answered = text(socket);
  const log = createInterface({ input: child.stderr as NodeJS.ReadableStream });
  const stopping = new Promise<void>((done) => log.on('line', (line) => line.includes('"stopping"') && done()));
  let hasEnded = false;
  const command = stop().finally(() => {
    hasEnded = true;
  });
  await stopping;
  expect(hasEnded).toBe(false);
  expect(await marks()).toContain('server.json');
  socket.write(body.slice(5));
  expect(await answered).toMatch(/^HTTP\/1.1 201 /);
  expect(await command).toMatchObject({ code: 0, stdout: expect.stringContaining(`has ended (process ${child.pid})`) });
});

/** Asks a server that hangs to end; answers the command once the server could know. */
async function askHanging({ child }: Served): Promise<ReturnType<typeof start>> {
  child.kill('SIGSTOP');
  const command = start(place.path, STOP);
  await expect.poll(marks).toContainEqual(expect.stringMatching(/^server\.stop-/));
  return command;
}

test('a server that dies meanwhile is not said to have ended in order, and what it left stops no later one', async () => {
  const killed = await served('--data', 'd');
  const { id } = JSON.parse(await readFile(inFolder('server.json'), 'utf8'));
  const command = await askHanging(killed);
  const [said, ended] = [text(command.stderr), exit(command)];
  await killed.stop('SIGKILL');
  expect(await ended).toBe(8);
  expect(await said).toContain('The server ended before it had finished');
  expect(await marks()).toEqual(['server.json']);
  expect(await stop()).toMatchObject({ code: 4 });
  await writeFile(inFolder(`server.stop-${id}`), '');
  const next = await served('--data', 'd');
  expect(await marks()).toEqual(['server.json']);
  // An id of its own, so that nothing that is left over can mean it.
  expect(JSON.parse(await readFile(inFolder('server.json'), 'utf8'))).not.toMatchObject({ id });

  // Ctrl-C ends the waiting for a server that hangs, as does a time limit; the server ends when it can.
  const interrupted = await askHanging(next);
  interrupted.kill('SIGINT');
  expect(await exit(interrupted)).toBe(130);
  expect(next.child.exitCode).toBeNull();
  const late = await stop('--timeout', '1');
  expect(late).toMatchObject({ code: 7, stdout: '' });
  expect(late.stderr).toContain(`No server has taken notice within 1 s (process ${next.child.pid}).`);
  next.child.kill('SIGCONT');
  expect(await exit(next.child)).toBe(0);
  expect(await marks()).toEqual([]);
});

test('a server on PostgreSQL is known by the default folder, and a second one there says that it is not', async (context: TestContext) => {
  if ((await testPostgres()) === undefined) context.skip('there is no PostgreSQL');
  const database = await testDatabase();
  const env = { XDG_DATA_HOME: place.path };
  const onDatabase = async () => {
    const one = await serve(place.path, ['--database', database.url], undefined, env);
    running.push(one);
    return one;
  };
  const [first, second] = [await onDatabase(), await onDatabase()];
  const stopDefault = () => molarIn(place.path, ['server', 'stop'], env);
  expect(await stopDefault()).toMatchObject({ code: 0 });
  expect(await exit(first.child)).toBe(0);
  expect(await stopDefault()).toMatchObject({ code: 4 });
  await second.stop();
  expect(await second.errors).toMatch(/is in use by molar serve.*"molar server stop will not find this server"/);
  await database.drop();
});
