import { EXIT } from '../catalog/failures.ts';
import { codeOf, Failure } from './failure.ts';
import { ApiFailure } from './transport/apifailure.ts';

/** Items that may fail one after another for the network or the disk, before the rest is left alone. */
const DEAD_LINE = 3;

/** Finds out when it is no use to go on with a run over many items: the token is not accepted, nothing answers, the disk is full. */
export class CircuitBreaker {
  /** What made it break. */
  cause: Failure | undefined;
  private dead = 0;

  /** Told how each item ended; undefined when it is done. */
  record(failure: Failure | undefined): void {
    if (this.cause !== undefined) return;
    if (failure !== undefined && isForAll(failure)) this.cause = failure;
    this.dead = failure !== undefined && isOfPlace(failure) ? this.dead + 1 : 0;
    if (this.dead >= DEAD_LINE) this.cause = failure;
  }
}

const FULL = ['ENOSPC', 'EDQUOT', 'EROFS'];

function isForAll(failure: Failure): boolean {
  if (failure instanceof ApiFailure) return failure.exitCode === EXIT.auth;
  return failure.exitCode === EXIT.file && FULL.includes(codeOf(failure.cause) ?? '');
}

/** A file that exists already has no cause in the system. */
function isOfPlace({ exitCode, cause }: Failure): boolean {
  return exitCode === EXIT.network || (exitCode === EXIT.file && codeOf(cause) !== undefined);
}

/** The failure of an item that was left alone. */
export function notTried(cause: Failure): Failure {
  return new Failure(`Not tried: ${cause.message}`, { code: cause.code, exitCode: cause.exitCode });
}
