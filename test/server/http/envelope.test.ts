import { expect, test } from 'vitest';
import { refusal } from '../../../src/catalog/failures.ts';
import { failureOf } from '../../../src/server/http/envelope.ts';

const coded = (code: string, message = 'secret detail') => Object.assign(new Error(message), { code });

test.each<[string, unknown, number, string, boolean]>([
  ['a refusal', refusal('field.missing', 'name', 'name is required.'), 400, 'field.missing', false],
  ['a body over the limit', coded('FST_ERR_CTP_BODY_TOO_LARGE'), 413, 'body.too_large', false],
  ['another media type', coded('FST_ERR_CTP_INVALID_MEDIA_TYPE'), 415, 'body.media_type', false],
  ['work that takes too long', coded('WORK_TIMEOUT'), 408, 'request.timeout', false],
  ['a database held by another process', coded('SQLITE_BUSY'), 408, 'request.timeout', false],
  ['a full disk under SQLite', coded('SQLITE_FULL'), 503, 'server.unavailable', true],
  ['a disk that gives and takes nothing', coded('SQLITE_IOERR_WRITE'), 503, 'server.unavailable', true],
  ['a full disk under PostgreSQL', coded('STORE_FULL'), 503, 'server.unavailable', true],
  ['a full disk under files', coded('ENOSPC'), 503, 'server.unavailable', true],
  ['a damaged database', coded('SQLITE_CORRUPT'), 500, 'server.unexpected', true],
  ['anything else', new TypeError('secret detail'), 500, 'server.unexpected', true],
  ['what is no error at all', 'secret detail', 500, 'server.unexpected', true],
])(
  '%s is answered from the failure table and tells nothing of the server',
  (_name, error, status, code, unexpected) => {
    const failed = failureOf(error);
    expect({ status: failed.status, code: failed.problems[0]?.code, unexpected: failed.unexpected }).toEqual({
      status,
      code,
      unexpected,
    });
    expect(JSON.stringify(failed.problems)).not.toContain('secret detail');
  },
);
