import { describe, expect, it } from 'vitest';
import AppointmentsList from '../../../src/commands/appointments/list.ts';
import ImageattachmentsList from '../../../src/commands/imageattachments/list.ts';
import LocationproductionnetscheduleReport from '../../../src/commands/locationproductionnetschedule/report.ts';
import PatientsList from '../../../src/commands/patients/list.ts';
import { answer, broken, problem, Script, type Step, success } from '../../core/transport/script.ts';
import { jsonFailure, runCommand } from '../runcommand.ts';

const patients = (script: Script, ...argv: string[]) =>
  runCommand('patients:list', PatientsList, ['--async', ...argv], { script });

describe('list --async where the stream does not open', () => {
  it.each<[string, () => Step]>([
    ['404', () => answer(404, '')],
    ['404 in an envelope', () => answer(404, { data: null, errors: [{ message: 'No such path' }] })],
    ...[400, 405, 406, 410, 415].map((status) => [`${status}`, () => answer(status, '')] as [string, () => Step]),
    ['403', () => answer(403, { data: null, errors: [] })],
    ['501', () => answer(501, '')],
    ['records in place of a stream', () => success([])],
    ['nothing', () => broken(true)],
  ])('tells that the service has no channel where the stream answers %s and the API is there', async (name, step) => {
    const script = new Script(step(), success([]));
    const ran = await patients(script, '--json', '--max-retries', '0');
    expect(jsonFailure(ran)).toMatchObject({
      code: 'stream.unavailable',
      exitCode: 5,
      message: expect.stringContaining('no streaming channel that molar can read'),
      hint: 'Run it without --async: molar patients list.',
      requestId: name === 'nothing' ? null : 'req-1',
    });
    expect([ran.stdout, script.left]).toEqual(['', 0]);
    expect(script.requests.map(({ url }) => new URL(url).pathname)).toEqual([
      '/api/v1/stream',
      '/api/v1/transactiontags',
    ]);
  });

  it.each<[string, () => Step, () => Step, number]>([
    ['the API is not there', () => broken(false), () => broken(false), 8],
    ['the address is not that of the API', () => answer(404, ''), () => answer(404, '<html>'), 4],
    ['the API is not there when it is asked', () => answer(406, ''), () => broken(false), 5],
    ['the token may not read', () => answer(403, ''), () => answer(403, ''), 3],
    ['the token is not accepted', () => answer(401, ''), () => answer(401, ''), 3],
  ])('says what it is where %s', async (_name, stream, reading, exitCode) => {
    const ran = await patients(new Script(stream(), reading()), '--json', '--max-retries', '0');
    expect(jsonFailure(ran)).toMatchObject({ exitCode, code: expect.not.stringContaining('stream.') });
  });

  it.each([
    [
      'appointments:list',
      AppointmentsList,
      ['--async'],
      'Without --async molar requests GET /api/v1/appointments, which the specification does not list; molar api /appointments/async shows the first ten.',
    ],
    [
      'locationproductionnetschedule:report',
      LocationproductionnetscheduleReport,
      ['--async', '--from', '2026-03-02'],
      'Run it without --async: molar locationproductionnetschedule report.',
    ],
  ] as const)('says what there is in place of %s', async (id, command, argv, hint) => {
    const script = new Script(answer(404, ''), success([]));
    expect(jsonFailure(await runCommand(id, command, [...argv, '--json'], { script }))).toMatchObject({
      code: 'stream.unavailable',
      hint,
    });
  });

  it('hides no defect behind a stream that does not open', async () => {
    const ran = await patients(new Script(answer(404, '')), '--json');
    expect(jsonFailure(ran)).toMatchObject({ message: expect.stringContaining('Unexpected request 2') });
  });
});

describe('imageattachments list where the stream does not open', () => {
  it('asks for ten at a time where the service has no channel, and says so', async () => {
    const ten = Array.from({ length: 10 }, (_, at) => ({ id: at + 1 }));
    const script = new Script(answer(404, ''), success([]), success(ten), success([{ id: 11 }]), success([]));
    const line = ['--fields', 'id', '--claim', '5', '--csv'];
    const ran = await runCommand('imageattachments:list', ImageattachmentsList, line, { script });
    expect([ran.exitCode, ran.stdout.split('\n').length, script.left]).toEqual([0, 13, 0]);
    expect(ran.stderr).toMatch(
      /^This service has no streaming channel .* The image attachments are requested ten at a time; .* is not checked against a count\.\n$/,
    );
    expect(script.queries.slice(2).map(({ lastId, pageSize, filter }) => [lastId, pageSize, filter])).toEqual([
      ['0', '10', 'insuranceClaim.id->[5]'],
      ['10', '10', 'insuranceClaim.id->[5]'],
      ['11', '10', 'insuranceClaim.id->[5]'],
    ]);
  });

  it('asks for no more than --limit where the service has no channel', async () => {
    const ten = Array.from({ length: 10 }, (_, at) => ({ id: at + 1 }));
    const script = new Script(answer(404, ''), success([]), success(ten), success([{ id: 11 }]), success([]));
    const line = ['--fields', 'id', '--claim', '5', '--csv', '--limit', '10'];
    const ran = await runCommand('imageattachments:list', ImageattachmentsList, line, { script });
    expect([ran.exitCode, ran.stdout.split('\n').length, script.left]).toEqual([0, 12, 2]);
  });

  it('fails as the stream fails where it has a channel', async () => {
    const script = new Script(problem(401, 'auth.token_unknown', null, 'No.'));
    const ran = await runCommand('imageattachments:list', ImageattachmentsList, ['--claim', '5'], { script });
    expect([ran.exitCode, script.requests.length]).toEqual([3, 1]);
  });
});
