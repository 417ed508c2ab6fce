import { describe, expect, it } from 'vitest';
import {
  EXIT,
  exitCodeOf,
  FAILURES,
  type FailureCode,
  Refusal,
  refusal,
  wireError,
} from '../../src/catalog/failures.ts';

const codes = Object.keys(FAILURES) as FailureCode[];

describe('the failure table (D5)', () => {
  it.each(codes)('%s is a dotted lower-case code with a status, a title and a next step', (code) => {
    const { status, title, next } = FAILURES[code];
    expect(code).toMatch(/^[a-z]+(\.[a-z]+(_[a-z]+)*)+$/);
    // The statuses of the specification, and those of D5 and of a server that is not ready.
    expect([400, 401, 403, 404, 405, 408, 409, 413, 415, 429, 500, 503]).toContain(status);
    expect(title).toMatch(/^(?:[A-Z]|lastId).*[^.]$/);
    expect(next).toMatch(/^[A-Z]/);
    expect(Object.keys(FAILURES[code]).sort()).toEqual(['next', 'status', 'title']);
  });

  // What every resource needs, from the specification (Errors) and D2, D5.
  it.each([
    ['auth.token_missing', 401],
    ['auth.token_malformed', 401],
    ['auth.token_unknown', 401],
    ['auth.token_expired', 401],
    ['auth.origin', 403],
    ['auth.organization_forbidden', 403],
    ['auth.scope_missing', 403],
    ['request.organization_missing', 400],
    ['request.timeout', 408],
    ['route.unknown', 404],
    ['route.method', 405],
    ['record.not_found', 404],
    ['body.too_large', 413],
    ['body.media_type', 415],
    ['body.not_json', 400],
    ['filter.key', 400],
    ['filter.operator', 400],
    ['query.page_size', 400],
    ['file.signature', 403],
    ['server.unexpected', 500],
    ['server.unavailable', 503],
    ['server.images', 503],
  ] as const)('%s is %i', (code, status) => {
    expect(FAILURES[code].status).toBe(status);
  });

  it('has one title a code', () => {
    const titles = codes.map((code) => FAILURES[code].title);
    expect(titles.filter((title, at) => titles.indexOf(title) !== at)).toEqual([]);
  });
});

describe('exit codes (contract §4)', () => {
  it.each([
    [400, 5],
    [401, 3],
    [403, 3],
    [404, 4],
    [405, 5],
    [408, 7],
    [409, 5],
    [413, 5],
    [415, 5],
    [429, 7],
    [500, 8],
    [502, 8],
    [503, 8],
    [504, 8],
    [204, 8],
    [302, 8],
  ])('status %i exits %i', (status, exit) => {
    expect(exitCodeOf(status)).toBe(exit);
  });

  it('are those of the contract', () => {
    expect(EXIT).toEqual({
      done: 0,
      unexpected: 1,
      usage: 2,
      auth: 3,
      notFound: 4,
      refused: 5,
      partial: 6,
      throttled: 7,
      network: 8,
      file: 9,
      hungUp: 129,
      interrupted: 130,
      terminated: 143,
    });
  });
});

describe('refusals', () => {
  it('carry their problems, their status and a message', () => {
    const both = new Refusal([
      { code: 'record.not_found', source: null, description: 'No such patient.' },
      { code: 'field.type', source: 'a', description: 'a is wrong.' },
    ]);
    expect(both.status).toBe(404);
    expect(both.message).toBe('No such patient. a is wrong.');
    expect(refusal('body.too_large', 'file.content', 'Too large.').problems).toEqual([
      { code: 'body.too_large', source: 'file.content', description: 'Too large.' },
    ]);
    expect(new Refusal([]).status).toBe(500);
  });

  it('stand on the wire as code, title, description and source (D5)', () => {
    expect(wireError({ code: 'field.missing', source: 'lastName', description: 'lastName is required.' })).toEqual({
      code: 'field.missing',
      title: 'Required value missing',
      description: 'lastName is required.',
      source: 'lastName',
    });
  });
});
