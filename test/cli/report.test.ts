import { describe, expect, it } from 'vitest';
import { Refusal, refusal } from '../../src/catalog/failures.ts';
import { failureJson, failureOf, failureStack, failureText } from '../../src/cli/report.ts';
import { Failure, fileFailure, localFailure, usageFailure } from '../../src/core/failure.ts';
import { ApiFailure } from '../../src/core/transport/apifailure.ts';

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
