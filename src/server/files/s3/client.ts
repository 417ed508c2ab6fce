import { readFile } from 'node:fs/promises';
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { StoreUnusable } from '../../store/store.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** For one of three attempts at a request, until its answer begins: a request to this server that waits must not take a minute. */
const REQUEST_MS = 10_000;

/** The same where a body has to be sent: a part of 8 MiB takes that at 2.2 Mbit/s. */
export const BODY_MS = 30_000;

/** Without a byte on a connection: also how long somebody who downloads may pause. */
const IDLE_MS = 120_000;

/** Downloads hold a connection for as long as the slowest reader takes. */
const CONNECTIONS = 512;

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
    throw new StoreUnusable(`${name} is no address of a server.`, `Set ${name} to http://… or https://…`);
  }
  // Storages of one's own have no regions, but a signature names one.
  const region = env.AWS_REGION || env.AWS_DEFAULT_REGION || (endpoint && 'us-east-1');
  const ca = await certificatesOf(env);
  // Else it writes past the log that the next releases need a newer Node.js; this one is pinned.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  const config: S3ClientConfig = {
    ...(endpoint && { endpoint }),
    ...(region && { region }),
    forcePathStyle: pathStyleOf(env, endpoint),
    // The SHA-256 of every body is in the signature, which every storage checks; the SDK's further checksums fail on many.
    ...(env.AWS_REQUEST_CHECKSUM_CALCULATION ? {} : { requestChecksumCalculation: 'WHEN_REQUIRED' }),
    ...(env.AWS_RESPONSE_CHECKSUM_VALIDATION ? {} : { responseChecksumValidation: 'WHEN_REQUIRED' }),
    // It would take a new connection, without our certificates, for every body of more than 2 MB.
    expectContinueHeader: false,
    requestHandler: {
      connectionTimeout: requestMs / 2,
      requestTimeout: requestMs,
      throwOnRequestTimeout: true,
      socketTimeout: IDLE_MS,
      httpAgent: { keepAlive: true, maxSockets: CONNECTIONS },
      httpsAgent: { keepAlive: true, maxSockets: CONNECTIONS, ...(ca && { ca }) },
      logger: QUIET,
    },
  };
  return new S3Client(config);
}

/** Paths for an endpoint of one's own, where names of buckets are seldom host names; AWS_S3_FORCE_PATH_STYLE decides otherwise. */
function pathStyleOf(env: Environment, endpoint: string | undefined): boolean {
  const said = env.AWS_S3_FORCE_PATH_STYLE?.toLowerCase();
  if (said === undefined || said === '') return endpoint !== undefined;
  if (['true', '1'].includes(said)) return true;
  if (['false', '0'].includes(said)) return false;
  throw new StoreUnusable('AWS_S3_FORCE_PATH_STYLE is neither true nor false.', 'Set it to true or false.');
}

async function certificatesOf(env: Environment): Promise<Buffer | undefined> {
  if (!env.AWS_CA_BUNDLE) return undefined;
  try {
    return await readFile(env.AWS_CA_BUNDLE);
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? 'unreadable';
    const next = 'Set AWS_CA_BUNDLE to a file of certificates in PEM.';
    throw new StoreUnusable(`The file that AWS_CA_BUNDLE names cannot be read: ${reason}.`, next, cause);
  }
}
