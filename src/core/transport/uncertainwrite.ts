import type { Clock } from '../clock.ts';
import { Failure, localFailure } from '../failure.ts';

/** A POST that may have been done, as a lookup needs to know it. */
export interface PostAttempt {
  /** Milliseconds that have passed here since its first attempt began. */
  readonly elapsed: () => number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Looks on the server for what a POST of unknown outcome would have made (D49): the `data` it would have responded
 * with, or undefined when it is not there, so that the POST may be sent again. Throws a Failure when that cannot be
 * found out.
 */
export type LookUp = (post: PostAttempt) => Promise<unknown>;

/** What finds out about a POST of unknown outcome. */
export interface WriteLookups {
  readonly lookUp?: LookUp | undefined;
  /** Looks for a second record once a POST has succeeded after an attempt that may have been done as well. */
  readonly checkDuplicates?: ((post: PostAttempt) => Promise<void>) | undefined;
}

/** Whether a write was done, as far as that is known (D49). */
export class UncertainWrite {
  /** It was done: what it made. */
  found: { readonly data: unknown } | undefined;
  /** It cannot be found out; `lookup` is why a lookup failed, absent where there is none. */
  unknown: { readonly lookup?: Failure } | undefined;
  private isOpen = false;
  private readonly post: PostAttempt;

  constructor(
    clock: Clock,
    private readonly lookups: WriteLookups,
    signal: AbortSignal | undefined,
  ) {
    const began = clock.now();
    this.post = { elapsed: () => clock.now() - began, signal };
  }

  /** It must not be sent again: it was done, or that cannot be found out. */
  get isSettled(): boolean {
    return this.found !== undefined || this.unknown !== undefined;
  }

  /** An attempt ended that may have been done. */
  open(): void {
    this.isOpen = true;
    if (this.lookups.lookUp === undefined) this.unknown = {};
  }

  /** Looks for what was written, where the outcome is open. */
  async lookUp(): Promise<void> {
    if (!this.isOpen || this.lookups.lookUp === undefined || this.isSettled) return;
    try {
      const data = await this.lookups.lookUp(this.post);
      if (data !== undefined) this.found = { data };
    } catch (cause) {
      if (!(cause instanceof Failure) || this.post.signal?.aborted) throw cause;
      this.unknown = { lookup: cause };
    }
  }

  /** After a success, looks for the duplicate that an earlier attempt may have made. Its failure changes nothing. */
  async checkDuplicates(): Promise<void> {
    if (!this.isOpen) return;
    try {
      await this.lookups.checkDuplicates?.(this.post);
    } catch (cause) {
      if (!(cause instanceof Failure) && !this.post.signal?.aborted) throw cause;
    }
  }
}

/** The failure of a write that may have been done (D49); `lookup` is why it could not be looked up. */
export function outcomeUnknown(failure: Failure, lookup?: Failure): Failure {
  const why = lookup === undefined ? '' : ` Looking it up failed: ${lookup.message}`;
  return localFailure('network.outcome_unknown', `${failure.message} It may have been done.${why}`, {
    requestId: failure.requestId,
    cause: failure,
    ...(lookup?.code === 'network.outcome_unknown' && { hint: lookup.hint }),
  });
}
