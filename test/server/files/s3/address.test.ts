import { describe, expect, it } from 'vitest';
import { readAddress } from '../../../../src/server/files/s3/client.ts';
import { StoreUnusable } from '../../../../src/server/store/store.ts';

describe('an address of files', () => {
  it.each([
    ['s3://practice', 'practice', ''],
    ['s3://practice/', 'practice', ''],
    ['s3://practice/molar', 'practice', 'molar/'],
    ['s3://practice/molar/', 'practice', 'molar/'],
    ['s3://old_Bucket.2/a/b-c/d.e', 'old_Bucket.2', 'a/b-c/d.e/'],
  ])('%s is read', (text, bucket, prefix) => {
    expect(readAddress(text)).toEqual({ bucket, prefix });
  });

  it.each([
    ['no bucket', 's3://', /^s3:\/\/ is not a valid file location: a bucket has/],
    ['no bucket before a prefix', 's3:///molar', /a bucket has/],
    ['one slash', 's3:/practice', /a bucket has/],
    ['capitals in the scheme', 'S3://practice', /a bucket has/],
    ['a bucket of two letters', 's3://ab', /a bucket has/],
    ['a port', 's3://practice:9000/molar', /a bucket has/],
    ['an empty segment', 's3://practice/a//b', /a prefix has letters/],
    ['a way up', 's3://practice/../b', /a prefix has letters/],
    ['a query', 's3://practice/a?region=x', /a prefix has letters/],
    ['a space', 's3://practice/a b', /a prefix has letters/],
    ['a prefix of 901 characters', `s3://practice/${'a'.repeat(901)}`, /at most 900 characters/],
  ])('with %s is refused', (_what, text, message) => {
    expect(() => readAddress(text)).toThrow(StoreUnusable);
    expect(() => readAddress(text)).toThrow(message);
  });

  it('with credentials is refused without showing them', () => {
    expect(() => readAddress('s3://key:secret@practice/molar')).toThrow(
      /^s3:\/\/… is not a valid file location: a bucket has 3 or more letters, digits, dots, hyphens and underscores\.$/,
    );
  });
});
