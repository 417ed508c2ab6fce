import { StoreUnusable } from '../../store/store.ts';
import { FilesUnavailable } from '../unavailable.ts';

/** What a storage or the way to it failed with: `NoSuchKey`, `AccessDenied`, `ECONNREFUSED`. */
export function wordOf(error: unknown): string {
  const { name, code } = (error ?? {}) as { name?: unknown; code?: unknown };
  if (typeof code === 'string' && code !== '') return code;
  return typeof name === 'string' && name !== '' ? name : 'unknown';
}

function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } } | null)?.$metadata?.httpStatusCode;
}

/** Whether the storage said that it has no such object: HEAD, which has no body, says only 404. */
export function isMissing(error: unknown): boolean {
  return statusOf(error) === 404 && ['NoSuchKey', 'NotFound'].includes(wordOf(error));
}

/** Runs a request to the storage; whatever fails is told as `FilesUnavailable`. */
export async function reaching<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw error instanceof FilesUnavailable ? error : new FilesUnavailable(wordOf(error), error);
  }
}

const CREDENTIALS =
  /^(?:AccessDenied|Forbidden|403|401|Unauthorized|InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken|InvalidToken|AllAccessDisabled)$/;
const REGION = /^(?:PermanentRedirect|301|AuthorizationHeaderMalformed|IllegalLocationConstraintException)$/;
const CERTIFICATE = /CERT|SIGNATURE|ISSUER|ALTNAME/;

/** Why a bucket cannot be used at all, for the one who starts the server. `at` names the endpoint. */
export function unusable(error: unknown, bucket: string, at: string): StoreUnusable {
  const word = wordOf(error);
  const told = (message: string, next: string) => new StoreUnusable(message, next, error);
  if (word === 'CredentialsProviderError') {
    const next = 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE.';
    return told(`There are no credentials for the bucket ${bucket}.`, next);
  }
  if (/^Region (?:is missing|not accepted)/.test((error as Error | null)?.message ?? '')) {
    return told(`The region of the bucket ${bucket} is not known.`, 'Set AWS_REGION, or AWS_ENDPOINT_URL_S3.');
  }
  if (REGION.test(word)) {
    return told(`The bucket ${bucket} is in another region (${word}).`, 'Set AWS_REGION to the region of the bucket.');
  }
  if (CREDENTIALS.test(word) || statusOf(error) === 403 || statusOf(error) === 401) {
    const next = `Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and that they may list, read, write and delete in ${bucket}.`;
    return told(`${at} refuses the credentials for the bucket ${bucket}: ${word}.`, next);
  }
  if (statusOf(error) === 404) {
    const next = 'Make the bucket, or check its name in --files and the endpoint in AWS_ENDPOINT_URL_S3.';
    return told(`There is no bucket ${bucket} at ${at}.`, next);
  }
  if (CERTIFICATE.test(word) && statusOf(error) === undefined) {
    return told(`The certificate of ${at} is not trusted: ${word}.`, 'Name its authority with AWS_CA_BUNDLE.');
  }
  if (statusOf(error) === undefined) {
    return told(`${at} does not answer: ${word}.`, 'Check AWS_ENDPOINT_URL_S3, and that the storage is running.');
  }
  return told(
    `The bucket ${bucket} at ${at} cannot be used: ${word}.`,
    'See what the storage reports, then try again.',
  );
}
