import { describe, expect, it } from 'vitest';
import { Refusal, refusal } from '../../../src/catalog/failures.ts';
import { failureJson, failureOf, failureStack, failureText } from '../../../src/cli/errors/report.ts';
import { Failure, fileFailure, localFailure, usageFailure } from '../../../src/core/failure.ts';
import { ApiFailure } from '../../../src/core/transport/apifailure.ts';

describe('failureText', () => {
  it.each<[string, Failure, string[]]>([
    ['a usage error', usageFailure('--limit is wrong.', { source: '--limit' }), ['Error: --limit is wrong.']],
    [
      'one problem of the server',
      new ApiFailure(400, [{ code: 'field.missing', description: 'It is required.', source: 'firstName' }], 'req-1'),
      ['Error: The server refused the request (HTTP 400): It is required.', '  at firstName', 'Request: req-1'],
    ],
    [
      'several problems',
      new ApiFailure(
        400,
        [
          { code: 'field.missing', description: 'It is required.', source: 'firstName' },
          { code: 'body.shape', description: 'It is odd.', source: null },
        ],
        'req-1',
      ),
      [
        'Error: The server refused the request (HTTP 400): 2 problems.',
        '  firstName: It is required.',
        '  It is odd.',
        'Request: req-1',
      ],
    ],
    [
      'problems that name their source',
      new ApiFailure(
        400,
        [
          { code: 'field.missing', description: 'firstName is required.', source: 'firstName' },
          { code: 'body.shape', description: 'It is odd.', source: 'x' },
        ],
        null,
      ),
      ['Error: The server refused the request (HTTP 400): 2 problems.', '  firstName is required.', '  x: It is odd.'],
    ],
    ['no problem at all', new ApiFailure(502, [], 'req-1'), ['Error: The server failed (HTTP 502).', 'Request: req-1']],
    [
      'control characters',
      new ApiFailure(400, [{ code: 'x', description: 'a\u001b[2Jb\nc', source: 'd\u0007' }], 'e\u001b'),
      ['Error: The server refused the request (HTTP 400): a\ufffd[2Jb c', '  at d\ufffd', 'Request: e\ufffd'],
    ],
  ])('tells %s', (_name, failure, lines) => {
    const text = failureText(failure);
    expect(text.split('\n').filter((line) => line !== '' && !line.startsWith('Next: '))).toEqual(lines);
  });

  it('names so many things at most that the cause stays in sight', () => {
    const items = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ code: 'x', title: 'X', description: 'Is odd.', source: `f${at}` }));
    const told = (count: number) =>
      failureText(new Failure('Odd.', { code: 'run.partial', exitCode: 6, items: items(count), hint: 'Next.' }));
    expect(told(100).split('\n')).toHaveLength(103);
    expect(told(4000).split('\n').slice(99)).toEqual([
      '  f98: Is odd.',
      '  f99: Is odd.',
      '  … and 3900 more; --json lists all.',
      'Next: Next.',
      '',
    ]);
    expect(told(4000).split('\n')[1]).toBe('  f0: Is odd.');
  });

  it('marks the words at the front where it is given a look', () => {
    const failure = new ApiFailure(502, [{ code: 'x', description: 'Down.', source: null }], 'req-1');
    const text = failureText(failure, (look, words) => `<${look}>${words}</${look}>`);
    expect(text.split('\n').map((line) => line.replace(/(<\/\w+>) .*/, '$1 …'))).toEqual([
      '<bad>Error:</bad> …',
      '<faint>Request: req-1</faint>',
      '<mark>Next:</mark> …',
      '',
    ]);
  });

  it('ends with a next step', () => {
    expect(failureText(usageFailure('x', { hint: 'Do y.' }))).toBe('Error: x\nNext: Do y.\n');
    expect(failureText(new Failure('x', { code: 'c', exitCode: 1 }))).toBe('Error: x\n');
  });
});

describe('failureJson', () => {
  it('is the object of the contract on one line', () => {
    const failure = new ApiFailure(404, [{ code: 'record.not_found', description: 'Gone.', source: 'id' }], 'req-1');
    expect(failureJson(failure)).toBe(
      `${JSON.stringify({
        error: {
          code: 'record.not_found',
          message: 'Not found (HTTP 404): Gone.',
          exitCode: 4,
          status: 404,
          requestId: 'req-1',
          errors: [{ code: 'record.not_found', description: 'Gone.', source: 'id' }],
          hint: 'Check the id and the organization.',
        },
      })}\n`,
    );
  });
});

describe('failureJson with notes', () => {
  it('holds them beside what is always there', () => {
    const failure = usageFailure('x', { hint: 'Do y.' });
    const { error: without } = JSON.parse(failureJson(failure, []));
    expect(JSON.parse(failureJson(failure, ['Warning: z']))).toEqual({ error: { ...without, notes: ['Warning: z'] } });
    expect(without).not.toHaveProperty('notes');
  });
});

describe('failureOf', () => {
  it.each<[string, unknown, Partial<Failure>]>([
    [
      'a refusal by the catalog',
      refusal('filter.key', 'x', 'x is no key.'),
      { exitCode: 2, code: 'filter.key', message: 'x is no key.' },
    ],
    [
      'several',
      new Refusal([
        { code: 'filter.key', source: 'x', description: 'a' },
        { code: 'filter.key', source: 'y', description: 'b' },
      ]),
      { exitCode: 2, message: '2 values are not right.' },
    ],
    [
      'several that are missing',
      new Refusal([
        { code: 'filter.missing', source: 'x', description: 'a' },
        { code: 'field.missing', source: 'y', description: 'b' },
      ]),
      { exitCode: 2, message: '2 values are missing.' },
    ],
    [
      'an error of the system',
      Object.assign(new Error('x'), { code: 'ENOSPC', syscall: 'write' }),
      { exitCode: 9, code: 'local.file' },
    ],
    [
      'a defect',
      new TypeError('x is undefined'),
      { exitCode: 1, code: 'run.unexpected', message: 'TypeError: x is undefined' },
    ],
    ['anything', 'x', { exitCode: 1, code: 'run.unexpected' }],
  ])('takes %s', (_name, error, expected) => {
    const { exitCode, code, message } = failureOf(error);
    expect({ exitCode, code, message }).toMatchObject(expected);
  });

  it('keeps a failure', () => {
    const failure = localFailure('run.partial', 'x');
    expect(failureOf(failure)).toBe(failure);
  });
});

describe('failureStack', () => {
  it('has the stack of every cause', () => {
    const stack = failureStack(fileFailure('x', new TypeError('inner')));
    expect(stack).toContain('Cannot x');
    expect(stack).toContain('TypeError: inner');
  });
});
