import { EXIT } from '../../../catalog/failures.ts';
import type { Failure } from '../../failure.ts';
import { ApiFailure, WITHOUT_ROUTE } from '../../transport/apifailure.ts';

/**
 * Why the service does not give a resource at all; undefined for any other failure. `isDeidentified`: without what the
 * service says of it, which may name records.
 */
export function refusalOf(cause: unknown, isDeidentified: boolean): string | undefined {
  if (!(cause instanceof ApiFailure) || (cause.status !== 403 && !WITHOUT_ROUTE.includes(cause.status ?? 0)))
    return undefined;
  return isDeidentified ? `HTTP ${cause.status}` : cause.message;
}

/** Whether the mirror itself cannot be written to any more: its disk, or its database. Nothing goes on then. */
export function isOfMirror({ exitCode, code }: Failure): boolean {
  return exitCode === EXIT.file || code === 'mirror.unreachable';
}
