import { EXIT } from '../catalog/failures.ts';
import { codeOf, Failure } from './failure.ts';
import { ApiFailure } from './transport/apifailure.ts';

/** Items that may fail in a row because of the network or the disk before the rest is skipped. */
const MAX_FAILURES_IN_A_ROW = 3;

/** Opens when it is useless to continue a run over many items: token rejected, server unreachable, disk full. */
export class CircuitBreaker {
  /** What opened it. */
  cause: Failure | undefined;
  private failuresInARow = 0;

  /** Records how an item ended; undefined for a success. */
  record(failure: Failure | undefined): void {
    if (this.cause !== undefined) return;
    if (failure !== undefined && isFatal(failure)) this.cause = failure;
    this.failuresInARow = failure !== undefined && isOfEnvironment(failure) ? this.failuresInARow + 1 : 0;
    if (this.failuresInARow >= MAX_FAILURES_IN_A_ROW) this.cause = failure;
  }
}

const FULL = ['ENOSPC', 'EDQUOT', 'EROFS'];

function isFatal(failure: Failure): boolean {
  if (failure instanceof ApiFailure) return failure.exitCode === EXIT.auth;
  return failure.exitCode === EXIT.file && FULL.includes(codeOf(failure.cause) ?? '');
}

/** A failure of the network or of the system; a file that already exists has no system error. */
function isOfEnvironment({ exitCode, cause }: Failure): boolean {
  return exitCode === EXIT.network || (exitCode === EXIT.file && codeOf(cause) !== undefined);
}

/** The failure of an item that was skipped. */
export function notTried(cause: Failure): Failure {
  return new Failure(`Not tried: ${cause.message}`, { code: cause.code, exitCode: cause.exitCode });
}
