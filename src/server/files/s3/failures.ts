import { StoreUnusable } from '../../store/store.ts';
import { FilesUnavailable } from '../files.ts';

/** The code of a failed request: `NoSuchKey`, `AccessDenied`, `ECONNREFUSED`. */
function errorCodeOf(error: unknown): string {
  const { name, code } = (error ?? {}) as { name?: unknown; code?: unknown };
  if (typeof code === 'string' && code !== '') return code;
  return typeof name === 'string' && name !== '' ? name : 'unknown';
}

function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } } | null)?.$metadata?.httpStatusCode;
}

/** Whether the storage said that it has no such object: HEAD, which has no body, says only 404. */
export function isMissing(error: unknown): boolean {
  return statusOf(error) === 404 && ['NoSuchKey', 'NotFound'].includes(errorCodeOf(error));
}

/** Runs a request to the storage; any failure is thrown as `FilesUnavailable`. */
export async function orUnavailable<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw error instanceof FilesUnavailable ? error : new FilesUnavailable(errorCodeOf(error), error);
  }
}

const CREDENTIALS =
  /^(?:AccessDenied|Forbidden|403|401|Unauthorized|InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken|InvalidToken|AllAccessDisabled)$/;
const REGION = /^(?:PermanentRedirect|301|AuthorizationHeaderMalformed|IllegalLocationConstraintException)$/;
const CERTIFICATE = /CERT|SIGNATURE|ISSUER|ALTNAME/;

/** The failure of a bucket that cannot be used at all, for the operator. `at` names the endpoint. */
export function bucketUnusable(error: unknown, bucket: string, at: string): StoreUnusable {
  const [message, next] = explanationOf(error, bucket, at);
  return new StoreUnusable(message, next, error);
}

function explanationOf(error: unknown, bucket: string, at: string): readonly [message: string, next: string] {
  const code = errorCodeOf(error);
  const status = statusOf(error);
  if (code === 'CredentialsProviderError') {
    const next = 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE.';
    return [`There are no credentials for the bucket ${bucket}.`, next];
  }
  if (/^Region (?:is missing|not accepted)/.test((error as Error | null)?.message ?? ''))
    return [`The region of the bucket ${bucket} is not known.`, 'Set AWS_REGION, or AWS_ENDPOINT_URL_S3.'];
  if (REGION.test(code))
    return [`The bucket ${bucket} is in another region (${code}).`, 'Set AWS_REGION to the region of the bucket.'];
  if (CREDENTIALS.test(code) || status === 403 || status === 401) {
    const next = `Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and that they may list, read, write and delete in ${bucket}.`;
    return [`${at} refuses the credentials for the bucket ${bucket}: ${code}.`, next];
  }
  if (status === 404) {
    const next = 'Make the bucket, or check its name in --files and the endpoint in AWS_ENDPOINT_URL_S3.';
    return [`There is no bucket ${bucket} at ${at}.`, next];
  }
  if (status !== undefined)
    return [`The bucket ${bucket} at ${at} cannot be used: ${code}.`, 'Check the log of the storage, then try again.'];
  if (CERTIFICATE.test(code))
    return [`The certificate of ${at} is not trusted: ${code}.`, 'Name its authority with AWS_CA_BUNDLE.'];
  return [`${at} does not respond: ${code}.`, 'Check AWS_ENDPOINT_URL_S3, and that the storage is running.'];
}
