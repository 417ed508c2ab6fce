import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openFiles } from '../../../../src/server/files/open.ts';
import { StoreUnusable } from '../../../../src/server/store/store.ts';
import type { S3Server } from '../../../support/s3.ts';

/** Why a place for files is refused. */
export async function refusalOf(target: string, data: string): Promise<{ message: string; next: string }> {
  const error = await openFiles(target, data).then(
    () => new Error('It was opened.'),
    (refused: unknown) => refused,
  );
  if (!(error instanceof StoreUnusable)) throw error;
  return { message: error.message, next: error.next };
}

const CREDENTIALS =
  'Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and that they may list, read, write and delete in documents.';

interface Refused {
  readonly what: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly bucket?: string;
  readonly message: string;
  readonly next: string;
}

const unusableAt = (endpoint: string | undefined): readonly Refused[] => [
  {
    what: 'a bucket that is not there',
    bucket: 'nosuch',
    message: `There is no bucket nosuch at ${endpoint}.`,
    next: 'Make the bucket, or check its name in --files and the endpoint in AWS_ENDPOINT_URL_S3.',
  },
  {
    what: 'a wrong secret',
    env: { AWS_SECRET_ACCESS_KEY: 'wrong' },
    message: `${endpoint} refuses the credentials for the bucket documents: SignatureDoesNotMatch.`,
    next: CREDENTIALS,
  },
  {
    what: 'no credentials',
    env: {
      AWS_ACCESS_KEY_ID: '',
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_SHARED_CREDENTIALS_FILE: '/none',
      AWS_CONFIG_FILE: '/none',
    },
    message: 'There are no credentials for the bucket documents.',
    next: 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE.',
  },
  {
    what: 'an endpoint where nobody answers',
    // No program listens on port 1.
    env: { AWS_ENDPOINT_URL_S3: 'http://user:secret@127.0.0.1:1/storage' },
    message: 'http://127.0.0.1:1 does not respond: ECONNREFUSED.',
    next: 'Check AWS_ENDPOINT_URL_S3, and that the storage is running.',
  },
  {
    what: 'an endpoint that is none',
    env: { AWS_ENDPOINT_URL_S3: '', AWS_ENDPOINT_URL: 'storage.local' },
    message: 'AWS_ENDPOINT_URL is not a server address.',
    next: 'Set AWS_ENDPOINT_URL to http://… or https://…',
  },
  {
    what: 'no region',
    env: { AWS_ENDPOINT_URL_S3: '', AWS_REGION: '', AWS_CONFIG_FILE: '/none' },
    message: 'The region of the bucket documents is not known.',
    next: 'Set AWS_REGION, or AWS_ENDPOINT_URL_S3.',
  },
  {
    what: 'certificates that cannot be read',
    env: { AWS_CA_BUNDLE: '/none/ca.pem' },
    message: 'The file that AWS_CA_BUNDLE names cannot be read: ENOENT.',
    next: 'Set AWS_CA_BUNDLE to a file of certificates in PEM.',
  },
  {
    what: 'a path style that is none',
    env: { AWS_S3_FORCE_PATH_STYLE: 'perhaps' },
    message: 'AWS_S3_FORCE_PATH_STYLE is neither true nor false.',
    next: 'Set it to true or false.',
  },
];

export function testOpenedBuckets({ bucket: own, env: { AWS_ENDPOINT_URL_S3: endpoint } }: S3Server): void {
  describe('a bucket that is opened', () => {
    let data: string;
    beforeEach(async () => {
      data = await mkdtemp(join(tmpdir(), 'molar-files-'));
    });
    afterEach(async () => {
      vi.unstubAllEnvs();
      await rm(data, { recursive: true });
    });

    it.each(unusableAt(endpoint))('is refused with $what', async ({ env = {}, bucket = own, message, next }) => {
      for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
      expect(await refusalOf(`s3://${bucket}/molar`, data)).toEqual({ message, next });
    });

    it('is found by the endpoint and the region of all services', async () => {
      vi.stubEnv('AWS_ENDPOINT_URL', endpoint);
      vi.stubEnv('AWS_DEFAULT_REGION', 'us-east-1');
      vi.stubEnv('AWS_ENDPOINT_URL_S3', '');
      vi.stubEnv('AWS_REGION', '');
      await (await openFiles(`s3://${own}`, data)).close();
    });
  });
}
