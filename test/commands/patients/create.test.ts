import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import PatientsCreate from '../../../src/commands/patients/create.ts';
import { fileFailure } from '../../../src/core/failure.ts';
import { jsonFailure, runCommand, type World } from '../../cli/runcommand.ts';
import { broken, problem, Script, success } from '../../core/transport/script.ts';

const create = (argv: readonly string[], world?: World) => runCommand('patients:create', PatientsCreate, argv, world);

const BODY = {
  firstName: 'Ann',
  lastName: 'Example',
  gender: 'F',
  dateOfBirth: '1990-04-12',
  patientStatus: 'new',
  contactMethod: 'EMAIL ME',
  languageType: 'English',
  preferredLocation: { id: 5 },
  address1: '1 Main St',
  city: 'Denver',
  state: 'CO',
  postalCode: '80202',
};
/** What goes out for it: enumerations as the specification spells them. */
const CANONICAL = { ...BODY, patientStatus: 'NEW', contactMethod: 'Email me' };
const STORED = { ...CANONICAL, id: 7000000000114 };

let folder: string;
let file: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
  file = join(folder, 'patient.json');
  await writeFile(file, `\uFEFF${JSON.stringify(BODY)}`);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const sent = (script: Script) => JSON.parse(String(script.requests[0]?.body));

describe('patients create', () => {
  it('sends what was written and prints what came of it', async () => {
    const script = new Script(success(STORED));
    const ran = await create(['--data', file], { script });
    expect(ran).toEqual({ exitCode: 0, stdout: `${JSON.stringify(STORED, null, 2)}\n`, stderr: '' });
    expect(sent(script)).toEqual(CANONICAL);
    expect(script.requests[0]).toMatchObject({
      method: 'POST',
      url: 'https://api.example.com/api/v1/patients',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'id-1' },
    });
  });

  it('takes standard input', async () => {
    const script = new Script(success(STORED));
    await create(['--data', '-'], { script, stdin: JSON.stringify(BODY) });
    expect(sent(script)).toEqual(CANONICAL);
  });

  it.each<[string, string[], Record<string, unknown>]>([
    ['flags', ['--first-name', 'Zoë', '--preferred-location', '6'], { firstName: 'Zoë', preferredLocation: { id: 6 } }],
    ['numbers', ['--income', '12.5', '--family-size', '3'], { income: 12.5, familySize: 3 }],
    ['--set', ['--set', 'firstName=A=B', '--set', 'title=null'], { firstName: 'A=B', title: null }],
    ['--set on a link', ['--set', 'preferredLocation.id=6'], { preferredLocation: { id: 6 } }],
    ['a flag over --set', ['--set', 'firstName=A', '--first-name', 'B'], { firstName: 'B' }],
    [
      'a list entry by entry',
      ['--phones', '{"phoneType":"HOME","number":"555-0100"}', '--phone', '{"phoneType":"WORK","number":"555-0101"}'],
      {
        phones: [
          { phoneType: 'HOME', number: '555-0100' },
          { phoneType: 'WORK', number: '555-0101' },
        ],
      },
    ],
    [
      'a list at once',
      ['--phones', '[{"phoneType":"HOME","number":"555-0100"}]'],
      { phones: [{ phoneType: 'HOME', number: '555-0100' }] },
    ],
    ['an empty list', ['--phones', '[]'], { phones: [] }],
    ['text with blanks around it', ['--city', ' Denver  '], { city: 'Denver' }],
    ['a numeric text', ['--set', 'familySize= 3 '], { familySize: 3 }],
    ['a language that is not listed', ['--language-type', ' Klingon '], { languageType: 'Klingon' }],
    ['a listed language in other letter case', ['--language-type', 'spanish'], { languageType: 'Spanish' }],
    ['a state that is not listed', ['--state', 'fm'], { state: 'FM' }],
    [
      'a kind of phone that is not listed',
      ['--phones', '{"phoneType":"Pager","number":"555-0100"}'],
      { phones: [{ phoneType: 'Pager', number: '555-0100' }] },
    ],
  ])('takes %s over --data', async (_name, argv, changed) => {
    const script = new Script(success(STORED));
    await create(['--data', file, ...argv], { script });
    expect(sent(script)).toEqual({ ...CANONICAL, ...changed });
  });

  it.each([
    ['--gender', 'X'],
    ['--patient-status', 'Klingon'],
    ['--state', 'Colorado'],
    ['--language-type', ' '],
  ])('refuses %s %s, which no service can take', async (flag, value) => {
    const ran = await create(['--data', file, flag, value, '--json']);
    expect(jsonFailure(ran)).toMatchObject({ exitCode: 2, code: 'field.choice' });
  });

  it('prints the request and sends nothing for --dry-run', async () => {
    const ran = await create(['--data', file, '--dry-run'], { env: { MOLAR_TOKEN: '' } });
    expect(JSON.parse(ran.stdout)).toEqual({
      method: 'POST',
      url: 'https://api.example.com/api/v1/patients',
      headers: {
        Accept: 'application/json',
        Authorization: 'Bearer (removed)',
        'Organization-ID': 'org-1',
        'Content-Type': 'application/json',
        'Idempotency-Key': '(made for each run)',
      },
      body: CANONICAL,
    });
  });

  it('reports everything that is wrong before anything is sent', async () => {
    const ran = await create(['--first-name', '', '--gender', 'X', '--date-of-birth', '2026-02-30', '--json']);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    const { errors } = jsonFailure(ran) as { errors: { source: string; description: string }[] };
    const sources = errors.map(({ source }) => source);
    expect(sources).toEqual(expect.arrayContaining(['firstName', 'gender', 'dateOfBirth', 'lastName', 'postalCode']));
    expect(errors.find(({ source }) => source === 'postalCode')?.description).toBe(
      'postalCode is required: give --postal-code.',
    );
  });

  it.each<[string, string[], string, string]>([
    ['JSON in the place of a file', ['--data', '{"ssn":"hunter2"}'], 'usage.invalid', 'takes a file name'],
    ['a file that is not there', ['--data', '/nonexistent/x'], 'local.file', 'no such file'],
    ['JSON that is none', ['--data', '-'], 'body.not_json', '--data is not valid JSON.'],
    ['--set without a value', ['--set', 'hunter2'], 'usage.invalid', 'FIELD=VALUE'],
    ['--set of an unknown field', ['--set', 'firstNam=x'], 'body.unknown_property', 'Did you mean firstName?'],
    ['--set of an unknown part', ['--set', 'preferredLocation.x=1'], 'body.unknown_property', 'is not a field'],
  ])('refuses %s', async (_name, argv, code, message) => {
    const ran = await create([...argv, '--json'], { stdin: '{"ssn": hunter2' });
    expect(jsonFailure(ran)).toMatchObject({ code, message: expect.stringContaining(message) });
    expect(ran.stderr).not.toContain('hunter2');
  });

  it('names an unknown field of the data', async () => {
    const ran = await create(['--data', '-', '--json'], { stdin: JSON.stringify({ ...BODY, lastNam: 'x' }) });
    expect(jsonFailure(ran)).toMatchObject({ exitCode: 2, message: expect.stringContaining('Did you mean lastName?') });
  });

  it('shows the refusals of the server', async () => {
    const script = new Script(
      problem(400, 'field.conflict', 'discountPlan', 'discountType BASIC requires discountPlan.'),
    );
    const ran = await create(['--data', file], { script });
    expect(ran).toMatchObject({ exitCode: 5, stdout: '' });
    expect(ran.stderr).toContain('discountPlan');
    expect(ran.stderr).toContain('Request: req-1');
  });

  const listed = (...rows: object[]) => success(rows, {}, { date: 'Mon, 02 Mar 2026 12:00:00 GMT' });

  it('looks for the patient when the answer was lost, and finds it', async () => {
    const made = { ...STORED, lastModified: '2026-03-02T12:00:00Z' };
    const script = new Script(broken(true), listed(made), listed());
    const ran = await create(['--data', file, '--fields', 'id', '--format', 'ndjson'], { script });
    expect(ran).toMatchObject({ exitCode: 0, stdout: '{"id":7000000000114}\n' });
    expect(script.requests.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET']);
    expect(script.queries[1]).toEqual({
      filter: 'dateOfBirth==1990-04-12,preferredLocation.id==5',
      responseFields: 'ALL',
      lastId: '0',
    });
  });

  it('sends it again with the same key when it is not there', async () => {
    const script = new Script(broken(true), listed(), listed(), success(STORED), listed(STORED), listed());
    expect(await create(['--data', file], { script })).toMatchObject({ exitCode: 0, stderr: '' });
    const posts = script.requests.filter(({ method }) => method === 'POST');
    expect(posts.map(({ headers }) => headers['idempotency-key'])).toEqual(['id-1', 'id-1']);
  });

  it('warns when the first attempt was done late, so that there are two', async () => {
    const made = { ...STORED, lastModified: '2026-03-02T12:00:00Z' };
    const late = { ...made, id: 7000000000115 };
    const script = () => new Script(broken(true), listed(), listed(), success(STORED), listed(made, late), listed());
    const ran = await create(['--data', file, '--fields', 'id', '--format', 'ndjson'], { script: script() });
    expect(ran).toEqual({
      exitCode: 0,
      stdout: '{"id":7000000000114}\n',
      stderr:
        'Warning: Perhaps created more than once: Patients 7000000000114, 7000000000115 may all be what was sent: ' +
        'an attempt without a response may have been done late. Compare them: molar patients get 7000000000114.\n',
    });
    expect((await create(['--data', file, '--quiet'], { script: script() })).stderr).toBe('');
  });

  it('names the patient that may be it when nothing tells, and sends nothing again', async () => {
    const script = new Script(problem(500, 'server.unexpected', null, 'Failed.'), listed(STORED), listed());
    const ran = await create(['--data', file, '--json'], { script });
    expect(jsonFailure(ran)).toMatchObject({
      code: 'network.outcome_unknown',
      exitCode: 8,
      message: expect.stringContaining('Patient 7000000000114 may be it'),
      hint: expect.stringContaining('molar patients get 7000000000114'),
    });
  });

  it('says that it was done when only the output fails', async () => {
    const write = () => Promise.reject(fileFailure('write the output', new Error('no space')));
    const ran = await create(['--data', file], { script: new Script(success(STORED)), write });
    expect(ran).toMatchObject({
      exitCode: 9,
      stderr: expect.stringContaining('The patient was created: id 7000000000114.'),
    });
  });
});
