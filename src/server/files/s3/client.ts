import { readFile } from 'node:fs/promises';
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { decodePem, NotText } from '../../../text/decode.ts';
import { StoreUnusable } from '../../store/store.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Milliseconds for one of three attempts, until its response begins: a request to this server must not wait a minute. */
const REQUEST_MS = 10_000;

/** The same where a body has to be sent: a part of 8 MiB takes that at 2.2 Mbit/s. */
export const BODY_MS = 30_000;

/** Milliseconds without a byte on a connection: also how long a downloading client may pause. */
const IDLE_MS = 120_000;

/** Maximum connections: a download holds one for as long as the slowest reader takes. */
const MAX_CONNECTIONS = 512;

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

/** The endpoint that is set for S3 alone or for every service; undefined for Amazon's own. */
export function endpointOf(env: Environment): string | undefined {
  return env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || undefined;
}

/**
 * A client by the usual AWS environment variables: `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, `AWS_REGION`,
 * `AWS_DEFAULT_REGION`, `AWS_CA_BUNDLE` and `AWS_S3_FORCE_PATH_STYLE` are read here; credentials (`AWS_ACCESS_KEY_ID`
 * and so on, profiles, roles) and `AWS_MAX_ATTEMPTS`, 3 when not set, by the SDK. Throws `StoreUnusable`.
 */
export async function openClient(env: Environment, requestMs = REQUEST_MS): Promise<S3Client> {
  const endpoint = endpointOf(env);
  if (endpoint !== undefined && !(URL.canParse(endpoint) && /^https?:$/.test(new URL(endpoint).protocol))) {
    const name = env.AWS_ENDPOINT_URL_S3 ? 'AWS_ENDPOINT_URL_S3' : 'AWS_ENDPOINT_URL';
    throw new StoreUnusable(`${name} is not a server address.`, `Set ${name} to http://… or https://…`);
  }
  // Self-hosted storages have no regions, but a signature names one.
  const region = env.AWS_REGION || env.AWS_DEFAULT_REGION || (endpoint && 'us-east-1');
  const ca = await certificatesOf(env);
  // Otherwise the SDK bypasses the log to say that its next releases need a newer Node; this one is pinned.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  const config: S3ClientConfig = {
    ...(endpoint && { endpoint }),
    ...(region && { region }),
    forcePathStyle: pathStyleOf(env, endpoint),
    // The SHA-256 of every body is in the signature, which every storage checks; the SDK's further checksums fail on many.
    ...(env.AWS_REQUEST_CHECKSUM_CALCULATION ? {} : { requestChecksumCalculation: 'WHEN_REQUIRED' }),
    ...(env.AWS_RESPONSE_CHECKSUM_VALIDATION ? {} : { responseChecksumValidation: 'WHEN_REQUIRED' }),
    // It would open a new connection, without our certificates, for every body of more than 2 MB.
    expectContinueHeader: false,
    requestHandler: {
      connectionTimeout: requestMs / 2,
      requestTimeout: requestMs,
      throwOnRequestTimeout: true,
      socketTimeout: IDLE_MS,
      httpAgent: { keepAlive: true, maxSockets: MAX_CONNECTIONS },
      httpsAgent: { keepAlive: true, maxSockets: MAX_CONNECTIONS, ...(ca && { ca }) },
      logger: QUIET,
    },
  };
  return new S3Client(config);
}

/** Path style for a custom endpoint, where bucket names are seldom host names, unless AWS_S3_FORCE_PATH_STYLE says otherwise. */
function pathStyleOf(env: Environment, endpoint: string | undefined): boolean {
  const setting = env.AWS_S3_FORCE_PATH_STYLE?.toLowerCase();
  if (!setting) return endpoint !== undefined;
  if (['true', '1'].includes(setting)) return true;
  if (['false', '0'].includes(setting)) return false;
  throw new StoreUnusable('AWS_S3_FORCE_PATH_STYLE is neither true nor false.', 'Set it to true or false.');
}

async function certificatesOf(env: Environment): Promise<string | undefined> {
  if (!env.AWS_CA_BUNDLE) return undefined;
  try {
    return decodePem(await readFile(env.AWS_CA_BUNDLE));
  } catch (cause) {
    const reason = cause instanceof NotText ? cause.message : ((cause as NodeJS.ErrnoException).code ?? 'unreadable');
    const next = 'Set AWS_CA_BUNDLE to a file of certificates in PEM.';
    throw new StoreUnusable(`The file that AWS_CA_BUNDLE names cannot be read: ${reason}.`, next, cause);
  }
}

/** Where files are in an object storage: `s3://bucket/prefix` (contract §6). */
export interface BucketAddress {
  readonly bucket: string;
  /** Empty, or ending with a slash. */
  readonly prefix: string;
}

/** Maximum characters of a prefix: keys have at most 1,024 bytes, of which a file's own part takes fewer than 100. */
const MAX_PREFIX = 900;

/** Reads `s3://bucket/prefix`; the prefix may be left out. Throws `StoreUnusable`. */
export function readAddress(text: string): BucketAddress {
  const [, bucket = '', rest = ''] = /^s3:\/\/([^/]*)(?:\/(.*))?$/.exec(text) ?? [];
  const prefix = rest.replace(/\/$/, '');
  const segments = prefix === '' ? [] : prefix.split('/');
  // S3's rule since 2018; older and other storages also allow capitals and underscores.
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{2,254}$/.test(bucket)) {
    throw unreadable(text, 'a bucket has 3 or more letters, digits, dots, hyphens and underscores');
  }
  if (segments.some((segment) => !/^[A-Za-z0-9!_.*'()-]+$/.test(segment) || /^\.\.?$/.test(segment))) {
    throw unreadable(text, "a prefix has letters, digits and !_.*'()- between single slashes");
  }
  if (prefix.length > MAX_PREFIX) throw unreadable(text, `a prefix has at most ${MAX_PREFIX} characters`);
  return { bucket, prefix: segments.map((segment) => `${segment}/`).join('') };
}

function unreadable(text: string, rule: string): StoreUnusable {
  // It may contain credentials.
  const shown = text.includes('@') ? 's3://…' : text;
  return new StoreUnusable(`${shown} is not a valid file location: ${rule}.`, 'Write --files s3://bucket/prefix.');
}
