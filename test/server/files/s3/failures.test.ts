import { expect, it } from 'vitest';
import { isMissing } from '../../../../src/server/files/s3/failures.ts';

const failed = (name: string, httpStatusCode: number) =>
  Object.assign(new Error(name), { name, $metadata: { httpStatusCode } });

it.each([
  ['NoSuchKey', 404, true],
  // HEAD, whose answer has no body.
  ['NotFound', 404, true],
  ['NoSuchBucket', 404, false],
  ['NotFound', 502, false],
  ['AccessDenied', 403, false],
])('%s with status %i: an object is missing: %s', (name, status, missing) => {
  expect(isMissing(failed(name, status))).toBe(missing);
});
