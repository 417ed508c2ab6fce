import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ClosedPipe } from '../../../src/cli/terminal/streams.ts';
import StreamListen from '../../../src/commands/stream/listen.ts';
import { localFailure } from '../../../src/core/failure.ts';
import { eventOf, messageOf, streamAnswer } from '../../core/stream/messages.ts';
import { answer, broken, problem, Script, type Step } from '../../core/transport/script.ts';
import { jsonFailure, runCommand, type World } from '../runcommand.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const listen = (argv: readonly string[], world: World = {}) =>
  runCommand('stream:listen', StreamListen, argv, { ...world, env: { MOLAR_CONFIG_DIR: folder, ...world.env } });
const messages = [41, 42, 43].map((id) => messageOf(id));
const stream = (from = 0) => streamAnswer(messages.slice(from).map(eventOf));
const lines = (text: string) => text.split('\n').filter((line) => line !== '');

describe('stream listen', () => {
  it('prints messages as lines of JSON in a pipe', async () => {
    const script = new Script(stream());
    const ran = await listen(['--limit', '2', '--key', '*.*.PatientV1.*'], { script });
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(lines(ran.stdout).map((line) => JSON.parse(line))).toEqual(messages.slice(0, 2));
    expect(script.requests[0]?.url).toContain('routingKey=*.*.PatientV1.*');
  });

  it('prints a table on a terminal', async () => {
    const ran = await listen(['--limit', '1'], { script: new Script(stream()), terminal: 80, env: { NO_COLOR: '1' } });
    expect(lines(ran.stdout)[0]).toMatch(/^sendTime\s+operation\s+domainType\s+payload.id$/);
    expect(lines(ran.stdout)).toHaveLength(3);
    expect(ran.stderr).toMatch(/^Times in .*\.\n$/);
  });

  it('prints one JSON array', async () => {
    const ran = await listen(['--limit', '2', '--json'], { script: new Script(stream()) });
    expect(JSON.parse(ran.stdout)).toEqual(messages.slice(0, 2));
  });

  it.each([
    [['--from', 'beginning'], '0'],
    [['--from', '40'], '40'],
    [['--from', '0a1b2c3d-40'], '0a1b2c3d-40'],
    [['--from', 'now'], undefined],
    [[], undefined],
  ])('begins as %j says', async (argv, position) => {
    const script = new Script(stream());
    await listen(['--limit', '1', ...argv], { script });
    expect([script.left, script.requests[0]?.headers['last-event-id']]).toEqual([0, position]);
  });

  it('goes on over lost connections, and says so', async () => {
    const script = new Script(broken(false), answer(503, 'busy'), stream(), broken(true), stream(1));
    const ran = await listen(['--limit', '3'], { script });
    expect(lines(ran.stdout).map((line) => JSON.parse(line).id)).toEqual([41, 42, 43]);
    expect(lines(ran.stderr)).toEqual([
      'Not connected: The connection was cut by api.example.com. Next try in 0.5 s.',
      'Not connected: The server failed (HTTP 503). Next try in 1.0 s.',
      'Reconnected.',
    ]);
  });

  it('keeps its position under a name', async () => {
    await listen(['--limit', '2', '--name', 'mirror'], { script: new Script(stream()) });
    const script = new Script(stream(2));
    const ran = await listen(['--limit', '1', '--name', 'mirror', '--from', 'beginning', '--key', '#'], { script });
    expect(script.requests[0]?.headers['last-event-id']).toBe('0a1b2c3d-42');
    expect(ran.stderr).toBe('Resuming after message 42.\n');
    const next = new Script(streamAnswer([eventOf(messageOf(44))]));
    const other = await listen(['--limit', '1', '--name', 'mirror', '--key', '#.READ'], { script: next });
    expect(other).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('The keys were # before: ') });
    const [file = '', ...others] = await readdir(join(folder, 'streams'));
    expect(others).toEqual([]);
    expect(JSON.parse(await readFile(join(folder, 'streams', file), 'utf8'))).toMatchObject({
      name: 'mirror',
      keys: ['#.READ'],
      movedAt: '2026-03-02T12:00:00.000Z',
    });
  });

  it('lets go of a position that it cannot read', async () => {
    await listen(['--limit', '1', '--name', 'mirror'], { script: new Script(stream()) });
    const streams = join(folder, 'streams');
    const files = await readdir(streams);
    await writeFile(join(streams, files[0] ?? ''), '{');
    for (const time of ['once', 'again']) {
      const { exitCode, stderr } = await listen(['--name', 'mirror']);
      expect([time, exitCode, stderr.includes('is not a position that this molar can read')]).toEqual([time, 9, true]);
    }
    expect(await readdir(streams)).toEqual(files);
  });

  it('keeps where a new listener began, before the first message, and nowhere else later', async () => {
    const refused = () => problem(403, 'auth.scope_missing', null, 'No.');
    const start = async (position: string) => {
      const script = new Script(streamAnswer([], { headers: { 'x-stream-position': position } }), refused());
      expect((await listen(['--name', 'mirror'], { script })).exitCode).toBe(3);
    };
    await start('0a1b2c3d-40');
    // What the server says of a listener that is known: a resync may have been lost on the way.
    await start('0a1b2c3d-77');
    const script = new Script(stream());
    await listen(['--name', 'mirror', '--limit', '1'], { script });
    expect(script.requests[0]?.headers['last-event-id']).toBe('0a1b2c3d-40');
  });

  it('lets go of a position that it cannot write', async () => {
    const one = (step: Step) => listen(['--limit', '1', '--name', 'mirror'], { script: new Script(step) });
    const streams = join(folder, 'streams');
    await one(stream());
    const [file = ''] = await readdir(streams);
    const inTheWay = () => {
      rmSync(join(streams, file));
      mkdirSync(join(streams, file));
      return stream(1);
    };
    expect(await one(inTheWay)).toMatchObject({ exitCode: 9, stderr: expect.stringContaining(file) });
    await rmdir(join(streams, file));
    expect(await one(stream())).toMatchObject({ exitCode: 0 });
  });

  it('warns of a resync, also with --quiet, and prints it', async () => {
    const payload = { requested: 7, resumedAfter: 40 };
    const resync = messageOf(40, { operation: 'resync', domainType: '*', payload });
    const ran = await listen(['--limit', '1', '--from', '7', '--quiet'], {
      script: new Script(streamAnswer([eventOf(resync)])),
    });
    expect(ran.stderr).toMatch(/^Warning: messages are missing\. .* after 7; it resumes after 40\./);
    expect(JSON.parse(ran.stdout)).toEqual(resync);
  });

  it.each([
    [401, 'auth.token_unknown', 3],
    [400, 'stream.position', 5],
  ])('ends on %i', async (status, code, exitCode) => {
    const ran = await listen(['--json'], { script: new Script(problem(status, code, null, 'No.')) });
    expect(ran).toMatchObject({ exitCode, stdout: '' });
    expect(jsonFailure(ran)).toMatchObject({ code, status });
  });

  it('is ended by the number of retries that it is given, not by a default one', async () => {
    await writeFile(join(folder, 'config.json'), JSON.stringify({ profiles: {}, defaults: { maxRetries: '0' } }));
    const script = new Script(broken(false), broken(false), stream());
    const argv = ['--limit', '1', '--quiet', '--name=has--max-retries'];
    expect(await listen(argv, { script })).toMatchObject({ exitCode: 0 });
    for (const given of [['--max-retries=0'], ['--max-retries', '1']]) {
      const failing = new Script(...given.map(() => broken(false)));
      expect([(await listen([...given, '--quiet'], { script: failing })).exitCode, failing.left]).toEqual([8, 0]);
    }
  });

  it('closes what it has printed when it fails, and prints nothing when it fails before', async () => {
    const refused = () => problem(403, 'auth.scope_missing', null, 'No.');
    const late = await listen(['--json'], { script: new Script(stream(), refused()) });
    expect([late.exitCode, JSON.parse(late.stdout)]).toEqual([3, messages]);
    expect(await listen(['--json'], { script: new Script(refused()) })).toMatchObject({ exitCode: 3, stdout: '' });
    const stop = new AbortController();
    const script = new Script(() => {
      setImmediate(() => stop.abort(localFailure('run.interrupted', 'Interrupted.')));
      return streamAnswer([], { hangs: true });
    });
    // That nothing came is a result, too.
    expect(await listen(['--json'], { script, signal: stop.signal })).toMatchObject({ exitCode: 130, stdout: '[]\n' });
  });

  it('ends quietly when it is stopped, with what it printed whole', async () => {
    const stop = new AbortController();
    const world = { script: new Script(streamAnswer(messages.map(eventOf), { hangs: true })), signal: stop.signal };
    let stdout = '';
    const write = async (chunk: string | Uint8Array) => {
      stdout += chunk;
      if (stdout.includes('"id":43')) setImmediate(() => stop.abort(localFailure('run.interrupted', 'Interrupted.')));
    };
    expect(await listen(['--json'], { ...world, write })).toMatchObject({ exitCode: 130, stderr: '' });
    expect(JSON.parse(stdout)).toEqual(messages);
  });

  it('ends when it is stopped while its output is not read', async () => {
    const stop = new AbortController();
    const write = async () => {
      setImmediate(() => stop.abort(localFailure('run.interrupted', 'Interrupted.')));
      await new Promise(() => undefined);
    };
    expect(await listen([], { script: new Script(stream()), signal: stop.signal, write })).toMatchObject({
      exitCode: 130,
    });
  });

  it('leaves nothing in a message that a terminal would obey', async () => {
    const script = new Script(streamAnswer([eventOf(messageOf(41, { payload: { note: '\u009b31m' } }))]));
    const ran = await listen(['--limit', '1', '--format', 'ndjson'], { script, terminal: 80 });
    expect(ran.stdout).not.toContain('\u009b');
    expect(JSON.parse(ran.stdout).payload).toEqual({ note: '\u009b31m' });
  });

  it('ends quietly when nobody reads any more', async () => {
    const write = () => Promise.reject(new ClosedPipe());
    expect(await listen(['--name', 'mirror'], { script: new Script(stream()), write })).toMatchObject({
      exitCode: 0,
      stderr: '',
    });
    const script = new Script(stream());
    await listen(['--name', 'mirror', '--limit', '1'], { script });
    expect(script.requests[0]?.headers['last-event-id']).toBe('0a1b2c3d-40');
  });

  it.each([
    [['--key', '*.*.PatentV1.*'], '--key'],
    [['--from', 'yesterday'], '--from'],
    [['--from', '-1'], '--from'],
    [['--limit', '0'], '--limit'],
    [['--name', 'a/b'], '--name'],
    [['--format', 'table'], '--json'],
    [['--forward-to', 'http://example.com/'], '--forward-to'],
    [['--amqp', 'http://localhost'], '--amqp'],
    [['--amqp', 'amqp://localhost', '--key', '*.*.PatentV1.*'], '--key'],
    [['--amqp', 'amqp://localhost', '--from', 'beginning'], '--from'],
  ])('refuses %j before anything is sent', async (argv, source) => {
    const ran = await listen([...argv, '--json']);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(jsonFailure(ran)).toMatchObject({ errors: [{ source }] });
  });

  it.each([[['--exec', 'true', '--forward-to', 'http://localhost/']], [['--exchange', 'x']], [['--format', 'csv']]])(
    'refuses %j',
    async (argv) => {
      expect(await listen(argv)).toMatchObject({ exitCode: 2 });
    },
  );
});

describe('stream listen --forward-to', () => {
  const url = 'http://localhost:3000/hook';

  it('posts each message until it is taken, in order, and prints nothing in a pipe', async () => {
    const taken = () => answer(204, '');
    const script = new Script(stream(), taken(), answer(500, ''), broken(true), taken(), taken());
    const ran = await listen(['--limit', '3', '--forward-to', url], { script });
    expect(ran).toMatchObject({ exitCode: 0, stdout: '' });
    const posts = script.requests.filter(({ method }) => method === 'POST');
    expect(posts.map(({ headers }) => headers['x-message-id'])).toEqual(['41', '42', '42', '42', '43']);
    expect(posts.map(({ body }) => JSON.parse(String(body)))).toEqual([41, 42, 42, 42, 43].map((id) => messageOf(id)));
    expect(JSON.stringify(posts)).not.toMatch(/secret|authorization|organization-id/i);
    expect(lines(ran.stderr)[0]).toBe(
      'Message 42 was not accepted: localhost:3000 responded with HTTP 500. Next try in 0.5 s.',
    );
  });

  it('may be plain http where that is allowed', async () => {
    const script = new Script(stream(), answer(200, ''));
    const argv = ['--limit', '1', '--forward-to', 'http://example.com/', '--allow-http'];
    expect(await listen(argv, { script })).toMatchObject({ exitCode: 0 });
  });

  it('prints what was taken where a form is named, and on a terminal', async () => {
    const run = (argv: readonly string[], world: World) =>
      listen(['--limit', '1', '--forward-to', url, ...argv], {
        script: new Script(stream(), answer(200, '')),
        ...world,
      });
    expect(JSON.parse((await run(['--format', 'ndjson'], {})).stdout)).toEqual(messages[0]);
    expect(lines((await run([], { terminal: 80 })).stdout)).toHaveLength(3);
  });

  it('keeps the position of a message before it offers the next one', async () => {
    const kept: unknown[] = [];
    const taken = () => {
      const streams = join(folder, 'streams');
      const file = readdirSync(streams).find((name) => name.endsWith('.json')) ?? '';
      kept.push(JSON.parse(readFileSync(join(streams, file), 'utf8')).position);
      return answer(204, '');
    };
    await listen(['--name', 'mirror', '--forward-to', url, '--limit', '3'], {
      script: new Script(stream(), taken, taken, taken),
    });
    expect(kept).toEqual(['0a1b2c3d-40', '0a1b2c3d-41', '0a1b2c3d-42']);
  });

  it('keeps the position at the last message that was taken', async () => {
    const script = new Script(stream(), answer(200, ''), answer(400, ''), answer(400, ''));
    const argv = ['--name', 'mirror', '--forward-to', url];
    const ran = await listen([...argv, '--max-retries', '1', '--format', 'ndjson'], { script });
    const refusing = new Script(stream(1), answer(400, ''));
    const json = await listen(['--forward-to', url, '--max-retries', '0', '--json'], { script: refusing });
    expect(jsonFailure(json)).toMatchObject({ code: 'stream.receiver', errors: [{ source: '--forward-to' }] });
    expect(ran.exitCode).toBe(8);
    // What was not taken is not printed.
    expect(lines(ran.stdout).map((line) => JSON.parse(line).id)).toEqual([41]);
    expect(ran.stderr).toContain('Message 42 was not accepted in 2 attempts: localhost:3000 responded with HTTP 400.');
    const again = new Script(stream(1), answer(200, ''));
    await listen([...argv, '--limit', '1'], { script: again });
    expect(again.requests[0]?.headers['last-event-id']).toBe('0a1b2c3d-41');
  });
});
