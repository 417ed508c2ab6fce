import { realpathSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import ImageattachmentsList from '../../../src/commands/imageattachments/list.ts';
import LocationproductionnetscheduleReport from '../../../src/commands/locationproductionnetschedule/report.ts';
import PatientsList from '../../../src/commands/patients/list.ts';
import { localFailure } from '../../../src/core/failure.ts';
import { eventOf, messageOf, streamAnswer } from '../../core/stream/messages.ts';
import { answer, problem, Script, type Step, success } from '../../core/transport/script.ts';
import { need } from '../../support/capabilities.ts';
import { openBelow } from '../../support/descriptors.ts';
import { jsonFailure, runCommand, type World } from '../runcommand.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const asked = () => success([], {}, { 'x-correlation-id': 'c-1' });

/** A delivery of these records, and of as many as `total` says. */
function delivery(records: readonly object[], total = records.length, first = 41) {
  const reads = records.map((payload, at) =>
    eventOf(messageOf(first + at, { operation: 'READ', correlationId: 'c-1', payload: { ...payload } })),
  );
  const end = messageOf(first + records.length, {
    operation: 'READ_COMPLETE',
    correlationId: 'c-1',
    payload: { total },
  });
  return streamAnswer([...reads, eventOf(end)]);
}

const patients = (script: Script, ...argv: string[]) =>
  runCommand('patients:list', PatientsList, ['--async', ...argv], { script });
const names = [
  { id: 9, lastName: 'Vega' },
  { id: 4, lastName: 'Ågren' },
  { id: 2, lastName: '=Cruz' },
];

describe('list --async', () => {
  it('subscribes, asks, and writes in the order of ids', async () => {
    const script = new Script(delivery(names), asked());
    const ran = await patients(script, '--fields', 'id,lastName', '--status', 'ACTIVE', '--csv');
    expect(ran).toEqual({ exitCode: 0, stdout: "id,lastName\n2,'=Cruz\n4,Ågren\n9,Vega\n", stderr: '' });
    const [stream, question] = script.requests.map(({ url }) => new URL(url));
    expect(stream?.pathname).toBe('/api/v1/stream');
    expect(stream?.searchParams.getAll('routingKey')).toEqual([
      'org-1.*.PatientV1.READ',
      'org-1.*.PatientV1.READ_COMPLETE',
    ]);
    expect([script.requests[1]?.method, question?.pathname]).toEqual(['GET', '/api/v1/patients/async']);
    expect(Object.fromEntries(question?.searchParams ?? [])).toEqual({
      filter: 'patientStatus==ACTIVE,lastModified>=0001-01-01T00:00:00Z',
      responseFields: 'id,lastName',
    });
  });

  it('goes on where the connection was lost, says so, and shows how far it has come, or is quiet', async () => {
    const [first, ...rest] = names;
    const read = messageOf(41, { operation: 'READ', correlationId: 'c-1', payload: { ...first } });
    let time = 0;
    const shown: string[] = [];
    const run = async (...argv: string[]) => {
      const script = new Script(streamAnswer([eventOf(read)]), asked(), delivery(rest, 3, 42));
      const world: World = {
        script,
        clock: { now: () => (time += 2000), sleep: () => Promise.resolve() },
        startProgress: async () => ({ show: (text) => shown.push(text), stop: () => shown.push('over') }),
      };
      const line = ['--async', '--fields', 'id', '--csv', ...argv];
      const ran = await runCommand('patients:list', PatientsList, line, world);
      expect(ran).toMatchObject({ exitCode: 0, stdout: 'id\n2\n4\n9\n' });
      expect(script.requests[2]?.headers['last-event-id']).toBe('0a1b2c3d-41');
      return ran.stderr;
    };
    expect(await run('--quiet')).toBe('');
    expect(shown).toEqual([]);
    expect(await run()).toBe('Not connected: The other side closed the connection. Next try in 0.5 s.\n');
    // While it is collected, and while it is written.
    expect(shown).toEqual(['1 patients', '2 patients', '3 patients', 'over', '3 patients', 'over']);
  });

  it.each<[string, (asking: Step) => Step[]]>([
    ['the delivery', (asking) => [streamAnswer([], { hangs: true }), asking]],
    ['the API, whose stream does not open', (asking) => [answer(404, ''), asking]],
  ])('ends what asks for %s when it is interrupted', async (_name, steps) => {
    const stop = new AbortController();
    const ended: unknown[] = [];
    const script = new Script(
      ...steps(({ signal }) => {
        stop.abort(localFailure('run.interrupted', 'Interrupted.'));
        ended.push(signal?.aborted);
        signal?.throwIfAborted();
        return asked();
      }),
    );
    const ran = await runCommand('patients:list', PatientsList, ['--async'], { script, signal: stop.signal });
    expect([ran.exitCode, ran.stdout, ended, script.left]).toEqual([130, '', [true], 0]);
  });

  it('sorts the whole delivery, then cuts at --limit', async () => {
    const script = new Script(delivery(names), asked());
    const ran = await patients(script, '--sort', '-lastName', '--limit', '2', '--fields', 'id', '--csv');
    expect(ran).toEqual({ exitCode: 0, stdout: 'id\n4\n9\n', stderr: '' });
  });

  it('cuts at --limit, in the order of ids', async () => {
    const ran = await patients(
      new Script(delivery(names), asked()),
      '--limit',
      '2',
      '--fields',
      'id',
      '--format',
      'ndjson',
    );
    expect(ran.stdout).toBe('{"id":2}\n{"id":4}\n');
  });

  it.each(['csv', 'ndjson', 'json', 'table', 'xlsx'])('writes nothing as %s when the total differs', async (format) => {
    const ran = await patients(new Script(delivery(names, 4), asked()), '--format', format);
    expect(ran).toMatchObject({ exitCode: 8, stdout: '' });
    expect(ran.stderr).toContain('The server reports 4 delivered records, but 3 arrived (correlation id c-1).');
  });

  it('takes over what the server does by itself where that is asked for', async () => {
    const script = new Script(delivery(names), asked());
    await patients(script, '--status', 'ACTIVE', '--server-defaults', '--csv');
    expect(script.queries[1]?.filter).toBe('patientStatus==ACTIVE');
  });

  it('leaves a file as it was when the total differs, and replaces it when not', async () => {
    const out = join(folder, 'patients.csv');
    await writeFile(out, 'before\n');
    const argv = ['--fields', 'id', '--out', out];
    expect((await patients(new Script(delivery(names, 2), asked()), ...argv)).exitCode).toBe(8);
    expect(await readFile(out, 'utf8')).toBe('before\n');
    expect((await patients(new Script(delivery(names), asked()), ...argv)).exitCode).toBe(0);
    expect(await readFile(out, 'utf8')).toBe('id\n2\n4\n9\n');
    expect(await readdir(folder)).toEqual(['patients.csv']);
  });

  it('leaves no file open, whatever comes of it', async (context) => {
    need(context, 'proc');
    const below = () => openBelow(realpathSync(tmpdir()));
    const before = below();
    await patients(new Script(delivery(names), asked()));
    await patients(new Script(delivery(names), asked()), '--limit', '1');
    await patients(new Script(delivery(names, 4), asked()));
    expect(below()).toEqual(before);
  });

  it('fails as the endpoint fails', async () => {
    const script = new Script(streamAnswer([], { hangs: true }), problem(403, 'auth.scope_missing', null, 'No.'));
    expect(await patients(script)).toMatchObject({ exitCode: 3, stdout: '' });
  });

  it('fails where the answer names no delivery', async () => {
    const ran = await patients(new Script(delivery(names), success([])), '--json');
    expect(ran).toMatchObject({ exitCode: 5, stdout: '' });
    expect(jsonFailure(ran)).toMatchObject({
      code: 'stream.unavailable',
      message: expect.stringMatching(
        /no streaming channel that molar can read; .* GET \/api\/v1\/patients\/async has no X-Correlation-ID/,
      ),
      hint: 'Run it without --async: molar patients list.',
    });
  });

  it('gives up as a list does where the stream does not open', async () => {
    const refusals = [0, 1].map(() => problem(503, 'server.unavailable', null, 'Later.'));
    expect(await patients(new Script(...refusals), '--max-retries', '1')).toMatchObject({ exitCode: 8, stdout: '' });
  });

  it.each([
    ['--resume'],
    ['--receipt'],
    ['--since-last', 'x'],
    ['--parallel', '2'],
    ['--id', '5'],
    ['--filter', 'id->[5]'],
  ])('refuses %s, before anything is sent', async (...argv) => {
    const ran = await patients(new Script(), ...argv, '--json', '--out', join(folder, 'x.json'));
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(jsonFailure(ran)).toMatchObject({ errors: [{ source: argv[0] === '--filter' ? 'id' : argv[0] }] });
  });
});

describe('imageattachments list', () => {
  it.each([[[]], [['--async']]])('comes over the stream with %j', async (argv) => {
    const script = new Script(delivery([{ id: 3 }, { id: 8 }]), asked());
    const line = [...argv, '--fields', 'id', '--claim', '5', '--csv'];
    expect(await runCommand('imageattachments:list', ImageattachmentsList, line, { script })).toEqual({
      exitCode: 0,
      stdout: 'id\n3\n8\n',
      stderr: '',
    });
    expect(script.queries[1]).toEqual({ filter: 'insuranceClaim.id->[5]', responseFields: 'id,type' });
  });
});

describe('production report --async', () => {
  const report = (script: Script, ...argv: string[]) =>
    runCommand('locationproductionnetschedule:report', LocationproductionnetscheduleReport, ['--async', ...argv], {
      script,
    });
  const item = (day: number, scheduledAmount: number) => ({ date: `2026-03-0${day}T15:00:00.000Z`, scheduledAmount });
  const items = [item(3, 700), item(2, 500), item(2, 300)];

  it('writes the items in the order of the report, those of one time as they came', async () => {
    const more = [item(4, 900), item(2, 200), item(3, 600), item(1, 100), item(3, 800)];
    const script = new Script(delivery([...items, ...more]), asked());
    const ran = await report(script, '--from', '2026-03-02', '--range', '2', '--fields', 'scheduledAmount', '--csv');
    const amounts = [100, 500, 300, 200, 700, 600, 800, 900];
    expect(ran).toEqual({ exitCode: 0, stdout: `scheduledAmountCents\n${amounts.join('\n')}\n`, stderr: '' });
    expect(script.queries[1]).toEqual({ filter: 'fromDate==2026-03-02,range==2' });
  });

  it('asks for each day of a table', async () => {
    const script = new Script(
      delivery(items.slice(1)),
      asked(),
      delivery([], 0),
      problem(404, 'record.not_found', null, 'None.'),
    );
    const ran = await report(script, '--from', '2026-03-02', '--range', '2', '--format', 'table');
    expect(ran.exitCode).toBe(0);
    expect(ran.stdout).toMatch(/2026-03-02 Mon +2 +8\.00\n2026-03-03 Tue +0 +0\.00\n/);
  });

  it('refuses what the async endpoint cannot filter by', async () => {
    const ran = await report(new Script(), '--from', '2026-03-02', '--filter', 'location.id!=5');
    expect(ran.exitCode).toBe(2);
  });
});
