import { describe, expect, it } from 'vitest';
import { Refusal } from '../../../src/catalog/failures.ts';
import { type TypedLine, withNextStep } from '../../../src/cli/errors/nextstep.ts';
import { failureOf } from '../../../src/cli/errors/report.ts';
import { type Failure, localFailure, usageFailure } from '../../../src/core/failure.ts';
import { ApiFailure } from '../../../src/core/transport/apifailure.ts';
import type { Shell } from '../../../src/shells/shell.ts';

const LINE: TypedLine = {
  name: 'things list',
  flags: {},
  shell: 'sh',
  examples: [
    'molar things list',
    "molar things list --filter 'a==1'",
    'molar things list --location 5 --from 2026-01-01',
  ],
};

const refused = (...problems: Refusal['problems']): Failure => failureOf(new Refusal(problems));
const missing = (flag: string) =>
  ({ code: 'filter.missing', source: flag, description: `${flag} is required.` }) as const;
const choice = (source: string) =>
  ({ code: 'filter.value', source, description: `${source} must be one of ACTIVE, NEW.` }) as const;

describe('a filter without quotes', () => {
  const hintOf = (filter: string, name: string | undefined, shell: Shell = 'sh', isInput = false) => {
    const failure = refused({ code: 'filter.syntax', source: 'id', description: 'It ends.' });
    const emptyRedirection = () => (name === undefined ? undefined : { name, isInput });
    return withNextStep(failure, { ...LINE, shell, flags: { filter: [filter] }, emptyRedirection }).hint;
  };

  it.each<[filter: string, file: string, shell: Shell, typed: string]>([
    ['id', '5', 'sh', '--filter id.gt=5'],
    ['lastModified', '=2026-01-01', 'sh', '--filter lastModified.gte=2026-01-01'],
    ['lastModified', '=2026-01-01', 'powershell', '--filter lastModified.gte=2026-01-01'],
    ['start', '=2026-01-01T12:00Z', 'pwsh', '--filter start.gte=2026-01-01T12:00Z'],
    [
      'lastModified',
      '2026-01-01',
      'cmd',
      '--filter lastModified.gte=2026-01-01 for >=, or --filter lastModified.gt=2026-01-01 for >',
    ],
    ['patient.id-', '[5,6]', 'sh', '--filter patient.id.in=5,6'],
    ['patient.id-', '[5,6]', 'pwsh', "--filter 'patient.id.in=5,6'"],
    ['patients:lastModified', '=2026-01-01', 'pwsh', '--filter patients:lastModified.gte=2026-01-01'],
    ['tags-', '[X-Ray,Old chart]', 'cmd', '--filter "tags.in=X-Ray,Old chart"'],
  ])('%s, whose > made the shell empty the file %s, is recognised in %s', (filter, file, shell, typed) => {
    expect(hintOf(filter, file, shell)).toBe(
      `The shell took > for itself and made the file "${file}", which is empty and can be deleted. Type ${typed}.`,
    );
  });

  it('is recognised by standard input, too', () => {
    expect(hintOf('lastName', '=Sm', 'sh', true)).toContain('took <> for itself and made the file "=Sm"');
    expect(hintOf('lastName', '=Sm', 'sh', true)).toMatch(/Type --filter lastName\.contains=Sm\.$/);
    expect(hintOf('lastName', '5', 'sh', true)).toMatch(/^Write terms/);
  });

  it.each([
    ['id', undefined],
    ['id', 'patients.csv'],
    ['id', '2026-01.csv'],
    ['id>', '5'],
  ])('is not what %s with the output file %s is', (filter, file) => {
    expect(hintOf(filter, file)).toMatch(/^Write terms/);
  });
});

describe('withNextStep', () => {
  it.each<[string, Failure, Partial<TypedLine>, string | null]>([
    [
      'a flag that is missing',
      refused(missing('--from')),
      {},
      'Give --from. Example: molar things list --location 5 --from 2026-01-01',
    ],
    [
      'two',
      refused(missing('--from'), missing('--location')),
      {},
      'Give --from and --location. Example: molar things list --location 5 --from 2026-01-01',
    ],
    [
      'as many as are worth repeating',
      refused(...['--a', '--b', '--c', '--from'].map(missing)),
      {},
      'Give --a, --b, --c and --from. Example: molar things list --location 5 --from 2026-01-01',
    ],
    ['one that no example shows', refused(missing('--to')), {}, 'Give --to.'],
    [
      'a field that is missing',
      refused({ code: 'field.missing', source: 'firstName', description: 'firstName is required: give --first-name.' }),
      {},
      'Give --first-name.',
    ],
    [
      'more than are worth repeating',
      refused(...['--a', '--b', '--c', '--d', '--from'].map(missing)),
      {},
      'Give what is named above. Example: molar things list --location 5 --from 2026-01-01',
    ],
    ['a missing argument', usageFailure('ID is missing.', { source: 'ID' }), {}, 'Give ID. Example: molar things list'],
    [
      'a value that is nearly right',
      refused(choice('--status')),
      { flags: { status: 'ACTVE' } },
      'Did you mean ACTIVE? See molar things list --help.',
    ],
    [
      'one of several',
      refused(choice('--status')),
      { flags: { status: ['NEW,actve'] } },
      'Did you mean ACTIVE? See molar things list --help.',
    ],
    [
      'of a field',
      refused(choice('patientStatus')),
      { flags: { 'patient-status': 'NEWW' } },
      'Did you mean NEW? See molar things list --help.',
    ],
    [
      'in a filter',
      refused(choice('state')),
      { flags: { filter: ['a==1', 'state==NWE'] } },
      'Did you mean NEW? See molar things list --help.',
    ],
    [
      'in a filter that cannot be read',
      refused(choice('state')),
      { flags: { filter: ['state=='] } },
      'Write the value as described here.',
    ],
    [
      'a value that is like none',
      refused(choice('--status')),
      { flags: { status: 'hunter2' } },
      'Write the value as described here.',
    ],
    [
      'a name that is nearly right',
      refused({ code: 'filter.key', source: 'nam', description: 'nam is no key. Keys: a, name. Did you mean name?' }),
      {},
      'Use name. See molar things list --help.',
    ],
    [
      'two',
      refused(
        { code: 'query.fields', source: '--fields', description: 'x is no field. Did you mean xy?' },
        { code: 'query.fields', source: '--fields', description: 'y is no field. Did you mean yz.id?' },
      ),
      {},
      'Use xy and yz.id. See molar things list --help.',
    ],
    [
      'a filter that cannot be read',
      refused({ code: 'filter.syntax', source: 'a', description: 'It ends.' }),
      {},
      "Write terms as key, operator, value, and repeat --filter for several. See molar things list --help. Example: molar things list --filter 'a==1'",
    ],
    [
      'an argument too many',
      usageFailure('There is an argument that molar things list does not take.', { hint: 'See it.' }),
      {},
      'See molar things list --help. Example: molar things list',
    ],
    [
      'a profile that is nearly right',
      localFailure('usage.connection', 'There is no profile hom. There are: work.one, home.', { hint: 'Make it.' }),
      {},
      'Did you mean home? Make it.',
    ],
    [
      'a profile that is like none',
      localFailure('usage.connection', 'There is no profile hom. There are: work.', { hint: 'Make it.' }),
      {},
      'Make it.',
    ],
    ['anything else', usageFailure('--limit is wrong.', { source: '--limit' }), {}, 'See molar things list --help.'],
    ['a step of its own', usageFailure('x', { hint: 'Do y.' }), {}, 'Do y.'],
    ['another kind', localFailure('local.file', 'x', { hint: 'Do y.' }), {}, 'Do y.'],
    [
      'a failure of the server',
      new ApiFailure(400, [missing('x')], null),
      {},
      new ApiFailure(400, [missing('x')], null).hint,
    ],
  ])('for %s', (_name, failure, line, hint) => {
    const better = withNextStep(failure, { ...LINE, ...line });
    expect(better.hint).toBe(hint);
    expect(better).toMatchObject({ code: failure.code, exitCode: failure.exitCode, message: failure.message });
    expect(JSON.stringify(better)).not.toContain('hunter2');
  });
});
