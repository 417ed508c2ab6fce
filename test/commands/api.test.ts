import { describe, expect, it } from 'vitest';
import Api from '../../src/commands/api.ts';
import { jsonFailure, runCommand } from '../cli/runcommand.ts';
import { answer, broken, problem, Script, success } from '../core/transport/script.ts';
import { allRecords, ORGANIZATION } from '../support/practice.ts';
import { sharedService } from '../support/service.ts';
import { runCommand as runServed, sendTo } from './documents/run.ts';

const rows = (...ids: number[]) => success(ids.map((id) => ({ id })));

describe('molar api against the server', () => {
  const served = sharedService();
  const send = sendTo(() => served.app);

  it('prints the whole envelope', async () => {
    const ran = await runServed(Api, ['patients', '--field', 'pageSize=1', '--field', 'responseFields=id'], { send });
    const { body } = await served.call('GET', '/patients', { query: { pageSize: 1, responseFields: 'id' } });
    expect(ran.exitCode).toBe(0);
    expect(JSON.parse(ran.stdout.toString())).toEqual(body);
  });

  it('walks a list to its end', async () => {
    const ran = await runServed(Api, ['/api/v1/patients?pageSize=2&responseFields=id', '--paginate'], { send });
    const ids = allRecords()
      .filter(({ type, organizationId }) => type === 'PatientV1' && organizationId === ORGANIZATION)
      .map(({ id }) => ({ id }));
    expect(ids.length).toBeGreaterThan(2);
    expect(JSON.parse(ran.stdout.toString())).toEqual(ids.sort((one, other) => Number(one.id) - Number(other.id)));
  });

  it('exits 4 for a path that is not there', async () => {
    const ran = await runServed(Api, ['nosuch', '--json'], { send });
    expect({ code: ran.exitCode, stdout: ran.stdout.toString() }).toEqual({ code: 4, stdout: '' });
    expect(JSON.parse(ran.stderr).error.code).toBe('route.unknown');
  });

  it('says which path was meant', async () => {
    const ran = await runServed(Api, ['patient/7', '--json'], { send });
    expect(JSON.parse(ran.stderr).error).toMatchObject({ exitCode: 4, hint: 'Did you mean patients/7?' });
  });

  it('creates with --data from standard input', async () => {
    const stdin = JSON.stringify({ tagText: 'Refund', tagType: 'PAYMENT_TAG', isPredefined: false });
    const ran = await runServed(Api, ['transactiontags', '--data', '-'], { send, stdin });
    expect(JSON.parse(ran.stdout.toString()).data).toMatchObject({ tagText: 'Refund' });
  });
});

describe('molar api', () => {
  it.each<[string, string[], string, string]>([
    ['a bare path', ['patients'], 'GET', '/api/v1/patients'],
    ['the whole path', ['/api/v1/patients/5'], 'GET', '/api/v1/patients/5'],
    ['a method in small letters', ['delete', 'events/5'], 'DELETE', '/api/v1/events/5'],
    ['data', ['events', '--data', '-'], 'POST', '/api/v1/events'],
    ['data and a method', ['PUT', 'events/5', '--data', '-'], 'PUT', '/api/v1/events/5'],
    ['a query and fields', ['a?x=1', '--field', 'y=a b=c', '--field', 'y=2'], 'GET', '/api/v1/a?x=1&y=a%20b%3Dc&y=2'],
  ])('sends %s', async (_name, argv, method, target) => {
    const script = new Script(success({ id: 5 }));
    const ran = await runCommand('api', Api, argv, { script, stdin: '{"a":1}' });
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(script.requests[0]).toMatchObject({ method, url: `https://api.example.com${target}` });
  });

  it.each<[string, string[], string]>([
    ['no path', ['GET'], 'PATH is missing'],
    ['nothing', [], 'PATH is missing'],
    ['another method', ['PATCH', 'patients/5'], 'METHOD must be one of'],
    ['a whole URL', ['https://other.example.com/api/v1/patients'], 'not a full URL'],
    ['a way out', ['../../metrics'], 'below /api/v1'],
    ['an encoded way out', ['%2e%2e/x'], 'below /api/v1'],
    ['a field without a value', ['patients', '--field', 'x'], '--field is written name=value'],
    ['data that is the JSON', ['events', '--data', '{}'], '--data takes a file name'],
    ['data with GET', ['GET', 'events', '--data', '-'], '--data does not go with GET'],
    ['data that is no JSON', ['events', '--data', '-'], '--data is not valid JSON'],
    ['pages of a write', ['DELETE', 'events/5', '--paginate'], '--paginate goes with GET'],
    ['a page of its own', ['patients', '--paginate', '--field', 'lastId=5'], '--paginate chooses lastId itself'],
    ['two formats', ['patients', '--json', '--format', 'ndjson'], 'different formats'],
  ])('refuses %s before anything is sent', async (_name, argv, message) => {
    const ran = await runCommand('api', Api, argv, { stdin: 'ssn 123' });
    expect(ran).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(message) });
    expect(ran.stderr).not.toContain('ssn');
  });

  it('keeps null as data and exits with the code of the answer', async () => {
    const refused = new Script(problem(400, 'field.missing', 'title', 'title is required.'));
    const ran = await runCommand('api', Api, ['events', '--data', '-', '--json'], { script: refused, stdin: 'null' });
    expect(refused.requests[0]?.body).toBe('null');
    expect(ran).toMatchObject({ exitCode: 5, stdout: '' });
    expect(jsonFailure(ran)).toMatchObject({ code: 'field.missing', status: 400 });
  });

  it('shows a request without sending it', async () => {
    const ran = await runCommand('api', Api, ['PUT', 'events/5?x=1', '--data', '-', '--dry-run'], { stdin: '{"a":1}' });
    expect(JSON.parse(ran.stdout)).toMatchObject({
      method: 'PUT',
      url: 'https://api.example.com/api/v1/events/5?x=1',
      body: { a: 1 },
    });
    expect(ran.stdout).not.toContain('secret');
  });
});

describe('molar api with a POST whose outcome is unknown', () => {
  const post = (path: string, body: unknown, script: Script) =>
    runCommand('api', Api, [path, '--data', '-', '--json'], { script, stdin: JSON.stringify(body) });
  const sent = (script: Script) => script.requests.map(({ method }) => method).join(' ');
  const listed = (...records: object[]) => success(records, {}, { date: 'Mon, 02 Mar 2026 12:00:00 GMT' });
  const tag = { tagText: 'Refund', tagType: 'PAYMENT_TAG', isPredefined: false };

  it('looks for what the path makes', async () => {
    const script = new Script(broken(true), listed({ id: 7, ...tag }), listed());
    const ran = await post('transactiontags', tag, script);
    expect(JSON.parse(ran.stdout)).toMatchObject({ data: { id: 7 }, errors: [] });
    expect(sent(script)).toBe('POST GET GET');
  });

  it('looks for a document by its bytes', async () => {
    const content = Buffer.from('one').toString('base64');
    const document = {
      id: 7,
      name: 'a.pdf',
      ownerPatient: { id: 5 },
      storage: { original: 'https://files.example/7' },
    };
    const file = { ...answer(200, 'one'), headers: {} };
    const script = new Script(answer(504, ''), listed(document), listed(), success(document), file);
    const ran = await post(
      '/documents',
      { name: 'a', mimeType: 'PDF', ownerPatient: { id: 5 }, file: { content } },
      script,
    );
    expect(JSON.parse(ran.stdout)).toMatchObject({ data: { id: 7 } });
    expect(sent(script)).toBe('POST GET GET GET GET');
  });

  it('sends a list again that replaces the one before', async () => {
    const script = new Script(broken(true), answer(500, ''), success([{ id: 3 }]));
    expect(await post('patients/5/billingtypes', [{ id: 3 }], script)).toMatchObject({ exitCode: 0 });
    expect(sent(script)).toBe('POST POST POST');
  });

  it.each<[string, string, unknown]>([
    ['a path that nobody knows', 'newthings', { a: 1 }],
    ['a body without what it would be looked up by', 'patients', { firstName: 'Ann' }],
    ['a body of another shape', 'documents', [1]],
  ])('is not sent again with %s', async (_name, path, body) => {
    const script = new Script(answer(502, '<html>'));
    const ran = await post(path, body, script);
    expect(ran.stdout).toBe('');
    expect(jsonFailure(ran)).toMatchObject({
      code: 'network.outcome_unknown',
      exitCode: 8,
      message: 'The server failed (HTTP 502). It may have been done.',
    });
  });
});

describe('molar api --paginate', () => {
  const ndjson = ['--paginate', '--format', 'ndjson'];
  const pages = (script: Script) =>
    script.queries.map(({ lastId, page }) => (page === undefined ? `lastId ${lastId}` : `page ${page}`));

  it.each<[string, string, Script, string[]]>([
    ['by lastId', 'patients', new Script(rows(1, 2), rows(3), rows()), ['lastId 0', 'lastId 2', 'lastId 3']],
    ['by page where the catalog says so', 'appointmenthistories', new Script(rows(1), rows()), ['page 1', 'page 2']],
    ['by lastId elsewhere', 'newthings', new Script(rows(1, 2), rows(3), rows()), ['lastId 0', 'lastId 2', 'lastId 3']],
    [
      'by page where lastId is ignored',
      'newthings',
      new Script(rows(1, 2), rows(1, 2), rows(3), rows()),
      ['lastId 0', 'lastId 2', 'page 2', 'page 3'],
    ],
    ['by page where ids fall', 'newthings', new Script(rows(9, 8), rows(7), rows()), ['lastId 0', 'page 2', 'page 3']],
  ])('goes %s', async (_name, path, script, expected) => {
    const ran = await runCommand('api', Api, [path, ...ndjson], { script });
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(pages(script)).toEqual(expected);
    expect(new Set(ran.stdout.trim().split('\n')).size).toBe(ran.stdout.trim().split('\n').length);
  });

  it.each<[string, string, Script, string]>([
    ['a server that pages in no way', 'newthings', new Script(rows(1), rows(1), rows(1)), 'does not follow'],
    ['a known list that steps back', 'patients?other=1', new Script(rows(2, 1)), 'does not follow'],
    ['one record', 'newthings/1', new Script(success({ id: 1 })), 'not a list of records'],
    ['a page that is none', 'newthings', new Script(answer(200, '<html>')), 'not an API envelope'],
  ])('fails on %s', async (_name, path, script, message) => {
    const ran = await runCommand('api', Api, [path, '--paginate', '--max-retries', '0'], { script });
    expect(ran).toMatchObject({ exitCode: 8, stdout: '', stderr: expect.stringContaining(message) });
  });

  it('takes a list without pages as it is', async () => {
    const script = new Script(rows(3, 1));
    const ran = await runCommand('api', Api, ['patients/5/billingtypes', '--paginate'], { script });
    expect(JSON.parse(ran.stdout)).toEqual([{ id: 3 }, { id: 1 }]);
  });
});
